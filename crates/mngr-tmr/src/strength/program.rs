//! The program that the tests of a result run: its source files, their functions, and what can be changed in them.
//!
//! Processes: 2 of git for each program.

use std::collections::BTreeMap;

use mngr_host::git::{FileMode, Git, GitError, RepoPath};

use crate::collect::Spot;
use crate::syntax::{Edit, Language, Moved, Source, small_diff};
use crate::verify::{PathClass, PathRules};

/// Larger files are left alone: they are generated or data.
pub(super) const LARGEST_FILE: u64 = 512 * 1024;
/// How many bytes of source are read at most, the smallest files first: the rest is not mutated.
const LARGEST_PROGRAM: u64 = 32 * 1024 * 1024;

/// A source file of the program.
pub(super) struct ProgramFile {
    pub(super) path: String,
    pub(super) mode: FileMode,
    pub(super) language: Language,
    text: String,
    source: Source,
    /// The same file beside the old tests, where it holds tests itself and is another one there.
    old: Option<(String, Source)>,
}

/// Beside which tests the program is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    OldTests,
    NewTests,
}

/// A file with other contents.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) mode: FileMode,
    pub(super) text: String,
}

/// The program.
pub(super) struct Program {
    files: Vec<ProgramFile>,
    functions: Vec<FunctionOf>,
}

/// A function that can be mutated.
struct FunctionOf {
    file: usize,
    function: usize,
    edits: Vec<Edit>,
}

/// The files that a program is made of. The same sources are the same program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sources(Vec<SourceFile>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct SourceFile {
    path: String,
    mode: FileMode,
    blob: String,
    /// The contents beside the old tests, where they are others.
    old_blob: Option<String>,
}

impl Sources {
    /// Those of a commit; `old` is the same program beside the old tests.
    pub(super) fn of(git: &Git<'_>, commit: &str, old: &str, paths: &PathRules) -> Result<Self, GitError> {
        let mut listed: Vec<_> = git
            .files_in(commit)?
            .into_iter()
            .filter(|file| file.mode.as_str().starts_with("100") && file.size <= LARGEST_FILE)
            .filter(|file| paths.class(&file.path) == PathClass::Implementation)
            .filter(|file| file.path.as_str().is_some_and(may_be_source))
            .collect();
        listed.sort_by(|a, b| a.size.cmp(&b.size).then_with(|| a.path.as_bytes().cmp(b.path.as_bytes())));
        let mut bytes = 0;
        listed.retain(|file| {
            bytes += file.size;
            bytes <= LARGEST_PROGRAM
        });
        listed.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        let mut beside: BTreeMap<String, String> = git
            .patch_between(old, commit)?
            .into_iter()
            .filter(|change| !change.old_mode.is_absent() && !change.new_mode.is_absent())
            .map(|change| (change.path.to_string(), change.old_blob))
            .collect();
        let files = listed.into_iter().filter_map(|file| {
            let path = file.path.as_str()?.to_owned();
            let old_blob = beside.remove(&path);
            Some(SourceFile { path, mode: file.mode, blob: file.blob, old_blob })
        });
        Ok(Self(files.collect()))
    }

    /// The program.
    pub(super) fn read(&self, git: &Git<'_>) -> Result<Program, GitError> {
        let all = self.0.iter().flat_map(|file| [Some(&file.blob), file.old_blob.as_ref()]);
        let blobs: Vec<String> = all.flatten().cloned().collect();
        let mut texts = git.read_blobs(&blobs)?.into_iter();
        let mut files = Vec::new();
        for SourceFile { path, mode, old_blob, .. } in &self.0 {
            let (new, old) = (texts.next(), old_blob.as_ref().and_then(|_| texts.next()));
            let read = |bytes: Vec<u8>| {
                let text = String::from_utf8(bytes).ok()?;
                let language = Language::of(path, &text)?;
                let source = Source::parse(language, &text)?;
                Some((language, text, source))
            };
            let Some((language, text, source)) = new.and_then(read) else { continue };
            let old = match old {
                // A file that cannot be read beside the old tests is not mutated at all.
                Some(bytes) => match read(bytes) {
                    Some((other, text, source)) if other == language => Some((text, source)),
                    _ => continue,
                },
                None => None,
            };
            let (path, mode) = (path.clone(), mode.clone());
            files.push(ProgramFile { path, mode, language, text, source, old });
        }
        Ok(Program::of(files))
    }
}

