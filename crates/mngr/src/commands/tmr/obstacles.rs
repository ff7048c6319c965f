//! What holds a run up, in words: a cause that many tests share, a limit.

use std::time::Duration;

use mngr_model::run::{Breaker, BreakerState, BudgetNote, LimitKind};
use mngr_query::sanitize;

use crate::ui::words::{count, dollars, elapsed, tokens};

/// What a common cause does to launches.
pub(super) fn breaker(breaker: &Breaker) -> String {
    let what = match breaker.state {
        BreakerState::Open => "no launches",
        BreakerState::Half => "one agent is tried",
        BreakerState::Closed => "launches go on",
    };
    format!("{what}: {} ({})", sanitize(&breaker.cluster), sanitize(&breaker.reason))
}

/// Which limit was reached.
pub(super) fn limit(note: &BudgetNote) -> String {
    let amount = |number: f64| match note.limit {
        LimitKind::Agents => count(number as u64, "agent"),
        LimitKind::Tokens => format!("{} tokens", tokens(number as u64)),
        LimitKind::Cost => dollars(number),
        LimitKind::Wall => elapsed(Duration::try_from_secs_f64(number).unwrap_or_default()),
    };
    format!("limit reached: {} of {}", amount(note.used), amount(note.allowed))
}

/// The option that sets a limit.
pub(super) const fn option(limit: LimitKind) -> &'static str {
    match limit {
        LimitKind::Agents => "--max-agents",
        LimitKind::Tokens => "--max-tokens",
        LimitKind::Cost => "--max-cost",
        LimitKind::Wall => "--max-wall",
    }
}
