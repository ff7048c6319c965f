//! The one who owns the truth of a run while agents work: writes the journal, launches, retries, keeps the limits.
//!
//! One thread, one channel. It sleeps until something is told or a time is reached; it never asks an agent anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_model::run::{
    AttemptNumber, EndReason, Event, FailureKind, Outcome, Published, Stage, StageChange, TaskId,
};
use mngr_ops::fleet::Agent;

use super::agent;
use super::brief::{brief, own_name};
use super::keeper::{Begin, Keeper};
use super::measure::{self, Job, Jobs};
use super::news::{AttemptKey, Failure, News, Orders, Word};
use super::queue::{self, Queue, Todo};
use crate::breaker::{Breaker, Gate};
use crate::budget::{Budget, LimitReached, Spent};
use crate::candidate::Cost;
use crate::integrate::Input;
use crate::run::{RunError, Scribe, Site, StopKind};
use crate::verify::{Decision, Verification};

/// How long to sleep when nothing has a time.
const LONG: Duration = Duration::from_secs(3600);
/// How long an agent that could not be created may take to leave nothing behind.
const UNDO_LIMIT: Duration = Duration::from_secs(5);
/// How long the agents of a run that cannot go on may take to be stopped.
const ABANDON_LIMIT: Duration = Duration::from_secs(30);

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

    /// Stops all agents of a run that cannot go on: nobody would keep its limits any more.
    fn abandon(&mut self) {
        self.stopping = Some(Stopping::Aborted);
        let failure = Failure::new(FailureKind::Interrupted, "the run could not go on");
        self.end_all(&failure);
        let until = Instant::now() + ABANDON_LIMIT;
        while !self.live.is_empty() {
            let Ok(news) = self.news.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                return;
            };
            if let News::Attempt(key, Word::Left(_)) = news
                && self.live.remove(&key).is_some()
            {
                // The journal may be what is broken; whoever goes on finds the agent stopped then.
                let _ = self.attempt_failed(key, failure.clone());
            }
        }
    }

    /// Waits for agents that were being created when everything was interrupted: nothing is left of them then.
    pub(crate) fn end_launches(&mut self) -> Result<(), RunError> {
        let until = Instant::now() + UNDO_LIMIT;
        while !self.live.is_empty() {
            match self.news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(News::Attempt(key, Word::Left(_))) => {
                    // One that was given up before has its end already.
                    if self.live.remove(&key).is_some() {
                        self.attempt_failed(key, stopped())?;
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        for key in std::mem::take(&mut self.live).into_keys() {
            self.attempt_failed(key, stopped())?;
        }
        Ok(())
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
                        Some(verification) => self.decide((task, attempt), verification)?,
                        None => self.measure((task, attempt))?,
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
        let brief = brief(&self.site, &key, slug)?;
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

    /// What is told about an attempt.
    fn hear(&mut self, key: AttemptKey, word: Word) -> Result<(), RunError> {
        if let Word::Measured(measured) = word {
            self.measuring -= 1;
            return self.measured(key, measured);
        }
        // One that was given up may still say something.
        let Some(live) = self.live.get_mut(&key) else { return Ok(()) };
        match word {
            Word::At { stage, evidence, host } => {
                live.is_launching = false;
                let mut change = StageChange::new(key.0.clone(), key.1, stage, evidence);
                change.host = Some(host);
                let is_newer = self.stage(&key.0).is_some_and(|now| now.may_become(stage));
                if is_newer { self.note_stage(change) } else { Ok(()) }
            }
            Word::Spent(spent) => self.spent(key, spent),
            Word::Admitted(outcome) => self.admitted(key, *outcome),
            Word::Left(Ok(())) => {
                self.live.remove(&key);
                self.measure(key)
            }
            Word::Left(Err(failure)) => {
                self.live.remove(&key);
                self.attempt_failed(key, failure)
            }
            Word::Measured(_) => Ok(()),
        }
    }

    fn spent(&mut self, key: AttemptKey, spent: Spent) -> Result<(), RunError> {
        let spent = self.budget.spent(&key.0, key.1, spent);
        let latest = self.scribe.run().task(&key.0).and_then(|task| task.latest());
        let Some(known) = latest else { return Ok(()) };
        if (known.tokens, known.cost) == (Some(spent.tokens), Some(spent.cost)) {
            return Ok(());
        }
        let mut change = StageChange::new(key.0, key.1, known.stage, &known.evidence);
        change.tokens = Some(spent.tokens);
        change.cost = Some(spent.cost);
        self.note_stage(change)
    }

    fn admitted(&mut self, key: AttemptKey, outcome: Outcome) -> Result<(), RunError> {
        let said = outcome.result.name().to_owned();
        self.scribe.note(Event::Outcome(Published { task: key.0.clone(), attempt: key.1, outcome }))?;
        self.note_stage(StageChange::new(key.0, key.1, Stage::Pulled, format!("it says: {said}")))
    }

    fn attempt_failed(&mut self, key: AttemptKey, failure: Failure) -> Result<(), RunError> {
        let kind = failure.kind;
        self.note_stage(StageChange::new(key.0.clone(), key.1, Stage::Failed { kind }, failure.message))?;
        // Whether it has its task could not be told: that was no try.
        let is_no_try = kind == FailureKind::Interrupted;
        let retries = self.site.shop.settings.retries;
        let task = self.scribe.run().task(&key.0);
        let is_worth_it = is_no_try || task.is_some_and(|task| queue::may_retry(task, kind, retries));
        if self.stopping.is_some() || !is_worth_it {
            return Ok(());
        }
        let again = key.1.next();
        let why = format!("after {}", Stage::Failed { kind });
        self.note_stage(StageChange::new(key.0.clone(), again, Stage::Queued, why))?;
        self.queue.push((key.0, again));
        Ok(())
    }

    /// Has an attempt measured whose result is here.
    fn measure(&mut self, key: AttemptKey) -> Result<(), RunError> {
        let task = self.scribe.run().task(&key.0);
        let Some((task, attempt)) = task.and_then(|task| Some((task, task.latest()?))) else { return Ok(()) };
        let Some(outcome) = attempt.outcome.clone() else {
            let failure = Failure::new(FailureKind::Internal, "the journal does not have what it said");
            return self.attempt_failed(key, failure);
        };
        let folder = self.site.folder.attempt(&task.slug, key.1);
        let cost = Cost { tokens: attempt.tokens, dollars: attempt.cost };
        self.measuring += 1;
        self.jobs.add(Job { key, folder, outcome, cost });
        Ok(())
    }

    fn measured(
        &mut self,
        key: AttemptKey,
        measured: Result<Box<Verification>, Failure>,
    ) -> Result<(), RunError> {
        let verification = match measured {
            Ok(verification) => *verification,
            // It stays as it is: whoever goes on measures it.
            Err(failure) if failure.kind == FailureKind::Interrupted => return Ok(()),
            Err(failure) => return self.attempt_failed(key, failure),
        };
        for event in verification.events() {
            self.scribe.note(event)?;
        }
        self.note_stage(StageChange::new(key.0.clone(), key.1, Stage::Verified, verification.evidence()))?;
        self.decide(key, verification)
    }

    /// What follows from what was measured.
    fn decide(&mut self, key: AttemptKey, verification: Verification) -> Result<(), RunError> {
        let blocked_by = self
            .scribe
            .run()
            .task(&key.0)
            .and_then(|task| task.latest()?.outcome.as_ref()?.reason.as_ref())
            .map(|reason| reason.as_str().lines().next().unwrap_or_default().to_owned());
        let (stage, evidence) = match &verification.decision {
            Decision::Integrate(_) => {
                self.inputs.extend(measure::input(&self.site, self.scribe.run(), &key.0, verification));
                return Ok(());
            }
            Decision::Clean => (Stage::Clean, "the test passes and nothing was changed".to_owned()),
            Decision::Unresolved => match blocked_by {
                Some(reason) => (Stage::Blocked, reason),
                None => (Stage::Unresolved, "the test does not pass".to_owned()),
            },
            Decision::Refuse(refusal) => (Stage::Failed { kind: refusal.kind() }, refusal.to_string()),
        };
        self.note_stage(StageChange::new(key.0, key.1, stage, evidence))
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

    fn fail_queue(&mut self, failure: &Failure) -> Result<(), RunError> {
        for (task, _) in self.queue.take() {
            // An attempt that has not begun cannot end: this is said of the latest that has.
            let latest = self.scribe.run().task(&task).and_then(|task| task.latest());
            let attempt = match latest {
                Some(attempt) if attempt.stage.is_final() => continue,
                Some(attempt) => attempt.number,
                None => AttemptNumber::NO_AGENT,
            };
            let stage = Stage::Failed { kind: failure.kind };
            self.note_stage(StageChange::new(task, attempt, stage, &failure.message))?;
        }
        Ok(())
    }

    /// Ends everything once a limit is reached.
    fn keep_limits(&mut self) -> Result<(), RunError> {
        if matches!(self.stopping, Some(Stopping::Aborted | Stopping::Budget)) {
            return Ok(());
        }
        let Err(reached) = self.budget.may_go_on(self.now()) else { return Ok(()) };
        self.limit_reached(&reached)
    }

    fn limit_reached(&mut self, reached: &LimitReached) -> Result<(), RunError> {
        self.scribe.note(Event::Budget(reached.note()))?;
        self.stopping = Some(Stopping::Budget);
        self.end_all(&Failure::new(FailureKind::Budget, reached.to_string()));
        self.fail_queue(&Failure::new(FailureKind::Budget, reached.to_string()))
    }

    fn end_all(&self, why: &Failure) {
        self.live.values().for_each(|live| live.orders.end(why.clone()));
    }

    fn stop(&mut self, kind: StopKind) {
        match kind {
            StopKind::Finish if self.stopping.is_none() => {
                self.stopping = Some(Stopping::Finishing);
                self.scribe.doing("no more agents are launched, those at work finish; Ctrl-C stops them");
            }
            StopKind::Finish => {}
            StopKind::Now => {
                self.stopping = Some(Stopping::Aborted);
                self.scribe.doing("stopping all agents");
                self.end_all(&stopped());
            }
        }
    }

    /// An agent that is still not created after its time holds up nobody: it is given up, and ended if it ever appears.
    fn give_up_launches(&mut self) -> Result<(), RunError> {
        let limit = self.site.shop.settings.patience.launch;
        let is_late = |live: &Live| live.is_launching && live.launched.elapsed() >= limit + UNDO_LIMIT;
        let late: Vec<AttemptKey> =
            self.live.iter().filter(|(_, live)| is_late(live)).map(|(key, _)| key.clone()).collect();
        for key in late {
            let message = format!("it was not created within {} s", limit.as_secs());
            let failure = Failure::new(FailureKind::Launch, message);
            if let Some(live) = self.live.remove(&key) {
                live.orders.end(failure.clone());
            }
            self.attempt_failed(key, failure)?;
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

fn stopped() -> Failure {
    Failure::new(FailureKind::Interrupted, "the run was stopped")
}

fn not_launched(stopping: Stopping) -> Failure {
    match stopping {
        Stopping::Finishing | Stopping::Aborted => {
            Failure::new(FailureKind::Interrupted, "the run was stopped before it was its turn")
        }
        Stopping::Budget | Stopping::OutOfAgents => {
            Failure::new(FailureKind::Budget, "a limit was reached before it was its turn")
        }
    }
}
