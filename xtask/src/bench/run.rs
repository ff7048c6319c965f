//! From the build to the last line of the table.

use std::path::{Path, PathBuf};
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

/// How much slower than the baseline a binary may be.
const BASELINE_LIMIT: f64 = 1.05;

/// Builds the release binary unless one was named, runs the cases that were asked for and prints a line for each.
pub(crate) fn run(options: &Options) -> Result<(), BenchError> {
    let interrupt = Interrupt::watch()?;
    let binary = options.binary().map_or_else(build, |named| Ok(named.to_owned()))?;
    let bench = Bench { binary, effort: options.effort(), interrupt };
    println!("{}", Row::header());
    match options.baseline() {
        Some(baseline) => compare(&bench, baseline, options),
        None => {
            let mut cases = Cases { bench: &bench, fleet: None };
            options.cases().try_for_each(|case| cases.rows(case).map(show))
        }
    }
}

/// Two binaries take turns at each case, every turn with agents of its own.
fn compare(bench: &Bench, baseline: &Path, options: &Options) -> Result<(), BenchError> {
    let baseline =
        Bench { binary: baseline.to_owned(), effort: bench.effort, interrupt: bench.interrupt.clone() };
    for case in options.cases() {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.turns() {
            theirs.push(Cases { bench: &baseline, fleet: None }.rows(case)?);
            ours.push(Cases { bench, fleet: None }.rows(case)?);
        }
        show(by_line(ours).into_iter().zip(by_line(theirs)).filter_map(compared).collect());
    }
    Ok(())
}

fn compared((ours, theirs): (Vec<Row>, Vec<Row>)) -> Option<Row> {
    Row::against_baseline(ours, theirs, BASELINE_LIMIT)
}

/// The rows of several turns at a case, those of one line together.
fn by_line(turns: Vec<Vec<Row>>) -> Vec<Vec<Row>> {
    let mut turns: Vec<_> = turns.into_iter().map(Vec::into_iter).collect();
    std::iter::from_fn(|| {
        let line: Vec<Row> = turns.iter_mut().filter_map(Iterator::next).collect();
        (!line.is_empty()).then_some(line)
    })
    .collect()
}

/// Cases on one binary, with the fleet that some of them share.
struct Cases<'b> {
    bench: &'b Bench,
    fleet: Option<Fleet>,
}

impl Cases<'_> {
    fn rows(&mut self, case: Case) -> Result<Vec<Row>, BenchError> {
        match case {
            Case::List100 => self.on_fleet(100, list::hundred),
            Case::Exec => self.on_fleet(100, verbs::exec),
            Case::Message => self.on_fleet(100, verbs::message),
            Case::Idle => self.on_fleet(100, idle::run),
            Case::Stop => self.on_fleet(100, verbs::stop),
            Case::ListStatus => self.on_fleet(100, list::hundred_with_status),
            Case::List1000 => self.on_fleet(1000, list::thousand),
            Case::Version => self.alone(version::run),
            Case::Completion => self.alone(completion::run),
            Case::Create => self.alone(create::one),
            Case::Create50 => self.alone(create::fifty),
            Case::Record => self.alone(record::run),
            Case::Replay => self.alone(replay::run),
            Case::Tutorial => self.alone(tutorial::run),
            Case::Tmr100 => self.alone(tmr::hundred),
            Case::Tmr500 => self.alone(tmr::five_hundred),
            Case::SshList20 => self.alone(ssh::list),
            Case::SshFirstContact => self.alone(ssh::first_contact),
            Case::DockerCreateWarm => self.alone(docker::create_warm),
            Case::Docker100Over10 => self.alone(docker::hundred),
        }
    }

    /// A case that runs beside at least so many agents.
    fn on_fleet(&mut self, size: usize, measure: verbs::OnFleet) -> Result<Vec<Row>, BenchError> {
        let new = || Fleet::new(self.bench.binary.clone(), self.bench.interrupt.clone());
        let fleet = self.fleet.get_or_insert_with(new);
        fleet.grow_to(size)?;
        measure(self.bench, fleet)
    }

    /// A case that brings its own agents; those of other cases must not be in its way.
    fn alone(&mut self, measure: fn(&Bench) -> Result<Vec<Row>, BenchError>) -> Result<Vec<Row>, BenchError> {
        self.fleet = None;
        measure(self.bench)
    }
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
