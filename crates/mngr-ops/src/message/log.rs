//! The log of messages to one agent: what was tried, how far it got. It is what makes a key count only once.
//!
//! A line before anything is typed and a line after it. A first line without a second one belongs to a command that
//! was killed in between: whether it typed is not known. Written under the agent's message lock.

use jiff::Timestamp;
use mngr_agents::ordinary::read_ordinary;
use mngr_host::beneath::Beneath;
use mngr_host::files::{Access, Change, FilesError};
use mngr_host::host::Host;
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::delivery::DeliveryLevel;
use mngr_model::event::Event;
use mngr_model::layout::AgentLayout;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::key::MessageKey;

const SOURCE: &str = "messages";
const TYPING: &str = "message_typing";
const SENT: &str = "message_sent";
const FAILED: &str = "message_failed";

/// As much of the log as is looked at for the last message.
const LOG_END: u64 = 128 * 1024;

/// The last message that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LastSent {
    /// What it said.
    pub(super) text: String,
    /// When it was about to be typed.
    pub(super) at: Timestamp,
}

/// What became of earlier messages with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Earlier {
    /// There were none, or nothing of them was typed.
    Nothing,
    /// It was delivered.
    Delivered {
        /// How far.
        level: DeliveryLevel,
        /// What it said.
        text: String,
    },
    /// It may have been typed.
    Uncertain,
}

/// Whether a failed message may have reached the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trace {
    /// Certainly not.
    NothingTyped,
    /// It may have.
    MaybeTyped,
}

/// An agent's log of messages.
pub(super) struct MessageLog<'h> {
    host: &'h dyn Host,
    /// The agent's state folder.
    state: HostPath,
    path: HostPath,
}

#[derive(Deserialize)]
struct Line {
    timestamp: Option<Timestamp>,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    key: String,
    level: Option<DeliveryLevel>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    may_be_typed: bool,
}

impl<'h> MessageLog<'h> {
    /// The log, which need not be there yet.
    pub(super) fn of(host: &'h dyn Host, agent: &AgentLayout) -> Self {
        Self { host, state: agent.root().clone(), path: agent.message_events() }
    }

    /// What became of this key before.
    pub(super) fn earlier(&self, key: &MessageKey) -> Result<Earlier, FilesError> {
        let log = read_ordinary(self.host.files(), &self.path)?.unwrap_or_default();
        Ok(earlier_in(&String::from_utf8_lossy(&log), key))
    }

    /// The last message that was delivered; `None` where there is none, or where it is too long to be looked at.
    pub(super) fn last(&self) -> Result<Option<LastSent>, FilesError> {
        let files = self.host.files();
        let Some(stat) = files.stat(&self.path)? else { return Ok(None) };
        let end = files.read_from(&self.path, stat.size.saturating_sub(LOG_END))?;
        Ok(last_in(&String::from_utf8_lossy(&end)))
    }

    /// Says that a message is about to be typed.
    pub(super) fn typing(&self, now: Timestamp, key: &MessageKey, text: &str) -> Result<(), FilesError> {
        self.append(now, TYPING, key, [("bytes", text.len().into())])
    }

    /// Says that it was delivered, and what the agent works on, where nobody has said so before.
    pub(super) fn sent(
        &self,
        now: Timestamp,
        key: &MessageKey,
        level: DeliveryLevel,
        text: &str,
        title: Option<String>,
    ) -> Result<(), FilesError> {
        let fields = [("level", level.as_str().into()), ("bytes", text.len().into()), ("text", text.into())];
        let mut changes = self.line(now, SENT, key, fields);
        if let Some(title) = title {
            let path = AgentLayout::new(self.state.clone()).status_title();
            changes.extend(self.folder_of(&path));
            changes.push(Change::write(path, format!("{title}\n"), Access::Private));
        }
        self.host.files().apply(&changes)
    }

    /// Says that it was not.
    pub(super) fn failed(
        &self,
        now: Timestamp,
        key: &MessageKey,
        level: DeliveryLevel,
        trace: Trace,
        error: &str,
    ) -> Result<(), FilesError> {
        let may_be_typed = trace == Trace::MaybeTyped;
        let fields = [
            ("level", level.as_str().into()),
            ("may_be_typed", may_be_typed.into()),
            ("error", error.into()),
        ];
        self.append(now, FAILED, key, fields)
    }

    fn append<const N: usize>(
        &self,
        timestamp: Timestamp,
        kind: &str,
        key: &MessageKey,
        more: [(&str, Value); N],
    ) -> Result<(), FilesError> {
        self.host.files().apply(&self.line(timestamp, kind, key, more))
    }

