//! `mngr wait`: until agents are in a state.

use std::time::Duration;

use clap::Args;
use mngr_model::AgentState;
use mngr_model::duration::{format_duration, parse_duration};
use mngr_model::facts::Detail;
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::select::SharedName;
use mngr_ops::wait::{self, Quantity, StateChange, WaitRequest, Waited, WaitedTarget};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::{batch, targets};
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::theme::Tone;
use crate::ui::{Console, Output, Report};

/// Wait until agents are in a state
///
/// Without a state: until they have ended, DONE or STOPPED. Returns as soon as it happens. Exit code 8 when the time is up.
#[derive(Debug, Args)]
#[command(after_help = "  mngr wait fix-login\n  \
                        mngr wait greeter WAITING --timeout 10m\n  \
                        mngr wait greeter sleeper quick --any")]
pub(crate) struct WaitArgs {
    /// Agents, then the states to wait for; `-` reads agents from standard input
    #[arg(value_name = "AGENT|STATE", help_heading = "ARGUMENTS")]
    words: Vec<String>,

    /// One more agent (can be repeated)
    #[arg(long, value_name = "AGENT", help_heading = "OPTIONS")]
    agent: Vec<String>,

    /// A state to wait for (can be repeated; any of them counts)
    #[arg(long, value_name = "STATE", help_heading = "OPTIONS")]
    state: Vec<AgentState>,

    /// One agent is enough
    #[arg(long, overrides_with = "all", help_heading = "OPTIONS")]
    any: bool,

    /// Every agent must get there (the default)
    #[arg(long, overrides_with = "any", help_heading = "OPTIONS")]
    all: bool,

    /// Give up after this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    timeout: Option<Duration>,

    /// How often to look although nothing seems to change
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5s", help_heading = "OPTIONS")]
    interval: Duration,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Waits.
pub(crate) fn run(ctx: &mut Ctx, args: WaitArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (agents, mut states) = split(&args.words);
    states.extend(&args.state);
    let mut words: Vec<String> = agents.into_iter().chain(args.agent.iter().cloned()).collect();
    if words.is_empty() && !ctx.surroundings.terminals.stdin {
        words.push(targets::STDIN.to_owned());
    }
    let Some(addresses) = targets::addresses(ctx, words.iter())? else { return Ok(ExitCode::Done) };
    let world = ctx.world()?;
    let mut selected =
        targets::select(&Fleet::look_for(&world, &addresses, Detail::Full), &addresses, SharedName::All);
    // A state in lower case is meant where no agent is called so.
    selected.failures.retain(|failure| {
        let is_later = words.first() != Some(&failure.agent);
        let state =
            AgentState::ALL.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(&failure.agent));
        states.extend(state.filter(|_| is_later));
        !is_later || state.is_none()
    });
    // Waiting for those that exist would only put off the failure.
    if !selected.failures.is_empty() {
        batch::tell(&selected.failures, &ctx.console);
        // The first word always is an agent.
        let later = selected.failures.iter().filter(|failure| words.first() != Some(&failure.agent));
        if let Some(state) = later.filter_map(|failure| meant_state(&failure.agent)).next() {
            let hint = format!("did you mean the state `{state}`? states are written in upper case");
            ctx.console.error_line(Tone::Hint, "hint:", &hint);
        }
        let report = WaitReport {
            waited: Waited {
                is_matched: false,
                is_timed_out: false,
                elapsed_seconds: 0.0,
                targets: Vec::new(),
            },
        };
        if !output.is_human() {
            output.show(&ctx.console, &report)?;
        }
        return Ok(batch::exit_code(&selected.failures));
    }
    let request = WaitRequest {
        states,
        quantity: if args.any { Quantity::Any } else { Quantity::All },
        timeout: args.timeout,
        interval: args.interval,
    };
    let is_by_default = request.states.is_empty();
    if is_by_default && output.is_human() {
        tell_who_waits(ctx, &selected.agents);
    }
    let waited = wait::wait(&world, &selected.agents, &request, |agent, change| {
        // A reader that went away is noticed when the result is shown.
        let _ = tell_change(ctx, &output, agent, change);
    })?;
    let failure = failure(&waited, args.timeout);
    output.show(&ctx.console, &WaitReport { waited })?;
    match failure {
        None => Ok(ExitCode::Done),
        Some(error) if output.is_human() => Err(error),
        Some(error) => Ok(error.kind.exit_code()),
    }
}

