//! The one who owns the truth of a run while agents work: writes the journal, launches, retries, keeps the limits.
//!
//! One thread, one channel. It sleeps until something is told or a time is reached; it never asks an agent anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_model::run::{AttemptKey, EndReason, Event, FailureKind, Stage, StageChange, TaskId};
use mngr_ops::fleet::Agent;

use super::agent;
use super::brief::{brief, own_name};
use super::keeper::{Begin, Keeper};
use super::measure::{self, Jobs};
use super::news::{Failure, News, Orders};
use super::queue::{self, Queue, Todo};
use super::test_facts::TestFacts;
use crate::breaker::{Breaker, Gate};
use crate::budget::Budget;
use crate::integrate::Input;
use crate::run::{RunError, Scribe, Site, StopKind};

mod ending;
mod hear;

use ending::{UNDO_LIMIT, not_launched};

/// How long to sleep when nothing has a time.
const LONG: Duration = Duration::from_secs(3600);

/// Why no more agents are launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// The user wants an end: what runs is finished.
    Finishing,
    /// The user wants an end at once.
    Aborted,
    /// A limit was reached that those who run may not cross.
    Budget,
    /// As many were launched as may be: those that run go on.
    OutOfAgents,
}

/// An agent that is looked after.
struct Live {
    orders: Arc<Orders>,
    launched: Instant,
    is_launching: bool,
}

/// The owner of a run while agents work.
pub(crate) struct Owner<'s, 'o> {
    site: Arc<Site>,
    scribe: &'s mut Scribe<'o>,
    budget: Budget,
    breaker: Breaker,
    queue: Queue,
    live: BTreeMap<AttemptKey, Live>,
    jobs: Arc<Jobs>,
    hands: Vec<JoinHandle<()>>,
    measuring: usize,
    sender: Sender<News>,
    news: Receiver<News>,
    last_launch: Option<Instant>,
    stopping: Option<Stopping>,
    /// What agents are told of their tests, read before the first one is launched.
    facts: Option<TestFacts>,
    /// What may be integrated, of what was measured here.
    inputs: BTreeMap<TaskId, Input>,
}

impl<'s, 'o> Owner<'s, 'o> {
    /// The owner of a run as its journal leaves it.
    pub(crate) fn new(site: Arc<Site>, scribe: &'s mut Scribe<'o>) -> Result<Self, RunError> {
        let now = site.shop.world.clock.now();
        let budget = Budget::of(site.shop.settings.limits, scribe.run(), now);
        let breaker = Breaker::of(site.shop.settings.breaker, scribe.run(), now);
        let (sender, news) = mpsc::channel();
        let jobs = Arc::new(Jobs::default());
        let hands = measure::hire(&site, &jobs, &sender).map_err(RunError::Thread)?;
        Ok(Self {
            site,
            scribe,
            budget,
            breaker,
            queue: Queue::default(),
            live: BTreeMap::new(),
            jobs,
            hands,
            measuring: 0,
            sender,
            news,
            last_launch: None,
            stopping: None,
            facts: None,
            inputs: BTreeMap::new(),
        })
    }

