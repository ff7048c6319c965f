//! One rule: where it looks, what it looks for, and what it tells of.

use std::time::Duration;

use jiff::Timestamp;
use mngr_config::{
    DurationSetting, Pattern, ScreenCondition, ScreenPlace, ScreenReason, ScreenRuleSettings, ScreenState,
};
use mngr_host::tmux::PaneView;
use mngr_model::state::{AgentState, StateReport, WaitingReason};
use regex::{Regex, RegexBuilder};

use super::error::ScreenError;
use super::input_box::Reading;
use super::rules::Origin;
use super::styled::{plain, styled_lines};
use crate::brand::Composer;

/// How much of what was found is repeated as evidence.
const EXCERPT: usize = 60;

/// Compiles a pattern that is known to parse. `^` and `$` stand for the ends of a line.
pub(super) fn compile(pattern: &Pattern, key: impl Fn() -> String) -> Result<Regex, ScreenError> {
    let regex = RegexBuilder::new(pattern.as_str()).multi_line(true).build();
    regex.map_err(|source| ScreenError::Pattern { key: key(), source })
}

/// A screen, read once for all rules.
pub(super) struct Sight<'a> {
    pub(super) text: String,
    pub(super) title: &'a str,
    pub(super) input_box: Reading,
}

impl<'a> Sight<'a> {
    pub(super) fn new(view: &'a PaneView, input_box: Reading) -> Self {
        let lines = styled_lines(&view.screen);
        let text = lines.iter().map(|line| plain(line).trim_end().to_owned()).collect::<Vec<_>>().join("\n");
        Self { text, title: &view.title, input_box }
    }
}

/// A compiled rule.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    name: String,
    origin: Origin,
    look: ScreenPlace,
    lines: Option<usize>,
    pattern: Option<Regex>,
    unless: Option<Regex>,
    when: Vec<ScreenCondition>,
    later_by: Option<Duration>,
    state: AgentState,
    reason: Option<WaitingReason>,
}

impl Rule {
    pub(super) fn compile(
        name: &str,
        origin: Origin,
        settings: &ScreenRuleSettings,
    ) -> Result<Self, ScreenError> {
        let rule = || name.to_owned();
        let state = match settings.state.ok_or_else(|| ScreenError::NoState { rule: rule() })? {
            ScreenState::Running => AgentState::Running,
            ScreenState::Waiting => AgentState::Waiting,
        };
        if settings.reason.is_some() && state != AgentState::Waiting {
            return Err(ScreenError::ReasonWithoutWaiting { rule: rule() });
        }
        let pattern = |key: &str, pattern: Option<&Pattern>| {
            pattern.map(|pattern| compile(pattern, || format!("screen.{name}.{key}"))).transpose()
        };
        Ok(Self {
            name: rule(),
            origin,
            look: settings.look.unwrap_or(ScreenPlace::Screen),
            lines: settings.lines.and_then(|lines| usize::try_from(lines).ok()),
            pattern: pattern("pattern", settings.pattern.as_ref())?,
            unless: pattern("unless", settings.unless.as_ref())?,
            when: settings.when.clone(),
            later_by: settings.later_by.map(DurationSetting::get),
            state,
            reason: settings.reason.map(reason),
        })
    }

    /// Whether it always looks, whatever the other evidence says.
    pub(super) fn is_unconditional(&self) -> bool {
        self.when.is_empty()
    }

    /// Whether it would look, given what the other evidence says.
    pub(super) fn would_look(&self, report: &StateReport) -> bool {
        self.when.is_empty() || self.when.iter().any(|condition| holds(*condition, report))
    }

    /// Whether what the terminal shows is late enough to contradict. Both times are the host's.
    pub(super) fn is_late_enough(&self, report: &StateReport, shown: Option<Timestamp>) -> bool {
        match (self.later_by, report.since, shown) {
            (Some(later_by), Some(since), Some(shown)) => {
                shown.duration_since(since) >= jiff::SignedDuration::try_from(later_by).unwrap_or_default()
            }
            _ => true,
        }
    }

    /// What it makes of the screen: nothing, or a state with the evidence for it.
    pub(super) fn judge(&self, sight: &Sight<'_>) -> Option<StateReport> {
        let (text, place) = match self.look {
            ScreenPlace::Screen => (self.last_lines(&sight.text), "screen"),
            ScreenPlace::Title => (sight.title, "title"),
            ScreenPlace::InputBox => {
                let reading = &sight.input_box;
                if reading.composer == Composer::NotVisible {
                    return None;
                }
                (reading.typed.as_str(), "input box")
            }
        };
        if self.unless.as_ref().is_some_and(|unless| unless.is_match(text)) {
            return None;
        }
        let seen = match (&self.pattern, &self.unless) {
            (Some(pattern), _) => format!("its {place} shows `{}`", excerpt(pattern.find(text)?.as_str())),
            (None, Some(unless)) => format!("its {place} does not show `{unless}`"),
            (None, None) => format!("its {place} is to be seen"),
        };
        let evidence = format!("{seen} (rule `{}` of {})", self.name, self.origin);
        let mut report = StateReport::new(self.state, mngr_model::state::StateSource::Terminal, evidence);
        report.waiting_reason = self.reason;
        Some(report)
    }

    /// The end of the screen with as many lines of text as the rule wants.
    fn last_lines<'t>(&self, text: &'t str) -> &'t str {
        let Some(wanted) = self.lines else { return text };
        let mut start = text.len();
        let mut found = 0;
        for line in text.split_inclusive('\n').rev() {
            if found == wanted {
                break;
            }
            start -= line.len();
            found += usize::from(!line.trim().is_empty());
        }
        &text[start..]
    }
}

fn holds(condition: ScreenCondition, report: &StateReport) -> bool {
    match condition {
        ScreenCondition::Running => report.state == AgentState::Running,
        ScreenCondition::Waiting => report.state == AgentState::Waiting,
        ScreenCondition::Unknown => report.state == AgentState::Unknown,
        ScreenCondition::EndOfTurn => report.waiting_reason == Some(WaitingReason::EndOfTurn),
        ScreenCondition::Permissions => report.waiting_reason == Some(WaitingReason::Permissions),
        ScreenCondition::Question => report.waiting_reason == Some(WaitingReason::Question),
    }
}

fn reason(word: ScreenReason) -> WaitingReason {
    match word {
        ScreenReason::EndOfTurn => WaitingReason::EndOfTurn,
        ScreenReason::Permissions => WaitingReason::Permissions,
        ScreenReason::Question => WaitingReason::Question,
        ScreenReason::RateLimited => WaitingReason::RateLimited,
        ScreenReason::Auth => WaitingReason::Auth,
    }
}

/// One short line of what an agent showed, which is untrusted text.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = line.chars().filter(|c| !c.is_control() && *c != '`');
    let short: String = chars.by_ref().take(EXCERPT).collect();
    if chars.next().is_some() { format!("{short}...") } else { short }
}
