//! Claude Code as a brand.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_model::env::EnvPair;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_quote;
use mngr_model::state::StateReport;
use mngr_model::{AgentRecord, HostPath};

use super::config::{self, UserConfig};
use super::{composer, evidence, login, queue, status, title};
use crate::brand::{
    Brand, CommandFate, Composer, ProvisionError, Provisioned, Provisioning, QueuePlace, QueuePlaces,
    is_bare_slash, is_odd_name, is_slash_command, noted_word,
};
use crate::login::{LoginPlace, MissingLogin};
use crate::ordinary::read_ordinary;
use crate::said;
use crate::settings::{flag, flag_unless_off, keeps_its_version, texts};
use crate::user::UserSide;

const HOOK: &str = include_str!("hook.sh");

/// Its configuration folder, below the state folder.
pub(super) const CONFIG_DIR: &str = "plugin/claude/anthropic";

/// Switches off the agent view, and with it `/bg` and Left in an empty input box.
const AGENT_VIEW_VARIABLE: &str = "CLAUDE_CODE_DISABLE_AGENT_VIEW";

/// The session the agent is in, kept by its hooks.
pub(crate) const SESSION: &str = "claude_session_id";
/// All its sessions in the order in which they began, one per line, kept by its hooks.
pub(crate) const SESSION_HISTORY: &str = "claude_session_id_history";

/// How long after the end of a turn something may still be in its queue.
const QUEUE_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// Claude Code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claude;

impl Brand for Claude {
    fn provision(&self, request: &Provisioning<'_>) -> Result<Provisioned, ProvisionError> {
        let files = request.host.files();
        let folder = request.agent.root().join(CONFIG_DIR);
        let hook = request.agent.commands().join("claude-hook.sh");
        files.make_folder(&request.agent.events().join("claude"))?;
        files.write(&hook, HOOK.as_bytes(), Access::PrivateExecutable, Durability::Cached)?;
        let user = UserConfig::find(&UserSide::of(request));
        config::write(request, user.as_ref(), &folder, &hook)?;
        let mut env = vec![pair("CLAUDE_CONFIG_DIR", folder.as_str())?];
        if let Some(user) = &user {
            env.push(pair("ORIGINAL_CLAUDE_CONFIG_DIR", user.folder().as_str())?);
        }
        let has_login = flag_unless_off(request.settings, login::SYNC_LOGIN)?;
        if has_login && request.host.info().id == request.client.info().id {
            env.push(pair(login::STORE_VARIABLE, login::users_store(request.vars))?);
        }
        if keeps_its_version(request.settings) {
            env.push(pair("DISABLE_AUTOUPDATER", "1")?);
        }
        // One key or one command would move the conversation into a process that is not the agent's.
        let has_said = request.env.contains_key(AGENT_VIEW_VARIABLE);
        if !has_said && !flag(request.settings, "allow_agent_view")? {
            env.push(pair(AGENT_VIEW_VARIABLE, "1")?);
        }
        Ok(Provisioned {
            env,
            words: prompt_words(request)?,
            status_file: Some(format!("{CONFIG_DIR}/sessions/{{pid}}.json")),
            ..Provisioned::default()
        })
    }

    fn first_question(
        &self,
        place: &LoginPlace<'_>,
        source: &HostPath,
    ) -> Result<Option<ProvisionError>, ProvisionError> {
        config::first_question(place, source)
    }

    fn missing_login(&self, place: &LoginPlace<'_>) -> Result<Option<MissingLogin>, ProvisionError> {
        login::missing(place)
    }

