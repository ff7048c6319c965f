//! Where a repository has a tutorial, tests and tutorial may not agree less than before.
//!
//! Both trees are read from the repository, without a checkout. Processes of git: one for the files at the base, one for
//! those that cite there, one for the texts of each tree.

use std::collections::{BTreeMap, BTreeSet};

use mngr_config::ReadOnly;
use mngr_e2e::tutorial::{self, Block, CITING, CitingTest, Report, Script, Severity, Strictness, Suite};
use mngr_host::git::{FileChange, Git, GitError, RepoPath};
use serde::Serialize;

use super::breach::Changed;
use super::contract::{Breach, shown};
use super::rules::Rules;

/// What the rule is called.
const RULE: &str = "tutorial";

/// The tutorials of one tree, and the tests that cite them.
struct Tree {
    scripts: Vec<Script>,
    report: Report,
}

/// How tests and tutorial do not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    /// Blocks that no test cites as they are.
    uncited: usize,
    /// Tests that cite what is no block.
    stale: usize,
    /// Files that cannot be understood, citations that say nothing.
    errors: usize,
}

impl Counts {
    fn of(report: &Report) -> Self {
        let is_error = |problem: &&tutorial::Problem| problem.kind.severity() == Severity::Error;
        Self {
            uncited: report.blocks.len() - report.cited(),
            stale: outdated(report).count(),
            errors: report.problems.iter().filter(is_error).count(),
        }
    }

    fn is_worse_than(self, other: Self) -> bool {
        self.uncited > other.uncited || self.stale > other.stale || self.errors > other.errors
    }
}

/// Tests with a text that they cite and that is no block.
fn outdated(report: &Report) -> impl Iterator<Item = (&CitingTest, &str)> {
    let changed = report.changed.iter().map(|it| (&it.tests, it.was.as_str()));
    let stale = report.stale.iter().map(|it| (&it.tests, it.text.as_str()));
    changed.chain(stale).flat_map(|(tests, text)| tests.iter().map(move |test| (test, text)))
}

/// The tutorials of a commit and the files with tests that cite them, each with its contents' name.
struct Files {
    scripts: BTreeMap<RepoPath, String>,
    citing: BTreeMap<RepoPath, String>,
}

impl Files {
    fn of(git: &Git<'_>, rules: &Rules, commit: &str) -> Result<Self, GitError> {
        let files = git.files_in(commit)?;
        let named = |is_one: &dyn Fn(&RepoPath) -> bool| -> BTreeMap<RepoPath, String> {
            let found = files.iter().filter(|file| is_one(&file.path));
            found.map(|file| (file.path.clone(), file.blob.clone())).collect()
        };
        let scripts = named(&|path| rules.paths.is_tutorial(path));
        if scripts.is_empty() {
            return Ok(Self { scripts, citing: BTreeMap::new() });
        }
        let is_understood = |path: &RepoPath| path.as_str().is_some_and(Suite::understands);
        let cites: BTreeSet<RepoPath> = git.paths_with(commit, CITING)?.into_iter().collect();
        let citing = named(&|path| is_understood(path) && cites.contains(path));
        Ok(Self { scripts, citing })
    }
}

/// A block of a tutorial that a test cites.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CitedText {
    /// The tutorial.
    pub path: String,
    /// The first line of the block, from 1.
    pub line: usize,
    /// The block.
    pub text: String,
}

/// The blocks that tests of a commit cite as they are, by the full names of the tests.
pub(crate) fn cited_blocks(
    git: &Git<'_>,
    rules: &Rules,
    commit: &str,
) -> Result<BTreeMap<String, Vec<CitedText>>, GitError> {
    let mut by_test: BTreeMap<String, Vec<CitedText>> = BTreeMap::new();
    let Files { scripts, citing } = Files::of(git, rules, commit)?;
    if scripts.is_empty() {
        return Ok(by_test);
    }
    let tree = read(git, &scripts, &citing)?;
    for cited in &tree.report.blocks {
        let text = cited.block.text.clone();
        let cited_text = CitedText { path: tree.file_of(&cited.block), line: cited.block.line, text };
        for test in &cited.tests {
            by_test.entry(test.id.clone()).or_default().push(cited_text.clone());
        }
    }
    Ok(by_test)
}