impl Program {
    fn of(files: Vec<ProgramFile>) -> Self {
        let mut functions = Vec::new();
        for (file, ProgramFile { source, .. }) in files.iter().enumerate() {
            let mut edits: Vec<Vec<Edit>> = source.functions().iter().map(|_| Vec::new()).collect();
            for edit in source.edits() {
                if let Some(of_function) = edits.get_mut(edit.function) {
                    of_function.push(edit);
                }
            }
            let all = edits.into_iter().enumerate();
            let own = all.filter(|(function, _)| !source.functions()[*function].is_test);
            functions.extend(own.map(|(function, edits)| FunctionOf { file, function, edits }));
        }
        Self { files, functions }
    }

    /// How many functions it has.
    pub(super) fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether a place is in the program, and not in tests.
    pub(super) fn has(&self, spot: &Spot) -> bool {
        self.files.iter().any(|file| file.path == spot.path && !file.source.is_test_line(spot.line))
    }

    /// Whether a build is needed before tests can be run.
    pub(super) fn is_compiled(&self, function: usize) -> bool {
        self.functions.get(function).is_some_and(|of| self.files[of.file].language.is_compiled())
    }

    /// What a function is called, with its file.
    pub(super) fn name(&self, function: usize) -> String {
        let FunctionOf { file, function, .. } = &self.functions[function];
        let file = &self.files[*file];
        format!("{}::{}", file.path, file.source.functions()[*function].name)
    }

    /// The line at which a function begins.
    pub(super) fn first_line(&self, function: usize) -> usize {
        let FunctionOf { file, function, .. } = &self.functions[function];
        *self.files[*file].source.functions()[*function].lines.start()
    }

    /// The edits of a function.
    pub(super) fn edits(&self, function: usize) -> &[Edit] {
        &self.functions[function].edits
    }

    /// An edit in words that name it and nothing else.
    pub(super) fn spelling(&self, function: usize, edit: &Edit) -> String {
        let path = &self.files[self.functions[function].file].path;
        format!("{path}:{}:{}:{}", edit.range.start, edit.rule, edit.replacement)
    }

    /// The file of a mutant; nothing where the same place is not found beside the old tests.
    pub(super) fn mutated(&self, function: usize, edit: &Edit, beside: Beside) -> Option<Changed> {
        let file = &self.files[self.functions[function].file];
        let text = match (&file.old, beside) {
            (Some((_, old)), Beside::OldTests) => old.apply(&same_edit(&file.source, old, edit)?),
            _ => file.source.apply(edit),
        };
        Some(Changed { path: file.path.clone(), mode: file.mode.clone(), text })
    }

    /// The file of a mutant that is one for some arguments of its function only, as text with moved lines; nothing where
    /// that cannot be made.
    pub(super) fn mutated_for(
        &self,
        function: usize,
        edit: &Edit,
        nth: usize,
        beside: Beside,
    ) -> Option<(Changed, Moved)> {
        let file = &self.files[self.functions[function].file];
        let moved = match (&file.old, beside) {
            (Some((_, old)), Beside::OldTests) => old.apply_for(&same_edit(&file.source, old, edit)?, nth)?,
            _ => file.source.apply_for(edit, nth)?,
        };
        let changed = Changed { path: file.path.clone(), mode: file.mode.clone(), text: moved.text.clone() };
        Some((changed, moved))
    }

    /// A mutant as a diff.
    pub(super) fn diff(&self, function: usize, edit: &Edit) -> String {
        let file = &self.files[self.functions[function].file];
        small_diff(&file.path, &file.text, &file.source.apply(edit))
    }

    /// The path of a function's file.
    pub(super) fn path(&self, function: usize) -> &str {
        &self.files[self.functions[function].file].path
    }

