//! Looks after one agent from its creation until it is let go, on a thread of its own: woken by events of the agent's
//! folders and processes, not by a round through all agents.
//!
//! It owns nothing of the run: everything it finds is told to the owner. Every step can be done again by another keeper
//! after this one was killed with its process: an agent that is there is taken over, a message is sent once for its key,
//! what was published is taken in anew.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_host::files::FileStat;
use mngr_host::host::WatchRequest;
use mngr_host::watch::{Wake, Watch};
use mngr_model::run::{FailureKind, Stage};
use mngr_model::{AgentState, HostPath};
use mngr_ops::again::{self, LookError};
use mngr_ops::fleet::Agent;
use mngr_ops::message::SendError;
use mngr_ops::remains::Remains;
use mngr_ops::transcript::{Body, Conversation};
use mngr_ops::usage::{Meter, Prices};
use mngr_ops::{error_chain, signs};

use super::agent::{self, Commission};
use super::liveness::{Advice, Liveness};
use super::measure;
use super::news::{Failure, Orders, Word};
use crate::budget::Spent;
use crate::mapper::intake::{Expected, Handover, IntakeError, take_in};
use crate::mapper::prompts::{self, ErrorsBackText, NudgeText};
use crate::mapper::publish::Role;
use crate::mapper::{Limits, publish};
use crate::permit;
use crate::run::Site;
use crate::verify::Rules;

/// How soon an order of the owner is met. Only a flag is looked at so often, never the agent.
const ORDERS_PACE: Duration = Duration::from_millis(250);
/// An agent that writes all the time is looked at so often at most.
const LOOK_PACE: Duration = Duration::from_millis(100);

/// Where a keeper begins.
pub(crate) enum Begin {
    /// With a new agent.
    Launch,
    /// With one that an orchestrator before this one has created.
    TakeOver(Box<Agent>),
}

/// Looks after one agent.
pub(crate) struct Keeper {
    pub(crate) site: Arc<Site>,
    pub(crate) brief: Brief,
    pub(crate) orders: Arc<Orders>,
    /// Where it says what it finds.
    pub(crate) voice: Box<dyn Fn(Word) + Send>,
}

/// What an agent is there for.
pub(crate) struct Brief {
    /// What it is.
    pub(crate) commission: Commission,
    /// What it is told.
    pub(crate) prompt: String,
    /// What its task is called in reminders.
    pub(crate) subject: String,
    /// What it is there for.
    pub(crate) role: Role,
    /// Commits of others that it gets as refs: pairs of commit and name.
    pub(crate) refs: Vec<(String, String)>,
    /// Where what it leaves is kept.
    pub(crate) folder: HostPath,
    /// How long it may take, from its creation.
    pub(crate) patience: Duration,
}

/// What is known about an agent that is being waited for.
struct Vigil {
    liveness: Liveness,
    /// When a sign of work was last seen.
    active: Instant,
    /// What its screen showed when half of the patience for silence was over.
    screen: Option<String>,
    /// What was seen of it last.
    signature: Option<Signature>,
    meter: Option<Meter>,
    spent: Spent,
    /// The archive that was looked at last.
    taken: Option<FileStat>,
    /// What was wrong with an archive, once it was told.
    answered: Option<Failure>,
    /// Its conversation, until it shows that the agent can work.
    untried: Option<Conversation>,
}

/// What changes when an agent does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signature {
    state: AgentState,
    folder: Option<Timestamp>,
    program: Option<Timestamp>,
    activity: Option<Timestamp>,
}

impl Keeper {
    /// The keeper's whole life.
    pub(crate) fn run(self, begin: Begin) {
        let end = self.look_after(begin);
        self.say(Word::Left(end.map_err(|failure| self.orders.reason(failure))));
    }

    fn say(&self, word: Word) {
        (self.voice)(word);
    }

    fn at(&self, stage: Stage, evidence: &str, agent: &Agent) {
        let host = agent.host.info().address();
        self.say(Word::At { stage, evidence: evidence.to_owned(), host });
    }

    /// What becomes of it; what it published is in its folder then.
    pub(crate) fn look_after(&self, begin: Begin) -> Result<(), Failure> {
        let is_new = matches!(begin, Begin::Launch);
        let agent = match begin {
            Begin::Launch => agent::launch(&self.site.shop, &self.brief.commission)?,
            Begin::TakeOver(agent) => *agent,
        };
        let worked = self.work(&agent, is_new);
        agent::keep_traces(&self.site.shop, &agent, &self.brief.folder);
        // What it published is here by now: stopping it can lose nothing.
        let let_go = agent::let_go(&self.site.shop, &agent);
        self.count_to_the_end(&agent);
        let refusals = permit::refusals(agent.host.as_ref(), &agent.host.layout().agent(agent.id()));
        if !refusals.is_empty() {
            self.say(Word::Refused(refusals));
        }
        match (worked, let_go) {
            (worked, Ok(())) => worked,
            (Ok(()), Err(_)) => Ok(()),
            (Err(mut failure), Err(problem)) => {
                failure.message = format!("{}; it could not be stopped: {problem}", failure.message);
                Err(failure)
            }
        }
    }

