//! Tests run on another host: one of the provider that agents run on, so that nothing they wrote runs on this machine.
//!
//! Where hosts can be made it is a new one that no agent has been on, and it is removed at the end. Where they are there
//! already it is one of them, with a repository and checkouts of its own. It is opened when the first test is run. One
//! that does not answer any more is left for another: running a test again harms nobody.
//!
//! Round trips: for each commit one transfer; for each run those of [`WorktreePool`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mngr_config::ExtraPath;
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use mngr_ops::error_chain;
use mngr_ops::pool::{self, Fresh, Pool, RUN_TAG};
use mngr_ops::world::World;

use super::pool::WorktreePool;
use super::runner::{Guarded, Order, Report, Runner, RunnerError, Series};

/// How long a host may take to show that it is there.
const PROBE_LIMIT: Duration = Duration::from_secs(10);
/// How long to wait before another host is tried.
const PAUSE: Duration = Duration::from_secs(1);

/// What is run elsewhere.
pub(crate) struct Subject {
    /// The repository, on the machine mngr runs on.
    pub(crate) repository: HostPath,
    /// The commit that all others build on.
    pub(crate) base: String,
    /// Files that git does not carry and tests need.
    pub(crate) extra_paths: BTreeMap<String, ExtraPath>,
    /// The folder of this run below the host dir.
    pub(crate) folder: String,
    /// What hosts made for this run are labelled with.
    pub(crate) mark: String,
    /// How many tests run at once.
    pub(crate) width: usize,
    /// How long no host may answer.
    pub(crate) patience: Duration,
}

/// Runs tests on hosts of a pool.
pub(crate) struct Elsewhere {
    world: Arc<World>,
    pool: Pool,
    subject: Subject,
    ground: Mutex<State>,
}

/// Whether there is a host.
#[derive(Default)]
enum State {
    /// None was needed yet.
    #[default]
    Never,
    /// This one.
    Open(Arc<Ground>),
    /// There was one, and it does not answer any more.
    Lost,
}

/// Why there is no host.
enum NoGround {
    /// There was one, and there may be one again.
    ForNow(RunnerError),
    /// There never was one.
    Ever(RunnerError),
}

/// A host with checkouts.
struct Ground {
    host: Arc<dyn Host>,
    /// It was made for this and goes at the end.
    is_made: bool,
    repository: HostPath,
    folder: HostPath,
    checkouts: WorktreePool,
    /// The commits that are there, or on the way.
    sent: Mutex<BTreeMap<String, Arc<Mutex<bool>>>>,
    /// Shows others that it is in use.
    _fresh: Fresh,
}

impl Elsewhere {
    pub(crate) fn new(world: Arc<World>, pool: Pool, subject: Subject) -> Self {
        Self { world, pool, subject, ground: Mutex::default() }
    }

    /// The host in use; the first who asks opens one, the others wait.
    fn ground(&self) -> Result<Arc<Ground>, NoGround> {
        let mut state = lock(&self.ground);
        if let State::Open(ground) = &*state {
            return Ok(ground.clone());
        }
        match self.open() {
            Ok(ground) => {
                let ground = Arc::new(ground);
                *state = State::Open(ground.clone());
                Ok(ground)
            }
            Err(error) if matches!(*state, State::Lost) => Err(NoGround::ForNow(error)),
            Err(error) => Err(NoGround::Ever(error)),
        }
    }

    fn open(&self) -> Result<Ground, RunnerError> {
        let Subject { repository: source, base, extra_paths, folder, mark, width, .. } = &self.subject;
        let fresh = pool::fresh_host(&self.world, &self.pool, source, (RUN_TAG, mark));
        let mut fresh = fresh.map_err(|error| RunnerError::NoHost(Box::new(error)))?;
        let (host, repository) = (fresh.host.clone(), fresh.repository.take());
        let is_made = repository.is_some();
        let folder = host.layout().root().join(folder);
        let opened = || {
            let repository = match repository {
                Some(repository) => repository,
                // Those that agents share could be prepared by them.
                None => {
                    let own = folder.join("repository");
                    host.files().make_folder(&folder)?;
                    let failed = |source| RunnerError::Checkout { commit: base.clone(), source };
                    let (from, to) = (self.git(), Git::new(host.as_ref(), own.clone()));
                    from.deposit_into(&to, base).map_err(failed)?;
                    own
                }
            };
            let checkouts =
                WorktreePool::open(host.clone(), repository.clone(), folder.join("checkouts"), *width)?;
            let checkouts = checkouts.with_extra_paths_of(
                extra_paths.clone(),
                self.world.client.clone(),
                self.subject.repository.clone(),
            );
            Ok((repository, checkouts))
        };
        match opened() {
            Ok((repository, checkouts)) => {
                let sent = Mutex::default();
                Ok(Ground { host, is_made, repository, folder, checkouts, sent, _fresh: fresh })
            }
            Err(error) => {
                if is_made {
                    // What went wrong first matters more; its label finds it again.
                    let _ = pool::remove_host(&self.world, host.info());
                }
                Err(error)
            }
        }
    }

