//! A copy of the run on a thread of its own, shown now and then: whoever writes the journal never waits for a terminal or a
//! page.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mngr_model::run::{Entry, Event, Run};

/// What the thread is told.
enum Told {
    /// The run so far.
    Whole(Box<Run>),
    /// One more line of its journal.
    Line(Box<Entry>),
    /// Something that is no part of the journal.
    Remark(String),
    /// There will be no more.
    End,
}

/// Shows a run.
pub(super) trait Show: Send {
    /// The run as it is now. Called at most once in a pace, and once more at the end.
    fn run(&mut self, run: &Run);

    /// Something that is no part of the journal. Called at once.
    fn remark(&mut self, text: &str);
}

/// How often a run is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// At most once in this time.
    pub(super) most: Duration,
    /// At least once in this time, although nothing has changed: clocks go on.
    pub(super) least: Option<Duration>,
}

/// The thread. Dropping it shows the run for the last time and waits for that.
pub(super) struct Shower {
    sender: Sender<Told>,
    has_whole: bool,
    thread: Option<JoinHandle<()>>,
}

/// Hands remarks over, from any thread.
#[derive(Clone)]
pub(super) struct Remarks(Sender<Told>);

impl Remarks {
    /// Says something.
    pub(super) fn say(&self, text: &str) {
        // Who no longer listens needs no remark.
        let _ = self.0.send(Told::Remark(text.to_owned()));
    }
}

impl Shower {
    /// Starts the thread. Without one nothing is shown, which is no reason not to work.
    pub(super) fn spawn(pace: Pace, show: impl Show + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::Builder::new().name("show".to_owned()).spawn(move || run(pace, show, &receiver));
        Self { sender, has_whole: false, thread: thread.ok() }
    }

    /// A line was written.
    pub(super) fn noted(&mut self, run: &Run, event: &Event) {
        let told = match (self.has_whole, run.latest) {
            (true, Some(time)) => {
                Told::Line(Box::new(Entry { time, seq: run.last_seq, event: event.clone() }))
            }
            _ => Told::Whole(Box::new(run.clone())),
        };
        self.has_whole = true;
        self.tell(told);
    }

    /// Something that is no part of the journal.
    pub(super) fn remark(&self, text: &str) {
        self.tell(Told::Remark(text.to_owned()));
    }

    /// A way to make remarks.
    pub(super) fn remarks(&self) -> Remarks {
        Remarks(self.sender.clone())
    }

    fn tell(&self, told: Told) {
        // A thread that ended has nothing more to show.
        let _ = self.sender.send(told);
    }
}

impl Drop for Shower {
    fn drop(&mut self) {
        // Others may still hold a way to make remarks, so the channel stays open.
        self.tell(Told::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(pace: Pace, mut show: impl Show, receiver: &Receiver<Told>) {
    let mut run: Option<Box<Run>> = None;
    let mut is_new = false;
    let mut shown = Instant::now().checked_sub(pace.most).unwrap_or_else(Instant::now);
    loop {
        let wait = if is_new { Some(pace.most) } else { pace.least };
        let told = match wait.map(|wait| wait.saturating_sub(shown.elapsed())) {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => receiver.recv_timeout(wait),
        };
        let mut is_due = false;
        match told {
            Ok(Told::Whole(whole)) => (run, is_new) = (Some(whole), true),
            Ok(Told::Line(entry)) => {
                if let Some(run) = &mut run {
                    run.apply(&entry);
                }
                is_new = true;
            }
            Ok(Told::Remark(text)) => show.remark(&text),
            Err(RecvTimeoutError::Timeout) => is_due = true,
            Ok(Told::End) | Err(RecvTimeoutError::Disconnected) => {
                if let (Some(run), true) = (&run, is_new) {
                    show.run(run);
                }
                return;
            }
        }
        if let Some(run) = &run
            && (is_due || is_new && shown.elapsed() >= pace.most)
        {
            show.run(run);
            (is_new, shown) = (false, Instant::now());
        }
        if is_due {
            shown = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use jiff::Timestamp;
    use mngr_model::run::{QueueReason, Queued, RunName, Started};

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<String>>>);

    impl Show for Log {
        fn run(&mut self, run: &Run) {
            self.0.lock().unwrap().push(run.last_seq.to_string());
        }

        fn remark(&mut self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    #[test]
    fn many_lines_are_shown_seldom_and_the_last_one_always() {
        let (log, mut run) = (Log::default(), Run::default());
        let pace = Pace { most: Duration::from_secs(60), least: None };
        let mut shower = Shower::spawn(pace, log.clone());
        for seq in 1..=100 {
            let event = match seq {
                1 => Event::RunStarted(Started {
                    run: RunName::new("1"),
                    name: "tmr".into(),
                    base_commit: "abc".into(),
                    command: Vec::new(),
                    settings: serde_json::Map::new(),
                    tasks_total: 99,
                }),
                _ => Event::TaskQueued(Queued::new(format!("t{seq}").parse().unwrap(), QueueReason::All)),
            };
            run.apply(&Entry { time: Timestamp::UNIX_EPOCH, seq, event: event.clone() });
            shower.noted(&run, &event);
        }
        shower.remark("said");
        drop(shower);
        let seen = log.0.lock().unwrap().clone();
        assert!(seen.len() <= 4, "{seen:?}");
        assert_eq!(seen.last().map(String::as_str), Some("100"));
        assert!(seen.contains(&"said".to_owned()), "{seen:?}");
    }
}
