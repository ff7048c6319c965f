//! What a TAB costs where there are many agents.

use std::fs;

use mngr_testkit::TestEnv;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::succeeded;
use crate::bench::measure::{interleaved, median, timed};
use crate::bench::row::Row;

const AGENTS: usize = 500;
/// A person does not notice it.
const LIMIT_MS: f64 = 20.0;

/// What is asked, and what is typed before the TAB.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("agents", &["stop", ""]),
    ("options", &["create", "--"]),
    ("settings", &["config", "set", ""]),
    ("hosts", &["create", "new@"]),
];

/// Agents against the bare reading of their files, and each question against a fixed limit. Completion reads records and nothing else, so records are all there is.
pub(crate) fn run(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let env = TestEnv::new(&bench.binary);
    env.repo(1);
    succeeded(&env.mngr([
        "create",
        "pattern",
        "--type",
        "command",
        "--no-connect",
        "--",
        "sleep",
        "100000",
    ]))?;
    multiply(&env)?;
    let reading = interleaved(
        bench.effort.rounds(100),
        &bench.interrupt,
        |_| timed(env.mngr_cmd().args(["__complete", "words", "stop", ""])),
        |_| {
            let mut cat = env.command("sh");
            timed(cat.current_dir(env.host_dir()).args(["-c", "exec cat agents/*/data.json"]))
        },
    )?;
    let mut rows = vec![Row::ratio("TAB for agents", "cat of their records", reading, 2.0)];
    for (what, words) in QUESTIONS {
        let mut times = Vec::new();
        for _ in 0..bench.effort.rounds(100) {
            bench.interrupt.check()?;
            times.push(timed(env.mngr_cmd().args(["__complete", "words"]).args(*words))?);
        }
        let millis = median(times).as_secs_f64() * 1000.0;
        rows.push(Row::below(&format!("TAB for {what}, {AGENTS} agents"), millis, LIMIT_MS, "ms"));
    }
    Ok(rows)
}

/// Copies the record of the one agent under many names.
fn multiply(env: &TestEnv) -> Result<(), BenchError> {
    let agents = env.host_dir().join("agents");
    let failed = |source| BenchError::Prepare { what: agents.display().to_string(), source };
    let pattern = fs::read_dir(&agents).map_err(failed)?.flatten().next();
    let pattern = pattern.map(|entry| entry.path()).unwrap_or_default();
    let id = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let record = fs::read_to_string(pattern.join("data.json")).map_err(failed)?;
    for number in 1..AGENTS {
        let new_id = format!("agent-{number:032x}");
        let folder = agents.join(&new_id);
        fs::create_dir_all(&folder).map_err(failed)?;
        let text = record.replace(&id, &new_id).replace("pattern", &format!("agent-called-{number}"));
        fs::write(folder.join("data.json"), text).map_err(failed)?;
    }
    Ok(())
}
