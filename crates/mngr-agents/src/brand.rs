//! What the rest of mngr asks of a brand of coding agent, where data alone cannot answer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use mngr_config::AgentTypeSettings;
use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::rsync::RsyncError;
use mngr_model::agent::AgentServer;
use mngr_model::env::EnvPair;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::permission::{Granted, PermissionSet};
use mngr_model::quote::sh_quote;
use mngr_model::state::StateReport;
use mngr_model::{AgentRecord, HostPath};

use crate::login::{LoginPlace, MissingLogin};
use crate::manifest::Timing;
use crate::screen::Reading;
use crate::settings::flag;

/// What an agent's first start needs to know.
pub struct Provisioning<'a> {
    /// The user's machine.
    pub client: &'a dyn Host,
    /// The user's home.
    pub home: Option<&'a HostPath>,
    /// The user's variables.
    pub vars: &'a BTreeMap<String, String>,
    /// Where the agent runs.
    pub host: &'a dyn Host,
    /// Its state folder.
    pub agent: &'a AgentLayout,
    /// Its record so far.
    pub record: &'a AgentRecord,
    /// The words of its command, without those a brand adds.
    pub argv: &'a [String],
    /// The folder its files came from.
    pub source: &'a HostPath,
    /// The state folder of the agent it is made from, where it is made from one, and the host that is on.
    pub parent: Option<(&'a dyn Host, &'a AgentLayout)>,
    /// The variables its program will see: the user's, with the agent's own on top.
    pub env: &'a BTreeMap<String, String>,
    /// The settings of its type, nearest first.
    pub settings: &'a [AgentTypeSettings],
    /// What may be agreed to in the user's name.
    pub consent: Consent,
    /// What it may do without anybody being asked, where that is not left to its program's settings.
    pub permissions: Option<&'a PermissionSet>,
}

impl Provisioning<'_> {
    /// The set that this agent gets, if not everything is allowed to it, and the program that judges what it does. That runs
    /// only where mngr itself does.
    pub(crate) fn granted(&self) -> Result<Option<(&PermissionSet, Option<&str>)>, ProvisionError> {
        let allows_all = flag(self.settings, "auto_allow_permissions")?;
        let Some(set) = self.permissions.filter(|_| !allows_all) else { return Ok(None) };
        let is_here = self.host.info().id == self.client.info().id;
        let granted = Granted::new(set, &self.record.work_dir, self.agent.root());
        let text = serde_json::to_string(&granted).unwrap_or_default();
        let files = self.host.files();
        files.write(&self.agent.permissions(), text.as_bytes(), Access::Private, Durability::Cached)?;
        files.make_folder(&self.agent.handed_over())?;
        Ok(Some((set, set.judge.as_deref().filter(|_| is_here))))
    }
}

/// What may be agreed to in the user's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nothing: the user sits at the terminal and answers for themselves.
    Ask,
    /// Nothing, and nobody is there to ask.
    Refuse,
    /// Trust in the work dir and first-start dialogs (`--yes`). Never a permission to run tools.
    Dialogs,
}

/// What a brand prepared.
#[derive(Debug, Clone, Default)]
pub struct Provisioned {
    /// Variables its program needs.
    pub env: Vec<EnvPair>,
    /// Words put behind the program at every launch.
    pub words: Vec<String>,
    /// The program's own status file, below the state folder.
    pub status_file: Option<String>,
    /// The folder in which something new appears when the program is ready, below the state folder.
    pub ready_folder: Option<String>,
    /// The server that is to live with the agent.
    pub server: Option<AgentServer>,
    /// What the user is told.
    pub notes: Vec<String>,
}

