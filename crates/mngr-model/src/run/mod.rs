//! One run of the test map-reduce as data: its tasks, their stages, its journal, and the state a journal adds up to.
//!
//! Pure, and shared by those who write a run and those who show one. Nothing here may decide what to do next.

mod change;
mod final_run;
mod fold;
mod journal;
mod measure;
pub mod outcome;
mod stage;
mod state;
mod strength;
mod task;
#[cfg(test)]
mod tests;

pub use change::ChangeKind;
pub use final_run::FinalRun;
pub use fold::{Irregular, Run};
pub use journal::{
    Breaker, BreakerState, BudgetNote, CheckEnd, Checked, Classified, ClassifiedCommit, EndReason, Entry,
    Event, Integration, IntegrationStep, LimitKind, Lines, Measured, Published, Queued, RefusedTools,
    StageChange, Started, Working, read_lines,
};
pub use measure::{MeasuredRun, Verdict, What};
pub use outcome::{IntegratorOutcome, Outcome};
pub use stage::{FailureKind, Stage};
pub use state::{Attempt, Ended, IntegratorAgent, Passage, Task, Totals};
pub use strength::{Fate, Kills, Mutant, ReviewKind, ReviewReason, Strength, StrengthState};
pub use task::{AttemptKey, AttemptNumber, QueueReason, RunName, Slugs, TaskId, TaskIdError};
