//! All rules of a type in their order, applied to what the other evidence says. The newest evidence that contradicts
//! wins, and nothing is newer than the screen.

use std::collections::BTreeMap;
use std::fmt;

use mngr_config::ScreenRuleSettings;
use mngr_host::tmux::PaneView;
use mngr_model::state::{StateReport, StateSource};

use super::error::ScreenError;
use super::input_box::Reading;
use super::rule::{Rule, Sight};

/// The place of a rule that does not say where it stands among the others.
const DEFAULT_ORDER: u32 = 100;

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// In the settings of the type of that name.
    Settings(String),
    /// In the manifest of the built-in type of that name.
    Manifest(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(name) => write!(f, "`agent_types.{name}` in the settings"),
            Self::Manifest(name) => write!(f, "the built-in type `{name}`"),
        }
    }
}

/// The rules of a type.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Puts the rules of several places together, nearest first. A rule of the nearer place takes the place of one with the
    /// same name key by key: what it does not say stays.
    pub fn compile(places: &[(Origin, &BTreeMap<String, ScreenRuleSettings>)]) -> Result<Self, ScreenError> {
        let mut found: Vec<(usize, &str, ScreenRuleSettings)> = Vec::new();
        for (depth, (_, table)) in places.iter().enumerate() {
            for (name, settings) in *table {
                match found.iter_mut().find(|(_, known, _)| known == name) {
                    Some((_, _, nearer)) => complete(nearer, settings),
                    None => found.push((depth, name, settings.clone())),
                }
            }
        }
        found.retain(|(_, _, settings)| settings.is_enabled.unwrap_or(true));
        found.sort_by_key(|(depth, name, settings)| {
            (*depth, settings.order.unwrap_or(DEFAULT_ORDER), name.to_owned())
        });
        let compile = |(depth, name, settings): (usize, &str, ScreenRuleSettings)| {
            Rule::compile(name, places[depth].0.clone(), &settings)
        };
        let rules = found.into_iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Whether some rule always looks, whatever the other evidence says.
    pub fn has_unconditional(&self) -> bool {
        self.rules.iter().any(Rule::is_unconditional)
    }

    /// Whether the screen could change what the other evidence says. Looking costs a process.
    pub fn wants_view(&self, report: &StateReport) -> bool {
        self.rules.iter().any(|rule| rule.would_look(report))
    }

    /// What is so, given the other evidence and what the terminal and its input box show; `None` where that could not be
    /// seen.
    pub fn judge(&self, report: StateReport, view: Option<(&PaneView, Reading)>) -> StateReport {
        let Some((view, input_box)) = view else { return noted(report, "its screen could not be read") };
        let sight = Sight::new(view, input_box);
        let may_judge = |rule: &&Rule| rule.would_look(&report) && rule.is_late_enough(&report, view.changed);
        let mut looking = self.rules.iter().filter(may_judge);
        match looking.find_map(|rule| rule.judge(&sight)) {
            Some(found) => contradict(report, found.since(view.changed)),
            None if self.has_unconditional() => noted(report, "no rule knows what its screen shows"),
            None => report,
        }
    }
}

/// Fills in what a nearer rule does not say.
fn complete(rule: &mut ScreenRuleSettings, from: &ScreenRuleSettings) {
    let from = from.clone();
    rule.order = rule.order.or(from.order);
    rule.look = rule.look.or(from.look);
    rule.lines = rule.lines.or(from.lines);
    rule.pattern = rule.pattern.take().or(from.pattern);
    rule.unless = rule.unless.take().or(from.unless);
    if rule.when.is_empty() {
        rule.when = from.when;
    }
    rule.later_by = rule.later_by.or(from.later_by);
    rule.reason = rule.reason.or(from.reason.filter(|_| rule.state.is_none()));
    rule.state = rule.state.or(from.state);
    rule.is_enabled = rule.is_enabled.or(from.is_enabled);
}

/// A screen that says the same as the program is no news; that the process lives is less than any screen says.
fn contradict(report: StateReport, mut found: StateReport) -> StateReport {
    let is_same = (report.state, report.waiting_reason) == (found.state, found.waiting_reason);
    match report.source {
        StateSource::Process => found,
        _ if is_same => report,
        _ => {
            found.evidence = format!("{}; against it: {}", found.evidence, report.evidence);
            // What it has in the background is seen on no screen.
            StateReport { background: report.background, wakeups: report.wakeups, ..found }
        }
    }
}

/// Says in the evidence that the screen was of no help, where it should have been: for agents that say nothing else.
fn noted(mut report: StateReport, note: &str) -> StateReport {
    if report.source == StateSource::Process {
        report.evidence = format!("{}; {note}", report.evidence);
    }
    report
}

#[cfg(test)]
mod tests;
