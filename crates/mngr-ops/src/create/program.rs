//! What a new agent runs. Everything that can be wrong about it is found before anything is made.

use mngr_agents::manifest::BuiltIn;
use mngr_agents::scripted::script::Step as ScriptStep;
use mngr_host::files::Change;
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_join;
use mngr_model::{AgentRecord, AgentTypeName};

use super::agent_type::{self, ResolvedType};
use super::error::CreateError;
use super::heritage::Heritage;
use super::provision;
use super::request::{Attendance, CreateRequest};
use crate::world::World;

/// What an agent runs, as far as it is known before its folders exist.
pub(super) struct Program {
    pub(super) type_name: AgentTypeName,
    pub(super) resolved: ResolvedType,
    pub(super) words: Vec<String>,
    steps: Vec<ScriptStep>,
    /// What was given after `--`, or after that of the agent it is made from.
    args: Vec<String>,
}

impl Program {
    /// The word that runs it.
    pub(super) fn word(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    /// Puts what will run into the record. Gives the player's script where the type has one.
    pub(super) fn write_into(&self, agent: &AgentLayout, record: &mut AgentRecord) -> Option<Change> {
        let (script, words) = match self.resolved.base {
            BuiltIn::Command | BuiltIn::Claude | BuiltIn::Codex | BuiltIn::Opencode => {
                (None, self.words.clone())
            }
            BuiltIn::Scripted => {
                let (script, words) = provision::player(agent, &record.name, &self.steps);
                (Some(script), words)
            }
        };
        record.command = match words.as_slice() {
            [shell, flag, line] if shell == "sh" && flag == "-c" => line.clone(),
            words => sh_join(words),
        };
        record.argv = words;
        record.agent_args.clone_from(&self.args);
        script
    }
}

/// What will run.
pub(super) fn find(
    world: &World,
    request: &CreateRequest,
    heritage: &Heritage,
) -> Result<Program, CreateError> {
    let is_adopting = !request.adopt.is_empty();
    let inherited = match &request.agent_type {
        // Words after `--` are a program of their own, unless they can only be arguments.
        None if request.agent_args.is_empty() || is_adopting => heritage.agent_type(world),
        _ => None,
    };
    let type_name = match (&request.agent_type, &inherited) {
        (Some(name), _) | (None, Some(name)) => name.clone(),
        (None, None) if !request.agent_args.is_empty() => built_in_name(BuiltIn::Command)?,
        (None, None) => built_in_name(agent_type::guess(world)?)?,
    };
    let mut resolved = agent_type::resolve(&world.settings, &type_name)?;
    agent_type::require_on(&world.settings, &type_name, &resolved)?;
    check_attendance(&resolved, &type_name, request)?;
    let declared = resolved.clone().kind().check();
    declared.map_err(|source| CreateError::Declared { name: type_name.to_string(), source })?;
    // Nearest first: what a template says wins over what the type says.
    resolved.chain.splice(0..0, request.type_fields.clone());
    agent_type::check_settings(world, &resolved)?;
    heritage.check(resolved.base, &type_name)?;
    let is_of_parent = inherited.is_some() && request.agent_args.is_empty();
    let mut args = if is_of_parent { heritage.args() } else { request.agent_args.clone() };
    let (mut words, mut steps) = (Vec::new(), Vec::new());
    match resolved.base {
        BuiltIn::Command => {
            words = match agent_type::command_words(&resolved, &type_name, &args) {
                Err(CreateError::NoCommand { .. }) if inherited.is_some() => {
                    heritage.words().ok_or_else(|| CreateError::NoCommand { name: type_name.to_string() })?
                }
                words => words?,
            };
        }
        BuiltIn::Claude | BuiltIn::Codex | BuiltIn::Opencode => {
            words = agent_type::brand_words(&resolved, &type_name, &args)?
        }
        BuiltIn::Scripted => {
            let (files, cwd) = (world.client.files(), &world.cwd);
            // Those of another agent are spelled out; what it says must not have files of this machine read.
            if !is_of_parent {
                args = agent_type::script_words(files, cwd, &args)?;
            }
            steps = agent_type::script_steps(files, cwd, &resolved, &type_name, &args)?;
        }
    }
    if let Some(headless) = &resolved.headless {
        words = headless.around(words, &resolved.chain);
    }
    Ok(Program { type_name, resolved, words, steps, args })
}

/// Agents without a terminal are attended to their end, and only they are.
fn check_attendance(
    resolved: &ResolvedType,
    type_name: &AgentTypeName,
    request: &CreateRequest,
) -> Result<(), CreateError> {
    let name = type_name.to_string();
    match (&resolved.headless, request.attendance) {
        (Some(_), Attendance::Background) => Err(CreateError::NeedsForeground { name }),
        (None, Attendance::Foreground) => Err(CreateError::HasTerminal { name }),
        (Some(headless), Attendance::Foreground)
            if headless.needs_message && request.message.as_deref().is_none_or(|m| m.trim().is_empty()) =>
        {
            Err(CreateError::NeedsMessage { name })
        }
        _ => Ok(()),
    }
}

fn built_in_name(built_in: BuiltIn) -> Result<AgentTypeName, CreateError> {
    built_in.name().parse().map_err(|_| CreateError::NoType)
}
