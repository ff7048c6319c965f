//! What it costs to start at all.

use mngr_testkit::TestEnv;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::measure::{interleaved, timed};
use crate::bench::row::Row;

/// `mngr --version` against `/bin/true`.
pub(crate) fn run(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let env = TestEnv::new(&bench.binary);
    let pair = interleaved(
        bench.effort.rounds(200),
        &bench.interrupt,
        |_| timed(env.mngr_cmd().arg("--version")),
        |_| timed(&mut env.command("/bin/true")),
    )?;
    Ok(vec![Row::ratio("--version", "/bin/true", pair, 3.0)])
}
