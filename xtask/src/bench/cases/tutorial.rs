//! A large tutorial and its tests.

use std::fmt::Write as _;
use std::fs;
use std::io;

use mngr_testkit::TestEnv;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::succeeded;
use crate::bench::measure::{median, timed};
use crate::bench::row::Row;

/// Files with tests, and tests in each.
const FILES: usize = 100;
const TESTS: usize = 50;

/// `tutorial check` and `tutorial lint` of 5,000 blocks, each with a test of its own.
pub(crate) fn run(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let env = TestEnv::new(&bench.binary);
    prepare(&env)
        .map_err(|source| BenchError::Prepare { what: env.work_dir().display().to_string(), source })?;
    let check: &[&str] = &["tutorial", "check", "tutorial.sh", "tests"];
    let lint: &[&str] = &["tutorial", "lint", "tutorial.sh"];
    let mut rows = Vec::new();
    for (what, args, limit) in
        [("tutorial check, 5000 x 5000", check, 2.0), ("tutorial lint, 5000 blocks", lint, 10.0)]
    {
        succeeded(&env.mngr(args))?;
        let mut times = Vec::new();
        for _ in 0..bench.effort.rounds(10) {
            bench.interrupt.check()?;
            times.push(timed(env.mngr_cmd().args(args))?);
        }
        rows.push(Row::below(what, median(times).as_secs_f64(), limit, "s"));
    }
    Ok(rows)
}

fn prepare(env: &TestEnv) -> io::Result<()> {
    let mut script = String::new();
    fs::create_dir(env.work_dir().join("tests"))?;
    for file in 0..FILES {
        let mut tests = String::new();
        for number in (0..TESTS).map(|test| file * TESTS + test) {
            let block = format!(
                "# Create agent number {number}\nmngr create agent-{number} --type command -- sleep 1"
            );
            let _ = write!(script, "{block}\n\n");
            let _ = write!(
                tests,
                "def test_{number}(e2e):\n    e2e.write_tutorial_block(\"\"\"\n    {block}\n    \"\"\")\n    \
                 result = e2e.run(\"mngr create agent-{number} --type command -- sleep 1\")\n    \
                 expect(result).to_succeed()\n\n"
            );
        }
        fs::write(env.work_dir().join(format!("tests/test_{file}.py")), tests)?;
    }
    fs::write(env.work_dir().join("tutorial.sh"), script)
}
