//! Shells that stay open on another machine and run one script after the other.
//!
//! A request is sent once. If the link fails before the whole of it was taken, it cannot have run, and a shell that had
//! been lying idle is replaced by a new one; after that the result is unknown, and nobody sends it again.
//!
//! A machine that is silent for too long while it is waited for is given up (see [`Allowance`]). A shell says at once that it
//! has a request; from then on the machine may be busy, so silence means nothing, and it is asked by another shell whether it
//! lives.
//!
//! Budget: one process here and one shell there for each request that is under way at the same time; one round trip for
//! each request, the first one included. A request that takes longer than the limit on silence: one more shell.

mod silence;
mod wire;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mngr_model::HostPath;

use crate::allowance::{Allowance, no_answer_within};
use crate::proc::{Dialogue, ExecError, Exit, Keep, KeptFiles, Leftovers, Output, Turn, moment_after};
use crate::random;
use crate::remote::line::{Line, Terminal, detail_of};
use crate::remote::lock::Keeper;
use crate::remote::tally;
use crate::trace::{self, SpanKind};
use crate::{fault, interrupt};

use wire::{Answer, Listener, entry_line, entry_script, greeting, request_bytes};

pub(super) use silence::Stage;
pub(super) use wire::{MOST_OUTPUT, Obstacle};

/// A shell that lay idle for longer is not used again: its link may have died meanwhile without a sign, and then the
/// result of the next request would be unknown.
pub(super) const FRESH_FOR: Duration = Duration::from_secs(15);
/// How long a request over its deadline may take to be ended, beyond that deadline.
const ENDING_LIMIT: Duration = Duration::from_secs(5);
/// How much longer one may take that waits for a git to let go of its lock files.
const LONGEST_HOLD: Duration = Duration::from_secs(20);
/// How long the answer of an ended request is waited for.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long a process of the link that has closed its output may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Why a request was not run whose lock was lost.
const UNLOCKED: &str = "the link broke, and another command may be at work there since";

/// What ends a request from outside.
const END_SCRIPT: &str = include_str!("end.sh");

/// A script to run there.
#[derive(Debug, Clone)]
pub(super) struct Request<'a> {
    /// What it runs, for messages.
    pub(super) program: &'a str,
    /// Its lines.
    pub(super) script: String,
    /// What it reads.
    pub(super) input: &'a [u8],
    /// How long it may take, the connection included.
    pub(super) deadline: Duration,
    /// How much of the end of each output is sent.
    pub(super) kept_output: Option<usize>,
    /// What becomes of what it leaves in its group.
    pub(super) leftovers: Leftovers,
    /// What becomes of it when it takes too long.
    pub(super) overdue: Overdue,
    /// A folder of the repository whose lock files it may hold: it is not ended while it does.
    pub(super) repository: Option<&'a HostPath>,
    /// How much of what it prints is kept in memory, and where the whole of it goes; else all of it is in memory.
    pub(super) keep: Option<&'a Keep>,
}

/// What becomes of a request that takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// It is ended there, which takes its own time.
    Ended,
    /// Nobody waits for it any more; it may go on there.
    LeftAlone,
    /// The same for one that changes nothing: all that matters is that there is no answer.
    GivenUp,
}

impl Overdue {
    /// What becomes of it when the time for all requests is over: there is none left to end it.
    fn within_allowance(self) -> Self {
        if self == Self::Ended { Self::LeftAlone } else { self }
    }
}

/// How a script ended.
#[derive(Debug)]
pub(super) struct Outcome {
    /// What it printed and returned.
    pub(super) output: Output,
    /// Where the whole of it is, if it was too much.
    pub(super) files: KeptFiles,
    /// Why that could not be written.
    pub(super) problem: Option<io::ErrorKind>,
    /// Why it could not run what it was to run.
    pub(super) obstacle: Option<Obstacle>,
}

/// The shells of one machine.
pub struct Shells {
    line: Arc<dyn Line>,
    idle: Mutex<Vec<Shell>>,
    locks: Keeper,
    allowance: Allowance,
}

struct Shell {
    dialogue: Dialogue,
    /// Its name there, which nobody else can guess.
    id: String,
    listener: Listener,
    /// How many bytes it was sent.
    sent: usize,
    used: Instant,
}

/// What asking a shell came to.
enum Asked {
    Answered(Box<Shell>, Answer),
    /// It was not sent as a whole, so it was not run.
    NotSent(String),
    Failed(ExecError),
}

impl Shells {
    /// No shell is opened before there is something to run.
    pub fn new(line: Arc<dyn Line>) -> Self {
        Self { line, idle: Mutex::default(), locks: Keeper::default(), allowance: Allowance::default() }
    }

    /// The same for a machine that may be silent for this long while it is waited for.
    #[must_use]
    pub fn with_silence_limit(self, limit: Duration) -> Self {
        Self { allowance: Allowance::with_silence_limit(limit), ..self }
    }

