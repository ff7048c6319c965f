//! Verbs on one agent among a hundred.

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::{Fleet, succeeded};
use crate::bench::measure::{interleaved, median, timed};
use crate::bench::row::Row;

/// A case that runs on a fleet.
pub(crate) type OnFleet = fn(&Bench, &Fleet) -> Result<Vec<Row>, BenchError>;

/// A stop that waited for a fixed second would be far above this.
const STOP_LIMIT_MS: f64 = 250.0;

/// `exec` of `true` against `sh -c true`.
pub(crate) fn exec(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    let args = ["exec", "sleeper-0", "true"];
    succeeded(&fleet.env().mngr(args))?;
    let pair = interleaved(
        bench.effort.rounds(50),
        &bench.interrupt,
        |_| timed(fleet.env().mngr_cmd().args(args)),
        |_| timed(fleet.env().command("sh").args(["-c", "true"])),
    )?;
    Ok(vec![Row::ratio("exec true", "sh -c true", pair, 6.0)])
}

/// `message` to an agent that reads lines.
pub(crate) fn message(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    let mut create = fleet.create("reader");
    create.args(["--", "sh", "-c", "while read -r line; do :; done"]);
    succeeded(&fleet.env().run(create))?;
    let args = ["message", "reader", "-m", "a short message"];
    succeeded(&fleet.env().mngr(args))?;
    let mut times = Vec::new();
    for _ in 0..bench.effort.rounds(50) {
        bench.interrupt.check()?;
        times.push(timed(fleet.env().mngr_cmd().args(args))?);
    }
    Ok(vec![Row::shown("message", median(times))])
}

/// `stop` of an agent that would sleep on.
pub(crate) fn stop(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    let mut times = Vec::new();
    for round in 0..bench.effort.rounds(20) {
        bench.interrupt.check()?;
        let name = format!("to-stop-{round}");
        fleet.create_sleeper(&name)?;
        times.push(timed(fleet.env().mngr_cmd().args(["stop", &name]))?);
    }
    let stop_ms = median(times).as_secs_f64() * 1000.0;
    Ok(vec![Row::below("stop", stop_ms, STOP_LIMIT_MS, "ms")])
}
