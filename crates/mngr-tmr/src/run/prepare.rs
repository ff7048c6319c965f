//! Everything that is known before an agent is launched: the tests, what they do at the base commit, who gets an agent.
//! Whatever is wrong with the settings is said here.

use std::sync::Arc;

use mngr_config::TmrPermissions as Permissions;
use mngr_host::clock::SystemClock;
use mngr_model::run::{RunName, Slugs, Started, TaskId};
use mngr_model::{AgentName, AgentTypeName, HostPath};
use mngr_ops::create::{self, Attendance, Audience, agent_type};
use mngr_ops::world::World;

use super::conduct::{RunEnd, conduct};
use super::control::agents_of;
use super::error::RunError;
use super::folder::{RunFolder, Variables};
use super::observer::Observer;
use super::scribe::Scribe;
use super::settings::RunSettings;
use super::workshop::{Crew, Site, Workshop};
use crate::collect::Repository;
use crate::journal::Journal;
use crate::mapper::prompts::{IntegratorText, MapperText, Prompt};
use crate::plan::{
    Estimate, Finding, Forecast, Plan, PreRunError, SetUp, SetUpError, pre_run, pre_run_checked,
};
use crate::strength::{Outlook, Tested as Subject};

/// A run that could begin.
pub struct Prepared {
    shop: Workshop,
    /// What will be done about each test.
    pub plan: Plan,
    /// What that will probably use.
    pub forecast: Forecast,
    /// What will be measured of the tests that agents change.
    pub strength: Outlook,
}

/// What is needed to begin.
pub struct Start {
    /// Where the run is kept.
    pub folder: RunFolder,
    /// What its agents are created with.
    pub crew: Crew,
    /// The variables they get, to be kept for whoever goes on.
    pub variables: Variables,
    /// How mngr was called; no secrets.
    pub command: Vec<String>,
}

/// Fails when a run of that name cannot begin in that folder.
///
/// # Errors
/// When there are agents of such a run, or the folder has a journal.
pub fn check_new(world: &World, run: &RunName, folder: &HostPath) -> Result<(), RunError> {
    if !agents_of(world, run.as_str()).is_empty() {
        return Err(RunError::RunNameTaken { run: run.to_string() });
    }
    Ok(Journal::check_absent(world.client.as_ref(), folder)?)
}

/// Finds the tests, runs each once at the commit that is checked out, and decides who gets an agent. Launches nothing and
/// writes nothing outside its own folder.
///
/// # Errors
/// When the settings make no sense, the tests cannot be found or run, or the gate fails before anything was changed.
pub fn prepare(
    world: &Arc<World>,
    settings: RunSettings,
    run: RunName,
    crew: &Crew,
    observer: &mut dyn Observer,
) -> Result<Prepared, RunError> {
    check(world, &settings)?;
    let base = mngr_host::git::Git::new(world.client.as_ref(), settings.source.clone()).resolve("HEAD")?;
    let (hosts, time) = (&crew.mapper.host_spec, world.clock.now().as_second());
    let shop = Workshop::open(world.clone(), run, settings, hosts, base, time)?;
    observer.doing("finding the tests");
    let found = shop.tests.list(&shop.bench())?;
    let mut shop = shop;
    shop.tests = shop.tests.clone().with_broken(&found.broken);
    shop.settings.selection = shop.tests.selection().clone();
    let mut tests = found.tests;
    tests.extend(found.broken);
    check_names(&shop, &tests)?;
    if shop.settings.checks.gate.is_some() {
        observer.doing("running the gate on the base commit");
        shop.integrator().check_base()?;
    }
    observer.doing("running the tests before any agent");
    let plan = match shop.settings.force {
        true => plan(&shop, tests)?,
        false => checked_plan(&shop, tests, observer)?,
    };
    let said = &shop.world.settings.tmr;
    let each = Estimate {
        tokens: said.tokens_per_agent,
        cost: said.cost_per_agent,
        time: said.time_per_agent.get(),
    };
    let parallel = shop.settings.pace.agents as u64;
    let forecast = Forecast::of(plan.agents(), parallel, &each, &shop.settings.limits);
    let strength = shop.outlook()?;
    Ok(Prepared { shop, plan, forecast, strength })
}

/// Runs each test once and decides.
pub(super) fn plan(shop: &Workshop, tests: Vec<TaskId>) -> Result<Plan, RunError> {
    let tested = pre_run(&shop.tests, &shop.bench(), tests)?;
    Ok(Plan::decide(tested, shop.settings.agents_for, |task| shop.tests.is_named(task)))
}