/// A brand could not prepare an agent.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// A file could not be read or written.
    #[error("cannot prepare the agent's configuration")]
    Files(#[from] FilesError),
    /// The user's own configuration could not be brought to the agent's host.
    #[error("cannot bring the user's configuration to the agent's host")]
    Copy(#[from] RsyncError),
    /// The user's own configuration is not what it should be.
    #[error("the user's `{path}` is not valid JSON")]
    Damaged {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The user's own configuration is not what it should be.
    #[error("the user's `{path}` is not valid TOML")]
    DamagedToml {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: toml::de::Error,
    },
    /// The user would have to answer a dialog, and may not be answered for.
    #[error("{program} would ask {question}, and nobody is there to answer")]
    NeedsConsent {
        /// The program.
        program: &'static str,
        /// What it would ask.
        question: String,
    },
    /// There is neither a login nor a key, and nobody is there to log in.
    #[error("{} is not logged in", .0.program)]
    NotLoggedIn(MissingLogin),
    /// A setting of the type cannot be used.
    #[error("the setting `{key}` of the agent type is not {expected}")]
    Setting {
        /// Its name.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A value cannot be a variable.
    #[error("a value of the agent's environment cannot be used")]
    Env(#[from] mngr_model::env::EnvError),
}

/// `sh` text that reads the only word of a file into `mngr_noted`: empty where there is none, or where it holds more than
/// these characters.
pub(crate) fn noted_word(path: &HostPath, characters: &str) -> String {
    let path = sh_quote(path.as_str());
    format!(
        "mngr_noted=\n[ -f {path} ] && read -r mngr_noted <{path}\n\
         case $mngr_noted in *[!{characters}]*) mngr_noted= ;; esac\n"
    )
}

/// A brand of coding agent with a terminal interface.
pub trait Brand: Sync {
    /// Prepares a new agent. The user's own configuration is read, never written.
    fn provision(&self, request: &Provisioning<'_>) -> Result<Provisioned, ProvisionError>;

    /// What the user has to do before the program can ask its model anything; `None` where a login or a key is there,
    /// or where it cannot be told.
    fn missing_login(&self, _login: &LoginPlace<'_>) -> Result<Option<MissingLogin>, ProvisionError> {
        Ok(None)
    }

    /// What the program would ask when an agent starts whose files come from this folder; `None` where it asks nothing.
    fn first_question(
        &self,
        _login: &LoginPlace<'_>,
        _source: &HostPath,
    ) -> Result<Option<ProvisionError>, ProvisionError> {
        Ok(None)
    }

    /// What its agents may do beyond a permission set on a host that has no mngr; `None` where the program keeps to it by
    /// itself.
    fn beyond_the_set(&self) -> Option<&'static str> {
        None
    }

    /// The words that continue or begin the agent's conversation, put right behind the program.
    fn conversation_words(
        &self,
        host: &dyn Host,
        agent: &AgentLayout,
        record: &AgentRecord,
    ) -> Result<Vec<String>, FilesError>;

    /// The same as `sh` text that sets the words `$1`, `$2`, ...: a host that boots starts its agents without mngr.
    /// What it reads was written by the agent, so it is only ever compared and passed on.
    fn conversation_at_boot(&self, agent: &AgentLayout, record: &AgentRecord) -> String;

    /// The state of a living agent, from what its program says; `None` when it says nothing that is understood.
    fn state(&self, program: &ProgramFacts, markers: &Markers) -> Option<StateReport>;

    /// What the program says it works on, where its status tells. Untrusted text.
    fn title(&self, _program: &ProgramFacts) -> Option<String> {
        None
    }

    /// Whether a new launch has got as far as taking messages.
    fn is_ready(&self, program: &ProgramFacts, markers: &Markers) -> bool;

    /// The folder in which the signs of readiness appear.
    fn ready_folder(&self, agent: &AgentLayout) -> HostPath;

    /// What is in the input box, from a screen with its colours.
    fn composer(&self, screen: &str) -> Composer;

    /// What is in the input box, where the manifest cannot describe the box.
    fn read_box(&self, _screen: &str) -> Option<Reading> {
        None
    }

    /// Files whose growth may prove that this text was accepted.
    fn proof_files(
        &self,
        record: &AgentRecord,
        program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        text: &str,
    ) -> Vec<HostPath>;

    /// Whether what was appended to a proof file shows that exactly this text was taken.
    fn proves(&self, appended: &str, text: &str) -> bool;

    /// Whether what was appended shows that the text is being taken, where that may go on for a while before it is proved:
    /// Enter, pressed again meanwhile, would send it twice.
    fn is_taking(&self, _appended: &str, _text: &str) -> bool {
        false
    }

    /// The beginning of a text that has to be typed, key by key: pasted, it would mean nothing.
    fn typed_beginning<'t>(&self, _text: &'t str) -> &'t str {
        ""
    }

    /// The text as it has to be typed so that it arrives: one that begins with a `/` and names no command may need a blank
    /// before it.
    fn typed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// Whether the program drops all of this text.
    fn drops(&self, _text: &str) -> bool {
        false
    }

    /// Whether this text is a command of the program itself, not something said to the model.
    fn is_command(&self, _text: &str) -> bool {
        false
    }

    /// What became of a command, from what was appended to a proof file; `None` while that is not known.
    fn command_fate(&self, _appended: &str, _text: &str) -> Option<CommandFate> {
        None
    }

    /// Whether a command that the program does not know is rather something said to the model.
    fn is_said_if_unknown(&self, _text: &str) -> bool {
        false
    }

    /// Where the messages are seen that the program has taken and not begun; `None` where the next one cannot overtake
    /// them now.
    fn queue(
        &self,
        _record: &AgentRecord,
        _program: Option<&ProgramFacts>,
        _agent: &AgentLayout,
        _now: Timestamp,
    ) -> Option<QueuePlaces> {
        None
    }

    /// Where this message is that was typed at this time, from the end of the program's record.
    fn place_of(&self, _record: &str, _text: &str, _since: Timestamp) -> QueuePlace {
        QueuePlace::Begun
    }

    /// What is waited for on the way into the input box.
    fn timing(&self) -> Timing {
        Timing::default()
    }
}

/// Where a program's queue of messages is seen and kept in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePlaces {
    /// The record that tells of it.
    pub record: HostPath,
    /// While this file is there, a turn does not end: a sender is about to put a message into the queue.
    pub sender: HostPath,
    /// Touched when a turn is about to end.
    pub turn_end: HostPath,
}

/// Where a message is that was typed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePlace {
    /// The record does not tell of it, yet.
    Unknown,
    /// In the queue. When the program last took something out of it, or began a turn.
    Waits {
        /// Since when the turn is under way, as far as the record tells.
        turn_since: Option<Timestamp>,
    },
    /// The program has begun with it.
    Begun,
}

/// What became of a command that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandFate {
    /// The program ran it.
    Ran,
    /// The program took it for this command of another name, which it ran.
    RanAs(String),
    /// The program did not, and said so in these words.
    Refused(String),
}

/// Whether the text begins with a `/` and nothing right behind it. Programs take that for a command, or choose one from
/// their menu.
pub(crate) fn is_bare_slash(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
}

/// Whether the text begins with the name of a command, `/name`. A path is none.
pub(crate) fn is_slash_command(text: &str) -> bool {
    let name = text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| text[1..].starts_with(name) && !name.contains('/'))
}

/// Whether a `/name` at the beginning of the text does not look like a command's: those begin with a letter.
pub(crate) fn is_odd_name(text: &str) -> bool {
    is_slash_command(text) && !text[1..].starts_with(|c: char| c.is_ascii_alphabetic())
}

/// What an input box holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Composer {
    /// Nothing, or only a hint.
    Empty,
    /// Text somebody typed.
    HoldsText,
    /// There is no input box to be seen.
    NotVisible,
}

#[cfg(test)]
mod tests;