    /// How the machine is reached.
    pub fn line(&self) -> &dyn Line {
        &*self.line
    }

    /// The shell that holds the locks of this machine.
    pub(super) fn locks(&self) -> &Keeper {
        &self.locks
    }

    /// How long this machine may still be waited for.
    pub fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Says that locks will be taken soon: what holds them is started now, beside whatever comes first.
    pub fn foresee_locks(&self) {
        self.locks.start_early(self);
    }

    /// Runs a script. Never runs it twice.
    pub(super) fn run(&self, request: &Request<'_>) -> Result<Outcome, ExecError> {
        interrupt::check().map_err(|_| ExecError::Interrupted)?;
        self.check_not_given_up()?;
        let fenced;
        let request = match self.locks.fence().lines().filter(|_| request.overdue != Overdue::GivenUp) {
            Some(lines) => {
                fenced = Request { script: lines + &request.script, ..request.clone() };
                &fenced
            }
            None => request,
        };
        let outcome = match self.allowance.left() {
            Some(Duration::ZERO) => Err(self.unreachable("it took too long to answer".to_owned())),
            Some(left) if left < request.deadline => self.send(&Request {
                deadline: left,
                overdue: request.overdue.within_allowance(),
                ..request.clone()
            }),
            _ => self.send(request),
        }?;
        match outcome.obstacle {
            Some(Obstacle::Unlocked) => Err(self.unreachable(UNLOCKED.to_owned())),
            _ => Ok(outcome),
        }
    }

    fn send(&self, request: &Request<'_>) -> Result<Outcome, ExecError> {
        let began = Instant::now();
        let _span = trace::span(SpanKind::Request, || request.program.to_owned()).on(self.line.name());
        let number = fault::request();
        let until = moment_after(request.deadline);
        let asked = match self.take_idle().map(|shell| self.ask(shell, request, until)) {
            None | Some(Asked::NotSent(_)) => self.ask(self.open()?, request, until),
            Some(asked) => asked,
        };
        tally::asked(self.line.name(), request.program, began);
        let asked = if fault::is_answer_lost(number) { lost("a test had it lost") } else { asked };
        self.finish(request, asked)
    }

    fn finish(&self, request: &Request<'_>, asked: Asked) -> Result<Outcome, ExecError> {
        match asked {
            Asked::Answered(mut shell, answer) => {
                if answer.obstacle.is_none_or(Obstacle::leaves_the_shell) {
                    shell.used = Instant::now();
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(*shell);
                }
                Ok(answer.into())
            }
            Asked::NotSent(detail) => Err(self.unreachable(detail)),
            Asked::Failed(ExecError::Lost { detail, .. }) => Err(ExecError::Lost {
                program: request.program.into(),
                host: self.line.name().into(),
                detail,
            }),
            Asked::Failed(error) => Err(error),
        }
    }

