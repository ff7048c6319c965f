//! A recording of 100 MB: read as it comes, never held whole.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};

use mngr_testkit::TestEnv;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::measure::timed;
use crate::bench::memory::peak_kib;
use crate::bench::row::Row;

/// Events, each of about a hundred bytes.
const EVENTS: usize = 1_000_000;

/// The last line of the recording is found, and all its text printed.
pub(crate) fn run(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let env = TestEnv::new(&bench.binary);
    prepare(&env)
        .map_err(|source| BenchError::Prepare { what: env.work_dir().display().to_string(), source })?;
    let last = format!("line {}", EVENTS - 1);
    let search: &[&str] = &["replay", "large.cast", "--search", &last];
    let dump: &[&str] = &["replay", "large.cast", "--dump"];
    let mut rows = Vec::new();
    for (what, args) in [("replay --search, 100 MB", search), ("replay --dump, 100 MB", dump)] {
        bench.interrupt.check()?;
        let time = timed(env.mngr_cmd().args(args))?;
        rows.push(Row::below(what, time.as_secs_f64(), 10.0, "s"));
    }
    let peak = peak_kib(env.mngr_cmd().args(dump))? as f64 * 1024.0 / 1e6;
    rows.push(Row::below("replay --dump, 100 MB, peak memory", peak, 30.0, "MB"));
    Ok(rows)
}

fn prepare(env: &TestEnv) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(env.work_dir().join("large.cast"))?);
    writeln!(file, r#"{{"version": 2, "width": 80, "height": 24}}"#)?;
    let rest = "x".repeat(64);
    for event in 0..EVENTS {
        let (second, milli) = (event / 1000, event % 1000);
        writeln!(file, r#"[{second}.{milli:03}, "o", "line {event} {rest}\r\n"]"#)?;
    }
    file.flush()
}
