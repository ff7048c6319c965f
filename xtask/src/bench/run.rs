//! From the build to the last line of the table.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::cases::{
    Bench, completion, create, docker, idle, list, record, replay, ssh, tmr, tutorial, verbs, version,
};
use super::error::BenchError;
use super::fleet::Fleet;
use super::measure::{Interrupt, not_started};
use super::options::{Case, Options};
use super::row::Row;
use crate::metadata;

/// Builds the release binary, runs the cases that were asked for and prints a line for each.
pub(crate) fn run(options: &Options) -> Result<(), BenchError> {
    let interrupt = Interrupt::watch()?;
    let bench = Bench { binary: build()?, effort: options.effort(), interrupt };
    println!("{}", Row::header());
    if options.wants(Case::Version) {
        show(version::run(&bench)?);
    }
    if options.wants(Case::Completion) {
        show(completion::run(&bench)?);
    }
    run_on_fleet(&bench, options)?;
    if options.wants(Case::Create) {
        show(create::one(&bench)?);
    }
    if options.wants(Case::Create50) {
        show(create::fifty(&bench)?);
    }
    if options.wants(Case::Record) {
        show(record::run(&bench)?);
    }
    if options.wants(Case::Replay) {
        show(replay::run(&bench)?);
    }
    if options.wants(Case::Tutorial) {
        show(tutorial::run(&bench)?);
    }
    if options.wants(Case::Tmr100) {
        show(tmr::hundred(&bench)?);
    }
    if options.wants(Case::Tmr500) {
        show(tmr::five_hundred(&bench)?);
    }
    run_on_other_machines(&bench, options)
}

/// The cases whose agents are not on this machine.
fn run_on_other_machines(bench: &Bench, options: &Options) -> Result<(), BenchError> {
    type Measure = fn(&Bench) -> Result<Vec<Row>, BenchError>;
    let cases: [(Case, Measure); 4] = [
        (Case::SshList20, ssh::list),
        (Case::SshFirstContact, ssh::first_contact),
        (Case::DockerCreateWarm, docker::create_warm),
        (Case::Docker100Over10, docker::hundred),
    ];
    for (_, measure) in cases.into_iter().filter(|(case, _)| options.wants(*case)) {
        show(measure(bench)?);
    }
    Ok(())
}

/// The cases that share one growing fleet, in the order of its size.
fn run_on_fleet(bench: &Bench, options: &Options) -> Result<(), BenchError> {
    let mut fleet = Fleet::new(bench.binary.clone(), bench.interrupt.clone());
    let on_hundred: &[(Case, verbs::OnFleet)] = &[
        (Case::List100, list::hundred),
        (Case::Exec, verbs::exec),
        (Case::Message, verbs::message),
        (Case::Idle, idle::run),
        (Case::Stop, verbs::stop),
        // Last of those on a hundred: it marks the agents as another type.
        (Case::ListStatus, list::hundred_with_status),
    ];
    for (case, measure) in on_hundred {
        if options.wants(*case) {
            fleet.grow_to(100)?;
            show(measure(bench, &fleet)?);
        }
    }
    if options.wants(Case::List1000) {
        fleet.grow_to(1000)?;
        show(list::thousand(bench, &fleet)?);
    }
    Ok(())
}

fn show(rows: Vec<Row>) {
    for row in rows {
        println!("{row}");
    }
}

/// The same script `make demo` builds with, so that what is measured is what is shown.
fn build() -> Result<PathBuf, BenchError> {
    let root = metadata::load()?.workspace_root;
    let mut script = Command::new(root.join("scripts/build-release"));
    script.stderr(Stdio::inherit());
    let output = script.output().map_err(|source| not_started(&script, source))?;
    if !output.status.success() {
        return Err(BenchError::Build(output.status));
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}