    fn conversation_words(
        &self,
        host: &dyn Host,
        agent: &AgentLayout,
        record: &AgentRecord,
    ) -> Result<Vec<String>, FilesError> {
        let noted = read_ordinary(host.files(), &agent.root().join(SESSION))?;
        let noted =
            noted.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).filter(|id| is_session(id));
        let session = match noted {
            Some(session) => session,
            None => session_of(record),
        };
        let transcript = transcript_path(agent, record, &session);
        let words = if host.files().exists(&transcript)? {
            ["--resume", &session]
        } else {
            ["--session-id", &session]
        };
        Ok(words.map(str::to_owned).to_vec())
    }

    fn conversation_at_boot(&self, agent: &AgentLayout, record: &AgentRecord) -> String {
        let quoted = |path: HostPath| sh_quote(path.as_str()).into_owned();
        format!(
            "mngr_session={session}\n\
             {noted}\
             [ \"${{#mngr_noted}}\" -eq 36 ] && mngr_session=$mngr_noted\n\
             if [ -e {folder}/\"$mngr_session.jsonl\" ]; then\n    set -- --resume \"$mngr_session\"\n\
             else\n    set -- --session-id \"$mngr_session\"\nfi\n",
            session = session_of(record),
            noted = noted_word(&agent.root().join(SESSION), "0-9a-fA-F-"),
            folder = quoted(project_folder(agent, &record.work_dir)),
        )
    }

    fn state(&self, program: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
        status::state(program, markers)
    }

    fn title(&self, program: &ProgramFacts) -> Option<String> {
        title::title(program)
    }

    fn is_ready(&self, program: &ProgramFacts, _markers: &Markers) -> bool {
        status::Status::parse(program).is_some_and(|status| status.status.is_some())
    }

    fn ready_folder(&self, agent: &AgentLayout) -> HostPath {
        agent.root().join(CONFIG_DIR).join("sessions")
    }

    fn composer(&self, screen: &str) -> Composer {
        composer::composer(screen)
    }

    fn proof_files(
        &self,
        record: &AgentRecord,
        program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        text: &str,
    ) -> Vec<HostPath> {
        let history = || agent.root().join(CONFIG_DIR).join("history.jsonl");
        // Commands that open a dialog are noted nowhere else. What is listed there is not proof of anything said.
        let listed = (self.is_command(text) || text.starts_with('!')).then(history);
        let told = [agent.events().join("claude/hooks.log"), transcript_now(record, program, agent)];
        listed.into_iter().chain(told).collect()
    }

    fn proves(&self, appended: &str, text: &str) -> bool {
        evidence::proves(appended, text)
    }

    fn typed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if is_bare_slash(text) { Cow::Owned(format!(" {text}")) } else { Cow::Borrowed(text) }
    }

    fn drops(&self, text: &str) -> bool {
        said::is_unseen_text(text)
    }

    fn is_said_if_unknown(&self, text: &str) -> bool {
        is_odd_name(text)
    }

    fn queue(
        &self,
        record: &AgentRecord,
        program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        now: Timestamp,
    ) -> Option<QueuePlaces> {
        let status = program.and_then(status::Status::parse)?;
        let is_idle_for = |since: Timestamp| now.duration_since(since) > QUEUE_DELAY;
        if status.status.as_deref() == Some("idle") && status.since().is_some_and(is_idle_for) {
            return None;
        }
        Some(QueuePlaces {
            record: transcript_now(record, program, agent),
            sender: agent.root().join("sending"),
            turn_end: agent.root().join("turn_end"),
        })
    }

    fn place_of(&self, record: &str, text: &str, since: Timestamp) -> QueuePlace {
        queue::place_of(record, text, since)
    }

    fn is_command(&self, text: &str) -> bool {
        is_slash_command(text)
    }

    fn command_fate(&self, appended: &str, text: &str) -> Option<CommandFate> {
        evidence::command_fate(appended, text)
    }
}

fn pair(name: &str, value: &str) -> Result<EnvPair, ProvisionError> {
    Ok(EnvPair::new(name.parse()?, value)?)
}

/// `append_system_prompt`, all of the chain, the parents' first.
fn prompt_words(request: &Provisioning<'_>) -> Result<Vec<String>, ProvisionError> {
    let texts = texts(request.settings, "append_system_prompt")?;
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec!["--append-system-prompt".to_owned(), texts.join("\n\n")])
}

/// The session of an agent that has not started yet: its own id in the form Claude Code wants.
fn session_of(record: &AgentRecord) -> String {
    let hex = record.id.hex();
    // The version and variant digits of a random UUID, which the id itself does not carry.
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

fn is_session(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// The transcript of the session it says it is in.
fn transcript_now(record: &AgentRecord, program: Option<&ProgramFacts>, agent: &AgentLayout) -> HostPath {
    let said = program.and_then(status::Status::parse).and_then(|status| status.session_id);
    let session = said.filter(|id| is_session(id)).unwrap_or_else(|| session_of(record));
    transcript_path(agent, record, &session)
}

fn transcript_path(agent: &AgentLayout, record: &AgentRecord, session: &str) -> HostPath {
    project_folder(agent, &record.work_dir).join(&format!("{session}.jsonl"))
}

/// Where Claude Code keeps conversations: one folder per work dir, its path with everything odd as `-`.
pub(crate) fn project_folder(agent: &AgentLayout, work_dir: &HostPath) -> HostPath {
    let slug: String =
        work_dir.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    agent.root().join(CONFIG_DIR).join("projects").join(&slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_id_makes_a_valid_session() {
        let text = r#"{"id":"agent-0123456789abcdef0123456789abcdef","name":"a","type":"claude","work_dir":"/w_1/x.y",
            "create_time":"2026-01-01T00:00:00Z","command":"claude"}"#;
        let record: AgentRecord = serde_json::from_str(text).unwrap();
        let session = session_of(&record);
        assert_eq!(session, "01234567-89ab-4def-8123-456789abcdef");
        assert!(is_session(&session));
        let agent = AgentLayout::new(HostPath::new("/s"));
        let path = transcript_path(&agent, &record, &session);
        assert!(
            path.as_str().ends_with("/projects/-w-1-x-y/01234567-89ab-4def-8123-456789abcdef.jsonl"),
            "{path}"
        );
    }
}
