//! `--head`, `--tail` and `--follow`: which part of something long and growing is shown.

use clap::Args;

use crate::error::CliError;
use crate::ui::Output;

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExcerptArgs {
    /// Only the last N
    #[arg(long, value_name = "N", help_heading = "OPTIONS")]
    tail: Option<usize>,

    /// Only the first N
    #[arg(long, value_name = "N", help_heading = "OPTIONS")]
    head: Option<usize>,

    /// Go on showing what is added, until Ctrl-C
    #[arg(short = 'f', long, help_heading = "OPTIONS")]
    pub(crate) follow: bool,
}

impl ExcerptArgs {
    /// Refuses what cannot be done together.
    pub(crate) fn check(&self, output: &Output) -> Result<(), CliError> {
        if self.head.is_some() && self.tail.is_some() {
            return Err(CliError::usage("Cannot specify both --head and --tail"));
        }
        if self.follow && self.head.is_some() {
            return Err(CliError::usage("Cannot specify both --head and --follow"));
        }
        if self.follow && matches!(output, Output::Json) {
            let text = "`--follow` has no end, so it cannot be one JSON array";
            return Err(CliError::usage(text).hinted("use `--format jsonl`"));
        }
        Ok(())
    }

    /// That part of what there is.
    pub(crate) fn cut<T>(&self, mut all: Vec<T>) -> Vec<T> {
        if let Some(head) = self.head {
            all.truncate(head);
        }
        let extra = self.tail.map_or(0, |tail| all.len().saturating_sub(tail));
        all.drain(..extra);
        all
    }
}
