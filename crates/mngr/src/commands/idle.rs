//! The options that say when a host stops by itself. `create` has them for new hosts, `limit` for those that are there.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use mngr_model::activity::{ActivitySource, IdleMode};
use mngr_model::duration::parse_duration;
use mngr_ops::activity::{ActivityChanges, parse_sources};

use crate::error::CliError;

/// Several sources. A type of its own, because clap takes a set of values for an option given several times.
pub(crate) type Sources = BTreeSet<ActivitySource>;

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct IdleArgs {
    /// Stop the host when nothing has happened on it for this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) idle_timeout: Option<Duration>,

    /// What counts as something: io, user, agent, ssh, create, boot, start, run or disabled
    #[arg(long, value_name = "MODE", conflicts_with = "activity_sources")]
    pub(crate) idle_mode: Option<IdleMode>,

    /// The same as a list, of: user, agent, ssh, create, start, boot, process
    #[arg(long, value_name = "A,B", value_parser = parse_sources)]
    pub(crate) activity_sources: Option<Sources>,

    /// Stop the host when it has run for this long, whatever happens
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) max_host_age: Option<Duration>,
}

impl IdleArgs {
    /// The first option given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--idle-timeout", self.idle_timeout.is_some()),
            ("--idle-mode", self.idle_mode.is_some()),
            ("--activity-sources", self.activity_sources.is_some()),
            ("--max-host-age", self.max_host_age.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// What they ask for.
    pub(crate) fn changes(&self) -> Result<ActivityChanges, CliError> {
        if self.idle_mode == Some(IdleMode::Custom) {
            let text = "`--idle-mode custom` says nothing: name what counts with `--activity-sources`";
            return Err(CliError::usage(text));
        }
        if self.idle_timeout.is_some_and(|timeout| timeout.is_zero()) {
            let text = "`--idle-timeout` must be longer than nothing";
            return Err(CliError::usage(text).hinted("`--idle-mode disabled` keeps a host"));
        }
        Ok(ActivityChanges {
            idle_timeout: self.idle_timeout,
            sources: self.activity_sources.clone().or_else(|| self.idle_mode.and_then(IdleMode::sources)),
            max_host_age: self.max_host_age,
            ..ActivityChanges::default()
        })
    }
}
