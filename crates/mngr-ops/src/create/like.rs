//! A new agent that takes the place of another one: besides files, type and conversation it keeps title, labels,
//! windows, messages, terminal and variables, where nothing else is asked for.

use mngr_host::host::Host;
use mngr_model::agent::TmuxGeometry;
use mngr_model::env::{EnvPair, LLM_USER_PATH, parse_env_file};
use mngr_model::layout::AgentLayout;
use mngr_model::window::ExtraWindow;
use mngr_model::{AgentRecord, HostPath};

use super::error::CreateError;
use super::request::{CreateRequest, Project};

/// How the names of mngr's own variables begin, besides [`LLM_USER_PATH`].
const OWN: [&str; 2] = ["MNGR_", "CODE_GUARDIAN_"];

impl CreateRequest {
    /// Asks for what the agent of this record and state folder has, but for what the request says itself.
    pub(crate) fn take_after(
        &mut self,
        record: &AgentRecord,
        host: &dyn Host,
        state: &AgentLayout,
    ) -> Result<(), CreateError> {
        let labels = record.labels.iter().map(|(key, value)| (key.clone(), value.clone()));
        let own_project = matches!(self.project, Project::Named(_));
        let is_wanted = |(key, _): &(String, String)| !(own_project && key == AgentRecord::PROJECT_LABEL);
        self.labels.splice(0..0, labels.filter(is_wanted));
        if self.windows.is_empty() {
            let window = |(index, extra): (usize, &mngr_model::agent::AdditionalCommand)| ExtraWindow {
                name: extra.window_name.clone().unwrap_or_else(|| format!("cmd-{}", index + 1)),
                command: extra.command.clone(),
            };
            self.windows = record.additional_commands.iter().enumerate().map(window).collect();
        }
        if self.title.is_none() {
            self.title.clone_from(&record.title);
        }
        if self.resume_message.is_none() {
            self.resume_message.clone_from(&record.resume_message);
        }
        if self.geometry == TmuxGeometry::default() {
            self.geometry = record.tmux.clone();
        }
        self.start_on_boot |= record.start_on_boot;
        let inherited = variables(host, state, &record.work_dir)?;
        self.env.splice(0..0, inherited);
        Ok(())
    }
}

/// The variables of an agent that mean the same for another one: those that are not mngr's own and lead to no folder of
/// that agent.
fn variables(host: &dyn Host, state: &AgentLayout, work_dir: &HostPath) -> Result<Vec<EnvPair>, CreateError> {
    let path = state.env_file();
    let text = host.files().read_if_there(&path)?.unwrap_or_default();
    let pairs = parse_env_file(&String::from_utf8_lossy(&text));
    let pairs = pairs.map_err(|source| CreateError::EnvFile { path, source })?;
    // What a snapshot holds speaks of the folder the agent had, which ends with its id.
    let folders = pairs.iter().find(|pair| pair.name().as_str() == mngr_model::env::MNGR_AGENT_STATE_DIR);
    let folders = [folders.map_or(state.root().as_str(), EnvPair::value).to_owned(), work_dir.to_string()];
    let is_own = |name: &str| name == LLM_USER_PATH || OWN.iter().any(|own| name.starts_with(own));
    let leads_there = |value: &str| folders.iter().any(|folder| value.contains(folder.as_str()));
    let means_the_same = |pair: &EnvPair| !is_own(pair.name().as_str()) && !leads_there(pair.value());
    Ok(pairs.into_iter().filter(means_the_same).collect())
}