    /// The files in which these functions fail at their first line; those that cannot be made to fail stay.
    pub(super) fn failing(&self, which: &dyn Fn(usize) -> bool, beside: Beside) -> Vec<Changed> {
        self.rewritten(beside, |file, source| {
            source.failing(&|function| self.place(file, source, function).is_some_and(which))
        })
    }

    /// Whether tests take little longer while functions write their numbers down.
    pub(super) fn records_fast(&self) -> bool {
        !self.files.iter().any(|file| file.source.records_every_call())
    }

    /// The files in which each function first writes its number to a file.
    pub(super) fn recording(&self, to: &str, beside: Beside) -> Vec<Changed> {
        self.rewritten(beside, |file, source| {
            source.recording(&|function| self.place(file, source, function).map(|place| place as u64), to)
        })
    }

    /// The place of a function in the program, given its place in a file as it is beside the old or the new tests.
    fn place(&self, file: usize, source: &Source, function: usize) -> Option<usize> {
        let name = &source.functions().get(function)?.name;
        let own = &self.files[file].source;
        let is_it = |of: &FunctionOf| of.file == file && own.functions()[of.function].name == *name;
        self.functions.iter().position(is_it)
    }

    fn rewritten(&self, beside: Beside, rewrite: impl Fn(usize, &Source) -> String) -> Vec<Changed> {
        let text_of = |file: &'_ ProgramFile, at: usize| match (&file.old, beside) {
            (Some((text, source)), Beside::OldTests) => (rewrite(at, source), text.clone()),
            _ => (rewrite(at, &file.source), file.text.clone()),
        };
        let all = self.files.iter().enumerate().map(|(at, file)| (file, text_of(file, at)));
        let changed = all.filter(|(_, (text, before))| text != before);
        changed
            .map(|(file, (text, _))| Changed { path: file.path.clone(), mode: file.mode.clone(), text })
            .collect()
    }
}

/// The edit of another spelling of a file that does the same at the same place: in the function of that name, by the same
/// rule, the same text, as the same one of several.
fn same_edit(from: &Source, to: &Source, edit: &Edit) -> Option<Edit> {
    let key = |source: &Source, edit: &Edit| {
        let name = source.functions().get(edit.function).map(|function| function.name.clone());
        let text = source.text().get(edit.range.clone()).map(str::to_owned);
        (name, edit.rule.clone(), edit.replacement.clone(), text)
    };
    let wanted = key(from, edit);
    let nth =
        from.edits().iter().filter(|other| key(from, other) == wanted).position(|other| other == edit)?;
    to.edits().into_iter().filter(|other| key(to, other) == wanted).nth(nth)
}

/// Whether a file is worth reading: it has an ending of a language, or none at all.
pub(super) fn may_be_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.contains('.') || Language::of(path, "").is_some()
}

impl Changed {
    /// Where it is.
    pub(super) fn repo_path(&self) -> RepoPath {
        RepoPath::new(self.path.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn sub(a: i32, b: i32) -> i32 {\n    a - b\n}\n";

    fn with_tests(tests: &str) -> String {
        format!("{PROGRAM}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n")
    }

    #[test]
    fn a_mutant_is_found_again_beside_other_tests_of_the_same_file() {
        let old =
            with_tests("    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n");
        // Tests above the program move every place in it.
        let new = format!("#[cfg(test)]\nmod more {{\n    #[test]\n    fn x() {{}}\n}}\n{}", with_tests(""));
        let parse = |text: &str| Source::parse(Language::Rust, text).unwrap();
        let (before, after) = (parse(&old), parse(&new));
        let edits = after.edits();
        assert!(edits.len() > 3, "{edits:?}");
        for edit in &edits {
            let same = same_edit(&after, &before, edit).unwrap_or_else(|| panic!("{edit:?}"));
            let changed = before.apply(&same);
            assert!(changed.contains("fn adds()"), "the old tests stay: {changed}");
            assert_eq!(changed.lines().count(), old.lines().count());
            let function = |source: &Source, edit: &Edit| source.functions()[edit.function].name.clone();
            assert_eq!(function(&before, &same), function(&after, edit));
        }
        let foreign = parse("pub fn other() -> i32 {\n    1 + 1\n}\n");
        assert_eq!(same_edit(&after, &foreign, &edits[0]), None);
    }
}
