//! One end-to-end test: a world of its own, commands run in it, and artifacts that show what happened.
//!
//! ```no_run
//! use mngr_e2e::{expect, session};
//!
//! # fn test() {
//! let e2e = session!();
//! e2e.write_tutorial_block(
//!     r#"
//!     # who works here?
//!     mngr list
//!     "#,
//! );
//! let result = e2e.comment("nobody yet").run("mngr list");
//! expect(&result).to_succeed();
//! expect(&result.stdout).to_contain("No agents");
//! # }
//! ```
//!
//! The words and the files are those of the pytest plugin in `python/`. What goes wrong around a test ends it with a
//! panic, like an expectation that does not hold. Never here: a look past the command line of what is tested.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mngr_host::clock::{Clock, SystemClock};
use mngr_host::files::{Access, Durability, Files};
use mngr_host::host::Host;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_model::HostPath;
use mngr_model::artifacts::{CitedBlock, TUTORIAL_BLOCK_FILE, TestRecord, TestStatus};

use crate::transcript::TranscriptWriter;

mod capture;
mod environment;
mod error;
mod keys;
mod macros;
mod options;
mod panic_text;
mod place;
mod record;
mod result;
mod run;
mod secrets;
mod setup;
mod terminal;

use environment::{Ending, Environment, Variables};
use error::{fail, or_fail};

pub(crate) use capture::shown;
pub use environment::Project;
pub use error::SessionError;
pub use options::{Keep, Options};
pub use place::TestPlace;
pub use result::{Printed, RunResult};
pub use run::Run;
pub use setup::Setup;
pub use terminal::Terminal;

/// A test at work. When it is dropped the test is over: the artifacts are completed and the environment is removed.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    environment: Environment,
    options: Options,
    /// What the environment's variables were at the start.
    start: Variables,
    variables: Variables,
    cwd: HostPath,
    record: Mutex<TestRecord>,
}

/// What a session and its terminals use together.
#[derive(Debug)]
pub(crate) struct Shared {
    host: LocalHost,
    /// The artifacts.
    folder: HostPath,
    transcript: Mutex<TranscriptWriter>,
    commands: AtomicU32,
}

impl Shared {
    /// The number of the next command.
    fn next_id(&self) -> u32 {
        self.commands.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn transcript(&self) -> MutexGuard<'_, TranscriptWriter> {
        lock(&self.transcript)
    }
}

/// What a panicking thread held is whole enough: every change under these locks is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_ms() -> i64 {
    SystemClock.now().as_millisecond()
}

impl Session {
    fn open(setup: Setup) -> Result<Self, SessionError> {
        panic_text::watch();
        let Setup { place, options, project } = setup;
        let started = SystemClock.now();
        let (root, host) = Environment::make_root()?;
        let claim = match place::claim(&host, &place, &options, started) {
            Ok(claim) => claim,
            Err(error) => {
                // Nobody watches over the folder yet.
                let _ = LocalFiles.remove_tree(&root);
                return Err(error);
            }
        };
        let under_test = place.program.as_deref().and_then(|program| Path::new(program).parent()?.to_str());
        let first: Vec<&str> = options.bin.as_deref().into_iter().chain(under_test).collect();
        let inherited = std::env::var("PATH").ok();
        let path = Environment::path(&first, inherited.as_deref());
        let variables = Environment::variables(&root, &claim.folder, &path);
        let environment = Environment::open(&host, root, &claim.folder, &variables, project)?;
        let session = Self {
            cwd: environment.project(),
            record: Mutex::new(record::first(&place, claim.attempt, started)),
            shared: Arc::new(Shared {
                host,
                transcript: Mutex::new(TranscriptWriter::new(&claim.folder)),
                folder: claim.folder,
                commands: AtomicU32::new(0),
            }),
            environment,
            options,
            start: variables.clone(),
            variables,
        };
        session.write_record()?;
        Ok(session)
    }

    /// Says which block of the tutorial this test is about. A test may be about several.
    #[track_caller]
    pub fn write_tutorial_block(&self, text: &str) {
        lock(&self.record).blocks.push(CitedBlock::new(text));
        let blocks: Vec<String> =
            lock(&self.record).blocks.iter().map(|block| format!("{}\n", block.text)).collect();
        let file = self.shared.folder.join(TUTORIAL_BLOCK_FILE);
        let text = blocks.join("\n");
        let written = LocalFiles.write(&file, text.as_bytes(), Access::Shared, Durability::Cached);
        or_fail(written.map_err(Into::into).and_then(|()| self.write_record()));
    }

