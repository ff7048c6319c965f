//! From what was typed to what a run is told. Everything wrong with it is said here, before anything happens.

use std::time::Duration;

use mngr_agents::brand::Consent;
use mngr_config::TmrSettings;
use mngr_host::git::Git;
use mngr_model::env::{EnvError, EnvPair};
use mngr_model::run::RunName;
use mngr_model::{AgentTypeName, HostPath};
use mngr_ops::create::HostSpec;
use mngr_ops::pool::{Pool, PoolError};
use mngr_ops::world::World;
use mngr_query::sanitize;
use mngr_tmr::breaker::BreakerRules;
use mngr_tmr::budget::Limits;
use mngr_tmr::collect::{CollectorError, Detected, Selection, Standing, find_project};
use mngr_tmr::plan::{AgentsFor, Machine};
use mngr_tmr::run::{
    AgentSettings, CheckSettings, IntegratorUse, OwnPrompts, Pace, Patience, RunError, RunSettings, Variables,
};

use super::args::{AgentArgs, PaceArgs, StartArgs};
use super::failure;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::wiring;

/// The provider that is always there.
const LOCAL: &str = mngr_model::address::LOCAL_PROVIDER;

/// What a new run is told.
pub(super) struct Asked {
    /// Its name.
    pub(super) run: RunName,
    /// Its folder.
    pub(super) folder: HostPath,
    /// Everything that is kept in its journal.
    pub(super) settings: RunSettings,
    /// What is kept elsewhere, because it may be secret.
    pub(super) variables: Variables,
    /// What may be agreed to in the user's name.
    pub(super) consent: Consent,
}

/// What the options ask for.
pub(super) fn asked(ctx: &mut Ctx, world: &World, args: &StartArgs) -> Result<Asked, CliError> {
    if let Some(refused) = args.refused.given() {
        return Err(CliError::usage(refused.why).hinted(refused.hint));
    }
    check_paths(&args.paths)?;
    let provider = place(world, "--provider", &args.agents.provider)?;
    let verify_on = match &args.result.verify_on {
        Some(verify_on) => place(world, "--verify-on", verify_on)?,
        None => provider.clone(),
    };
    check_new_hosts(world, provider.as_deref(), &args.agents)?;
    let name = name_part("--name", &args.result.name)?;
    let run = match &args.result.run_name {
        Some(run) => name_part("--run-name", run)?,
        None => world.clock.now().strftime("%Y%m%d%H%M%S").to_string(),
    };
    let suffix = match args.result.reducer_branch_suffix.as_str() {
        "" => String::new(),
        suffix => name_part("--reducer-branch-suffix", suffix)?,
    };
    let folder = args.result.output_dir.clone().unwrap_or_else(|| format!("{name}_{run}"));
    let said = &world.settings.tmr;
    let source = source(ctx, world, args.tests.source.as_deref())?;
    let (collector, selection) = project(ctx, world, &source, args)?;
    let mut limits = Limits::default();
    args.limits.lay_over(&mut limits);
    let settings = RunSettings {
        collector,
        selection,
        agents_for: if args.tests.all { AgentsFor::All } else { AgentsFor::Failing },
        agents: AgentSettings {
            agent_type: args.agents.agent_type.as_deref().map(agent_type).transpose()?,
            agents_per_host: args.agents.agents_per_host,
            snapshot: args.agents.snapshot.clone(),
            provider: provider.clone(),
            templates: args.agents.agent_template.clone(),
            labels: args.agents.label.iter().map(|label| checked_label(label)).collect::<Result<_, _>>()?,
            reducer_suffix: suffix,
        },
        pace: pace(world, &args.pace, provider.as_deref())?,
        patience: Patience::of(said, args.pace.timeout, args.pace.reducer_timeout),
        retries: args.pace.retries,
        limits,
        breaker: breaker(said),
        prompts: OwnPrompts {
            mapper: args.agents.mapper_prompt.as_deref().map(|file| prompt(ctx, world, file)).transpose()?,
            reducer: args
                .agents
                .reducer_prompt
                .as_deref()
                .map(|file| prompt(ctx, world, file))
                .transpose()?,
        },
        checks: CheckSettings {
            place: verify_on,
            runs: args.result.verify_runs.unwrap_or(said.verify_runs).into(),
            gate: args.result.gate.clone().or_else(|| said.gate.clone()),
            gate_timeout: said.gate_timeout.get(),
        },
        integrator: if args.result.no_integrator { IntegratorUse::Never } else { IntegratorUse::WhenNeeded },
        force: args.force,
        name,
        source,
    };
    Ok(Asked {
        run: RunName::new(run),
        folder: ctx.surroundings.path(&folder).normalized(),
        settings,
        variables: Variables {
            all: variables("--env", &args.agents.env)?,
            reducer: variables("--reducer-env", &args.agents.reducer_env)?,
        },
        consent: consent(args.yes),
    })
}