    /// Where wishes of the user are sent to.
    pub(crate) fn wishes(&self) -> impl Fn(StopKind) -> bool + Send + 'static {
        let sender = self.sender.clone();
        move |kind| sender.send(News::Stop(kind)).is_ok()
    }

    /// Works until every task has come to its end or waits for integration. `agents` are those of the run that are there.
    pub(crate) fn work(
        &mut self,
        agents: Vec<Agent>,
        ended: Option<EndReason>,
    ) -> Result<Option<Stopping>, RunError> {
        let worked = self.begin(agents, ended).and_then(|()| self.go_on());
        if worked.is_err() {
            self.abandon();
        }
        self.jobs.close();
        worked?;
        if let Some(stopping) = self.stopping {
            self.fail_queue(&not_launched(stopping))?;
        }
        Ok(self.stopping)
    }

    /// What may be integrated of what was measured here; and ends the hands, which must not be at work any more.
    pub(crate) fn finish(self) -> BTreeMap<TaskId, Input> {
        for hand in self.hands {
            // One that panicked was measuring something, which stays as it is.
            let _ = hand.join();
        }
        self.inputs
    }

    /// Takes up every task where the journal leaves it.
    fn begin(&mut self, agents: Vec<Agent>, ended: Option<EndReason>) -> Result<(), RunError> {
        let retries = self.site.shop.settings.retries;
        let todo: Vec<(TaskId, String, Stage, Todo)> = self
            .scribe
            .run()
            .tasks
            .iter()
            .map(|task| (task.id.clone(), task.slug.clone(), task.stage(), queue::todo(task, ended, retries)))
            .collect();
        let mut agents: BTreeMap<String, Agent> =
            agents.into_iter().map(|agent| (agent.name().to_string(), agent)).collect();
        for (task, slug, stage, todo) in todo {
            match todo {
                Todo::Nothing => {}
                Todo::Launch(attempt) => self.queue.push((task, attempt)),
                Todo::Find(attempt) => {
                    let name = self.site.shop.agent_name(&own_name(&slug, attempt));
                    let key = (task, attempt);
                    match agents.remove(&name) {
                        Some(agent) => self.keep(key, &slug, Begin::TakeOver(Box::new(agent)))?,
                        None if stage == Stage::Launching => self.launch_again(key),
                        None => self.attempt_failed(key, Failure::new(FailureKind::Dead, "it is gone"))?,
                    }
                }
                Todo::Measure(attempt) => {
                    let name = self.site.shop.agent_name(&own_name(&slug, attempt));
                    if let Some(agent) = agents.remove(&name) {
                        // It has nothing to do any more; the run does not depend on its end.
                        let _ = agent::let_go(&self.site.shop, &agent);
                    }
                    self.measure((task, attempt))?;
                }
                Todo::Decide(attempt) => {
                    match measure::kept(&self.site, &self.site.folder.attempt(&slug, attempt)) {
                        Some(verification) if !verification.is_unmeasured() => {
                            self.decide((task, attempt), verification)?
                        }
                        _ => self.measure((task, attempt))?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Queues an attempt whose launch was noted and came to nothing.
    fn launch_again(&mut self, key: AttemptKey) {
        self.budget.not_launched();
        self.breaker.not_launched(&key, self.now());
        self.queue.push(key);
    }

    fn go_on(&mut self) -> Result<(), RunError> {
        loop {
            self.keep_limits()?;
            self.launch()?;
            if self.live.is_empty()
                && self.measuring == 0
                && (self.queue.is_empty() || self.stopping.is_some())
            {
                return Ok(());
            }
            // Those that are still being created are no agents yet: see `end_launches`.
            if self.stopping == Some(Stopping::Aborted) && self.live.values().all(|live| live.is_launching) {
                return Ok(());
            }
            if let Ok(news) = self.news.recv_timeout(self.next_time()) {
                match news {
                    News::Attempt(key, word) => self.hear(key, word)?,
                    News::Stop(kind) => self.stop(kind),
                }
            }
            self.give_up_launches()?;
        }
    }

    fn now(&self) -> Timestamp {
        self.site.shop.world.clock.now()
    }

    /// When something has to be done though nobody tells anything.
    fn next_time(&self) -> Duration {
        let now = self.now();
        let until = |time: Timestamp| Duration::try_from(time.duration_since(now)).unwrap_or_default();
        let settings = &self.site.shop.settings;
        let mut next = self.budget.time_left(now).unwrap_or(LONG);
        if !self.queue.is_empty() && self.stopping.is_none() {
            if let Gate::WaitUntil(time) = self.breaker.gate(now) {
                next = next.min(until(time));
            }
            if let Some(last) = self.last_launch {
                let delay = settings.pace.launch_delay.saturating_sub(last.elapsed());
                next = if delay.is_zero() { next } else { next.min(delay) };
            }
        }
        let launching = self.live.values().filter(|live| live.is_launching);
        let deadlines = launching
            .map(|live| (settings.patience.launch + UNDO_LIMIT).saturating_sub(live.launched.elapsed()));
        deadlines.fold(next, Duration::min).max(Duration::from_millis(1))
    }

    /// Launches what may be launched now.
    fn launch(&mut self) -> Result<(), RunError> {
        let pace = self.site.shop.settings.pace;
        while self.stopping.is_none() && !self.queue.is_empty() {
            let launching = self.live.values().filter(|live| live.is_launching).count();
            let is_too_soon = self.last_launch.is_some_and(|last| last.elapsed() < pace.launch_delay);
            if self.live.len() >= pace.agents || launching >= pace.launches || is_too_soon {
                return Ok(());
            }
            match self.breaker.gate(self.now()) {
                Gate::Free | Gate::Canary => {}
                Gate::WaitUntil(_) | Gate::WaitForCanary => return Ok(()),
                Gate::GivenUp { cause } => {
                    return self
                        .fail_queue(&Failure::new(FailureKind::Breaker, format!("not tried: {cause}")));
                }
            }
            if let Err(reached) = self.budget.may_launch(self.now()) {
                self.scribe.note(Event::Budget(reached.note()))?;
                self.stopping = Some(Stopping::OutOfAgents);
                return self.fail_queue(&Failure::new(FailureKind::Budget, reached.to_string()));
            }
            let Some(key) = self.queue.pop() else { return Ok(()) };
            self.launch_one(key)?;
        }
        Ok(())
    }

    fn launch_one(&mut self, key: AttemptKey) -> Result<(), RunError> {
        let slug = self.slug(&key.0);
        let name = self.site.shop.agent_name(&own_name(&slug, key.1));
        self.budget.launched();
        self.last_launch = Some(Instant::now());
        // Noted before it happens: whoever goes on after a kill has to look for the agent.
        let mut change = StageChange::new(key.0.clone(), key.1, Stage::Launching, "");
        change.agent = Some(name);
        self.note_stage(change)?;
        self.keep(key, &slug, Begin::Launch)
    }

    /// Starts a keeper.
    fn keep(&mut self, key: AttemptKey, slug: &str, begin: Begin) -> Result<(), RunError> {
        if self.facts.is_none() {
            self.facts = Some(TestFacts::read(&self.site.shop, self.scribe.run())?);
        }
        let queued = self.scribe.run().task(&key.0);
        let Some((facts, queued)) = self.facts.as_ref().zip(queued) else { return Ok(()) };
        let brief = brief(&self.site, facts, &key, queued)?;
        let orders = Arc::new(Orders::default());
        let is_launching = matches!(begin, Begin::Launch);
        let (sender, about) = (self.sender.clone(), key.clone());
        // Nobody listens any more: the run has ended, and the next one takes over.
        let voice = move |word| drop(sender.send(News::Attempt(about.clone(), word)));
        let keeper =
            Keeper { site: self.site.clone(), brief, orders: orders.clone(), voice: Box::new(voice) };
        self.live.insert(key, Live { orders, launched: Instant::now(), is_launching });
        let thread = std::thread::Builder::new().name(format!("keep-{slug}"));
        thread.spawn(move || keeper.run(begin)).map(|_| ()).map_err(RunError::Thread)
    }

    /// Notes a change; the breaker has its say about it.
    fn note_stage(&mut self, change: StageChange) -> Result<(), RunError> {
        let now = self.now();
        self.scribe.note(Event::Stage(change.clone()))?;
        if let Some(event) = self.breaker.note(&change, now) {
            self.scribe.note(Event::Breaker(event))?;
        }
        Ok(())
    }

    fn slug(&self, task: &TaskId) -> String {
        self.scribe.run().task(task).map(|task| task.slug.clone()).unwrap_or_default()
    }

    fn stage(&self, task: &TaskId) -> Option<Stage> {
        self.scribe.run().task(task).map(|task| task.stage())
    }
}
