//! From the build to the last line of the table.

use std::path::PathBuf;

use super::cases::{Bench, create, idle, list, verbs, version};
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
    run_on_fleet(&bench, options)?;
    if options.wants(Case::Create) {
        show(create::one(&bench)?);
    }
    if options.wants(Case::Create50) {
        show(create::fifty(&bench)?);
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

fn build() -> Result<PathBuf, BenchError> {
    let metadata = metadata::load()?;
    let mut cargo = metadata::cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "mngr"]).current_dir(&metadata.workspace_root);
    let status = cargo.status().map_err(|source| not_started(&cargo, source))?;
    if !status.success() {
        return Err(BenchError::Build(status));
    }
    Ok(metadata.target_directory.join("release/mngr"))
}
