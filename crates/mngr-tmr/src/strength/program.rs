//! The program that the tests of a result run: its source files, their functions, and what can be changed in them.
//!
//! Processes: 2 of git for each program.

use mngr_host::git::{FileMode, Git, GitError, RepoPath};

use crate::syntax::{Edit, Language, Source, small_diff};
use crate::verify::{PathClass, PathRules};

/// Larger files are left alone: they are generated or data.
const LARGEST_FILE: u64 = 512 * 1024;
/// How many bytes of source are read at most, the smallest files first: the rest is not mutated.
const LARGEST_PROGRAM: u64 = 32 * 1024 * 1024;

/// A source file of the program.
pub(super) struct ProgramFile {
    pub(super) path: String,
    pub(super) mode: FileMode,
    pub(super) language: Language,
    text: String,
    source: Source,
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

impl Program {
    /// The program of a commit.
    pub(super) fn read(git: &Git<'_>, commit: &str, paths: &PathRules) -> Result<Self, GitError> {
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
        let blobs: Vec<String> = listed.iter().map(|file| file.blob.clone()).collect();
        let texts = git.read_blobs(&blobs)?;
        let files = listed.into_iter().zip(texts).filter_map(|(file, bytes)| {
            let (path, text) = (file.path.as_str()?.to_owned(), String::from_utf8(bytes).ok()?);
            let language = Language::of(&path, &text)?;
            let source = Source::parse(language, &text)?;
            Some(ProgramFile { path, mode: file.mode, language, text, source })
        });
        Ok(Self::of(files.collect()))
    }

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

    /// The file of a mutant.
    pub(super) fn mutated(&self, function: usize, edit: &Edit) -> Changed {
        let file = &self.files[self.functions[function].file];
        Changed { path: file.path.clone(), mode: file.mode.clone(), text: file.source.apply(edit) }
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
    pub(super) fn failing(&self, which: &dyn Fn(usize) -> bool) -> Vec<Changed> {
        self.rewritten(|file, source| {
            source.failing(&|function| self.place(file, function).is_some_and(which))
        })
    }

    /// The files in which each function first writes its number to a file.
    pub(super) fn recording(&self, to: &str) -> Vec<Changed> {
        self.rewritten(|file, source| {
            source.recording(&|function| self.place(file, function).map(|place| place as u64), to)
        })
    }

    /// The place of a function in the program, given its place in a file.
    fn place(&self, file: usize, function: usize) -> Option<usize> {
        self.functions.binary_search_by(|of| (of.file, of.function).cmp(&(file, function))).ok()
    }

    fn rewritten(&self, rewrite: impl Fn(usize, &Source) -> String) -> Vec<Changed> {
        let all = self.files.iter().enumerate().map(|(at, file)| (file, rewrite(at, &file.source)));
        let changed = all.filter(|(file, text)| *text != file.text);
        changed
            .map(|(file, text)| Changed { path: file.path.clone(), mode: file.mode.clone(), text })
            .collect()
    }
}

/// Whether a file is worth reading: it has an ending of a language, or none at all.
fn may_be_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.contains('.') || Language::of(path, "").is_some()
}

impl Changed {
    /// Where it is.
    pub(super) fn repo_path(&self) -> RepoPath {
        RepoPath::new(self.path.as_bytes())
    }
}
