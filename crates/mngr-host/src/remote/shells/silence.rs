//! Telling a machine that is silent from one that is busy, whatever it is asked for.

use std::time::{Duration, Instant};

use super::{Asked, Overdue, Request, Shell, Shells};
use crate::proc::{Dialogue, ExecError, Hearing, Leftovers, Turn, moment_after};
use crate::transfers;

/// How often what flows to the machine is measured.
const TICK: Duration = Duration::from_secs(1);
/// How long a machine that gives signs of life may take to answer whether it lives.
const MARGIN: Duration = Duration::from_secs(5);

/// What is known of somebody at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::remote) enum Stage {
    /// Nothing: he may not be there at all.
    Unheard,
    /// He has what he was sent, and takes his time.
    AtWork,
}

impl Shells {
    /// Waits for the answer to what was put into a shell.
    pub(super) fn await_answer(&self, shell: &mut Shell, until: Instant) -> Turn {
        let listener = &mut shell.listener;
        self.listen(&mut shell.dialogue, until, Stage::Unheard, &mut |bytes| {
            let hearing = listener.hear(bytes);
            (hearing, if listener.is_taken() { Stage::AtWork } else { Stage::Unheard })
        })
    }

    /// Speaks and listens until the listener has heard enough, or the machine has been silent for too long.
    pub(in crate::remote) fn listen(
        &self,
        dialogue: &mut Dialogue,
        until: Instant,
        stage: Stage,
        hear: &mut dyn FnMut(&[u8]) -> (Hearing, Stage),
    ) -> Turn {
        let allowance = self.allowance();
        let mut waiting = (stage == Stage::Unheard).then(|| allowance.wait());
        let mut flowed = None;
        loop {
            let patience = waiting.as_ref().map_or(allowance.silence_limit(), |waiting| waiting.left());
            let patience = if dialogue.has_taken_all() { patience } else { patience.min(TICK) };
            let turn = dialogue.exchange(until.min(moment_after(patience)), &mut |bytes| {
                allowance.heard();
                let (hearing, stage) = hear(bytes);
                if stage == Stage::AtWork {
                    waiting = None;
                }
                hearing
            });
            if turn != Turn::TimedOut || Instant::now() >= until {
                return turn;
            }
            // A small request is taken at once, whoever is at the other end; a large one only as fast as it arrives.
            let taken = dialogue.taken();
            if flowed.is_some_and(|before| taken > before) {
                allowance.heard();
            }
            flowed = Some(taken);
            match &waiting {
                Some(waiting) if waiting.left().is_zero() && self.copies() => allowance.heard(),
                Some(waiting) if waiting.left().is_zero() => {
                    waiting.give_up();
                    return Turn::Silent;
                }
                Some(_) => {}
                None if self.is_silent() => return Turn::Silent,
                None => {}
            }
        }
    }

    /// Whether a program of ours copies from or to the machine, so that everything else may have to wait.
    fn copies(&self) -> bool {
        transfers::is_under_way(&self.line().copy_name())
    }

    /// Asks the machine whether it lives.
    fn is_silent(&self) -> bool {
        let limit = self.allowance().silence_limit();
        let request = Request {
            program: "true",
            script: ":\n".to_owned(),
            input: &[],
            deadline: limit + MARGIN,
            kept_output: None,
            leftovers: Leftovers::Spare,
            overdue: Overdue::GivenUp,
            repository: None,
        };
        let until = moment_after(request.deadline);
        let asked = match self.take_idle() {
            Some(shell) => Ok(self.ask(shell, &request, until)),
            None => self.open().map(|shell| self.ask(shell, &request, until)),
        };
        if let Ok(asked @ Asked::Answered(..)) = asked {
            let _ = self.finish(&request, asked);
        }
        self.allowance().is_given_up()
    }

    /// Fails at once while the machine is given up.
    pub(super) fn check_not_given_up(&self) -> Result<(), ExecError> {
        if self.allowance().is_given_up() { Err(self.silent()) } else { Ok(()) }
    }

    /// The machine was silent for too long.
    pub(in crate::remote) fn silent(&self) -> ExecError {
        self.unreachable(self.allowance().verdict())
    }

    pub(super) fn unreachable(&self, detail: String) -> ExecError {
        ExecError::Unreachable { host: self.line().name().to_owned(), detail }
    }
}
