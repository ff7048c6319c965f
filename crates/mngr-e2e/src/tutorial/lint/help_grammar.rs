//! The grammar of a program that is only known by its `--help`.
//!
//! Runs `PROGRAM --help` and, for commands that this page lists, `PROGRAM COMMAND --help`: each once, with a deadline, in an
//! empty folder and an empty environment. Never anything else.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError};
use mngr_host::random;
use mngr_model::HostPath;

use super::grammar::{Complaint, Grammar, Verdict};
use super::help_page::{HelpOption, HelpPage, Takes};
use crate::tutorial::shell::{Expansion, Word};

/// How long a program may take to show its help.
const DEADLINE: Duration = Duration::from_secs(10);

/// Runs the words after the folder there, with nothing of our environment but `PATH`.
const IN_EMPTY_SURROUNDINGS: &str = r#"cd -- "$1" && shift && exec env -i PATH="$PATH" HOME="$PWD" TMPDIR="$PWD" \
    LC_ALL=C.UTF-8 TERM=dumb COLUMNS=200 NO_COLOR=1 PAGER=cat MANPAGER=cat GIT_PAGER=cat "$@""#;

/// How like a name must be to be what was meant.
const LIKE: f64 = 0.75;

/// Why a program's grammar is not known.
#[derive(Debug, thiserror::Error)]
pub enum HelpError {
    /// It could not be run, or took too long.
    #[error("`{command}` does not show any help")]
    Exec {
        /// What was run.
        command: String,
        /// Why.
        #[source]
        source: ExecError,
    },
    /// What it said names no option and no command.
    #[error("`{command}` shows no options and no commands, but `{said}`")]
    NoHelp {
        /// What was run.
        command: String,
        /// The first line of it.
        said: String,
    },
    /// There is no empty folder to run it in.
    #[error("there is no folder to run `{command}` in")]
    Folder {
        /// What should have been run.
        command: String,
        /// Why.
        #[source]
        source: FilesError,
    },
}

/// What a program accepts, learnt from its help.
pub struct HelpGrammar<'h> {
    host: &'h dyn Host,
    program: String,
    root: Rc<HelpPage>,
    /// Pages of commands, by their words.
    pages: RefCell<HashMap<Vec<String>, Option<Rc<HelpPage>>>>,
}

impl<'h> HelpGrammar<'h> {
    /// Learns what a program on a host accepts. A path has to be absolute: the program does not run where the user stands.
    pub fn learn(host: &'h dyn Host, program: &str) -> Result<Self, HelpError> {
        let root = Rc::new(help(host, program, &[])?);
        Ok(Self { host, program: program.to_owned(), root, pages: RefCell::default() })
    }

    /// The page of a command that the page above it lists.
    fn page(&self, words: &[String]) -> Option<Rc<HelpPage>> {
        if let Some(known) = self.pages.borrow().get(words) {
            return known.clone();
        }
        let page = help(self.host, &self.program, words).ok().map(Rc::new);
        self.pages.borrow_mut().insert(words.to_vec(), page.clone());
        page
    }
}

impl Grammar for HelpGrammar<'_> {
    fn examine(&self, words: &[Word]) -> Verdict {
        let mut walk = Walk { pages: vec![Rc::clone(&self.root)], complaints: Vec::new(), words };
        let mut path: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" || (word.expansion == Expansion::AnyWords && !text.starts_with('-')) {
                // What follows is the business of the program, or nobody knows how many words this is.
                break;
            }
            if text.len() > 1 && text.starts_with('-') && text.parse::<f64>().is_err() {
                at = walk.option(at);
                continue;
            }
            match walk.command(at) {
                Next::Argument => {}
                Next::Wrong => break,
                Next::Unknown => return walk.unknown(),
                Next::Command => {
                    path.push(text.to_owned());
                    // The same page for every command says nothing about this one.
                    let page = self.page(&path).filter(|page| walk.pages.iter().all(|known| known != page));
                    match page {
                        Some(page) => walk.pages.push(page),
                        None => return walk.unknown(),
                    }
                }
            }
            at += 1;
        }
        Verdict::Known(walk.complaints)
    }

    fn verb_words(&self, words: &[Word]) -> usize {
        let mut path: Vec<String> = Vec::new();
        let mut page = Rc::clone(&self.root);
        for word in words.iter().take_while(|word| word.is_known()) {
            if !page.commands.contains(&word.text) {
                break;
            }
            path.push(word.text.clone());
            match self.page(&path).filter(|next| *next != page) {
                Some(next) => page = next,
                None => break,
            }
        }
        path.len()
    }
}

/// What a word that is no option is.
enum Next {
    /// The name of a command.
    Command,
    /// It should be one.
    Wrong,
    /// It may be one that no page lists.
    Unknown,
    /// Something else.
    Argument,
}

/// One command being read.
struct Walk<'w> {
    /// From the program's own page to the innermost command's.
    pages: Vec<Rc<HelpPage>>,
    complaints: Vec<Complaint>,
    words: &'w [Word],
}