    /// Counts all that the agent has used: it may have used more since it was last looked at.
    fn count_to_the_end(&self, agent: &Agent) {
        let Ok(Some(mut meter)) = Meter::of(Remains::of(agent)) else { return };
        if let Some(spent) =
            count(&mut meter, &self.site.crew.prices).filter(|spent| *spent != Spent::default())
        {
            self.say(Word::Spent(spent));
        }
    }

    fn archive(&self, agent: &Agent) -> HostPath {
        publish::archive(&agent.host.layout().agent(agent.id()))
    }

    /// Gives the agent its task and waits for what comes of it.
    fn work(&self, agent: &Agent, is_new: bool) -> Result<(), Failure> {
        self.obey()?;
        agent::equip(agent, &self.brief.commission.start, &Limits::default(), self.brief.role)?;
        self.at(Stage::Ready, if is_new { "created" } else { "still there" }, agent);
        let has_published = agent.host.files().exists(&self.archive(agent)).unwrap_or(false);
        if !has_published {
            agent::hand_over(&self.site.shop, agent, &self.brief.refs)?;
            self.give_task(agent, is_new)?;
        }
        self.at(Stage::Working, "it has its task", agent);
        self.wait(agent)
    }

    fn give_task(&self, agent: &Agent, is_new: bool) -> Result<(), Failure> {
        let shop = &self.site.shop;
        match agent::tell(shop, agent, "tmr-task", &self.brief.prompt, shop.settings.patience.launch) {
            Ok(_) => Ok(()),
            // Whether it has its task cannot be told: another agent gets it.
            Err(error @ SendError::Uncertain { .. }) => {
                Err(Failure::new(FailureKind::Interrupted, error_chain(&error)))
            }
            // It may have ended since it got its task; looking at it tells.
            Err(SendError::NotReceiving { .. }) if !is_new => Ok(()),
            Err(error) => Err(Failure::new(FailureKind::Launch, error_chain(&error))),
        }
    }

    fn obey(&self) -> Result<(), Failure> {
        self.orders.pending().map_or(Ok(()), Err)
    }

    /// Waits until the agent has published something that is good, or is given up.
    fn wait(&self, agent: &Agent) -> Result<(), Failure> {
        let now = Instant::now();
        let patience = self.site.shop.settings.patience;
        let mut vigil = Vigil {
            liveness: Liveness::new(patience, now),
            active: now,
            screen: None,
            signature: None,
            meter: Meter::of(Remains::of(agent)).ok().flatten(),
            spent: Spent::default(),
            taken: None,
            answered: None,
            untried: Conversation::of(&self.site.shop.world, Remains::of(agent)).ok(),
        };
        let (mut watched, mut watch) = (WatchRequest::default(), None);
        loop {
            self.obey()?;
            let looked = Instant::now();
            let seen = again::look(&self.site.shop.world, agent);
            let request = self.signs(seen.as_ref().unwrap_or(agent), &vigil);
            if request != watched {
                // Watch first, look second: a change in between would otherwise go unseen.
                watch = agent.host.watch(&request).ok();
                watched = request;
                continue;
            }
            if self.take_published(agent, &mut vigil)? {
                return Ok(());
            }
            vigil.notice(&seen, looked);
            if vigil.is_tried() {
                self.say(Word::Tried);
            }
            if vigil.count(&self.site.crew.prices) {
                self.say(Word::Spent(vigil.spent));
            }
            let limit = match self.judge(agent, seen, &mut vigil) {
                // It has nothing better. What it published is measured and refused as it is, with all that shows it.
                Err(failure) if failure.kind == FailureKind::Contract => return self.take_as_it_is(agent),
                judged => judged?,
            };
            self.rest(watch.as_deref_mut(), limit, looked);
        }
    }

    /// Where something changes when the agent does anything.
    fn signs(&self, agent: &Agent, vigil: &Vigil) -> WatchRequest {
        let mut folders = signs::folders(agent.host.as_ref(), &agent.facts);
        folders.extend(self.archive(agent).parent());
        folders.extend(vigil.meter.iter().flat_map(Meter::folders));
        let process = &agent.facts.process;
        let processes = process.agent.into_iter().chain(process.supervisor).collect();
        WatchRequest { folders, processes }
    }