/// How the change makes tests and tutorial agree less, if it does.
pub(super) fn breach(
    git: &Git<'_>,
    rules: &Rules,
    changed: &Changed<'_>,
) -> Result<Option<Breach>, GitError> {
    let matters = |file: &FileChange| {
        rules.paths.is_tutorial(&file.path) || file.path.as_str().is_some_and(Suite::understands)
    };
    if !rules.read_only.contains(&ReadOnly::Tutorial) || !changed.files.iter().any(matters) {
        return Ok(None);
    }
    let Files { scripts, citing } = Files::of(git, rules, changed.from)?;
    if scripts.is_empty() {
        return Ok(None);
    }
    let is_understood = |path: &RepoPath| path.as_str().is_some_and(Suite::understands);
    let before = read(git, &scripts, &citing)?;
    let now = |files: &BTreeMap<RepoPath, String>, is_one: &dyn Fn(&RepoPath) -> bool| {
        let mut files = files.clone();
        for file in changed.files.iter().filter(|file| is_one(&file.path)) {
            match file.new_mode.is_absent() {
                true => files.remove(&file.path),
                false => files.insert(file.path.clone(), file.new_blob.clone()),
            };
        }
        files
    };
    let new_scripts = now(&scripts, &|path| rules.paths.is_tutorial(path));
    let gone = scripts.keys().find(|path| !new_scripts.contains_key(*path));
    if let Some(gone) = gone.filter(|_| new_scripts.len() < scripts.len()) {
        return Ok(Some(Breach { rule: RULE.to_owned(), path: gone.to_string(), line: None, at: None }));
    }
    let after = read(git, &new_scripts, &now(&citing, &is_understood))?;
    let is_worse = Counts::of(&after.report).is_worse_than(Counts::of(&before.report));
    Ok(is_worse.then(|| worst(&before, &after)))
}

/// What shows that the tests agree less with the tutorial.
fn worst(before: &Tree, after: &Tree) -> Breach {
    let breach = |path: String, line: &str, at: usize| Breach {
        rule: RULE.to_owned(),
        path,
        line: Some(shown(line)),
        at: Some(at),
    };
    let known: BTreeSet<(&str, &str)> =
        outdated(&before.report).map(|(test, text)| (test.id.as_str(), text)).collect();
    let stale = outdated(&after.report).find(|(test, text)| !known.contains(&(test.id.as_str(), text)));
    if let Some((test, text)) = stale {
        return breach(test.file.clone(), text.lines().next().unwrap_or_default(), test.line);
    }
    let uncited = |tree: &Tree| -> Vec<Block> { tree.report.uncited().cloned().collect() };
    let known: Vec<Block> = uncited(before);
    let block = uncited(after).into_iter().find(|block| known.iter().all(|it| it.id != block.id));
    if let Some(block) = block {
        return breach(after.file_of(&block), &block.title, block.line);
    }
    let problems = &after.report.problems;
    let problem = problems.iter().find(|problem| {
        problem.kind.severity() == Severity::Error && !before.report.problems.contains(problem)
    });
    match problem {
        Some(problem) => breach(problem.file.clone(), &problem.kind.to_string(), problem.line),
        None => {
            let path = after.scripts.first().map(|script| script.file.clone()).unwrap_or_default();
            Breach { rule: RULE.to_owned(), path, line: None, at: None }
        }
    }
}

impl Tree {
    /// The tutorial that a block is in.
    fn file_of(&self, block: &Block) -> String {
        let script = self.scripts.iter().find(|script| script.blocks.contains(block));
        script.or(self.scripts.first()).map(|script| script.file.clone()).unwrap_or_default()
    }
}

fn read(
    git: &Git<'_>,
    scripts: &BTreeMap<RepoPath, String>,
    citing: &BTreeMap<RepoPath, String>,
) -> Result<Tree, GitError> {
    let blobs: Vec<String> = scripts.values().chain(citing.values()).cloned().collect();
    let texts = git.read_blobs(&blobs)?;
    let (said, cited) = texts.split_at(scripts.len());
    let named =
        |files: &BTreeMap<RepoPath, String>| files.keys().map(ToString::to_string).collect::<Vec<_>>();
    let scripts: Vec<Script> =
        named(scripts).iter().zip(said).map(|(path, text)| Script::parse(path, text)).collect();
    let names = named(citing);
    let texts = names.iter().zip(cited).map(|(path, text)| (path.as_str(), text.as_slice()));
    let suite = Suite::of_texts(texts, Strictness::Tutorial);
    let report = tutorial::check(&together(&scripts), &suite, Strictness::Tutorial);
    Ok(Tree { scripts, report })
}

/// All tutorials as one: a test may cite any of them.
fn together(scripts: &[Script]) -> Script {
    let mut all = Script { file: String::new(), blocks: Vec::new(), notes: Vec::new(), problems: Vec::new() };
    for script in scripts {
        all.blocks.extend(script.blocks.iter().cloned());
        all.problems.extend(script.problems.iter().cloned());
    }
    all
}

/// Words that begin a line of a tutorial and are not the program it is about.
const NOT_THE_PROGRAM: [&str; 24] = [
    "cd", "echo", "cat", "export", "git", "mkdir", "rm", "cp", "mv", "ls", "for", "while", "if", "done",
    "fi", "do", "then", "else", "set", "sleep", "printf", "touch", "test", "true",
];

