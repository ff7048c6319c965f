//! opencode as a brand.

use std::borrow::Cow;

use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_quote;
use mngr_model::state::StateReport;
use mngr_model::{AgentRecord, HostPath};

use super::{composer, config, evidence, places, status};
use crate::brand::{
    Brand, CommandFate, Composer, ProvisionError, Provisioned, Provisioning, is_bare_slash, is_slash_command,
    noted_word,
};
use crate::ordinary::read_ordinary;
use crate::screen::Reading;
use crate::settings::flag;

/// opencode.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opencode;

impl Brand for Opencode {
    fn provision(&self, request: &Provisioning<'_>) -> Result<Provisioned, ProvisionError> {
        let env = config::write(request)?;
        // It asks only for what nothing forbids.
        let words = match flag(request.settings, "auto_allow_permissions")? {
            true => vec!["--auto".to_owned()],
            false => Vec::new(),
        };
        let status_file = Some(places::STATUS.to_owned());
        Ok(Provisioned { env, words, status_file, ..Provisioned::default() })
    }

    fn conversation_words(
        &self,
        host: &dyn Host,
        agent: &AgentLayout,
        _record: &AgentRecord,
    ) -> Result<Vec<String>, FilesError> {
        let files = host.files();
        let noted = read_ordinary(files, &places::session(agent))?.unwrap_or_default();
        let session = String::from_utf8_lossy(&noted).trim().to_owned();
        // opencode would refuse to go on with a conversation it has no record of.
        let is_kept = is_session(&session) && files.exists(&places::database(agent))?;
        Ok(if is_kept { vec!["--session".to_owned(), session] } else { Vec::new() })
    }

    fn conversation_at_boot(&self, agent: &AgentLayout, _record: &AgentRecord) -> String {
        format!(
            "{noted}case $mngr_noted in\n\
             ses_?*) [ -e {database} ] && set -- --session \"$mngr_noted\" ;;\nesac\n",
            noted = noted_word(&places::session(agent), "0-9a-zA-Z_"),
            database = sh_quote(places::database(agent).as_str()),
        )
    }

    fn state(&self, program: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
        status::state(program, markers)
    }

    fn is_ready(&self, program: &ProgramFacts, markers: &Markers) -> bool {
        status::is_ready(program, markers)
    }

    fn ready_folder(&self, agent: &AgentLayout) -> HostPath {
        places::folder(agent)
    }

    fn composer(&self, screen: &str) -> Composer {
        composer::read(screen).composer
    }

    fn read_box(&self, screen: &str) -> Option<Reading> {
        Some(composer::read(screen))
    }

    fn proof_files(
        &self,
        _record: &AgentRecord,
        _program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        _text: &str,
    ) -> Vec<HostPath> {
        vec![places::transcript(agent)]
    }

    fn proves(&self, appended: &str, text: &str) -> bool {
        evidence::proves(appended, text)
    }

    fn is_taking(&self, appended: &str, text: &str) -> bool {
        evidence::is_taking(appended, text)
    }

    /// Only a `!` that is typed makes a command for the shell.
    fn typed_beginning<'t>(&self, text: &'t str) -> &'t str {
        &text[..usize::from(text.starts_with('!'))]
    }

    fn typed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if is_bare_slash(text) { Cow::Owned(format!(" {text}")) } else { Cow::Borrowed(text) }
    }

    fn is_command(&self, text: &str) -> bool {
        is_slash_command(text)
    }

    /// A command it does not know is said to the model, like any other text.
    fn command_fate(&self, appended: &str, text: &str) -> Option<CommandFate> {
        evidence::proves(appended, text).then_some(CommandFate::Ran)
    }
}

fn is_session(text: &str) -> bool {
    text.strip_prefix("ses_")
        .is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
