//! Reusable worktrees on one host: each run gets one with exactly the files of its commit.
//!
//! They lie below the folder of the run, which belongs to it alone: whatever an orchestrator that was killed has left
//! there is removed first, whatever is in it by now, and the tests that it left running are ended. The user's checkout and
//! branches are not touched.
//!
//! Processes: 2 of git for a run, 3 for each new worktree, 1 to remove one.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mngr_config::ExtraPath;
use mngr_host::files::{Access, Durability};
use mngr_host::git::{Git, GitError, Pristine};
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::proc::{Cmd, CommandId, ExecError};
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::quote::sh_quote;
use mngr_model::run::MeasuredRun;
use mngr_ops::extra_paths;

use super::room;
use super::runner::{Guarded, Keep, Order, Printed, REPORT_VARIABLE, Report, Runner, RunnerError, Series};

mod guard;
mod leftovers;

/// How much of what a command prints is kept.
const KEPT_OUTPUT: usize = 16 * 1024;

/// What the names of files outside of the checkouts begin with.
const OUTSIDE: &str = "mngr-tmr-";

/// How much of a file outside of the checkouts is read, and how long that may take.
const MOST_TAKEN: usize = 16 * 1024 * 1024;
const TAKING: Duration = Duration::from_secs(20);

/// Variables by which a surrounding git command or hook would point the command at another repository.
const FOREIGN_REPOSITORY: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"];

/// Worktrees of one repository on one host.
pub struct WorktreePool {
    host: Arc<dyn Host>,
    repository: HostPath,
    folder: HostPath,
    width: usize,
    /// Files that git does not carry and tests need.
    extra_paths: BTreeMap<String, ExtraPath>,
    /// Where they are, if not in the repository's own checkout.
    extra_source: Option<(Arc<dyn Host>, HostPath)>,
    slots: Mutex<Slots>,
    freed: Condvar,
}

#[derive(Default)]
struct Slots {
    free: Vec<Pristine>,
    /// How many names were given out; a slot that had to be given up keeps its name.
    named: usize,
    /// How many are in use or free.
    made: usize,
}

impl WorktreePool {
    /// A pool in `folder`, which is its own, of at most `width` worktrees. They are made when they are needed.
    pub fn open(
        host: Arc<dyn Host>,
        repository: HostPath,
        folder: HostPath,
        width: usize,
    ) -> Result<Self, RunnerError> {
        let mut pool = Self {
            host,
            repository,
            folder,
            width: width.max(1),
            extra_paths: BTreeMap::new(),
            extra_source: None,
            slots: Mutex::default(),
            freed: Condvar::new(),
        };
        pool.end_what_was_left();
        let named = pool.clear()?;
        pool.slots.get_mut().unwrap_or_else(PoisonError::into_inner).named = named;
        pool.host.files().make_folder(&pool.folder)?;
        pool.host.files().make_folder(&pool.outputs())?;
        Ok(pool)
    }

    /// Lays these files of the repository's own checkout into every worktree.
    #[must_use]
    pub fn with_extra_paths(mut self, paths: BTreeMap<String, ExtraPath>) -> Self {
        self.extra_paths = paths;
        self
    }

    /// The same, from a checkout elsewhere.
    #[must_use]
    pub fn with_extra_paths_of(
        mut self,
        paths: BTreeMap<String, ExtraPath>,
        host: Arc<dyn Host>,
        checkout: HostPath,
    ) -> Self {
        self.extra_paths = paths;
        self.extra_source = Some((host, checkout));
        self
    }

    /// Where commands print to.
    fn outputs(&self) -> HostPath {
        HostPath::new(format!("{}-outputs", self.folder))
    }

    fn git(&self) -> Git<'_> {
        Git::new(self.host.as_ref(), self.repository.clone())
    }

    /// A worktree with the files of the commit. One that cannot be cleaned is replaced by a new one.
    fn take(&self, commit: &str) -> Result<Pristine, GitError> {
        let (reused, name) = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            while slots.free.is_empty() && slots.made >= self.width {
                slots = self.freed.wait(slots).unwrap_or_else(PoisonError::into_inner);
            }
            let reused = slots.free.pop();
            if reused.is_none() {
                slots.made += 1;
            }
            slots.named += 1;
            (reused, slots.named)
        };
        let taken = match reused {
            Some(mut slot) => match self.git().make_pristine(&mut slot, commit) {
                Ok(()) => Ok(slot),
                Err(error) if error.is_interrupted() => Err(error),
                Err(_) => self.remove(slot.root()).and_then(|()| self.make(name, commit)),
            },
            None => self.make(name, commit),
        };
        if taken.is_err() {
            self.slots.lock().unwrap_or_else(PoisonError::into_inner).made -= 1;
            self.freed.notify_one();
        }
        taken
    }

    fn make(&self, name: usize, commit: &str) -> Result<Pristine, GitError> {
        if let Some(own) = CommandId::own() {
            let files = self.host.files();
            files.write(&self.owner(), own.as_str().as_bytes(), Access::Private, Durability::Cached)?;
        }
        self.git().add_pristine(&self.folder.join(&name.to_string()), commit)
    }

    fn give_back(&self, slot: Pristine) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).free.push(slot);
        self.freed.notify_one();
    }

    fn run_in(&self, slot: &Pristine, order: &Order<'_>) -> Result<Report, RunnerError> {
        // Nothing that ran before can have left a file of that name.
        let file = self.outputs().join(&random::hex32());
        let quoted = sh_quote(file.as_str());
        // The subshell keeps an `exit` in the line from ending the redirection early.
        let with_file = match order.keep {
            Keep::Tail => None,
            Keep::Output => Some(format!("({}\n) >{quoted}", order.command)),
            Keep::Everything => Some(format!("({}\n) >{quoted} 2>&1", order.command)),
            Keep::Report => Some(format!("{REPORT_VARIABLE}={quoted}; {}", order.command)),
        };
        let mut cmd = Cmd::shell(with_file.as_deref().unwrap_or(order.command))
            .cwd(slot.root())
            .deadline(order.deadline)
            .keep_last(KEPT_OUTPUT)
            .end_leftovers()
            .known_by_its_command()
            // A test that loses its own `.git` must not find the checkout this folder may lie in.
            .env("GIT_CEILING_DIRECTORIES", self.folder.as_str());
        for name in FOREIGN_REPOSITORY {
            cmd = cmd.env_remove(name);
        }
        let started = Instant::now();
        let ended = self.host.exec(&cmd);
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (exit, output) = match ended {
            Ok(output) => (Some(output.exit.to_shell()), output),
            Err(ExecError::TimedOut { partial, .. }) => (None, *partial),
            Err(error) => return Err(RunnerError::Exec(error)),
        };
        if exit != Some(0) {
            self.check_room()?;
        }
        let tail = [output.stdout_text(), output.stderr_text()].join("\n").trim().to_owned();
        let tail = without_lines_about(&file, tail);
        let printed = with_file.map(|_| Printed::new(self.host.clone(), file));
        Ok(Report { run: MeasuredRun { exit, ms }, tail, printed, root: slot.root().clone() })
    }
}