    /// The shell used last that can still be used; older ones are let go.
    fn take_idle(&self) -> Option<Shell> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|shell| shell.used.elapsed() < FRESH_FOR && shell.dialogue.is_quiet_and_open());
        idle.pop()
    }

    fn open(&self) -> Result<Shell, ExecError> {
        let dialogue = self.enter()?;
        let id = random::hex32();
        Ok(Shell { dialogue, listener: Listener::new(&id), id, sent: 0, used: Instant::now() })
    }

    /// A process that waits for a script there.
    fn enter(&self) -> Result<Dialogue, ExecError> {
        tally::opened(self.line.name());
        Dialogue::start(&self.line.command(&entry_line(self.line.shell()), Terminal::None))
    }

    /// Starts a script that is spoken with for as long as it lives, in a shell of its own.
    pub(super) fn converse(&self, script: &str) -> Result<Dialogue, ExecError> {
        self.check_not_given_up()?;
        let mut dialogue = self.enter()?;
        dialogue.say(entry_script(script).as_bytes());
        Ok(dialogue)
    }

    fn ask(&self, mut shell: Shell, request: &Request<'_>, until: Instant) -> Asked {
        let nonce = shell.put(request, self.line.shell());
        match self.await_answer(&mut shell, until) {
            Turn::Silent if shell.is_partly_sent() => Asked::Failed(self.silent()),
            Turn::Silent => lost(&self.allowance.verdict()),
            Turn::Heard => match shell.listener.take() {
                Some(answer) => Asked::Answered(Box::new(shell), answer),
                None => lost("its answer cannot be understood"),
            },
            Turn::Closed => self.explain_the_end(shell),
            Turn::TimedOut if shell.is_partly_sent() => Asked::NotSent(no_answer_within(request.deadline)),
            Turn::TimedOut if request.overdue == Overdue::GivenUp => {
                Asked::Failed(self.unreachable(no_answer_within(request.deadline)))
            }
            Turn::TimedOut if request.overdue == Overdue::LeftAlone => {
                lost(&no_answer_within(request.deadline))
            }
            // What changes nothing need not be ended there, where perhaps nobody answers.
            Turn::Interrupted if shell.is_partly_sent() || request.overdue != Overdue::Ended => {
                Asked::Failed(ExecError::Interrupted)
            }
            turn => self.end(shell, &nonce, request, turn),
        }
    }

    /// Why the link is gone, and whether the request may have run.
    fn explain_the_end(&self, mut shell: Shell) -> Asked {
        let is_partly_sent = shell.is_partly_sent();
        let (exit, said) = shell.dialogue.last_words(LAST_WORDS);
        let noise = shell.listener.noise();
        let detail = detail_of(if said.trim().is_empty() { &noise } else { &said });
        // A line that brought back the end of what ran there would have brought the greeting before it.
        let never_began =
            !shell.listener.is_greeted() && exit.is_some_and(|exit| !self.line.is_broken_by(exit));
        if is_partly_sent || never_began { Asked::NotSent(detail) } else { lost(&detail) }
    }

    /// Ends a request that took too long or is not wanted any more. Its shell is not used again.
    fn end(&self, mut shell: Shell, nonce: &str, request: &Request<'_>, turn: Turn) -> Asked {
        let _shield = interrupt::shield_this_thread();
        let ended = self.end_there(&shell.id, nonce, request.repository);
        let answer = match self.await_answer(&mut shell, Instant::now() + FAREWELL) {
            Turn::Heard => shell.listener.take(),
            _ => None,
        };
        match (turn, ended, answer) {
            (Turn::Interrupted, ..) => Asked::Failed(ExecError::Interrupted),
            // It finished by itself in the last moment.
            (_, Ok(false), Some(answer)) => Asked::Answered(Box::new(shell), answer),
            (_, Ok(true), Some(answer)) => {
                let output = Outcome::from(answer).output;
                Asked::Failed(ExecError::TimedOut {
                    program: request.program.to_owned(),
                    after: request.deadline,
                    partial: Box::new(Output { exit: Exit::Signal(9), ..output }),
                })
            }
            (_, Err(error), _) => lost(&format!("it took too long and could not be ended: {error}")),
            (_, _, None) => lost("it took too long and was ended, but did not answer"),
        }
    }

    /// Ends a request through a shell of its own: its own shell waits for it. Whether it still ran.
    fn end_there(&self, id: &str, nonce: &str, repository: Option<&HostPath>) -> Result<bool, ExecError> {
        let limit = if repository.is_some() { ENDING_LIMIT + LONGEST_HOLD } else { ENDING_LIMIT };
        let dir = repository.map_or("", HostPath::as_str);
        let words = mngr_model::quote::sh_join(["set", "--", id, nonce, dir]);
        let request = Request {
            program: "kill",
            script: format!("{words}\n{END_SCRIPT}"),
            input: &[],
            deadline: limit,
            kept_output: None,
            leftovers: Leftovers::Spare,
            overdue: Overdue::Ended,
            repository: None,
            keep: None,
        };
        let mut shell = self.open()?;
        shell.put(&request, self.line.shell());
        let turn = self.await_answer(&mut shell, Instant::now() + limit);
        match (turn, shell.listener.take()) {
            (Turn::Heard, Some(answer)) => Ok(Outcome::from(answer).output.stdout_text() == "ended"),
            (turn, _) => {
                let (_, said) = shell.dialogue.last_words(Duration::ZERO);
                Err(self.unreachable(match turn {
                    Turn::TimedOut | Turn::Silent => "there was no answer in time".to_owned(),
                    _ => detail_of(&said),
                }))
            }
        }
    }
}

impl std::fmt::Debug for Shells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shells").field("host", &self.line.name()).finish_non_exhaustive()
    }
}

impl Shell {
    /// Puts the request into the line and gives its nonce.
    fn put(&mut self, request: &Request<'_>, posix_shell: &str) -> String {
        let nonce = random::hex32();
        // The greeting is not waited for: the first request travels with it.
        let greeting = if self.sent == 0 { greeting(&self.id, posix_shell) } else { String::new() };
        let bytes = [greeting.into_bytes(), request_bytes(&nonce, request)].concat();
        self.sent += bytes.len();
        self.dialogue.say(&bytes);
        self.listener.expect(&nonce, request.kept_output, request.keep);
        nonce
    }

    /// Whether a part of what was said has certainly not left this machine.
    fn is_partly_sent(&self) -> bool {
        self.dialogue.taken() < self.sent
    }
}

/// The caller knows the names.
fn lost(detail: &str) -> Asked {
    Asked::Failed(ExecError::Lost { program: "".into(), host: "".into(), detail: detail.into() })
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        // A shell says how a program ended in one number; a program that returns 130 itself cannot be told apart.
        let exit = match answer.status {
            129..=192 => Exit::Signal(answer.status - 128),
            status => Exit::Code(status),
        };
        Self {
            output: Output { exit, stdout: answer.stdout, stderr: answer.stderr },
            files: answer.files,
            problem: answer.problem,
            obstacle: answer.obstacle,
        }
    }
}

#[cfg(test)]
mod tests;
