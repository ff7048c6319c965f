//! The options of verbs that launch agents.

use std::time::Duration;

use clap::Args;
use mngr_agents::brand::Consent;
use mngr_model::AgentTypeName;
use mngr_model::duration::parse_duration;
use mngr_ops::tutorial::{CrewOptions, Dismissal, Ending};
use mngr_query::sanitize;

use crate::error::CliError;

/// Which agents are launched, if any.
#[derive(Debug, Args)]
#[command(next_help_heading = "AGENTS")]
pub(super) struct LaunchArgs {
    /// Launch agents to do it
    #[arg(long)]
    pub(super) launch: bool,

    /// Their type; without it, the first coding agent found
    #[arg(long = "type", value_name = "TYPE", requires = "launch")]
    agent_type: Option<String>,

    /// How long each may take
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30m", requires = "launch")]
    timeout: Duration,

    /// Keep the agents; without it they are destroyed when they are done (`mngr undo` brings one back)
    #[arg(long, requires = "launch")]
    keep: bool,

    /// Answer their first-start questions with yes: trust in the work dir, set-up. Never a permission for tools
    #[arg(short = 'y', long, requires = "launch")]
    yes: bool,

    /// The agents' command or arguments
    #[arg(
        last = true,
        value_name = "AGENT_ARGS",
        display_order = 2,
        help_heading = "ARGUMENTS",
        requires = "launch"
    )]
    agent_args: Vec<String>,
}

impl LaunchArgs {
    /// What was asked for.
    pub(super) fn crew(&self, at_once: u16) -> Result<CrewOptions, CliError> {
        let parse = |name: &String| {
            let parsed: Result<AgentTypeName, _> = name.parse();
            parsed.map_err(|error| CliError::usage(format!("Invalid value for `--type`: {error}")))
        };
        Ok(CrewOptions {
            agent_type: self.agent_type.as_ref().map(parse).transpose()?,
            agent_args: self.agent_args.clone(),
            at_once: at_once.into(),
            deadline: self.timeout,
            dismissal: if self.keep { Dismissal::Keep } else { Dismissal::Destroy },
            consent: if self.yes { Consent::Dialogs } else { Consent::Refuse },
        })
    }

    /// Whether agents that ended badly or well are still there.
    pub(super) fn is_kept(&self) -> bool {
        self.keep
    }
}

/// How an agent ended, in words.
pub(super) fn in_words(ending: &Ending) -> String {
    match ending {
        Ending::Finished => "finished".to_owned(),
        Ending::TimedOut => "did not finish in time".to_owned(),
        Ending::Failed(why) => sanitize(why).into_owned(),
        Ending::NotStarted(why) => format!("could not be started: {}", sanitize(why)),
        Ending::Interrupted => "was interrupted".to_owned(),
    }
}