/// What `--yes` agrees to. Without it a first-start dialog is an error: nobody looks at the terminals.
pub(super) fn consent(yes: bool) -> Consent {
    if yes { Consent::Dialogs } else { Consent::Refuse }
}

/// A command that came after an option, and so would be taken for a folder of tests.
fn check_paths(paths: &[String]) -> Result<(), CliError> {
    let commands = ["drop", "reintegrate", "report", "resume", "status", "stop", "take", "why"];
    match paths.iter().find(|path| commands.contains(&path.as_str())) {
        None => Ok(()),
        Some(word) => {
            Err(CliError::usage(format!("`{word}` is a command of `mngr tmr`, which comes before options"))
                .hinted(format!("`mngr tmr {word} ...`; tests in a folder of that name are `./{word}`")))
        }
    }
}

/// A provider or a pool whose hosts can be used; nothing for this machine.
fn place(world: &World, option: &str, name: &str) -> Result<Option<String>, CliError> {
    if name == LOCAL {
        return Ok(None);
    }
    match Pool::at(world, name, &HostSpec::default(), 1) {
        Ok(_) => Ok(Some(name.to_owned())),
        Err(PoolError::Unknown { .. }) => Err(wiring::no_such_provider(&world.settings, name)
            .hinted(format!("`{option} {LOCAL}` is this machine"))),
        Err(error) => Err(failure::of_run(error.into())),
    }
}

/// Refuses what is about hosts that are made where none are.
fn check_new_hosts(world: &World, provider: Option<&str>, args: &AgentArgs) -> Result<(), CliError> {
    let given =
        [("--agents-per-host", args.agents_per_host.is_some()), ("--snapshot", args.snapshot.is_some())];
    let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    match provider {
        None => Err(CliError::usage(format!("`{option}` needs a provider that makes hosts"))
            .hinted("leave it out: on this machine all agents share one host")),
        Some(name) if Pool::named(world, name).is_ok() => {
            Err(CliError::usage(format!("`{option}` needs a provider that makes hosts"))
                .hinted(format!("the hosts of `{name}` are what the settings say")))
        }
        Some(_) => Ok(()),
    }
}

/// A text that becomes part of the names of agents, branches and folders.
fn name_part(option: &str, text: &str) -> Result<String, CliError> {
    let is_fitting = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins_well && text.chars().all(is_fitting) && text.len() <= 60 {
        return Ok(text.to_owned());
    }
    let near: String = text.chars().map(|c| if is_fitting(c) { c } else { '-' }).take(60).collect();
    let near = near.trim_start_matches(['-', '_']).to_owned();
    let failure = CliError::usage(format!(
        "Invalid value for `{option}`: `{}` is not made of letters, digits, `-` and `_`, or begins with none of the first two",
        sanitize(text)
    ));
    Err(if near.is_empty() { failure } else { failure.hinted(format!("try `{option} {near}`")) })
}

fn agent_type(name: &str) -> Result<AgentTypeName, CliError> {
    name.parse().map_err(|error| CliError::usage(format!("Invalid value for `--agent-type`: {error}")))
}

fn checked_label(label: &str) -> Result<String, CliError> {
    match label.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(label.to_owned()),
        _ => {
            let text = format!("Invalid value for `--label`: `{}` is not KEY=VALUE", sanitize(label));
            Err(CliError::usage(text))
        }
    }
}

/// Variables. What is wrong with one is said without its value, and a word without a key may be one.
fn variables(option: &str, pairs: &[String]) -> Result<Vec<EnvPair>, CliError> {
    let wrong = |why: String| CliError::usage(format!("Invalid value for `{option}`: {why}"));
    let parse = |pair: &String| match pair.contains('=') {
        true => pair.parse().map_err(|error: EnvError| wrong(error.to_string())),
        false => Err(wrong("expected KEY=VALUE".to_owned())),
    };
    pairs.iter().map(parse).collect()
}