    /// What adds a line.
    fn line<const N: usize>(
        &self,
        timestamp: Timestamp,
        kind: &str,
        key: &MessageKey,
        more: [(&str, Value); N],
    ) -> Vec<Change> {
        let mut fields = Map::new();
        fields.insert("key".to_owned(), key.as_str().into());
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
        let event = Event {
            timestamp,
            kind: kind.to_owned(),
            event_id: random::event_id(),
            source: SOURCE.to_owned(),
            fields,
        };
        let line = Change::Append { path: self.path.clone(), bytes: event.to_line().into_bytes() };
        // For the owner's eyes only: messages may hold secrets.
        let made = [Change::MakePrivateFile(self.path.clone()), line];
        self.folder_of(&self.path).into_iter().chain(made).collect()
    }

    /// What makes the folder of a file. Never the state folder itself: that of a destroyed agent is in the trash.
    fn folder_of(&self, path: &HostPath) -> Option<Change> {
        let folder = path.parent().and_then(|path| Beneath::new(&self.state, &path));
        folder.map(|folder| Change::MakeFolderBeneath(folder.in_existing_root()))
    }
}

fn last_in(log: &str) -> Option<LastSent> {
    let mut lines = log.lines().rev().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let sent = lines.find(|line| line.kind == SENT)?;
    let typing = lines.find(|line| line.kind == TYPING && line.key == sent.key)?;
    Some(LastSent { text: sent.text, at: typing.timestamp? })
}

/// The last line about a key decides. Lines that cannot be read are passed over: the agent can write here.
fn earlier_in(log: &str, key: &MessageKey) -> Earlier {
    let mentions = log.lines().rev().filter(|line| line.contains(key.as_str()));
    let mut lines = mentions.filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let Some(line) = lines.find(|line| line.key == key.as_str()) else { return Earlier::Nothing };
    match (line.kind.as_str(), line.level) {
        (SENT, Some(level)) => Earlier::Delivered { level, text: line.text },
        (FAILED, _) if !line.may_be_typed => Earlier::Nothing,
        _ => Earlier::Uncertain,
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::files::Durability;
    use mngr_host::local::LocalHost;

    use super::*;

    #[test]
    fn the_log_of_a_destroyed_agent_is_not_begun_again() {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().to_str().unwrap())).unwrap();
        let agent = host.layout().agent(&random::agent_id());
        let log = MessageLog::of(&host, &agent);
        let key = MessageKey::random();
        let error = log.typing(Timestamp::UNIX_EPOCH, &key, "text").unwrap_err();
        assert!(error.is_missing(), "{error}");
        assert!(!host.files().exists(agent.root()).unwrap());
        host.files().make_folder(agent.root()).unwrap();
        log.typing(Timestamp::UNIX_EPOCH, &key, "text").unwrap();
        assert!(host.files().exists(&agent.message_events()).unwrap());
    }

    #[test]
    fn the_last_line_about_a_key_decides() {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().to_str().unwrap())).unwrap();
        let agent = host.layout().agent(&random::agent_id());
        host.files().make_folder(agent.root()).unwrap();
        let log = MessageLog::of(&host, &agent);
        let now = Timestamp::UNIX_EPOCH;
        let (key, other): (MessageKey, MessageKey) = ("k1".parse().unwrap(), "k11".parse().unwrap());
        assert_eq!(log.earlier(&key).unwrap(), Earlier::Nothing);
        log.typing(now, &key, "hi").unwrap();
        assert_eq!(log.earlier(&key).unwrap(), Earlier::Uncertain, "killed while typing");
        log.failed(now, &key, DeliveryLevel::Nothing, Trace::NothingTyped, "x").unwrap();
        assert_eq!(log.earlier(&key).unwrap(), Earlier::Nothing);
        log.failed(now, &key, DeliveryLevel::Written, Trace::MaybeTyped, "x").unwrap();
        assert_eq!(log.earlier(&key).unwrap(), Earlier::Uncertain);
        log.sent(now, &key, DeliveryLevel::Accepted, "say \"k11\"\n", None).unwrap();
        host.files().append(&agent.message_events(), b"k1 no json\n", Durability::Cached).unwrap();
        let delivered =
            Earlier::Delivered { level: DeliveryLevel::Accepted, text: "say \"k11\"\n".to_owned() };
        assert_eq!(log.earlier(&key).unwrap(), delivered);
        assert_eq!(log.earlier(&other).unwrap(), Earlier::Nothing, "a key is compared whole");
        let mode = host.files().stat(&agent.message_events()).unwrap().unwrap().mode;
        assert_eq!(mode, 0o600, "only the owner reads messages");
        let last = log.last().unwrap().unwrap();
        assert_eq!((last.text.as_str(), last.at), ("say \"k11\"\n", now));
    }
}
