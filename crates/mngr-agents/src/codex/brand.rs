//! Codex as a brand.

use std::borrow::Cow;

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_model::env::EnvPair;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_quote;
use mngr_model::state::StateReport;
use mngr_model::{AgentRecord, HostPath};

use super::rollout::{self, Turn};
use super::{composer, config, evidence, login, places, server, status};
use crate::brand::{
    Brand, CommandFate, Composer, ProvisionError, Provisioned, Provisioning, is_bare_slash, is_odd_name,
    is_slash_command, noted_word,
};
use crate::login::{LoginPlace, MissingLogin};
use crate::ordinary::read_ordinary;
use crate::settings::flag;
use crate::user::UserSide;

const HOOK: &str = include_str!("hook.sh");

/// Codex.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codex;

impl Brand for Codex {
    fn provision(&self, request: &Provisioning<'_>) -> Result<Provisioned, ProvisionError> {
        let files = request.host.files();
        let folder = request.agent.root().join(places::HOME);
        let hook = request.agent.commands().join("codex-hook.sh");
        files.make_folder(&request.agent.events().join("codex"))?;
        // Made here so that the first start can be watched for.
        files.make_folder(&request.agent.root().join(places::LOCKS))?;
        files.write(&hook, HOOK.as_bytes(), Access::PrivateExecutable, Durability::Cached)?;
        let user = config::users_home(&UserSide::of(request));
        config::write(request, user.as_ref(), &folder, &hook)?;
        let mut provisioned = Provisioned {
            env: vec![EnvPair::new("CODEX_HOME".parse()?, folder.as_str())?],
            status_file: Some(places::ROLLOUT.to_owned()),
            ready_folder: Some(places::LOCKS.to_owned()),
            ..Provisioned::default()
        };
        if flag(request.settings, "app_server")? && !request.record.headless {
            add_server(request, &mut provisioned);
        }
        Ok(provisioned)
    }

    fn missing_login(&self, place: &LoginPlace<'_>) -> Result<Option<MissingLogin>, ProvisionError> {
        login::missing(place)
    }

    fn beyond_the_set(&self) -> Option<&'static str> {
        Some(
            "run any command in its own sandbox, which lets it change files of its work dir and keeps it from the network",
        )
    }

    fn conversation_words(
        &self,
        host: &dyn Host,
        agent: &AgentLayout,
        _record: &AgentRecord,
    ) -> Result<Vec<String>, FilesError> {
        let files = host.files();
        let noted = read_ordinary(files, &agent.root().join(places::THREAD))?.unwrap_or_default();
        let thread = String::from_utf8_lossy(&noted).trim().to_owned();
        let has_rollout = files.canonical(&agent.root().join(places::ROLLOUT)).is_ok();
        // Codex would refuse to go on with a conversation it has no record of.
        Ok(if places::is_thread(&thread) && has_rollout {
            vec!["resume".to_owned(), thread]
        } else {
            Vec::new()
        })
    }

    fn conversation_at_boot(&self, agent: &AgentLayout, _record: &AgentRecord) -> String {
        format!(
            "{noted}[ \"${{#mngr_noted}}\" -eq 36 ] && [ -e {rollout} ] && set -- resume \"$mngr_noted\"\n",
            noted = noted_word(&agent.root().join(places::THREAD), "0-9a-fA-F-"),
            rollout = sh_quote(agent.root().join(places::ROLLOUT).as_str()),
        )
    }

    fn state(&self, program: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
        status::state(program, markers)
    }

    fn is_ready(&self, program: &ProgramFacts, markers: &Markers) -> bool {
        status::is_ready(program, markers)
    }

    fn ready_folder(&self, agent: &AgentLayout) -> HostPath {
        agent.root().join(places::LOCKS)
    }

    fn composer(&self, screen: &str) -> Composer {
        composer::composer(screen)
    }

    fn proof_files(
        &self,
        _record: &AgentRecord,
        program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        text: &str,
    ) -> Vec<HostPath> {
        if self.is_command(text) {
            return self.effects(program, agent);
        }
        let mut paths = vec![places::hook_log(agent)];
        // The history is written the moment Enter is pressed. That is proof of its own where no event comes (a shell
        // command) or where it may come late (a turn under way); else the event also proves that the turn has begun.
        if is_busy(program) || text.starts_with('!') {
            paths.push(places::history(agent));
        }
        paths
    }

    fn proves(&self, appended: &str, text: &str) -> bool {
        evidence::proves(appended, text)
    }

    /// None of its commands begins with anything but a letter. It drops the blank.
    fn typed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_said = is_bare_slash(text) || is_odd_name(text);
        if is_said { Cow::Owned(format!(" {text}")) } else { Cow::Borrowed(text) }
    }

    fn is_command(&self, text: &str) -> bool {
        is_slash_command(text) && !is_odd_name(text)
    }

    fn command_fate(&self, appended: &str, text: &str) -> Option<CommandFate> {
        evidence::command_fate(appended, text)
    }
}

/// Its app server, where the agent's host is one whose sockets can be reached.
fn add_server(request: &Provisioning<'_>, provisioned: &mut Provisioned) {
    let planned = server::plan(request.agent, &request.record.work_dir, request.argv);
    match planned.filter(|_| request.host.sockets().is_some()) {
        Some((server, words)) => {
            provisioned.server = Some(server);
            provisioned.words = words;
        }
        None => provisioned.notes.push(format!(
            "the setting `app_server` is not used for this agent: sockets on host `{}` cannot be reached from here, so it \
             is spoken to through its terminal",
            request.host.info().name
        )),
    }
}

impl Codex {
    /// Where it shows what a command does. A turn under way adds to its records by itself, so then they prove nothing.
    fn effects(self, program: Option<&ProgramFacts>, agent: &AgentLayout) -> Vec<HostPath> {
        let mut paths = vec![places::names(agent)];
        if !is_busy(program) {
            paths.extend([places::hook_log(agent), agent.root().join(places::ROLLOUT)]);
        }
        paths
    }
}

fn is_busy(program: Option<&ProgramFacts>) -> bool {
    let tail = program.and_then(|program| rollout::read(program.status.as_deref()?));
    tail.is_some_and(|tail| matches!(tail.turn, Turn::UnderWay { .. }))
}
