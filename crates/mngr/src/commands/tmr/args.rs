//! The options of `mngr tmr`, as they are typed. What they mean is in `settings.rs`.

use std::time::Duration;

use clap::Args;
use mngr_model::duration::parse_duration;
use mngr_tmr::budget::Limits;

use crate::cli::common::CommonArgs;

/// Everything a new run is told.
#[derive(Debug, Args)]
pub(super) struct StartArgs {
    /// Tests or folders of tests, as seen from the root of the repository (default: all); a test named by its id gets an
    /// agent even if it passes
    #[arg(value_name = "PATHS", display_order = 0, help_heading = "ARGUMENTS")]
    pub(super) paths: Vec<String>,

    /// Words for the test framework
    #[arg(last = true, value_name = "FLAGS", display_order = 1, help_heading = "ARGUMENTS")]
    pub(super) flags: Vec<String>,

    #[command(flatten)]
    pub(super) tests: TestArgs,

    #[command(flatten)]
    pub(super) agents: AgentArgs,

    #[command(flatten)]
    pub(super) pace: PaceArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) result: ResultArgs,

    #[command(flatten)]
    pub(super) refused: RefusedArgs,

    /// Check everything, the agents' program included; show the plan and what it would probably use, and launch nothing
    #[arg(long, help_heading = "OPTIONS")]
    pub(super) dry_run: bool,

    /// Launch agents although the set-up seems to be wrong: what fails has its cause outside of the repository, everything is
    /// skipped, or the tests do not run what is checked out
    #[arg(long, help_heading = "OPTIONS")]
    pub(super) force: bool,

    /// Do not ask, whatever the forecast says; answer the agents' first-start questions with yes. Never a permission for tools
    #[arg(short = 'y', long, help_heading = "OPTIONS")]
    pub(super) yes: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Which tests.
#[derive(Debug, Args)]
#[command(next_help_heading = "TESTS")]
pub(super) struct TestArgs {
    /// How tests are found and run: pytest, cargo-nextest, go-test, vitest, jest, command, or your own (default: told by the files of
    /// the project)
    #[arg(long, value_name = "NAME")]
    pub(super) collector: Option<String>,

    /// Tests that pass get an agent, too
    #[arg(long)]
    pub(super) all: bool,

    /// The repository (default: the one you stand in). Agents start from its last commit
    #[arg(long, value_name = "PATH")]
    pub(super) source: Option<String>,
}

/// Which agents.
#[derive(Debug, Args)]
#[command(next_help_heading = "AGENTS")]
pub(super) struct AgentArgs {
    /// Their type; without it, the first coding agent found
    #[arg(long, value_name = "TYPE")]
    pub(super) agent_type: Option<String>,

    /// A template of `create` for every agent; of two the later wins (can be repeated)
    #[arg(short = 't', long, value_name = "NAME")]
    pub(super) agent_template: Vec<String>,

    /// Where they run: a provider, or a pool of the settings
    #[arg(long, value_name = "PROVIDER", default_value = "local")]
    pub(super) provider: String,

    /// How many of them are at work at once on one host that is made for them [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) agents_per_host: Option<u32>,

    /// Make their hosts from a snapshot
    #[arg(long, value_name = "ID")]
    pub(super) snapshot: Option<String>,

    /// A variable of every agent; its value is kept in a file that only you can read (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) env: Vec<String>,

    /// A variable of the integrator only, which wins over --env (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) reducer_env: Vec<String>,

    /// A label of every agent (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) label: Vec<String>,

    /// A template of the message that agents get; it may extend the one of mngr
    #[arg(long, value_name = "FILE")]
    pub(super) mapper_prompt: Option<String>,

    /// The same for the integrator
    #[arg(long, value_name = "FILE")]
    pub(super) reducer_prompt: Option<String>,
}

/// How fast, and how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "PACE")]
pub(super) struct PaceArgs {
    /// How many agents work at once; 0: as many as there are tests (default: by cores and memory)
    #[arg(long, value_name = "N")]
    pub(super) max_parallel_agents: Option<u64>,

    /// How many of them are being created at once
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(super) max_parallel_launch: u64,

    /// Pause between two launches
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "0s")]
    pub(super) launch_delay: Duration,

    /// How often to look although nothing seems to change
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5s")]
    pub(super) poll_interval: Duration,

    /// How long an agent may take
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1h")]
    pub(super) timeout: Duration,

    /// How long the integrator may take
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1h")]
    pub(super) reducer_timeout: Duration,

    /// How often a test whose agent failed is tried again
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=10))]
    pub(super) retries: u32,
}

