//! Watching the targets of one host: looks again when their folders or processes change, and at a slow pace besides.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use mngr_host::host::{Host, WatchRequest};
use mngr_host::interrupt;
use mngr_host::tmux::Socket;
use mngr_model::facts::{AgentFacts, Detail};
use mngr_model::process::ProcessId;
use mngr_model::{AgentId, AgentState, HostPath, StateReport};

use super::board::{Goal, Seen};
use crate::signs;
use crate::states::{self, Kinds};

/// How often to look where no event tells of a change: the limit on watches may be used up, a host may be unreadable,
/// and neither the end of a foreground job in a terminal, which is what ends `REPLACED`, nor a new screen is announced to
/// anybody.
const BLIND_PACE: Duration = Duration::from_millis(250);

/// What a watcher reports.
pub(super) enum News {
    /// A target is different from before.
    Seen {
        /// Which one of the whole wait.
        index: usize,
        /// What it is now.
        seen: Seen,
    },
    /// Something the user should know.
    Warning(String),
    /// The user gave up.
    Interrupted,
}

/// A target of this host.
pub(super) struct Target {
    pub(super) index: usize,
    pub(super) id: AgentId,
    pub(super) seen: Seen,
    pub(super) processes: Vec<ProcessId>,
    /// Where its state shows.
    pub(super) folders: Vec<HostPath>,
    /// Whether only its screen tells what it does, which no event tells of.
    pub(super) is_told_by_screen: bool,
    /// In how long it is different without any event.
    pub(super) lasts: Option<Duration>,
}

/// Watches until every target has met the goal or is gone, or nobody listens.
pub(super) struct Watcher {
    pub(super) host: Arc<dyn Host>,
    pub(super) socket: Socket,
    pub(super) kinds: Arc<Kinds>,
    pub(super) targets: Vec<Target>,
    pub(super) goal: Goal,
    pub(super) interval: Duration,
    pub(super) news: Sender<News>,
    pub(super) is_over: Arc<AtomicBool>,
    pub(super) has_warned: bool,
}

/// Whether the watch still covers the folders and processes that matter.
#[derive(PartialEq, Eq)]
enum Coverage {
    Complete,
    Stale,
}

impl Watcher {
    /// The watcher's whole life.
    pub(super) fn run(mut self) {
        while !self.is_finished() {
            let request = WatchRequest {
                folders: self.targets.iter().flat_map(|target| target.folders.iter().cloned()).collect(),
                processes: self.targets.iter().flat_map(|target| target.processes.iter().copied()).collect(),
            };
            let watch = self.host.watch(&request);
            // Watch first, look second: a change in between would otherwise go unseen.
            if self.look() == Coverage::Stale {
                continue;
            }
            match watch {
                Ok(mut watch) => loop {
                    if self.is_finished() {
                        return;
                    }
                    if watch.wait(self.pace()).is_err() {
                        return self.tell(News::Interrupted);
                    }
                    if self.look() == Coverage::Stale {
                        break;
                    }
                },
                Err(error) => {
                    self.warn(&format!("{}; looking again and again instead", crate::error_chain(&error)));
                    if interrupt::is_pending() {
                        return self.tell(News::Interrupted);
                    }
                    std::thread::sleep(BLIND_PACE.min(self.interval));
                }
            }
        }
    }

    fn pace(&self) -> Duration {
        let is_blind = |target: &Target| {
            target.is_told_by_screen
                || matches!(target.seen, Seen::Unseen | Seen::State(AgentState::Replaced))
        };
        let pace =
            if self.targets.iter().any(is_blind) { BLIND_PACE.min(self.interval) } else { self.interval };
        self.targets.iter().filter_map(|target| target.lasts).fold(pace, Duration::min)
    }

    fn is_finished(&self) -> bool {
        self.targets.is_empty() || self.is_over.load(Ordering::Acquire)
    }

    /// Looks at every target, reports what changed and forgets those that need no more looks.
    fn look(&mut self) -> Coverage {
        let mut coverage = Coverage::Complete;
        let mut problem = None;
        let mut changed = Vec::new();
        let looks: Vec<_> =
            self.targets.iter().map(|target| self.host.look_at(&target.id, Detail::Basic)).collect();
        let found: Vec<AgentFacts> = looks.iter().flatten().flatten().cloned().collect();
        let reports = states::states(self.host.as_ref(), &self.socket, &self.kinds, &found);
        let mut reports = found.iter().zip(reports);
        for (target, look) in self.targets.iter_mut().zip(looks) {
            let (seen, processes, folders) = match look.map(|facts| facts.and_then(|_| reports.next())) {
                Ok(Some((facts, report))) => {
                    let recorded = facts.process.agent.into_iter().chain(facts.process.supervisor).collect();
                    target.is_told_by_screen = self.kinds.is_told_by_screen(facts);
                    target.lasts = lasts(facts, &report);
                    (Seen::State(report.state), recorded, signs::folders(self.host.as_ref(), facts))
                }
                Ok(None) => (Seen::Gone, Vec::new(), Vec::new()),
                Err(error) => {
                    problem = Some(crate::error_chain(&error));
                    (Seen::Unseen, target.processes.clone(), target.folders.clone())
                }
            };
            if (&processes, &folders) != (&target.processes, &target.folders) {
                (target.processes, target.folders) = (processes, folders);
                coverage = Coverage::Stale;
            }
            if seen != target.seen {
                target.seen = seen;
                changed.push(News::Seen { index: target.index, seen });
            }
        }
        changed.into_iter().for_each(|news| self.tell(news));
        if let Some(problem) = problem {
            self.warn(&problem);
        }
        let goal = &self.goal;
        self.targets.retain(|target| target.seen != Seen::Gone && !goal.is_met(target.seen));
        coverage
    }

    fn tell(&self, news: News) {
        // Nobody listens any more: the next round ends by itself.
        if self.news.send(news).is_err() {
            self.is_over.store(true, Ordering::Release);
        }
    }

    /// Once: a host that cannot be read stays so for many looks.
    fn warn(&mut self, text: &str) {
        if !std::mem::replace(&mut self.has_warned, true) {
            self.tell(News::Warning(text.to_owned()));
        }
    }
}

/// In how long the agent is different because of the time alone. A little more: nothing has changed before.
fn lasts(facts: &AgentFacts, report: &StateReport) -> Option<Duration> {
    let now = facts.program.as_ref()?.looked_at?;
    report.lasts(now).map(|lasts| lasts + Duration::from_millis(1))
}
