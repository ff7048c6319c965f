//! `mngr tmr` with many agents that play a script: how long they are kept waiting, and what the orchestrator itself uses.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_testkit::TestEnv;
use serde::Deserialize;

use super::Bench;
use super::idle::{TICKS_PER_SECOND, cpu_ticks};
use crate::bench::error::BenchError;
use crate::bench::fleet::succeeded;
use crate::bench::measure::{Pair, ended_badly, not_started, timed};
use crate::bench::memory::{high_water_kib, resident_kib};
use crate::bench::row::Row;

/// Agents that work at once.
const AT_ONCE: usize = 20;
/// Between two looks at the orchestrator.
const PACE: Duration = Duration::from_millis(250);
/// The name of the only run.
const RUN: &str = "bench";

/// What an agent does: it takes its time, then makes its test pass and says so.
const PART: &str = r#"set -eu
sleep "$SECONDS_OF_WORK"
subject=$(basename "$MNGR_TMR_TASK" .sh)
mkdir -p src
echo good >"src/$subject"
git add src
git commit --quiet --message "[FIX_IMPL] $subject is good"
cat >"$MNGR_AGENT_STATE_DIR/outcome.json" <<END
{"result": "fixed", "summary_markdown": "$subject is good", "tests_passing_before": false, "tests_passing_after": true,
 "changes": [{"kind": "FIX_IMPL", "summary_markdown": "$subject is good"}]}
END
"$MNGR_AGENT_STATE_DIR/commands/publish" "$MNGR_AGENT_STATE_DIR/outcome.json"
"#;

/// 100 agents that work for 10 s, 20 at once.
pub(crate) fn hundred(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let project = Project { tests: 100, work: Duration::from_secs(10) };
    let env = TestEnv::new(&bench.binary);
    let seen = project.run(bench, &env)?;
    let rounds = project.tests.div_ceil(AT_ONCE) as u32;
    let pair = Pair { ours: seen.map, theirs: project.work * rounds };
    Ok(vec![
        Row::ratio("tmr, 100 agents, map phase", "5 rounds of 10 s", pair, 1.3),
        Row::shown("tmr, 100 agents, until verified", seen.until_verified),
        Row::below("tmr, 100 agents, own CPU", seen.of_one_core(), 5.0, "%"),
        Row::below("tmr, 100 agents, peak memory", megabytes(seen.peak_kib), 100.0, "MB"),
        Row::fact("tmr, 100 agents, all integrated", "yes", seen.integrated == project.tests),
    ])
}

/// 500 agents that work for a second, 20 at once: whether memory grows with the run, and whether its page can be used.
pub(crate) fn five_hundred(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let project = Project { tests: 500, work: Duration::from_secs(1) };
    let env = TestEnv::new(&bench.binary);
    let seen = project.run(bench, &env)?;
    let grown = megabytes(seen.last_kib) - megabytes(seen.at_hundred_kib);
    let page = timed(env.mngr_cmd().args(["tmr", "report", RUN]))?;
    let start = fs::metadata(env.work_dir().join(format!("tmr_{RUN}/report/index.html")));
    let start = start.map_err(|source| not_prepared(&env, source))?.len() as f64 / 1e6;
    Ok(vec![
        Row::shown("tmr, 500 agents, map phase", seen.map),
        Row::below("tmr, 500 agents, own CPU", seen.of_one_core(), 5.0, "%"),
        Row::below("tmr, 500 agents, peak memory", megabytes(seen.peak_kib), 100.0, "MB"),
        // What was said and measured of each test is kept: some ten kilobytes.
        Row::below("tmr, memory from 100 to 500 done", grown, 20.0, "MB"),
        Row::below("tmr, page of 500, written anew", page.as_secs_f64(), 5.0, "s"),
        Row::below("tmr, page of 500, its first file", start, 1.0, "MB"),
        Row::fact("tmr, 500 agents, all integrated", "yes", seen.integrated == project.tests),
    ])
}

fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}

fn not_prepared(env: &TestEnv, source: io::Error) -> BenchError {
    BenchError::Prepare { what: env.work_dir().display().to_string(), source }
}

/// A repository of tests that all fail, each for a cause of its own.
struct Project {
    tests: usize,
    /// How long an agent works.
    work: Duration,
}

/// What was seen of a run.
struct Seen {
    /// From the first launch until the last agent has handed over its work.
    map: Duration,
    /// From the first launch until all of that was measured.
    until_verified: Duration,
    /// From the start of the process to its end.
    wall: Duration,
    /// The CPU time of the orchestrator alone; the programs it starts are not counted.
    cpu: Duration,
    peak_kib: u64,
    /// What it held when the work of a hundred agents was measured, and at last.
    at_hundred_kib: u64,
    last_kib: u64,
    integrated: usize,
}

impl Seen {
    fn of_one_core(&self) -> f64 {
        self.cpu.as_secs_f64() / self.wall.as_secs_f64() * 100.0
    }
}

impl Project {
    fn run(&self, bench: &Bench, env: &TestEnv) -> Result<Seen, BenchError> {
        self.prepare(env).map_err(|source| not_prepared(env, source))?;
        for (key, value) in self.settings(env) {
            succeeded(&env.mngr(["config", "set", "--scope", "user", &key, &value]))?;
        }
        let mut command = env.mngr_cmd();
        command.args(["tmr", "--agent-type", "fixer", "--no-integrator", "--yes", "--run-name", RUN]);
        command.args(["--collector", "plain", "--max-parallel-agents", &AT_ONCE.to_string()]);
        let journal = Journal::new(env.work_dir().join(format!("tmr_{RUN}/run.jsonl")));
        watch(bench, &mut command, journal)
    }