impl Walk<'_> {
    fn complain(&mut self, word: usize, message: String, hints: Vec<String>) {
        self.complaints.push(Complaint { message, hints, word: Some(word) });
    }

    /// Beyond this nothing is known; what was found so far still counts.
    fn unknown(self) -> Verdict {
        if self.complaints.is_empty() { Verdict::Unknown } else { Verdict::Known(self.complaints) }
    }

    /// What the word at this place is, which is no option.
    fn command(&mut self, at: usize) -> Next {
        let Some(page) = self.pages.last().map(Rc::clone) else { return Next::Argument };
        let word = &self.words[at];
        match (page.commands.is_empty(), page.has_more_commands) {
            (true, true) => Next::Unknown,
            (true, false) => Next::Argument,
            (false, _) if !word.is_known() => Next::Unknown,
            (false, _) if page.commands.contains(&word.text) => Next::Command,
            (false, true) => Next::Unknown,
            (false, false) => {
                let message = format!("No such command: `{}`", word.text);
                self.complain(at, message, near(&word.text, page.commands.iter()));
                Next::Wrong
            }
        }
    }

    /// Reads the option at this place, and gives the place after it and its value.
    fn option(&mut self, at: usize) -> usize {
        let text = self.words[at].text.clone();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text.as_str(), None),
        };
        if let Some(option) = self.find(name) {
            return self.value(at, name, &option, value);
        }
        // It has just shown its help.
        if self.is_mentioned(name) || name == "--help" || Word::stands_in(name) {
            return at + 1;
        }
        if name.starts_with("--") || name.len() == 2 {
            let known: Vec<String> =
                self.pages.iter().flat_map(|page| page.mentioned.iter().cloned()).collect();
            self.complain(at, format!("No such option: {name}"), near(name, known.iter()));
            return at + 1;
        }
        self.bundle(at, &text)
    }

    /// `-abc`: several short options, of which the last may have its value attached.
    fn bundle(&mut self, at: usize, text: &str) -> usize {
        for (place, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            match self.find(&name) {
                Some(option) if option.takes != Takes::Nothing => {
                    let rest = &text[place + letter.len_utf8()..];
                    return self.value(at, &name, &option, (!rest.is_empty()).then_some(rest));
                }
                Some(_) => {}
                None if self.is_mentioned(&name) => {}
                None => {
                    self.complain(at, format!("No such option: {name} (in `{text}`)"), Vec::new());
                    return at + 1;
                }
            }
        }
        at + 1
    }

    fn value(&mut self, at: usize, name: &str, option: &HelpOption, attached: Option<&str>) -> usize {
        let (value, after) = match (option.takes, attached) {
            (Takes::Nothing, _) | (Takes::Optional, None) => return at + 1,
            (_, Some(value)) => (value.to_owned(), at + 1),
            (Takes::Value, None) => match self.words.get(at + 1) {
                Some(next) => (next.text.clone(), at + 2),
                None => {
                    self.complain(at, format!("Option `{name}` needs a value"), Vec::new());
                    return at + 1;
                }
            },
        };
        let is_wrong = !option.choices.is_empty() && !option.choices.contains(&value);
        if is_wrong && !Word::stands_in(&value) {
            let known = option.choices.join(", ");
            let message = format!("Invalid value for `{name}`: `{value}` is not one of {known}");
            self.complain(after - 1, message, near(&value, option.choices.iter()));
        }
        after
    }

    fn find(&self, name: &str) -> Option<HelpOption> {
        self.pages.iter().rev().find_map(|page| page.option(name).cloned())
    }

    fn is_mentioned(&self, name: &str) -> bool {
        self.pages.iter().any(|page| page.mentioned.contains(name))
    }
}

/// The likest of the names, as a hint.
fn near<'n>(text: &str, names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let likeness = |name: &&String| strsim::normalized_damerau_levenshtein(text, name);
    let likest = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    likest
        .filter(|name| likeness(name) >= LIKE)
        .map(|name| format!("did you mean `{name}`?"))
        .into_iter()
        .collect()
}

/// What `PROGRAM WORDS --help` says.
fn help(host: &dyn Host, program: &str, words: &[String]) -> Result<HelpPage, HelpError> {
    help_and_text(host, program, words).map(|(page, _)| page)
}

/// The same, and its text.
pub(super) fn help_and_text(
    host: &dyn Host,
    program: &str,
    words: &[String],
) -> Result<(HelpPage, String), HelpError> {
    let command = [&[program.to_owned()], words, &["--help".to_owned()]].concat();
    let shown = command.join(" ");
    let folder = host.info().host_dir.join(&format!(".help-{}", random::hex32()));
    let no_folder = |source| HelpError::Folder { command: shown.clone(), source };
    host.files().make_folder(&folder).map_err(no_folder)?;
    let output = host.exec(&in_folder(&folder, &command));
    // What is left of it is an empty folder or what the program made of it; neither changes what it said.
    let _ = host.files().remove_tree(&folder);
    let output = output.map_err(|source| HelpError::Exec { command: shown.clone(), source })?;
    if output.exit.to_shell() == NOT_FOUND {
        let source = ExecError::NotFound { program: program.to_owned() };
        return Err(HelpError::Exec { command: shown, source });
    }
    // Some print their usage as an error; what they print counts, not how they end.
    let said = [output.stdout_text(), output.stderr_text()].into_iter().find(|text| !text.is_empty());
    let said = said.unwrap_or_default();
    let page = HelpPage::parse(&said);
    if page.is_empty() {
        let said = said.lines().next().unwrap_or_default().to_owned();
        return Err(HelpError::NoHelp { command: shown, said });
    }
    Ok((page, said))
}

/// What `env` exits with when there is no such program.
const NOT_FOUND: i32 = 127;

fn in_folder(folder: &HostPath, command: &[String]) -> Cmd {
    Cmd::shell(IN_EMPTY_SURROUNDINGS).arg("sh").arg(folder.as_str()).args(command.to_vec()).deadline(DEADLINE)
}

#[cfg(test)]
mod tests;