    /// Takes in what was published since the last look. Whether it was good.
    fn take_published(&self, agent: &Agent, vigil: &mut Vigil) -> Result<bool, Failure> {
        let archive = self.archive(agent);
        let stat = agent.host.files().stat(&archive).ok().flatten();
        if stat.is_none() || stat == vigil.taken {
            return Ok(false);
        }
        vigil.taken = stat;
        vigil.active = Instant::now();
        self.at(Stage::Published, "the archive is there", agent);
        // Once it was told, what it changed in spite of that is for the measurement to refuse.
        let rules = vigil.answered.is_none().then_some(&self.site.shop.rules);
        let Err(error) = self.admit(agent, rules)? else { return Ok(true) };
        if self.send_back(agent, &error, vigil) {
            return Ok(false);
        }
        match error.failure() {
            FailureKind::Contract => self.take_as_it_is(agent).map(|()| true),
            kind => Err(Failure::new(kind, error_chain(&error))),
        }
    }

    /// Takes in what was published, whatever it changed.
    fn take_as_it_is(&self, agent: &Agent) -> Result<(), Failure> {
        self.admit(agent, None)?.map_err(|error| Failure::new(error.failure(), error_chain(&error)))
    }

    /// Takes in what was published if there is nothing wrong with it.
    fn admit(&self, agent: &Agent, rules: Option<&Rules>) -> Result<Result<(), IntakeError>, Failure> {
        let expected = Expected {
            repository: &self.site.shop.git(),
            base_commit: &self.brief.commission.start,
            branch: &agent::branch_of(agent),
            limits: &Limits::default(),
            rules,
        };
        let word = match self.brief.role {
            Role::Mapper => self.taken(agent, &expected).map(Word::Admitted),
            Role::Integrator => self.taken(agent, &expected).map(Word::Answered),
        };
        let word = match word {
            Ok(word) => word,
            Err(error) => return Ok(Err(error)),
        };
        measure::note_branch(&self.site, &self.brief.folder, expected.branch)
            .map_err(|error| Failure::new(FailureKind::Internal, error_chain(&error)))?;
        self.say(word);
        Ok(Ok(()))
    }

    /// What the agent says, once all that it published is here.
    fn taken<O: Handover>(&self, agent: &Agent, expected: &Expected<'_>) -> Result<Box<O>, IntakeError> {
        let admitted = take_in(agent.host.as_ref(), &self.archive(agent), &self.brief.folder, expected)?;
        Ok(Box::new(admitted.outcome))
    }

    /// Tells the agent what is wrong with what it published, once. Whether it was told.
    fn send_back(&self, agent: &Agent, error: &IntakeError, vigil: &mut Vigil) -> bool {
        let Some(refusal) = error.refusal().filter(|_| vigil.answered.is_none()) else { return false };
        vigil.answered = Some(Failure::new(error.failure(), error_chain(error)));
        let problems = refusal.lines();
        let text = prompts::errors_back(&ErrorsBackText { task: &self.brief.subject, problems: &problems });
        let Ok(text) = text else { return false };
        let shop = &self.site.shop;
        let is_told = agent::tell(shop, agent, "tmr-errors", &text, shop.settings.patience.nudge).is_ok();
        vigil.liveness.answered(Instant::now());
        is_told
    }

    /// Reminds or gives up an agent that does not get on; else says how long it may be left alone.
    fn judge(
        &self,
        agent: &Agent,
        seen: Result<Agent, LookError>,
        vigil: &mut Vigil,
    ) -> Result<Duration, Failure> {
        let shop = &self.site.shop;
        let now = Instant::now();
        let left = self.time_left(agent);
        if left.is_zero() {
            if let Some(refused) = vigil.answered.take_if(|answered| answered.kind == FailureKind::Contract) {
                return Err(refused);
            }
            let limit = self.brief.patience.as_secs();
            let why = self.refusal(agent).map(|why| format!(": {why}")).unwrap_or_default();
            let message = format!("it published nothing within {limit} s{why}");
            return Err(Failure::new(FailureKind::Timeout, message));
        }
        let advice = match &seen {
            Ok(seen) => {
                let quiet = self.quiet(seen, vigil, now);
                vigil.liveness.advise(&seen.state, quiet, now)
            }
            Err(LookError::Gone { .. }) => {
                Advice::GiveUp(Failure::new(FailureKind::Dead, "it was destroyed"))
            }
            Err(error) => vigil.liveness.unseen(&error_chain(error), now),
        };
        match advice {
            Advice::Wait(limit) => Ok(limit.min(left).min(shop.settings.pace.look_interval)),
            Advice::Nudge => {
                // Its time runs from here: one that does not even read is not given more.
                vigil.liveness.nudged(now);
                self.nudge(agent);
                Ok(shop.settings.pace.look_interval)
            }
            Advice::GiveUp(mut failure) => {
                let came_to_nothing = matches!(
                    failure.kind,
                    FailureKind::NoPublish | FailureKind::Dead | FailureKind::Silent | FailureKind::Asking
                );
                if let (true, Some(refused)) = (came_to_nothing, vigil.answered.take()) {
                    // It did publish, but nothing good, and nothing better when it was told.
                    return Err(refused);
                }
                if came_to_nothing && let Some(why) = self.refusal(agent) {
                    failure.message = why;
                    return Err(failure);
                }
                let told = [self.brief.prompt.as_str(), &self.brief.subject];
                if let Some(words) = seen.ok().and_then(|seen| agent::last_words(shop, &seen, &told)) {
                    failure.message = format!("{}: {words}", failure.message);
                }
                Err(failure)
            }
        }
    }

