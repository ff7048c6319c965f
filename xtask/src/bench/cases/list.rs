//! Listing many agents.

use std::fs;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::{Fleet, succeeded};
use crate::bench::measure::{interleaved, timed};
use crate::bench::memory::peak_kib;
use crate::bench::row::Row;

/// `list` of 100 agents against one bare call of tmux on the same server.
pub(crate) fn hundred(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    Ok(vec![against_tmux(bench, fleet, "list, 100 agents", 1.2)?])
}

/// `list` of 100 agents whose programs keep a status file, as coding agents do, against the same call of tmux.
pub(crate) fn hundred_with_status(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    let agents = fleet.env().host_dir().join("agents");
    let failed = |source| BenchError::Prepare { what: agents.display().to_string(), source };
    for entry in fs::read_dir(&agents).map_err(failed)?.flatten() {
        let data = entry.path().join("data.json");
        let text = fs::read_to_string(&data).map_err(failed)?;
        let marked = text.replacen('{', r#"{"brand":"claude","status_file":"program-status.json","#, 1);
        fs::write(entry.path().join("program-status.json"), r#"{"status":"idle","statusUpdatedAt":1}"#)
            .map_err(failed)?;
        fs::write(&data, marked).map_err(failed)?;
    }
    Ok(vec![against_tmux(bench, fleet, "list, 100 with a status file", 2.0)?])
}

/// `list` of 1,000 agents: its time, its memory, and that it needs no other program.
pub(crate) fn thousand(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    let time = against_tmux(bench, fleet, "list, 1000 agents", 1.5)?;
    let mut peak = 0;
    for format in ["human", "json"] {
        peak = peak.max(peak_kib(fleet.env().mngr_cmd().args(["list", "--format", format]))?);
    }
    let megabytes = peak as f64 * 1024.0 / 1e6;
    let mut alone = fleet.env().mngr_cmd();
    alone.arg("list").env("PATH", "/nonexistent");
    let alone = fleet.env().run(alone);
    let whole = alone.status.success() && alone.stdout.matches("sleeper-").count() >= 1000;
    Ok(vec![
        time,
        Row::below("list, 1000 agents, peak memory", megabytes, 30.0, "MB"),
        Row::fact("list with no program on PATH", "yes", whole),
    ])
}

fn against_tmux(bench: &Bench, fleet: &Fleet, what: &str, limit: f64) -> Result<Row, BenchError> {
    succeeded(&fleet.env().mngr(["list"]))?;
    let pair = interleaved(
        bench.effort.rounds(50),
        &bench.interrupt,
        |_| timed(fleet.env().mngr_cmd().arg("list")),
        |_| timed(fleet.tmux()?.args(["list-panes", "-a"])),
    )?;
    Ok(Row::ratio(what, "tmux list-panes -a", pair, limit))
}
