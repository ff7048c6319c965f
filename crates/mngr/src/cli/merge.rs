//! What was typed, above what templates and settings give. What contradicts something above it is as if it were not there.

use clap::{ArgMatches, Command};

use crate::cli::defaults::{Given, Rank};
use crate::cli::rules::{self, CONTRADICTIONS, NEEDS, Yields};
use crate::cli::usage;
use crate::cli::values::{Values, is_list};
use crate::error::{CliError, ErrorKind};

/// Two settings of one layer that cannot both be meant.
#[derive(Debug, thiserror::Error)]
#[error("the settings `{one}` and `{other}` contradict each other")]
struct Contradictory {
    one: mngr_config::KeyPath,
    other: mngr_config::KeyPath,
}

/// Everything together, and what of the settings and templates is in it.
#[derive(Debug)]
pub(crate) struct Together {
    /// What the verb is asked to do.
    pub(crate) values: Values,
    /// What was not typed.
    pub(crate) given: Vec<Given>,
}

/// Lays what was typed above what is given. The verb is as settings spell it, `command` its definition.
pub(crate) fn merge(
    verb: &str,
    command: &Command,
    typed: &Values,
    mut given: Vec<Given>,
) -> Result<Together, CliError> {
    given.sort_by_key(|given| given.rank);
    let mut kept: Vec<Given> = Vec::new();
    for next in given.into_iter().rev() {
        if gives_way(verb, command, &next, typed) {
            continue;
        }
        let mut is_kept = true;
        for above in kept.iter().filter(|above| !above.is_off && !next.is_off) {
            if above.rank > next.rank {
                let values = Values::only(&above.id, &above.values);
                is_kept &= !gives_way(verb, command, &next, &values);
            } else if rules::conflicts(command, &above.id, &next.id)
                || rules::conflicts(command, &next.id, &above.id)
            {
                return Err(contradictory(above, &next));
            }
        }
        let is_replaced = |above: &Given| above.id == next.id && !adds_up(command, &next.id);
        if is_kept && !kept.iter().any(is_replaced) {
            kept.push(next);
        }
    }
    kept.reverse();
    let mut together = Together { values: all(command, typed, &kept), given: kept };
    for need in NEEDS.iter().filter(|need| need.verbs.contains(&verb)) {
        if !(need.beside)(&together.values) {
            let is_idle = |given: &Given| need.options.contains(&given.id.as_str());
            together.given.retain(|given| !is_idle(given));
            together.values = all(command, typed, &together.given);
        }
    }
    Ok(together)
}

/// Whether something that is given counts as if it were not there beside what lies above it.
fn gives_way(verb: &str, command: &Command, given: &Given, above: &Values) -> bool {
    if above.has(&given.id) && !adds_up(command, &given.id) {
        return true;
    }
    if given.is_off {
        return false;
    }
    if above.ids().any(|id| rules::are_rivals(command, id, &given.id)) {
        return true;
    }
    let alone = Values::only(&given.id, &given.values);
    let says = |saying: &rules::Saying| saying.options.contains(&given.id.as_str()) && (saying.holds)(&alone);
    let is_template = matches!(given.rank, Rank::Template(_));
    CONTRADICTIONS.iter().filter(|rule| rule.verbs.contains(&verb)).any(|rule| {
        let gives_way = !(is_template && rule.yields == Yields::Settings);
        // What is said by no option is said by the verb itself.
        let is_said = |saying: &rules::Saying| (saying.holds)(above);
        gives_way && ((is_said(&rule.one) && says(&rule.other)) || (is_said(&rule.other) && says(&rule.one)))
    })
}

fn adds_up(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == id && is_list(arg.get_action()))
}

/// Lists add up, the lowest first; of everything else the uppermost counts.
fn all(command: &Command, typed: &Values, given: &[Given]) -> Values {
    let mut values = Values::default();
    let above = typed.ids().map(|id| (id, typed.all(id)));
    for (id, next) in given.iter().map(|given| (given.id.as_str(), given.values.as_slice())).chain(above) {
        if !adds_up(command, id) {
            values.remove(id);
        }
        values.add(id, next);
    }
    values
}

fn contradictory(one: &Given, other: &Given) -> CliError {
    let error = Contradictory { one: one.key.clone(), other: other.key.clone() };
    let failure = CliError::new(ErrorKind::Config, error);
    [one, other].into_iter().fold(failure, |failure, given| match &given.origin {
        Some(origin) => failure.hinted(format!("`{}` is set in {origin}", given.key)),
        None => failure,
    })
}

impl Together {
    /// What the verb at `path` below `command` reads, each value checked as if it was typed.
    pub(crate) fn read(
        &self,
        command: &Command,
        path: &[&str],
        typed: &Values,
    ) -> Result<ArgMatches, CliError> {
        self.values.read(command.clone(), path).map_err(|error| {
            let leaf = path.iter().try_fold(command, |command, verb| command.find_subcommand(verb));
            let is_wrong = |given: &&Given| {
                let alone = all(leaf.unwrap_or(command), typed, std::slice::from_ref(*given));
                alone.read(command.clone(), path).is_err()
            };
            let failure = usage::from_clap(&error, path);
            match self.given.iter().find(is_wrong) {
                Some(Given { key, origin: Some(origin), .. }) => {
                    failure.hinted(format!("`{key}` is set in {origin}"))
                }
                Some(Given { key, .. }) => failure.hinted(format!("it comes from the setting `{key}`")),
                None => failure,
            }
        })
    }
}

#[cfg(test)]
mod tests;