/// The command that the tutorials of a commit are about: the word that most of their lines begin with.
pub(crate) fn tutorial_command(
    git: &Git<'_>,
    rules: &Rules,
    commit: &str,
) -> Result<Option<String>, GitError> {
    let files = git.files_in(commit)?;
    let blobs: Vec<String> = files
        .into_iter()
        .filter(|file| rules.paths.is_tutorial(&file.path) && file.mode.as_str().starts_with("100"))
        .map(|file| file.blob)
        .collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for text in git.read_blobs(&blobs)? {
        for block in Script::parse("", &text).blocks {
            let lines = block.text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
            let is_word = |word: &&str| {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
                word.chars().all(is_plain) && !word.starts_with('-') && !NOT_THE_PROGRAM.contains(word)
            };
            for word in lines.filter_map(|line| line.split_whitespace().next()).filter(is_word) {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
    Ok(counts
        .into_iter()
        .max_by_key(|(word, count)| (*count, std::cmp::Reverse(word.clone())))
        .map(|(word, _)| word))
}

/// What the tutorials say after a change.
pub(super) struct Current {
    script: Script,
}

/// The tutorials that a change has touched, as they are after it.
pub(super) fn current(git: &Git<'_>, rules: &Rules, changed: &Changed<'_>) -> Result<Current, GitError> {
    let is_there = |file: &&FileChange| rules.paths.is_tutorial(&file.path) && !file.new_mode.is_absent();
    let touched: Vec<&FileChange> = changed.files.iter().filter(is_there).collect();
    let blobs: Vec<String> = touched.iter().map(|file| file.new_blob.clone()).collect();
    let texts = git.read_blobs(&blobs)?;
    let scripts: Vec<Script> =
        touched.iter().zip(texts).map(|(file, text)| Script::parse(&file.path.to_string(), &text)).collect();
    Ok(Current { script: together(&scripts) })
}

/// What one tutorial says at a commit.
pub(super) fn current_script(git: &Git<'_>, commit: &str, script: &str) -> Result<Current, GitError> {
    let text = git.file_at(commit, script)?.unwrap_or_default();
    Ok(Current { script: Script::parse(script, &text) })
}

impl Current {
    /// Whether these citations of a test in a file are blocks.
    pub(super) fn holds(&self, path: &str, text: &str, test: &str, cited: &[&String]) -> bool {
        if Suite::understands(path) {
            let suite = Suite::of_texts([(path, text.as_bytes())], Strictness::Tutorial);
            let report = tutorial::check(&self.script, &suite, Strictness::Tutorial);
            let id = format!("{path}::{test}");
            return outdated(&report).all(|(test, _)| test.id != id);
        }
        let lines = |text: &str| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let blocks: BTreeSet<Vec<String>> =
            self.script.blocks.iter().map(|block| lines(&block.text)).collect();
        let paragraphs = |text: &str| {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let paragraphs = lines.split(|line| line.is_empty()).filter(|it| !it.is_empty());
            paragraphs
                .map(|it| it.iter().map(|line| (*line).to_owned()).collect())
                .collect::<Vec<Vec<String>>>()
        };
        let is_current = |text: &str| {
            blocks.contains(&lines(text)) || paragraphs(text).iter().all(|it| blocks.contains(it))
        };
        cited.iter().all(|text| is_current(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;

    fn command(tutorial: &str) -> Option<String> {
        let lab = Lab::new(&[("tutorial.sh", tutorial), ("docs/other.sh", "other\nother\nother\n")]);
        let git = Git::new(lab.host.as_ref(), lab.repository());
        tutorial_command(&git, &lab.rules, &lab.base).unwrap()
    }

    #[test]
    fn the_program_is_what_most_lines_of_the_tutorial_begin_with() {
        let text = "# Begin\ncd /tmp\ncd /tmp\ncd /tmp\ntodo add x\n\n# Look\nls\nls\nls\n  todo list # all\n# todo: no command\n";
        assert_eq!(command(text).as_deref(), Some("todo"));
        assert_eq!(command("# Run\n./bin/tool a\n./bin/tool b\ntodo c\n").as_deref(), Some("./bin/tool"));
        // Of two with as many lines it is always the same one.
        assert_eq!(command("# Both\nzip a\nawk b\n").as_deref(), Some("awk"));
    }

    #[test]
    fn a_tutorial_of_other_commands_has_no_program() {
        assert_eq!(command("# Prepare\nmkdir x\ncd x\nA=1 todo\n$TOOL x\n"), None);
        let lab = Lab::new(&[("README.md", "todo\n")]);
        let git = Git::new(lab.host.as_ref(), lab.repository());
        assert_eq!(tutorial_command(&git, &lab.rules, &lab.base).unwrap(), None);
    }
}
