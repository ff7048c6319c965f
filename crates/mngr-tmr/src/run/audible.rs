//! Long work beside the journal: what it finds is noted as it comes, and a line at least every few seconds says what goes
//! on. The work is on a thread of its own; the journal stays with its owner.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use mngr_model::run::Event;

use super::scribe::Scribe;
use crate::integrate::Ledger;
use crate::journal::JournalError;

/// How soon the end of work that panicked is noticed.
const LOOK: Duration = Duration::from_millis(200);

/// How many of the things that run at once are named.
const NAMED: usize = 2;

/// Does some work, which notes events and what its checks came to. `what` is what is said of it from time to time.
pub(super) fn audibly<T: Send>(
    scribe: &mut Scribe<'_>,
    ledger: &Ledger,
    what: &str,
    work: impl FnOnce(&mut dyn FnMut(Event)) -> T + Send,
) -> Result<T, JournalError> {
    let (sender, events) = channel();
    ledger.tell(sender.clone());
    let mut failed = None;
    let done = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let done = work(&mut |event| drop(sender.send(event)));
            ledger.hush();
            done
        });
        loop {
            let heard = match events.recv_timeout(LOOK) {
                Ok(event) => scribe.note(event),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if worker.is_finished() => break,
                Err(RecvTimeoutError::Timeout) => Ok(()),
            };
            let heard = heard.and_then(|()| scribe.pulse(|| in_words(what, ledger)));
            // What could not be written is said at the end; the work is not left half-way for it.
            failed = failed.take().or(heard.err());
        }
        worker.join()
    });
    ledger.hush();
    match (done, failed) {
        (Err(panic), _) => std::panic::resume_unwind(panic),
        (Ok(_), Some(error)) => Err(error),
        (Ok(done), None) => Ok(done),
    }
}

/// `putting the results together: 512 tests together (24 s)`
fn in_words(what: &str, ledger: &Ledger) -> String {
    let running = ledger.running();
    let named: Vec<String> =
        running.iter().take(NAMED).map(|(what, seconds)| format!("{what} ({seconds} s)")).collect();
    let more = running.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if named.is_empty() { what.to_owned() } else { format!("{what}: {}{more}", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    use mngr_host::clock::SystemClock;
    use mngr_host::host::Host;
    use mngr_host::local::LocalHost;
    use mngr_model::HostPath;
    use mngr_model::run::{Integration, IntegrationStep, Run, RunName, Started};

    use super::super::observer::Observer;
    use super::*;
    use crate::journal::{self, Journal};

    /// Keeps what goes on, and counts it for the work.
    #[derive(Default)]
    struct Seen(Vec<String>, Arc<AtomicUsize>);

    impl Observer for Seen {
        fn noted(&mut self, _run: &Run, event: &Event) {
            if let Event::Working(working) = event {
                self.0.push(working.what.clone());
                self.1.fetch_add(1, Ordering::Release);
            }
        }

        fn doing(&mut self, _what: &str) {}
    }

    #[test]
    fn long_work_is_heard_of_and_its_events_are_noted() {
        let dir = tempfile::tempdir().unwrap();
        let folder = HostPath::new(dir.path().to_str().unwrap());
        let host: Arc<dyn Host> = Arc::new(LocalHost::open(folder.join("host")).unwrap());
        let started = Started {
            run: RunName::new("1"),
            name: "tmr".to_owned(),
            base_commit: String::new(),
            command: Vec::new(),
            settings: serde_json::Map::new(),
            tasks_total: 0,
        };
        let journal = Journal::begin(host.clone(), Arc::new(SystemClock), &folder, started.clone()).unwrap();
        let mut seen = Seen::default();
        let heard = seen.1.clone();
        let mut scribe = Scribe::started(journal, started, &mut seen);
        scribe.be_heard_every(Duration::from_millis(300));
        let ledger = Ledger::default();
        let done = audibly(&mut scribe, &ledger, "putting it together", |on_event| {
            let _underway = ledger.underway("the gate".to_owned());
            let began = Instant::now();
            while heard.load(Ordering::Acquire) < 3 {
                assert!(began.elapsed() < Duration::from_secs(30), "it is never heard of");
                std::thread::sleep(Duration::from_millis(10));
            }
            on_event(Event::Integration(Integration {
                step: IntegrationStep::Finished,
                tasks: Vec::new(),
                commit: None,
                reason: String::new(),
                details: serde_json::Map::new(),
            }));
            7
        });
        assert_eq!(done.unwrap(), 7);
        drop(scribe);
        assert!(seen.0.len() >= 3, "{:?}", seen.0);
        // The first may have come before the gate, and the last after it.
        assert!(seen.0[1].starts_with("putting it together: the gate ("), "{:?}", seen.0);
        let run = journal::read(host.as_ref(), &folder).unwrap().run;
        assert_eq!(run.integration[0].step, IntegrationStep::Finished);
        assert!(run.working.is_some());
    }
}