/// The same, and an error when agents would be launched in vain.
fn checked_plan(shop: &Workshop, tests: Vec<TaskId>, observer: &mut dyn Observer) -> Result<Plan, RunError> {
    let repository = Repository::of(shop.git(), &shop.base)?;
    let set_up = SetUp { collector: &shop.tests, repository };
    let tested = pre_run_checked(&shop.tests, &shop.bench(), tests, &set_up)?;
    if let Some(causes) = set_up.some_outside(&tested).map_err(PreRunError::SetUp)? {
        let warning = "no agent can mend what is outside of the repository, by which some tests fail";
        shop.world.reporter.warn(&format!("{warning}: {causes}"));
    }
    let of = |finding| -> Vec<TaskId> {
        let found = tested.iter().filter(|tested| tested.finding == finding);
        found.map(|tested| tested.task.clone()).collect()
    };
    // A file that cannot be read may not even come to what it imports.
    let broken = &shop.settings.selection.broken;
    let (passing, mut failing) = (of(Finding::Passing), of(Finding::Failing));
    failing.retain(|task| !broken.iter().any(|file| file == task.as_str()));
    let plan = Plan::decide(tested, shop.settings.agents_for, |task| shop.tests.is_named(task));
    if plan.agents() > 0 {
        observer.doing("seeing whether the tests run what is checked out");
        if let Subject::Elsewhere { module, folder } = shop.subject(&passing, &failing)? {
            return Err(PreRunError::SetUp(SetUpError::Elsewhere { module, folder }).into());
        }
    }
    Ok(plan)
}

/// Fails when no agent of the run could be created, before time is spent on the tests. A type that nobody named is chosen
/// here, once for all of them.
///
/// # Errors
/// When the type is not known, or its program is not installed or not logged in.
pub fn check_crew(world: &World, settings: &RunSettings, crew: &mut Crew) -> Result<(), RunError> {
    check(world, settings)?;
    let mut request = crew.mapper.clone();
    request.attendance = Attendance::Background;
    request.audience = Audience::Nobody;
    let agent_type = create::check(world, &request)?;
    tell_what_is_beyond(world, settings, &agent_type);
    for request in [&mut crew.mapper, &mut crew.reducer] {
        request.agent_type.get_or_insert_with(|| agent_type.clone());
    }
    Ok(())
}

/// Says so where agents may do more than the permission set of the run.
fn tell_what_is_beyond(world: &World, settings: &RunSettings, name: &AgentTypeName) {
    let is_elsewhere = settings.agents.provider.is_some();
    if world.settings.tmr.permissions == Permissions::Own || !is_elsewhere {
        return;
    }
    let Ok(resolved) = agent_type::resolve(&world.settings, name) else { return };
    if let Some(beyond) = resolved.base.brand().and_then(|brand| brand.beyond_the_set()) {
        world.reporter.warn(&format!(
            "on another host agents of type `{name}` cannot be kept to the permission set of the run: they may {beyond}; choose \
             containers and allow everything there (`auto_allow_permissions`), or have them ask (`tmr.permissions = \"own\"`)"
        ));
    }
}

/// What would otherwise be found out only when the first agent is launched.
fn check(world: &World, settings: &RunSettings) -> Result<(), RunError> {
    if let Some(own) = settings.prompts.mapper.clone() {
        Prompt::<MapperText<'_>>::own(own)?;
    }
    if let Some(own) = settings.prompts.reducer.clone() {
        Prompt::<IntegratorText<'_>>::own(own)?;
    }
    if let Some(name) = &settings.agents.agent_type
        && agent_type::resolve(&world.settings, name).is_ok_and(|resolved| resolved.headless.is_some())
    {
        return Err(RunError::Headless { agent_type: name.to_string() });
    }
    Ok(())
}

fn check_names(shop: &Workshop, tests: &[TaskId]) -> Result<(), RunError> {
    let mut slugs = Slugs::default();
    for task in tests {
        // Room for the number of a retry.
        let name = shop.agent_name(&format!("{}-99", slugs.next(task)));
        name.parse::<AgentName>().map_err(|source| RunError::Name { name, source })?;
    }
    Ok(())
}

impl Prepared {
    /// Which commit all agents start from.
    pub fn base(&self) -> &str {
        &self.shop.base
    }

    /// What the run was told.
    pub fn settings(&self) -> &RunSettings {
        &self.shop.settings
    }

    /// Conducts the run to its end.
    ///
    /// # Errors
    /// When it cannot begin or go on. What is in the journal by then can be gone on with.
    pub fn start(self, start: Start, observer: &mut dyn Observer) -> Result<RunEnd, RunError> {
        let Start { folder, crew, variables, command } = start;
        let Self { mut shop, plan, .. } = self;
        let world = shop.world.clone();
        if !agents_of(&world, shop.run.as_str()).is_empty() {
            return Err(RunError::RunNameTaken { run: shop.run.to_string() });
        }
        let started = Started {
            run: shop.run.clone(),
            name: shop.settings.name.clone(),
            base_commit: shop.base.clone(),
            command,
            settings: shop.settings.to_map().map_err(RunError::Spelling)?,
            tasks_total: plan.tasks.len() as u64,
        };
        let journal =
            Journal::begin(world.client.clone(), Arc::new(SystemClock), folder.path(), started.clone())?;
        folder.forget_stop_request(world.client.as_ref())?;
        folder.make(world.client.as_ref(), &variables)?;
        // The time of all commits: the same when the run is resumed.
        shop.time = journal.run().began.map_or(shop.time, |began| began.as_second());
        let mut scribe = Scribe::started(journal, started, observer);
        for event in plan.events() {
            scribe.note(event)?;
        }
        conduct(Arc::new(Site { shop, folder, crew }), &mut scribe, None)
    }
}
