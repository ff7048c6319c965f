//! Asking one agent for what could not be put together by machine. Its result passes the same checks as all others; a run
//! is whole without it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::git::candidates_below;
use mngr_model::env::MNGR_TMR_RUN;
use mngr_model::run::{Event, Integration, IntegrationStep, IntegratorOutcome, Run, TaskId};
use mngr_ops::fleet::Agent;
use serde_json::{Map, json};

use super::audible::audibly;
use super::control::{StopKind, agents_of};
use super::error::RunError;
use super::listener::Listener;
use super::scribe::Scribe;
use super::workshop::Site;
use crate::budget::{Budget, LimitReached};
use crate::candidate::Cost;
use crate::dispatch::agent::{Commission, label};
use crate::dispatch::keeper::{Begin, Brief, Keeper};
use crate::dispatch::measure;
use crate::dispatch::news::{Failure, Orders, Word};
use crate::integrate::{AdoptRequest, Adopted, Integrated, Left};
use crate::mapper::prompts::{IntegratorText, Prompt};
use crate::mapper::publish::{self, Role};
use mngr_model::run::FailureKind;

/// What the agent is asked, and with what.
pub(super) struct Request<'r> {
    /// What could be put together.
    pub(super) integrated: &'r Integrated,
    /// What could not.
    pub(super) left: &'r Left,
    /// The tests that have to go on passing.
    pub(super) guards: &'r [TaskId],
    /// The tests that fail at the base.
    pub(super) red: &'r [TaskId],
    /// What the run has used. The agent may use the rest.
    pub(super) budget: Budget,
}

/// Asks, waits, and takes what passes. Nothing when the agent came to nothing, which is noted.
pub(super) fn ask(
    site: &Arc<Site>,
    scribe: &mut Scribe<'_>,
    request: Request<'_>,
    listener: &Listener,
) -> Result<Option<Adopted>, RunError> {
    let Request { integrated, left, guards, red, budget } = request;
    let (own, begin) = whom(site, &integrated.tip);
    let mut brief = brief(site, scribe.run(), &own, integrated, left)?;
    if let Some(time) = budget.time_left(site.shop.world.clock.now()) {
        brief.patience = brief.patience.min(time);
    }
    let asked = |reason: String, details: &[(&str, serde_json::Value)]| {
        let details: Map<_, _> =
            details.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let (step, tasks) = (IntegrationStep::Asked, Vec::new());
        Event::Integration(Integration { step, tasks, commit: None, reason, details })
    };
    let name = brief.commission.name.clone();
    scribe.note(asked(in_words(left), &[("agent", json!(name))]))?;
    let folder = brief.folder.clone();
    let ledger = &site.shop.ledger;
    let waiting = "waiting for the agent that was asked";
    let (answer, cost) =
        audibly(scribe, ledger, waiting, |_| wait_for(site, brief, begin, budget, listener))?;
    // In worktrees the refs are in the user's repository; those that a kill leaves go with the next answer.
    if let Err(error) = site.shop.git().remove_handed_over(site.shop.run.as_str()) {
        site.shop.world.reporter.warn(&mngr_ops::error_chain(&error));
    }
    let used = [("agent", json!(name)), ("tokens", json!(cost.tokens)), ("cost", json!(cost.dollars))];
    let answer = answer.and_then(|outcome| Ok((outcome, measure::tip(site, &folder, &integrated.tip)?)));
    let (outcome, tip) = match answer {
        Ok(answer) => answer,
        Err(failure) => {
            let [agent, tokens, dollars] = used;
            let details = [agent, tokens, dollars, ("kind", json!(failure.kind))];
            scribe.note(asked(failure.message, &details))?;
            return Ok(None);
        }
    };
    let [agent, tokens, dollars] = used;
    let said = [agent, tokens, dollars, ("outcome", json!(outcome))];
    scribe.note(asked(format!("it says: {}", outcome.summary()), &said))?;
    let ranked = ranked(scribe.run(), &outcome);
    for event in ranked {
        scribe.note(event)?;
    }
    let request = AdoptRequest { integrated, tip: &tip, guards, red, cost, outcome: Some(&outcome) };
    let what = "checking what the agent has made";
    let adopted =
        audibly(scribe, ledger, what, |on_event| site.shop.integrator().adopt(&request, on_event))??;
    Ok(Some(adopted))
}

/// The order of importance that the agent gave, one line for each test of the run that it names.
fn ranked(run: &Run, outcome: &IntegratorOutcome) -> Vec<Event> {
    let known = |name: &str| name.parse().ok().filter(|task: &TaskId| run.task(task).is_some());
    let named: Vec<(TaskId, &str)> = outcome
        .importance
        .iter()
        .filter_map(|one| Some((known(one.test.as_str())?, one.reason_markdown.as_str())))
        .collect();
    let of = named.len();
    let event = |(place, (task, reason)): (usize, (TaskId, &str))| {
        let details = [("place", json!(place + 1)), ("of", json!(of))];
        Event::Integration(Integration {
            step: IntegrationStep::RankedByAgent,
            tasks: vec![task],
            commit: None,
            reason: reason.to_owned(),
            details: details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        })
    };
    named.into_iter().enumerate().map(event).collect()
}

/// Whether an agent that was asked about this commit is there, and has answered or still may.
pub(super) fn is_there(site: &Site, start: &str) -> bool {
    matches!(whom(site, start).1, Begin::TakeOver(_))
}

fn in_words(left: &Left) -> String {
    format!("conflicts: {}, repeated changes: {}", left.conflicts.len(), left.repeated.len())
}

