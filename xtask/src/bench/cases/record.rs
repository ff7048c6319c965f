//! What recording an agent's terminal costs the agent, and tmux.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use mngr_testkit::{Running, Signal, TestEnv};

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::succeeded;
use crate::bench::measure::{Interrupt, interleaved};
use crate::bench::row::Row;

/// How much the agent prints as fast as it can.
const FLOOD_BYTES: usize = 50_000_000;
/// Nothing here takes longer unless something hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs what it is given, one file after the other, and writes down how long each took, in nanoseconds.
const AGENT: &str = r#"n=0
while :; do
  while [ ! -e "job-$n" ]; do sleep 0.02; done
  from=$(date +%s%N)
  sh "job-$n"
  echo $(($(date +%s%N) - from)) >"time-$n.new"
  mv "time-$n.new" "time-$n"
  n=$((n + 1))
done"#;

const FLOOD: &str = "cat flood";
/// Nearly a megabyte a second for some seconds. Few large pieces: starting `head` must not be what is measured.
const STREAM: &str = "for piece in 1 2 3 4 5 6; do head -c 500000 flood; sleep 0.5; done";

/// Time of a flood and of a steady stream, recorded against not recorded; memory of tmux while the recorder stalls.
pub(crate) fn run(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let mut stage = Stage::new(bench)?;
    // The history is full before anything is measured: it is the larger part of tmux's memory.
    stage.timed(FLOOD)?;
    let rounds = bench.effort.rounds(5);
    let flood = stage.compare(FLOOD, rounds, &bench.interrupt)?;
    let stream = stage.compare(STREAM, rounds.min(3), &bench.interrupt)?;
    let grown = stage.memory_of_a_stall()? as f64 / 1e6;
    Ok(vec![
        Row::ratio("flood of 50 MB, recorded", "the same pane, not recorded", flood, 1.4),
        Row::ratio("1 MB/s, recorded", "the same pane, not recorded", stream, 1.05),
        Row::below("tmux grows, recorder stalled", grown, 10.0, "MB"),
    ])
}

struct Stage {
    env: TestEnv,
    interrupt: Interrupt,
    jobs: usize,
}

impl Stage {
    fn new(bench: &Bench) -> Result<Self, BenchError> {
        let env = TestEnv::new(&bench.binary);
        env.repo(1);
        let stage = Self { env, interrupt: bench.interrupt.clone(), jobs: 0 };
        stage.write("flood", &flood_text())?;
        let create =
            ["create", "loud", "--type", "command", "--transfer", "none", "--no-connect", "--", "sh", "-c"];
        succeeded(&stage.env.mngr(create.iter().chain([&AGENT])))?;
        Ok(stage)
    }

    fn compare(
        &mut self,
        job: &str,
        rounds: usize,
        interrupt: &Interrupt,
    ) -> Result<crate::bench::measure::Pair, BenchError> {
        let stage = std::cell::RefCell::new(self);
        interleaved(
            rounds,
            interrupt,
            |_| {
                let mut stage = stage.borrow_mut();
                let recorder = stage.record()?;
                let time = stage.timed(job)?;
                stage.end(recorder)?;
                Ok(time)
            },
            |_| stage.borrow_mut().timed(job),
        )
    }

    /// How many bytes tmux grows by while a flood goes to a recorder that does nothing.
    fn memory_of_a_stall(&mut self) -> Result<u64, BenchError> {
        let recorder = self.record()?;
        let before = self.server_memory()?;
        recorder.signal(Signal::STOP);
        self.timed(FLOOD)?;
        let after = self.server_memory()?;
        recorder.signal(Signal::CONT);
        self.end(recorder)?;
        Ok(after.saturating_sub(before))
    }

    fn record(&self) -> Result<Running, BenchError> {
        let file = self.path("bench.cast");
        let _ = fs::remove_file(&file);
        let running = self.env.spawn(["record", "loud", "-o", "bench.cast"]);
        self.wait_for(|| file.exists(), "bench.cast")?;
        Ok(running)
    }

    fn end(&self, recorder: Running) -> Result<(), BenchError> {
        recorder.signal(Signal::INT);
        succeeded(&recorder.finish())
    }

    /// Has the agent run something, and says how long that took.
    fn timed(&mut self, job: &str) -> Result<Duration, BenchError> {
        let number = self.jobs;
        self.jobs += 1;
        self.write("job.new", job)?;
        let (from, to) = (self.path("job.new"), self.path(&format!("job-{number}")));
        fs::rename(from, &to)
            .map_err(|source| BenchError::Prepare { what: to.display().to_string(), source })?;
        let answer = self.path(&format!("time-{number}"));
        self.wait_for(|| answer.exists(), "the agent")?;
        let nanos = fs::read_to_string(&answer).ok().and_then(|text| text.trim().parse().ok());
        nanos.map(Duration::from_nanos).ok_or_else(|| BenchError::Failed("the agent told no time".to_owned()))
    }

    fn server_memory(&self) -> Result<u64, BenchError> {
        let asked = self.env.tmux(["display-message", "-p", "#{pid}"]);
        succeeded(&asked)?;
        let status = fs::read_to_string(format!("/proc/{}/status", asked.stdout.trim()));
        let status = status.map_err(|source| BenchError::Prepare { what: "/proc".to_owned(), source })?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kib: Option<u64> = line.trim().trim_end_matches("kB").trim().parse().ok();
        kib.map(|kib| kib * 1024).ok_or(BenchError::NoServer)
    }

    fn wait_for(&self, is_there: impl Fn() -> bool, what: &str) -> Result<(), BenchError> {
        let started = Instant::now();
        while !is_there() {
            self.interrupt.check()?;
            if started.elapsed() > PATIENCE {
                return Err(BenchError::Failed(format!("{what} did not come within {PATIENCE:?}")));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.env.work_dir().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), BenchError> {
        let path = self.path(name);
        fs::write(&path, text)
            .map_err(|source| BenchError::Prepare { what: path.display().to_string(), source })
    }
}

/// Lines with colours, as programs print them.
fn flood_text() -> String {
    let mut text = String::with_capacity(FLOOD_BYTES + 200);
    let mut number = 0_u64;
    while text.len() < FLOOD_BYTES {
        let colour = number % 8;
        let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        text +=
            &format!("\u{1b}[3{colour}mline {number:08}\u{1b}[0m {noise:016x} some words that make a line\n");
        number += 1;
    }
    text
}