/// What a run may use at most.
#[derive(Debug, Args)]
#[command(next_help_heading = "LIMITS")]
pub(super) struct LimitArgs {
    /// Launch at most this many agents, retries included
    #[arg(long, value_name = "N")]
    max_agents: Option<u64>,

    /// Use at most this many tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// Spend at most this many US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<f64>,

    /// Take at most this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    max_wall: Option<Duration>,
}

impl LimitArgs {
    /// Sets what was given and leaves the rest.
    pub(super) fn lay_over(&self, limits: &mut Limits) {
        limits.agents = self.max_agents.or(limits.agents);
        limits.tokens = self.max_tokens.or(limits.tokens);
        limits.cost = self.max_cost.or(limits.cost);
        limits.wall = self.max_wall.or(limits.wall);
    }
}

/// What becomes of the agents' work.
#[derive(Debug, Args)]
#[command(next_help_heading = "CHECKS AND RESULT")]
pub(super) struct ResultArgs {
    /// Where tests run, before, during and after: a provider, a pool, or `local` (default: where the agents run)
    #[arg(long, value_name = "PROVIDER")]
    pub(super) verify_on: Option<String>,

    /// How often a test is run for each measurement [default: the setting tmr.verify_runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) verify_runs: Option<u16>,

    /// A shell command that every commit of the result has to pass [default: the setting tmr.gate]
    #[arg(long, value_name = "COMMAND")]
    pub(super) gate: Option<String>,

    /// Ask no agent about what a machine cannot put together
    #[arg(long)]
    pub(super) no_integrator: bool,

    /// What the names of agents and branches begin with
    #[arg(long, value_name = "NAME", default_value = "tmr")]
    pub(super) name: String,

    /// The name of the run (default: the time, as in 20260102030405)
    #[arg(long, value_name = "RUN")]
    pub(super) run_name: Option<String>,

    /// The folder of the run (default: NAME_RUN)
    #[arg(long, value_name = "FOLDER")]
    pub(super) output_dir: Option<String>,

    /// Added to the name of the integrator and of its branch
    #[arg(long, value_name = "SUFFIX", default_value = "")]
    pub(super) reducer_branch_suffix: String,
}

/// Options of other versions that nothing here could follow. They are refused by name.
#[derive(Debug, Args)]
pub(super) struct RefusedArgs {
    #[arg(long, value_name = "KEYLINE", hide = true)]
    additional_authorized_host: Vec<String>,

    #[arg(long, value_name = "REVISION", hide = true)]
    since: Option<String>,

    #[arg(long, hide = true)]
    reintegrate: bool,
}

/// An option that is refused, and what can be done instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    /// Why.
    pub(super) why: &'static str,
    /// What to do.
    pub(super) hint: &'static str,
}

impl RefusedArgs {
    /// The first of them that was given.
    pub(super) fn given(&self) -> Option<Refused> {
        let all = [
            (
                !self.additional_authorized_host.is_empty(),
                Refused {
                    why: "`--additional-authorized-host` is for hosts with an ssh server of their own",
                    hint: "leave it out: containers are entered through their engine, without keys",
                },
            ),
            (
                self.since.is_some(),
                Refused {
                    why: "`--since` is not there yet",
                    hint: "name the tests you mean; those that pass need no agent anyway",
                },
            ),
            (
                self.reintegrate,
                Refused { why: "`--reintegrate` is a command here", hint: "`mngr tmr reintegrate RUN`" },
            ),
        ];
        all.into_iter().find(|(is_given, _)| *is_given).map(|(_, refused)| refused)
    }
}

/// US dollars: a number that is not negative.
fn dollars(text: &str) -> Result<f64, NotDollars> {
    let number = text.strip_prefix('$').unwrap_or(text).parse::<f64>().map_err(|_| NotDollars)?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(NotDollars) }
}

/// A text is no sum of money.
#[derive(Debug, thiserror::Error)]
#[error("expected US dollars, as in `5` or `2.50`")]
struct NotDollars;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_a_number_that_is_not_negative() {
        assert_eq!(dollars("2.50").ok(), Some(2.5));
        assert_eq!(dollars("$5").ok(), Some(5.0));
        for text in ["", "-1", "inf", "NaN", "5 EUR"] {
            assert!(dollars(text).is_err(), "{text}");
        }
    }
}