/// That nobody is asked, because a limit of the run is reached.
pub(super) fn not_asked(left: &Left, reached: LimitReached) -> Event {
    let details = [("left", json!(in_words(left))), ("limit", json!(reached.note().limit))];
    Event::Integration(Integration {
        step: IntegrationStep::NotAsked,
        tasks: Vec::new(),
        commit: None,
        reason: reached.to_string(),
        details: details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    })
}

/// The name within the run of the agent to be asked, and where to begin with it: one that was asked the same before and
/// has answered or still may, or else a new one.
fn whom(site: &Site, start: &str) -> (String, Begin) {
    let shop = &site.shop;
    let first = match shop.settings.agents.reducer_suffix.as_str() {
        "" => "reducer".to_owned(),
        suffix => format!("reducer-{suffix}"),
    };
    let there = agents_of(&shop.world, shop.run.as_str());
    let mut there: BTreeMap<String, Agent> =
        there.into_iter().map(|agent| (agent.name().to_string(), agent)).collect();
    let mut own = first.clone();
    let mut number = 1;
    while let Some(agent) = there.remove(&shop.agent_name(&own)) {
        if may_answer(&agent, start) {
            return (own, Begin::TakeOver(Box::new(agent)));
        }
        number += 1;
        own = format!("{first}-{number}");
    }
    (own, Begin::Launch)
}

/// Whether an agent was asked about this commit, and has answered or still may.
fn may_answer(agent: &Agent, start: &str) -> bool {
    let is_same = agent.facts.record.labels.get(label::START).is_some_and(|it| it == start);
    let archive = publish::archive(&agent.host.layout().agent(agent.id()));
    is_same && (!agent.state.state.is_final() || agent.host.files().exists(&archive).unwrap_or(false))
}

fn brief(
    site: &Site,
    journal: &Run,
    own: &str,
    integrated: &Integrated,
    left: &Left,
) -> Result<Brief, RunError> {
    let Site { shop, crew, folder } = site;
    let branch = shop.branch_name(own);
    let prompt = match shop.settings.prompts.reducer.clone() {
        Some(own) => Prompt::own(own)?,
        None => Prompt::packaged()?,
    };
    let run = shop.run.to_string();
    let below = candidates_below(&run);
    let run_base_ref = format!("{below}base");
    let (mut conflicts, mut refs) = (left.conflicts.clone(), vec![(shop.base.clone(), run_base_ref.clone())]);
    for (number, conflict) in conflicts.iter_mut().enumerate() {
        let task = conflict.task.parse().ok().and_then(|task| journal.task(&task));
        let own = task.map_or_else(|| format!("{}", number + 1), |task| task.slug.clone());
        conflict.reference = format!("{below}candidates/{own}");
        refs.push((conflict.commit.clone(), conflict.reference.clone()));
    }
    let prompt = prompt.render(&IntegratorText {
        branch: &branch,
        base_commit: &integrated.tip,
        run: &run,
        run_base: &shop.base,
        run_base_ref: &run_base_ref,
        all_tests: &shop.tests.together_line().unwrap_or_default(),
        result: &integrated.in_words(),
        gate: shop.settings.checks.gate.as_deref().unwrap_or_default(),
        conflicts: &conflicts,
        repeated: &left.repeated,
    })?;
    let commission = Commission {
        blueprint: crew.reducer.clone(),
        name: shop.agent_name(own),
        branch,
        start: integrated.tip.clone(),
        labels: vec![
            (label::RUN, run.clone()),
            (label::ROLE, "REDUCER".to_owned()),
            (label::START, integrated.tip.clone()),
        ],
        env: vec![(MNGR_TMR_RUN, run)],
    };
    Ok(Brief {
        commission,
        prompt,
        subject: "of putting changes together".to_owned(),
        role: Role::Integrator,
        refs,
        folder: folder.integrator(),
        patience: shop.settings.patience.reducer,
    })
}

/// Has the agent work.
fn wait_for(
    site: &Arc<Site>,
    brief: Brief,
    begin: Begin,
    budget: Budget,
    listener: &Listener,
) -> (Result<IntegratorOutcome, Failure>, Cost) {
    let orders = Arc::new(Orders::default());
    let (told, passer) = (orders.clone(), listener.passer());
    listener.tell(move |wish| {
        if wish == StopKind::Now {
            told.end(Failure::new(FailureKind::Interrupted, "the run was stopped"));
            passer();
        }
    });
    let (sender, words) = std::sync::mpsc::channel();
    let (limited, world) = (orders.clone(), site.shop.world.clone());
    let voice = Box::new(move |word| {
        if let Word::Spent(spent) = &word
            && let Err(reached) = budget.may_use(*spent, world.clock.now())
        {
            limited.end(Failure::new(FailureKind::Budget, reached.to_string()));
        }
        drop(sender.send(word));
    });
    Keeper { site: site.clone(), brief, orders, voice }.run(begin);
    let nothing = || Failure::new(FailureKind::NoPublish, "it published nothing");
    let (mut answer, mut cost, mut failed) = (None, Cost::default(), None);
    for word in words {
        match word {
            Word::Answered(outcome) => answer = Some(*outcome),
            Word::Spent(spent) => cost = Cost { tokens: Some(spent.tokens), dollars: Some(spent.cost) },
            Word::Left(Err(failure)) => failed = Some(failure),
            _ => {}
        }
    }
    let answer = match failed {
        Some(failure) => Err(failure),
        None => answer.ok_or_else(nothing),
    };
    (answer, cost)
}