    fn prepare(&self, env: &TestEnv) -> io::Result<()> {
        let folder = env.work_dir();
        fs::create_dir(folder.join("tests"))?;
        for number in 0..self.tests {
            // One file only: there will be a checkout of all of them for every agent.
            fs::write(folder.join(format!("tests/t{number}.sh")), format!("test -e src/t{number}\n"))?;
        }
        fs::write(env.root().join("part.sh"), PART)?;
        env.repo(0);
        Ok(())
    }

    fn settings(&self, env: &TestEnv) -> Vec<(String, String)> {
        let part = env.root().join("part.sh");
        let run = format!("run SECONDS_OF_WORK={} sh {}", self.work.as_secs_f64(), part.display());
        [
            ("agent_types.fixer.parent_type", "scripted".to_owned()),
            ("agent_types.fixer.cli_args", format!(r#"["read", "{run}", "read"]"#)),
            ("tmr.collectors.plain.collect", "ls tests/*.sh".to_owned()),
            ("tmr.collectors.plain.one", "sh {id}".to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .to_vec()
    }
}

/// Runs the command and looks at it until it has ended.
fn watch(bench: &Bench, command: &mut Command, mut journal: Journal) -> Result<Seen, BenchError> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|source| not_started(command, source))?;
    let (mut peak_kib, mut at_hundred_kib, mut last_kib, mut ticks) = (0, 0, 0, 0);
    // One that has ended still tells its CPU time until it is waited for, but not its memory.
    while let Some((is_over, used)) = look(&child) {
        ticks = used;
        if is_over {
            break;
        }
        peak_kib = high_water_kib(child.id()).unwrap_or(peak_kib);
        last_kib = resident_kib(child.id()).unwrap_or(last_kib);
        journal.read_more();
        if journal.verified < 100 {
            at_hundred_kib = last_kib;
        }
        if let Err(interrupted) = bench.interrupt.check() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(interrupted);
        }
        thread::sleep(PACE);
    }
    let wall = start.elapsed();
    let status = child.wait().map_err(|source| not_started(command, source))?;
    if !status.success() {
        return Err(ended_badly(command, status));
    }
    journal.read_more();
    let cpu = Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND);
    let (map, until_verified) =
        (journal.since_launch(journal.pulled), journal.since_launch(journal.measured));
    let integrated = journal.integrated;
    Ok(Seen { map, until_verified, wall, cpu, peak_kib, at_hundred_kib, last_kib, integrated })
}

/// Whether the process has ended, and its CPU time so far.
fn look(child: &Child) -> Option<(bool, u64)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    Some((stat.rsplit_once(')')?.1.starts_with(" Z"), cpu_ticks(&stat)?))
}

/// Reads the journal of a run while it grows, and never twice: it must not cost what is being measured.
struct Journal {
    path: PathBuf,
    file: Option<File>,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
    launched: Option<Timestamp>,
    pulled: Option<Timestamp>,
    measured: Option<Timestamp>,
    verified: usize,
    integrated: usize,
}

/// What matters of a line.
#[derive(Deserialize)]
struct Line {
    time: Timestamp,
    #[serde(default)]
    stage: String,
}

impl Journal {
    fn new(path: PathBuf) -> Self {
        let (file, rest) = (None, Vec::new());
        let (launched, pulled, measured) = (None, None, None);
        Self { path, file, rest, launched, pulled, measured, verified: 0, integrated: 0 }
    }

    fn read_more(&mut self) {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else { return };
        // What was read before a failure counts; the rest is read next time.
        let _ = file.read_to_end(&mut self.rest);
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        for line in lines.split(|byte| *byte == b'\n') {
            if let Ok(line) = serde_json::from_slice(line) {
                self.note(&line);
            }
        }
    }

    fn note(&mut self, line: &Line) {
        match line.stage.as_str() {
            "launching" => self.launched = self.launched.or(Some(line.time)),
            "pulled" => self.pulled = Some(line.time),
            "verified" => {
                self.measured = Some(line.time);
                self.verified += 1;
            }
            "integrated" => self.integrated += 1,
            _ => {}
        }
    }

    fn since_launch(&self, until: Option<Timestamp>) -> Duration {
        let passed = self.launched.zip(until).map(|(from, until)| until.duration_since(from));
        passed.and_then(|passed| passed.try_into().ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_phase_is_from_the_first_launch_to_the_last_hand_over() {
        let mut journal = Journal::new(PathBuf::new());
        for (second, stage) in [
            (1, "launching"),
            (2, "launching"),
            (9, "pulled"),
            (12, "pulled"),
            (13, "verified"),
            (14, "verified"),
            (20, "integrated"),
        ] {
            let time = Timestamp::from_second(second).unwrap();
            journal.note(&Line { time, stage: stage.to_owned() });
        }
        assert_eq!(journal.since_launch(journal.pulled), Duration::from_secs(11));
        assert_eq!(journal.since_launch(journal.measured), Duration::from_secs(13));
        assert_eq!((journal.verified, journal.integrated), (2, 1));
    }
}