    /// What the tool said when the agent last tried to publish, if it did and there is nothing better.
    fn refusal(&self, agent: &Agent) -> Option<String> {
        let refused = publish::refused(agent.host.as_ref(), &agent.host.layout().agent(agent.id()))?;
        Some(format!("publish refused what it has: {refused}"))
    }

    /// One that cannot be reached, because it shows a dialog or does not read, has had its reminder all the same.
    fn nudge(&self, agent: &Agent) {
        let shop = &self.site.shop;
        if let Ok(text) = prompts::nudge(&NudgeText { task: &self.brief.subject }) {
            let _ = agent::tell(shop, agent, "tmr-nudge", &text, shop.settings.patience.nudge);
        }
    }

    /// How long the agent may still take, from its creation.
    fn time_left(&self, agent: &Agent) -> Duration {
        let shop = &self.site.shop;
        let age = shop.world.clock.now().duration_since(agent.facts.record.create_time);
        self.brief.patience.saturating_sub(Duration::try_from(age).unwrap_or(Duration::ZERO))
    }

    /// For how long the agent has shown no sign of work. Its screen is looked at twice before it counts as silent.
    fn quiet(&self, agent: &Agent, vigil: &mut Vigil, now: Instant) -> Duration {
        let silent = self.site.shop.settings.patience.silent;
        let quiet = now.saturating_duration_since(vigil.active);
        if quiet < silent / 2 {
            return quiet;
        }
        if vigil.screen.is_none() {
            vigil.screen = agent::screen(&self.site.shop, agent);
        } else if quiet >= silent {
            let screen = agent::screen(&self.site.shop, agent);
            if screen != vigil.screen {
                vigil.screen = screen;
                vigil.active = now;
                return Duration::ZERO;
            }
        }
        // The screen is looked at in time for the comparison.
        quiet
    }

    /// Waits for a change, an order, or the end of the time.
    fn rest(&self, mut watch: Option<&mut (dyn Watch + 'static)>, limit: Duration, looked: Instant) {
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.orders.pending().is_some() {
                return;
            }
            let step = left.min(ORDERS_PACE);
            match watch.as_mut().map(|watch| watch.wait(step)) {
                Some(Ok(Wake::TimedOut)) => {}
                Some(Ok(Wake::Changed)) => {
                    std::thread::sleep(LOOK_PACE.saturating_sub(looked.elapsed()));
                    return;
                }
                Some(Err(_)) | None => std::thread::sleep(step),
            }
        }
    }
}

impl Vigil {
    /// Whether anything about the agent is different from the last look.
    fn notice(&mut self, seen: &Result<Agent, LookError>, now: Instant) {
        let Ok(agent) = seen else { return };
        let facts = &agent.facts;
        let signature = Signature {
            state: agent.state.state,
            folder: facts.markers.folder_changed,
            program: facts.program.as_ref().and_then(|program| program.changed),
            activity: facts.extra.agent_activity,
        };
        if self.signature.replace(signature) != Some(signature) {
            self.active = now;
            self.screen = None;
        }
    }

    /// Whether the agent has finished a call of a tool for the first time.
    fn is_tried(&mut self) -> bool {
        let Some(said) = self.untried.as_mut().and_then(|untried| untried.read_more().ok()) else {
            return false;
        };
        let is_tried = said.records.iter().any(|record| matches!(record.body, Body::ToolResult { .. }));
        if is_tried {
            self.untried = None;
        }
        is_tried
    }

    /// Counts what the agent has used. Whether that is more than before.
    fn count(&mut self, prices: &Prices) -> bool {
        let Some(spent) = self.meter.as_mut().and_then(|meter| count(meter, prices)) else { return false };
        let is_more = spent != self.spent;
        if is_more {
            self.spent = spent;
            self.active = Instant::now();
        }
        is_more
    }
}

/// What an agent has used so far, if that can be read.
fn count(meter: &mut Meter, prices: &Prices) -> Option<Spent> {
    meter.read_more().ok()?;
    let used = meter.total(prices);
    Some(Spent { tokens: used.total_tokens, cost: used.total_cost_usd })
}
