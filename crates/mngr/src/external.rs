//! Verbs of the user's own: `mngr frob` runs the program `mngr-frob` found on PATH, as git does.
//!
//! The program gets the words after the verb, the terminal, and the `MNGR_*` variables that tell it where everything is. A
//! verb of mngr itself always wins. Spawns nothing: the program replaces this process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mngr_host::proc::Cmd;
use mngr_model::env as names;

use crate::cli;
use crate::ctx::{Scopes, Surroundings};

/// A program in place of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct External {
    program: PathBuf,
    words: Vec<String>,
    env: Vec<(&'static str, String)>,
}

impl External {
    /// The program for this command line; nothing when its first word is an option or a verb of mngr, or nobody has it.
    pub(crate) fn find(argv: &[OsString], surroundings: &Surroundings, scopes: &Scopes) -> Option<Self> {
        let verb = argv.get(1)?.to_str().filter(|word| is_verb(word))?;
        if cli::command().find_subcommand(verb).is_some() {
            return None;
        }
        let program = folders(surroundings).map(|folder| folder.join(program_name(verb)));
        let program = program.into_iter().find(|program| is_program(program))?;
        let words: Option<Vec<String>> =
            argv.iter().skip(2).map(|word| word.to_str().map(str::to_owned)).collect();
        let prefix = surroundings.var(names::MNGR_PREFIX).map(str::to_owned);
        let env = vec![
            (names::MNGR_BINARY, surroundings.binary.clone()),
            (names::MNGR_HOST_DIR, scopes.host_dir().to_string()),
            (names::MNGR_ROOT_NAME, scopes.root_name().to_owned()),
            (names::MNGR_PREFIX, prefix.unwrap_or_else(|| format!("{}-", scopes.root_name()))),
        ];
        Some(Self { program, words: words?, env })
    }

    /// The command that replaces this process.
    pub(crate) fn command(&self) -> Cmd {
        let cmd = Cmd::new(self.program.to_string_lossy()).args(self.words.clone());
        self.env.iter().fold(cmd, |cmd, (name, value)| cmd.env(*name, value))
    }
}

/// Every verb of the user's own with the program that is run for it, by name.
pub(crate) fn all(surroundings: &Surroundings) -> BTreeMap<String, PathBuf> {
    let prefix = program_name("");
    let top = cli::command();
    let mut found = BTreeMap::new();
    let entries = folders(surroundings).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let verb = name.to_str().and_then(|name| name.strip_prefix(&prefix)).filter(|verb| is_verb(verb));
        if let Some(verb) =
            verb.filter(|verb| top.find_subcommand(verb).is_none() && is_program(&entry.path()))
        {
            // The first folder of PATH wins.
            found.entry(verb.to_owned()).or_insert_with(|| entry.path());
        }
    }
    found
}

/// The verb of the user's own that a word was probably meant to be.
pub(crate) fn like(word: &str, surroundings: &Surroundings) -> Option<String> {
    let verbs = all(surroundings).into_keys();
    let likeness = |verb: &str| strsim::jaro_winkler(verb, word);
    verbs.filter(|verb| likeness(verb) > ALIKE).max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

/// How much a word must be like another one to be taken for it. More than for our own verbs: anything may be on PATH.
const ALIKE: f64 = 0.85;

fn program_name(verb: &str) -> String {
    format!("{}-{verb}", cli::NAME)
}

/// What can be a verb: nothing that is an option or leads to another folder.
fn is_verb(word: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_inner)
}

/// The folders of PATH. A relative one would run what lies where the user happens to stand.
fn folders(surroundings: &Surroundings) -> impl Iterator<Item = PathBuf> {
    let path = surroundings.var("PATH").unwrap_or_default();
    path.split(':').filter(|folder| folder.starts_with('/')).map(PathBuf::from)
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(verb: &str, folder: &Path) -> Option<External> {
        let surroundings = Surroundings::of(&[("PATH", folder.to_str().unwrap()), ("HOME", "/h")], "/");
        let argv: Vec<OsString> = ["mngr", verb, "--x", "y"].map(OsString::from).into();
        External::find(&argv, &surroundings, &Scopes::find(&surroundings))
    }

    #[test]
    fn a_program_on_path_is_a_verb_unless_mngr_has_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["mngr-frob", "mngr-list", "mngr-notes"] {
            fs::write(folder.path().join(name), "#!/bin/sh\n").unwrap();
            let mode = if name == "mngr-notes" { 0o644 } else { 0o755 };
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(found("frob", folder.path()).unwrap().words, ["--x", "y"]);
        for none in ["list", "ls", "notes", "--frob", "../frob", "frob/x", "nobody"] {
            assert_eq!(found(none, folder.path()), None, "{none}");
        }
        let surroundings = Surroundings::of(&[("PATH", folder.path().to_str().unwrap())], "/");
        assert_eq!(all(&surroundings).into_keys().collect::<Vec<_>>(), ["frob"]);
        assert_eq!(like("frb", &surroundings).as_deref(), Some("frob"));
        assert_eq!(like("zzz", &surroundings), None);
    }
}
