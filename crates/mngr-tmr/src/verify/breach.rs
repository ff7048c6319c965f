//! Whether commits keep to the rules, whoever made them: what they say fits what they touch, and nothing that is
//! protected was changed. Reads the repository; runs no test.
//!
//! Processes of git: 2 for each file that a rule of the project's own wants to see before and after, 1 for the texts of
//! all changed tests, and up to 5 where there is a tutorial.

use mngr_host::git::{FileChange, Git, GitError, RepoPath};
use mngr_model::run::ChangeKind;

use super::commits::{CommitFacts, Label};
use super::decide::Refusal;
use super::paths::PathClass;
use super::rules::Rules;
use super::{texts, tutorial};
use crate::strength::{Side, Sides};

/// Commits as one change.
pub(crate) struct Changed<'a> {
    /// The commit before them.
    pub(crate) from: &'a str,
    /// The last of them.
    pub(crate) to: &'a str,
    /// Each of them.
    pub(crate) commits: &'a [CommitFacts],
    /// What they come to.
    pub(crate) files: &'a [FileChange],
    /// The tutorial that tests are brought up to, where that is what was asked for: citations may follow it.
    pub(crate) script: Option<&'a str>,
}

impl Changed<'_> {
    /// The kinds of the commits that touched a file.
    pub(super) fn kinds(&self, file: &FileChange) -> Vec<Option<ChangeKind>> {
        let touched = self.commits.iter().filter(|commit| commit.paths.contains(&file.path));
        touched.map(|commit| commit.claimed).collect()
    }
}

/// The first thing in the commits themselves that forbids integrating them.
pub(crate) fn breach(
    git: &Git<'_>,
    rules: &Rules,
    changed: &Changed<'_>,
) -> Result<Option<Refusal>, GitError> {
    Ok(breaches(git, rules, changed)?.into_iter().next())
}

/// Everything in the commits themselves that forbids integrating them.
pub(crate) fn breaches(
    git: &Git<'_>,
    rules: &Rules,
    changed: &Changed<'_>,
) -> Result<Vec<Refusal>, GitError> {
    let mut found = Vec::new();
    let is_understated = |commit: &CommitFacts| commit.label() == Label::Understated;
    let inline = match changed.commits.iter().any(is_understated) {
        true => inline_tests(git, rules, changed)?,
        false => Vec::new(),
    };
    let is_inline = |path: &RepoPath| path.as_str().is_some_and(|path| inline.iter().any(|it| it == path));
    for commit in changed.commits.iter().filter(|commit| is_understated(commit)) {
        let is_program =
            |path: &&RepoPath| rules.paths.class(path) == PathClass::Implementation && !is_inline(path);
        let path = commit.paths.iter().find(is_program);
        if path.is_none() && commit.paths.iter().any(is_inline) {
            continue;
        }
        let path = path.map(ToString::to_string).unwrap_or_default();
        found.push(Refusal::Understated { subject: commit.subject.clone(), path });
    }
    for file in changed.files {
        let name = file.path.to_string();
        let kinds = changed.kinds(file);
        for rule in rules.contract.iter().filter(|rule| rule.is_about(&name, &kinds)) {
            let texts = match rule.needs_texts() {
                true => Some((text_at(git, changed.from, file)?, text_at(git, changed.to, file)?)),
                false => None,
            };
            let texts = texts.as_ref().map(|(before, after)| (before.as_str(), after.as_str()));
            found.extend(rule.breach(file, texts).map(Refusal::from));
        }
    }
    found.extend(texts::breaches(git, rules, changed)?.into_iter().map(Refusal::from));
    found.extend(tutorial::breach(git, rules, changed)?.map(Refusal::from));
    Ok(found)
}

/// The files of the program in which only test code was changed: `#[cfg(test)]` modules are tests.
fn inline_tests(git: &Git<'_>, rules: &Rules, changed: &Changed<'_>) -> Result<Vec<String>, GitError> {
    let sides = Sides::read(git, changed.files, &rules.paths)?.sides;
    let sided = changed.files.iter().zip(sides);
    let only_tests = sided.filter(|(file, side)| {
        *side == Side::Test && rules.paths.class(&file.path) == PathClass::Implementation
    });
    Ok(only_tests.map(|(file, _)| file.path.to_string()).collect())
}

/// A file that is not there has no text.
fn text_at(git: &Git<'_>, rev: &str, file: &FileChange) -> Result<String, GitError> {
    let Some(path) = file.path.as_str() else { return Ok(String::new()) };
    let bytes = git.file_at(rev, path)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