impl WorktreePool {
    /// Fails when the disk is full: a test that fails there says nothing.
    fn check_room(&self) -> Result<(), RunnerError> {
        let file = self.outputs().join(&random::hex32());
        let files = self.host.files();
        let written = files.write(&file, &[0; room::NEEDED], Access::Private, Durability::Cached);
        // One that could not be made need not be removed.
        let _ = files.remove_file(&file);
        match written {
            Err(error) if room::is_missing(&error) => Err(RunnerError::NoRoom(error)),
            _ => Ok(()),
        }
    }
}

/// Some frameworks say where their report is. That is different in each run and of no use to anybody.
fn without_lines_about(file: &HostPath, tail: String) -> String {
    match tail.contains(file.as_str()) {
        true => tail.lines().filter(|line| !line.contains(file.as_str())).collect::<Vec<_>>().join("\n"),
        false => tail,
    }
}

impl Drop for WorktreePool {
    /// For whoever leaves early. What cannot be removed now is removed by the next one who opens the folder.
    fn drop(&mut self) {
        let _shield = interrupt::shield();
        let _ = self.clear();
    }
}

impl WorktreePool {
    /// Does something in a checkout of a commit.
    fn in_checkout<T>(
        &self,
        commit: &str,
        run: impl FnOnce(&Pristine) -> Result<T, RunnerError>,
    ) -> Result<T, RunnerError> {
        let slot = self
            .take(commit)
            .map_err(|source| RunnerError::Checkout { commit: commit.to_owned(), source })?;
        // Those the repository does not have are missing for the user's own tests too.
        let host = self.host.as_ref();
        let source = match &self.extra_source {
            Some((theirs, checkout)) => (theirs.as_ref(), checkout),
            None => (host, &self.repository),
        };
        let laid = extra_paths::lay(&self.extra_paths, source, (host, slot.root()));
        let done = laid.map_err(RunnerError::ExtraPaths).and_then(|_| run(&slot));
        self.give_back(slot);
        done
    }
}

impl Runner for WorktreePool {
    fn run(&self, order: &Order<'_>) -> Result<Report, RunnerError> {
        self.in_checkout(order.commit, |slot| self.run_in(slot, order))
    }

    fn run_guarded(&self, order: &Order<'_>, quiet: Duration) -> Result<Guarded, RunnerError> {
        self.in_checkout(order.commit, |slot| self.run_guarded_in(slot, order, quiet))
    }

    fn run_series(&self, series: &Series<'_>) -> Result<Vec<Report>, RunnerError> {
        let Series { commit, commands, keep, .. } = *series;
        self.in_checkout(commit, |slot| {
            let started = Instant::now();
            let mut reports = Vec::new();
            for command in commands {
                let deadline = series.deadline.saturating_sub(started.elapsed());
                if deadline == Duration::ZERO {
                    break;
                }
                reports.push(self.run_in(slot, &Order { commit, command, deadline, keep })?);
            }
            Ok(reports)
        })
    }

    fn outside(&self, what: &str) -> Result<String, RunnerError> {
        let name = format!("{OUTSIDE}{what}-{}", random::hex32());
        // Noted before it is there: see `clear`.
        self.host.files().touch(&self.outputs().join(&name))?;
        Ok(format!("/tmp/{name}"))
    }

    fn take_outside(&self, path: &str) -> Result<String, RunnerError> {
        // Whatever a test put there, it is neither waited for nor read without end.
        let most = MOST_TAKEN.to_string();
        let read = Cmd::new("head").args(["-c", &most, "--", path]).deadline(TAKING);
        let text = match self.host.exec(&read) {
            Ok(output) if output.success() => output.stdout_text(),
            Err(ExecError::Interrupted) => return Err(RunnerError::Exec(ExecError::Interrupted)),
            _ => String::new(),
        };
        // It may not be there, and what is left goes with the checkouts.
        let _ = self.host.files().remove_file(&HostPath::new(path));
        Ok(text)
    }

    fn width(&self) -> usize {
        self.width
    }

    fn close(&self) -> Result<(), RunnerError> {
        *self.slots.lock().unwrap_or_else(PoisonError::into_inner) = Slots::default();
        self.clear().map(|_| ())
    }
}