    /// Runs a command through `sh` and waits for its end.
    #[track_caller]
    pub fn run(&self, command: &str) -> RunResult {
        Run::new(self).run(command)
    }

    /// Runs a command in a terminal, and returns at once.
    #[track_caller]
    pub fn terminal(&self, command: &str) -> Terminal {
        Run::new(self).terminal(command)
    }

    /// The next command has this comment in the transcript.
    pub fn comment(&self, comment: &str) -> Run<'_> {
        Run::new(self).comment(comment)
    }

    /// The next command may take this long.
    pub fn timeout(&self, timeout: Duration) -> Run<'_> {
        Run::new(self).timeout(timeout)
    }

    /// The next command reads this.
    pub fn stdin(&self, bytes: impl Into<Vec<u8>>) -> Run<'_> {
        Run::new(self).stdin(bytes)
    }

    /// The next command has this variable.
    pub fn env(&self, name: &str, value: &str) -> Run<'_> {
        Run::new(self).env(name, value)
    }

    /// The next command runs in this folder; a relative path starts at the folder commands run in.
    pub fn cwd(&self, folder: &str) -> Run<'_> {
        Run::new(self).cwd(folder)
    }

    /// Sets a variable for all later commands.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Removes a variable for all later commands.
    pub fn unset_env(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// All later commands run in this folder; a relative path starts at the present one.
    pub fn cd(&mut self, folder: &str) {
        self.cwd = self.cwd.join(folder);
    }

    /// The folder commands run in at first: a git repository with one commit, unless the setup says otherwise.
    pub fn project(&self) -> PathBuf {
        self.environment.project().as_str().into()
    }

    /// `HOME` of the test.
    pub fn home(&self) -> PathBuf {
        self.environment.root().join("home").as_str().into()
    }

    /// Where the artifacts of the test are.
    pub fn artifacts(&self) -> PathBuf {
        self.shared.folder.as_str().into()
    }

    fn write_record(&self) -> Result<(), SessionError> {
        Ok(record::write(self.shared.host.files(), &self.shared.folder, &lock(&self.record))?)
    }

    /// Completes the artifacts and ends the environment.
    fn finish(&mut self, status: TestStatus) -> Result<(), SessionError> {
        let has_failed = status != TestStatus::Passed;
        let is_kept = self.options.keep_env.applies(has_failed);
        let mut outcome = self.shared.transcript().finish().map_err(SessionError::from);
        if is_kept {
            outcome = outcome.and(self.environment.keep(&self.shared.folder, &self.variables));
        }
        let ending = if is_kept { Ending::Keep } else { Ending::Remove };
        // Recorders complete their files while the environment ends, so the list of recordings comes after it.
        outcome = outcome.and(self.environment.end(ending));
        let ended = SystemClock.now();
        let recordings = record::recordings(self.shared.host.files(), &self.shared.folder);
        {
            let mut record = lock(&self.record);
            record.status = status;
            record.message = if has_failed { panic_text::take() } else { None };
            record.ended_at = Some(ended);
            let elapsed = ended.as_millisecond() - record.started_at.as_millisecond();
            record.duration_ms = u64::try_from(elapsed).ok();
            record.environment = is_kept.then(|| self.environment.root().as_str().to_owned());
            record.recordings = recordings;
        }
        if self.options.artifacts.applies(has_failed) {
            return outcome.and(self.write_record());
        }
        outcome.and(LocalFiles.remove_tree(&self.shared.folder).map_err(Into::into))
    }
}

impl Drop for Session {
    #[expect(clippy::print_stderr, reason = "the test runner shows this with the failure")]
    fn drop(&mut self) {
        let has_failed = thread::panicking();
        let finished = self.finish(if has_failed { TestStatus::Failed } else { TestStatus::Passed });
        let folder = &self.shared.folder;
        if has_failed && self.options.artifacts.applies(has_failed) {
            eprintln!("artifacts of the failed test: {folder}");
        }
        if self.options.keep_env.applies(has_failed) {
            eprintln!(
                "its environment is kept: enter it with {folder}/reenter, remove it with {folder}/destroy-env"
            );
        }
        match finished {
            Ok(()) => {}
            // A second panic would abort the test process and hide the first one.
            Err(error) if has_failed => eprintln!("{error}"),
            Err(error) => fail(&error),
        }
    }
}

#[cfg(test)]
mod tests;