/// An agent that waits for its user seldom ends by itself, so whoever waits for its end may mean something else.
fn tell_who_waits(ctx: &Ctx, agents: &[Agent]) {
    for agent in agents.iter().filter(|agent| agent.state.state == AgentState::Waiting) {
        let name = agent.name();
        ctx.console.note(&format!(
            "{name} waits for you; this waits until it has ended (`mngr wait {name} WAITING` ends when it waits)"
        ));
    }
}

/// The words up to the first state are agents; the first word always is one.
fn split(words: &[String]) -> (Vec<String>, Vec<AgentState>) {
    let state_of = |word: &String| AgentState::ALL.into_iter().find(|state| state.as_str() == word);
    let first_state =
        words.iter().skip(1).position(|word| state_of(word).is_some()).map_or(words.len(), |at| at + 1);
    let (agents, rest) = words.split_at(first_state.min(words.len()));
    let (states, more): (Vec<_>, Vec<_>) = rest.iter().partition(|word| state_of(word).is_some());
    let agents = agents.iter().chain(more).cloned().collect();
    (agents, states.into_iter().filter_map(state_of).collect())
}

/// The state a word that is no agent looks like.
fn meant_state(word: &str) -> Option<AgentState> {
    let likeness = |state: &AgentState| strsim::jaro_winkler(state.as_str(), &word.to_uppercase());
    let near = AgentState::ALL.into_iter().filter(|state| likeness(state) > 0.85);
    near.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

fn tell_change(ctx: &Ctx, output: &Output, agent: &Agent, change: &StateChange) -> Result<(), CliError> {
    let name = |state: Option<AgentState>| state.map_or("destroyed", AgentState::as_str);
    match output {
        Output::Jsonl => {
            let object = serde_json::to_value(change).unwrap_or_default();
            let mut event = event("state_change", object);
            event["target"] = agent.name().as_str().into();
            ctx.console.print(&format!("{event}\n"))
        }
        _ => {
            let (old, new) = (name(change.old_value), name(change.new_value));
            ctx.console.debug(&format!("{}: {old} -> {new}", agent.name()));
            Ok(())
        }
    }
}

fn failure(waited: &Waited, timeout: Option<Duration>) -> Option<CliError> {
    if waited.is_matched {
        return None;
    }
    let missing = waited.targets.iter().filter(|target| !target.is_matched);
    let states: Vec<String> =
        missing.map(|target| format!("{} is {}", target.target, state(target))).collect();
    let states = states.join(", ");
    Some(if waited.is_timed_out {
        let after = timeout.map(format_duration).unwrap_or_default();
        CliError::message(ErrorKind::TimedOut, format!("Timed out after {after}: {states}"))
    } else {
        CliError::message(ErrorKind::NotFound, format!("the wait is over without success: {states}"))
    })
}

fn state(target: &WaitedTarget) -> &'static str {
    target.final_agent_state.map_or("destroyed", AgentState::as_str)
}

struct WaitReport {
    waited: Waited,
}

impl Report for WaitReport {
    fn human(&self, _console: &Console) -> String {
        let matched = self.waited.targets.iter().filter(|target| target.is_matched);
        lines(matched.map(|target| {
            let state = target.matched_state.map_or("destroyed", AgentState::as_str);
            format!("{} is {state}", target.target)
        }))
    }

    fn json(&self) -> Value {
        let whole = serde_json::to_value(&self.waited).unwrap_or_default();
        match whole["targets"].as_array().map(Vec::as_slice) {
            // One target: its fields are the result, as scripts for one target expect.
            Some([target]) => {
                let mut object = target.clone();
                object["targets"] = json!([target]);
                object
            }
            _ => whole,
        }
    }

    fn events(&self) -> Vec<Value> {
        vec![event("result", self.json())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_mistyped_state_is_recognised() {
        assert_eq!(meant_state("waiting"), Some(AgentState::Waiting));
        assert_eq!(meant_state("DNOE"), Some(AgentState::Done));
        assert_eq!(meant_state("fix-login"), None);
    }

    #[test]
    fn states_are_told_from_agents() {
        let (agents, states) = split(&words("a b DONE STOPPED"));
        assert_eq!((agents, states), (words("a b"), vec![AgentState::Done, AgentState::Stopped]));
        assert_eq!(split(&words("DONE")).0, words("DONE"), "the first word is an agent");
        assert_eq!(split(&words("done")).1, []);
        assert_eq!(split(&words("a done")).0, words("a done"), "lower case is a name");
    }
}
