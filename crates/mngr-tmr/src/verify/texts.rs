//! The texts that say what tests are for are read-only, in every project: what of them a change has broken.

use std::collections::BTreeMap;

use mngr_config::ReadOnly;
use mngr_host::git::{FileChange, FileMode, Git, GitError};
use mngr_model::run::ChangeKind;

use super::breach::Changed;
use super::contract::{Breach, shown};
use super::paths::PathClass;
use super::rules::Rules;
use super::tutorial::{self, Current};
use crate::syntax::Language;
use crate::syntax::contract::{Broken, Contract, TextKind, broken, contract_texts};

/// A test file before and after.
struct TestFile {
    path: String,
    language: Language,
    is_test: bool,
    after_text: String,
    before: Contract,
    after: Contract,
}

/// Each text that the change has broken.
pub(super) fn breaches(git: &Git<'_>, rules: &Rules, changed: &Changed<'_>) -> Result<Vec<Breach>, GitError> {
    let is_read_only =
        |kind: TextKind| rule_of(kind).is_some_and(|(rule, _)| rules.read_only.contains(&rule));
    let kinds = [TextKind::Citation, TextKind::Scope, TextKind::DocString, TextKind::LeadingComment];
    if !kinds.into_iter().any(is_read_only) {
        return Ok(Vec::new());
    }
    let files = read(git, rules, changed)?;
    let moved = moved(&files);
    let tutorial = match changed.script {
        Some(script) => Some(tutorial::current_script(git, changed.to, script)?),
        None if has_new_tutorial(rules, changed) => Some(tutorial::current(git, rules, changed)?),
        None => None,
    };
    let mut found = Vec::new();
    for file in &files {
        let here = broken(&file.before, &file.after).into_iter().map(|it| (it, file));
        let elsewhere = moved.iter().filter(|(from, _)| from.path == file.path);
        let elsewhere = elsewhere
            .flat_map(|(_, to)| broken(&file.before, &to.after).into_iter().map(move |it| (it, *to)));
        // A test that is in both places is judged where it was.
        let elsewhere = elsewhere
            .filter(|(it, _)| !it.text.test.is_empty() && !file.after.owners.contains(&it.text.test));
        for (broken, now) in here.chain(elsewhere) {
            let is_allowed = !is_read_only(broken.text.kind)
                || (!file.is_test && broken.text.test.is_empty())
                || tutorial.as_ref().is_some_and(|current| is_corrected(current, &broken, file, now));
            let Some((_, rule)) = rule_of(broken.text.kind).filter(|_| !is_allowed) else { continue };
            found.push(Breach {
                rule: rule.to_owned(),
                path: file.path.clone(),
                line: Some(shown(&broken.shown)),
                at: Some(broken.line),
            });
        }
    }
    // A scope is part of a doc string or a comment: one line is told once, by the name that says more.
    found.sort_by(|a, b| (&a.path, a.at, order(&a.rule)).cmp(&(&b.path, b.at, order(&b.rule))));
    found.dedup_by(|a, b| a.path == b.path && a.at == b.at);
    Ok(found)
}

fn order(rule: &str) -> usize {
    ["citations", "scopes", "doc strings", "leading comments"].iter().position(|it| *it == rule).unwrap_or(0)
}

/// The rule that protects a kind of text, and what it is called.
fn rule_of(kind: TextKind) -> Option<(ReadOnly, &'static str)> {
    match kind {
        TextKind::Citation => Some((ReadOnly::Citations, "citations")),
        TextKind::Scope => Some((ReadOnly::Scopes, "scopes")),
        TextKind::DocString => Some((ReadOnly::DocStrings, "doc strings")),
        TextKind::LeadingComment | TextKind::FirstComment => {
            Some((ReadOnly::LeadingComments, "leading comments"))
        }
        TextKind::Comment => None,
    }
}

/// The changed files that hold tests. In Rust tests are also beside the program.
fn read(git: &Git<'_>, rules: &Rules, changed: &Changed<'_>) -> Result<Vec<TestFile>, GitError> {
    let is_test = |file: &FileChange| rules.paths.class(&file.path) == PathClass::Test;
    let may_hold_tests = |file: &&FileChange| {
        let is_source = file.path.as_str().is_some_and(|path| path.ends_with(".rs"));
        file.old_blob != file.new_blob && (is_test(file) || is_source)
    };
    let files: Vec<&FileChange> = changed.files.iter().filter(may_hold_tests).collect();
    // A submodule has no text.
    let is_file = |mode: &FileMode| mode.as_str().starts_with("100");
    let old = |file: &FileChange| is_file(&file.old_mode).then(|| file.old_blob.clone());
    let new = |file: &FileChange| is_file(&file.new_mode).then(|| file.new_blob.clone());
    let names: Vec<String> = files.iter().flat_map(|file| old(file).into_iter().chain(new(file))).collect();
    let mut texts = git.read_blobs(&names)?.into_iter();
    let mut found = Vec::new();
    for file in files {
        let mut text = |name: Option<String>| {
            let bytes = name.and_then(|_| texts.next())?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (before, after) = (text(old(file)), text(new(file)));
        let path = file.path.to_string();
        let said = before.as_deref().or(after.as_deref()).unwrap_or_default();
        let Some(language) = Language::of(&path, said) else { continue };
        // A file that is not there promises nothing, not even as a file.
        let contract = |text: &Option<String>| {
            text.as_ref().map(|text| contract_texts(language, text)).unwrap_or_default()
        };
        found.push(TestFile {
            is_test: is_test(file),
            language,
            before: contract(&before),
            after: contract(&after),
            after_text: after.unwrap_or_default(),
            path,
        });
    }
    Ok(found)
}

/// Files that tests have left, and the files where tests of the same names are new.
fn moved(files: &[TestFile]) -> Vec<(&TestFile, &TestFile)> {
    let gets = |from: &TestFile, to: &TestFile| {
        let gone = from.before.owners.difference(&from.after.owners);
        gone.filter(|name| !name.is_empty())
            .any(|name| to.after.owners.contains(name) && !to.before.owners.contains(name))
    };
    let pairs = files.iter().flat_map(|from| files.iter().map(move |to| (from, to)));
    pairs
        .filter(|(from, to)| from.path != to.path && from.language == to.language && gets(from, to))
        .collect()
}

/// Whether a commit that says that it corrects the tutorial has changed one.
fn has_new_tutorial(rules: &Rules, changed: &Changed<'_>) -> bool {
    let is_corrected = |file: &&FileChange| {
        rules.paths.is_tutorial(&file.path) && changed.kinds(file).contains(&Some(ChangeKind::FixTutorial))
    };
    changed.files.iter().any(|file| is_corrected(&file))
}

/// Whether a citation was brought to what the tutorial says now: every one that the test has is current, and none is lost.
fn is_corrected(current: &Current, broken: &Broken<'_>, was: &TestFile, now: &TestFile) -> bool {
    let of = |contract: &Contract| {
        let texts =
            contract.texts.iter().filter(|it| it.kind == TextKind::Citation && it.test == broken.text.test);
        texts.map(|it| it.text.clone()).collect::<Vec<_>>()
    };
    let (before, after) = (of(&was.before), of(&now.after));
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for text in &before {
        *known.entry(text).or_default() += 1;
    }
    let new = after.iter().filter(|text| !known.contains_key(text.as_str()));
    broken.text.kind == TextKind::Citation
        && after.len() >= before.len()
        && current.holds(&now.path, &now.after_text, &broken.text.test, &new.collect::<Vec<_>>())
}