/// The top of the repository that is meant.
fn source(ctx: &Ctx, world: &World, named: Option<&str>) -> Result<HostPath, CliError> {
    let folder = named.map_or_else(|| ctx.surroundings.cwd.clone(), |named| ctx.surroundings.path(named));
    let located = Git::new(world.client.as_ref(), folder.normalized()).locate();
    let located = located.map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    located.map(|found| found.root).ok_or_else(|| {
        CliError::failed(format!("`{folder}` is not in a git repository"))
            .hinted("stand in one, or name one with `--source PATH`")
    })
}

/// The framework whose files are there, and where in the repository. A line says which, and by which file.
fn project(
    ctx: &Ctx,
    world: &World,
    source: &HostPath,
    args: &StartArgs,
) -> Result<(String, Selection), CliError> {
    let own = &world.settings.tmr.collectors;
    let here = ctx.surroundings.cwd.normalized();
    let below = here.as_str().strip_prefix(source.as_str()).map(|rest| rest.trim_matches('/'));
    let named = args.tests.collector.as_deref();
    let standing = Standing { folder: below.unwrap_or_default(), paths: &args.paths, collector: named };
    let git = Git::new(world.client.as_ref(), source.clone());
    let found = find_project(&git, own, &standing).map_err(|error| {
        failure::of_run(match error {
            CollectorError::Git(error) => RunError::Git(error),
            error => RunError::Collector(error),
        })
    })?;
    let place = found.folder.as_ref().map(|folder| format!(" in `{}`", sanitize(folder))).unwrap_or_default();
    let Detected { collector, file, folder } = found;
    if let Some(file) = file.filter(|_| named.is_none() || folder.is_some()) {
        ctx.console.note(&format!("collector `{collector}`{place}, told by {}", sanitize(&file)));
    }
    let selection =
        Selection { paths: args.paths.clone(), flags: args.flags.clone(), folder, ..Selection::default() };
    Ok((collector, selection))
}

fn pace(world: &World, args: &PaceArgs, provider: Option<&str>) -> Result<Pace, CliError> {
    let machine =
        Machine::of(world.client.as_ref()).map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    let many = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    // A full pool takes nobody in.
    let capacity = provider.and_then(|name| Pool::named(world, name).ok()?.capacity());
    let wanted = match args.max_parallel_agents {
        Some(0) => usize::MAX,
        Some(number) => many(number),
        None => capacity.unwrap_or_else(|| many(machine.parallel_agents())),
    };
    Ok(Pace {
        agents: wanted.min(capacity.unwrap_or(usize::MAX)),
        launches: many(args.max_parallel_launch),
        launch_delay: args.launch_delay,
        look_interval: args.poll_interval.max(Duration::from_millis(100)),
        tests: many(machine.parallel_tests()),
    })
}

fn breaker(said: &TmrSettings) -> BreakerRules {
    BreakerRules {
        threshold: usize::from(said.breaker_after),
        pause: said.breaker_pause.get(),
        tries: u32::from(said.breaker_tries),
    }
}

fn prompt(ctx: &Ctx, world: &World, file: &str) -> Result<String, CliError> {
    let text = world.client.files().read_text(&ctx.surroundings.path(file));
    text.map_err(|error| CliError::new(ErrorKind::Failed, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_one_that_is_not_gets_a_proposal() {
        assert_eq!(name_part("--name", "tmr-2_x").unwrap(), "tmr-2_x");
        let error = name_part("--run-name", "night ly/1").unwrap_err();
        assert_eq!(error.hints, ["try `--run-name night-ly-1`"]);
        for wrong in ["", "-x", "_x", "é", &"a".repeat(61)] {
            assert!(name_part("--name", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_variable_is_said_without_its_value() {
        let pairs = ["GOOD=1".to_owned(), "BAD NAME=s3cret".to_owned()];
        let error = variables("--env", &pairs).unwrap_err();
        assert!(!error.one_line().contains("s3cret"), "{}", error.one_line());
        let without = variables("--env", &["s3cret".to_owned()]).unwrap_err();
        assert!(!without.one_line().contains("s3cret"), "{}", without.one_line());
    }

    #[test]
    fn a_command_after_an_option_is_no_path() {
        let error = check_paths(&["tests".into(), "status".into()]).unwrap_err();
        assert!(error.hints[0].contains("`./status`"), "{:?}", error.hints);
        assert!(check_paths(&["./status".into()]).is_ok());
    }
}