    fn git(&self) -> Git<'_> {
        Git::new(self.world.client.as_ref(), self.subject.repository.clone())
    }

    /// Brings a commit there, once.
    fn send(&self, ground: &Ground, commit: &str) -> Result<(), RunnerError> {
        let turn = lock(&ground.sent).entry(commit.to_owned()).or_default().clone();
        // Whoever needs the same one waits here: two transfers would meet at one ref.
        let mut is_there = lock(&turn);
        if *is_there {
            return Ok(());
        }
        let there = Git::new(ground.host.as_ref(), ground.repository.clone());
        let name = format!("refs/mngr/tmr/{commit}");
        self.git()
            .send_commit(&there, commit, &name)
            .map_err(|source| RunnerError::Checkout { commit: commit.to_owned(), source })?;
        *is_there = true;
        Ok(())
    }

    /// Lets the next one open another host.
    fn leave(&self, left: &Arc<Ground>) {
        let mut state = lock(&self.ground);
        if matches!(&*state, State::Open(ground) if Arc::ptr_eq(ground, left)) {
            let name = left.host.info().address();
            self.world.reporter.warn(&format!("host `{name}`, on which tests run, does not answer"));
            *state = State::Lost;
        }
    }
}

impl Ground {
    fn answers(&self) -> bool {
        self.host.exec(&Cmd::new("true").deadline(PROBE_LIMIT)).is_ok()
    }
}

impl Elsewhere {
    /// Does something with the checkouts of a host, on another one if that is lost meanwhile.
    fn anywhere<T>(
        &self,
        commit: &str,
        run: impl Fn(&WorktreePool) -> Result<T, RunnerError>,
    ) -> Result<T, RunnerError> {
        let mut until = None;
        loop {
            let tried = match self.ground() {
                Ok(ground) => match self.send(&ground, commit).and_then(|()| run(&ground.checkouts)) {
                    Err(error) if !error.is_interrupted() && !ground.answers() => {
                        self.leave(&ground);
                        Err(error)
                    }
                    other => return other,
                },
                Err(NoGround::ForNow(error)) => Err(error),
                Err(NoGround::Ever(error)) => return Err(error),
            };
            let until = *until.get_or_insert_with(|| Instant::now() + self.subject.patience);
            match tried {
                Err(error) if error.is_interrupted() || Instant::now() >= until => return Err(error),
                Err(_) if interrupt::check().is_err() => return tried,
                _ => std::thread::sleep(PAUSE),
            }
        }
    }
}

impl Runner for Elsewhere {
    fn run(&self, order: &Order<'_>) -> Result<Report, RunnerError> {
        self.anywhere(order.commit, |checkouts| checkouts.run(order))
    }

    fn run_guarded(&self, order: &Order<'_>, quiet: Duration) -> Result<Guarded, RunnerError> {
        self.anywhere(order.commit, |checkouts| checkouts.run_guarded(order, quiet))
    }

    fn run_series(&self, series: &Series<'_>) -> Result<Vec<Report>, RunnerError> {
        self.anywhere(series.commit, |checkouts| checkouts.run_series(series))
    }

    fn outside(&self, what: &str) -> Result<String, RunnerError> {
        match self.ground() {
            Ok(ground) => ground.checkouts.outside(what),
            Err(NoGround::ForNow(error) | NoGround::Ever(error)) => Err(error),
        }
    }

    fn take_outside(&self, path: &str) -> Result<String, RunnerError> {
        match self.ground() {
            Ok(ground) => ground.checkouts.take_outside(path),
            Err(NoGround::ForNow(error) | NoGround::Ever(error)) => Err(error),
        }
    }

    fn width(&self) -> usize {
        self.subject.width
    }

    fn close(&self) -> Result<(), RunnerError> {
        let State::Open(ground) = std::mem::take(&mut *lock(&self.ground)) else { return Ok(()) };
        let closed = match ground.is_made {
            true => pool::remove_host(&self.world, ground.host.info()).map_err(|error| error_chain(&error)),
            false => {
                let closed = ground.checkouts.close();
                let removed = ground.host.files().remove_tree(&ground.folder);
                closed.map_err(|error| error_chain(&error)).and(removed.map_err(|error| error_chain(&error)))
            }
        };
        // The results are here: a host that is gone for now is no reason to fail.
        if let Err(problem) = closed {
            let name = ground.host.info().address();
            self.world
                .reporter
                .warn(&format!("the checkouts on host `{name}` could not be removed: {problem}"));
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
