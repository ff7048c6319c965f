//! Watching everything that was seen of a fleet, so that whoever shows it is woken when something changes anywhere.
//!
//! One thread and one watch per host, which stay as long as there is nothing else to watch there. Spawns no process on this
//! machine; a host that cannot be watched is only looked at.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use mngr_host::host::WatchRequest;
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::watch::{Wake, Watch};
use mngr_model::HostId;

use crate::fleet::{Agent, Fleet, SeenHost};
use crate::signs;

/// How soon a watch that is no longer wanted ends, and an interrupt is met.
const ATTENTION: Duration = Duration::from_millis(100);

/// Changes come in bunches: a look takes in all that come within this time.
const SETTLING: Duration = Duration::from_millis(10);

/// Whether something is watched now that was not before. If so, look once more: it may have changed in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// All of it was watched already.
    Complete,
    /// Some of it is watched from now on.
    Grown,
}

/// The watches of a fleet.
pub struct Vigil {
    posts: HashMap<HostId, Post>,
    wakes: Receiver<()>,
    /// Room for one: two wakes are no more than one.
    wake: SyncSender<()>,
}

/// The watch of one host. Dropping it ends it.
struct Post {
    request: WatchRequest,
    is_over: Arc<AtomicBool>,
}

impl Default for Vigil {
    fn default() -> Self {
        let (wake, wakes) = mpsc::sync_channel(1);
        Self { posts: HashMap::new(), wakes, wake }
    }
}

impl Vigil {
    /// Watches the folders and the processes of all agents of this look, also of those that are just being made.
    pub fn cover(&mut self, fleet: &Fleet) -> Coverage {
        let mut coverage = Coverage::Complete;
        let mut posts = HashMap::new();
        for seen in fleet.answered() {
            let id = seen.host.info().id.clone();
            let request = request_of(fleet, seen);
            let post = match self.posts.remove(&id) {
                Some(post) if post.request == request => Some(post),
                _ => {
                    let watch = seen.host.watch(&request).ok();
                    watch
                        .and_then(|watch| Post::start(watch, request, self.wake.clone()))
                        .inspect(|_| coverage = Coverage::Grown)
                }
            };
            posts.extend(post.map(|post| (id, post)));
        }
        self.posts = posts;
        coverage
    }

    /// Waits for a change anywhere, at most this long.
    pub fn wait(&self, limit: Duration) -> Result<(), Interrupted> {
        let started = Instant::now();
        loop {
            if interrupt::is_noted() {
                return Err(Interrupted);
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            if self.wakes.recv_timeout(left.min(ATTENTION)).is_ok() {
                std::thread::sleep(SETTLING);
                while self.wakes.try_recv().is_ok() {}
                return Ok(());
            }
        }
    }
}

impl Post {
    /// `None` when the system gives no thread: then there is only the pace of whoever looks.
    fn start(watch: Box<dyn Watch>, request: WatchRequest, wake: SyncSender<()>) -> Option<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen_over = is_over.clone();
        std::thread::Builder::new().spawn(move || stand(watch, &wake, &seen_over)).ok()?;
        Some(Self { request, is_over })
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

fn stand(mut watch: Box<dyn Watch>, wake: &SyncSender<()>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        match watch.wait(ATTENTION) {
            Ok(Wake::TimedOut) => {}
            Ok(Wake::Changed) => {
                // A full channel is as good as a wake; a closed one means that nobody waits any more.
                if matches!(wake.try_send(()), Err(mpsc::TrySendError::Disconnected(()))) {
                    return;
                }
                // A process that has ended is told again and again until it is no longer watched.
                std::thread::sleep(SETTLING);
            }
            Err(Interrupted) => return,
        }
    }
}

fn request_of(fleet: &Fleet, seen: &SeenHost) -> WatchRequest {
    let host = &seen.host;
    let layout = host.layout();
    let agents = layout.agents();
    let below = host.files().list(&agents).unwrap_or_default();
    let mut folders = vec![layout.root().clone(), layout.journals()];
    folders.extend(below.iter().map(|entry| agents.join(&entry.name)));
    folders.push(agents);
    let is_here = |agent: &&Agent| agent.host.info().id == host.info().id && agent.facts.agent.is_alive();
    let alive = fleet.agents.iter().filter(is_here);
    folders.extend(alive.clone().flat_map(|agent| signs::folders(host.as_ref(), &agent.facts)));
    let processes = alive.filter_map(|agent| agent.facts.process.agent).collect();
    WatchRequest { folders, processes }
}

#[cfg(test)]
mod tests {
    use mngr_host::host::Host;
    use mngr_model::facts::Detail;

    use super::*;
    use crate::testing::{PATIENCE, TestWorld};

    #[test]
    fn an_interrupt_is_met_although_a_request_is_being_ended_behind_a_shield() {
        let _shield = interrupt::shield();
        interrupt::Attention::begin().pass_on();
        assert!(Vigil::default().wait(Duration::ZERO).is_err());
    }

    #[test]
    fn a_change_wakes_long_before_the_time_is_up_and_what_is_watched_stays_watched() {
        let test = TestWorld::new();
        let agent = test.add("a", "command", &["true"]);
        let mut vigil = Vigil::default();
        let look = || Fleet::look(&test.world, Detail::Basic);
        assert_eq!(vigil.cover(&look()), Coverage::Grown);
        assert_eq!(vigil.cover(&look()), Coverage::Complete);
        vigil.wait(Duration::ZERO).unwrap();
        let started = Instant::now();
        test.host.files().touch(&test.host.layout().agent(agent.id()).root().join("active")).unwrap();
        vigil.wait(PATIENCE).unwrap();
        assert!(started.elapsed() < PATIENCE);
        test.add("b", "command", &["true"]);
        assert_eq!(vigil.cover(&look()), Coverage::Grown);
    }
}
