//! Taking times.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

use super::error::BenchError;

/// A set flag ends the benchmark at the next sample, so that what it started is cleaned up.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Sets the flag on Ctrl-C and on a request to end.
    pub(crate) fn watch() -> Result<Self, BenchError> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(BenchError::Signal)?;
        }
        Ok(Self(flag))
    }

    /// An error once the flag is set.
    pub(crate) fn check(&self) -> Result<(), BenchError> {
        if self.0.load(Ordering::Relaxed) { Err(BenchError::Interrupted) } else { Ok(()) }
    }
}

/// The median of some times; zero of none.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let middle = times.len() / 2;
    match times.len() {
        0 => Duration::ZERO,
        odd if odd % 2 == 1 => times[middle],
        _ => (times[middle - 1] + times[middle]) / 2,
    }
}

/// Two medians of samples that were taken in turn, so that a busy moment of the machine hits both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) ours: Duration,
    pub(crate) theirs: Duration,
}

/// Takes `rounds` samples of each, in turn. Each sample is told its number.
pub(crate) fn interleaved(
    rounds: usize,
    interrupt: &Interrupt,
    mut ours: impl FnMut(usize) -> Result<Duration, BenchError>,
    mut theirs: impl FnMut(usize) -> Result<Duration, BenchError>,
) -> Result<Pair, BenchError> {
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        interrupt.check()?;
        our_times.push(ours(round)?);
        their_times.push(theirs(round)?);
    }
    Ok(Pair { ours: median(our_times), theirs: median(their_times) })
}

/// The time from before the start of a command until it has ended well. Its output goes nowhere.
pub(crate) fn timed(command: &mut Command) -> Result<Duration, BenchError> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|source| not_started(command, source))?;
    let elapsed = start.elapsed();
    if status.success() { Ok(elapsed) } else { Err(ended_badly(command, status)) }
}

/// The error of a command that could not be started.
pub(crate) fn not_started(command: &Command, source: io::Error) -> BenchError {
    BenchError::Start { command: shown(command), source }
}

/// The error of a command whose output nobody kept.
pub(crate) fn ended_badly(command: &Command, status: ExitStatus) -> BenchError {
    BenchError::Failed(format!("{}\n[{status}]", shown(command)))
}

/// Program and arguments, without the environment that `Debug` would show.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|time| Duration::from_millis(*time)).collect()
    }

    #[test]
    fn median_of_odd_even_and_no_samples() {
        assert_eq!(median(millis(&[9, 1, 5])), Duration::from_millis(5));
        assert_eq!(median(millis(&[4, 100, 1, 6])), Duration::from_millis(5));
        assert_eq!(median(Vec::new()), Duration::ZERO);
    }

    #[test]
    fn samples_are_taken_in_turn() {
        let order = std::cell::RefCell::new(String::new());
        let sample = |name: char| {
            order.borrow_mut().push(name);
            Ok(Duration::ZERO)
        };
        let interrupt = Interrupt(Arc::default());
        interleaved(3, &interrupt, |_| sample('a'), |_| sample('b')).unwrap();
        assert_eq!(*order.borrow(), "ababab");
    }

    #[test]
    fn an_interrupt_ends_the_sampling() {
        let interrupt = Interrupt(Arc::new(AtomicBool::new(true)));
        let never = |_| panic!("sampled after the interrupt");
        let end = interleaved(3, &interrupt, never, never);
        assert!(matches!(end, Err(BenchError::Interrupted)));
    }

    #[test]
    fn a_failing_command_gives_no_time() {
        assert!(matches!(timed(&mut Command::new("false")), Err(BenchError::Failed(_))));
        assert!(timed(&mut Command::new("true")).unwrap() > Duration::ZERO);
    }
}
