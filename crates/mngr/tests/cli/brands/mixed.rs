//! Messages in every situation an agent can be in, and what became of each of them.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::model::Brand;

use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// What the agent is doing, or what is odd about the text, when a message comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Situation {
    /// It waits, and the text is of this shape.
    Idle(Shape),
    /// It is in the middle of an answer.
    Busy,
    /// Somebody has typed something and not sent it.
    HalfTyped,
    /// Somebody scrolls in its terminal.
    CopyMode,
    /// It asks for a permission.
    Dialog,
    /// The text is a command of the program.
    Slash,
    /// The text is a command for the shell.
    Shell,
    /// It is stopped, and started by the message.
    Stopped,
    /// Another message comes at the same time.
    TwoSenders,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Lines,
    LikeOptions,
    Backslash,
    Odd,
    /// 50 kB now and then, a few lines else: every request repeats the whole conversation.
    Large,
}

use Shape::{Backslash, Large, LikeOptions, Lines, Odd, Plain};
use Situation::{Busy, CopyMode, Dialog, HalfTyped, Idle, Shell, Slash, Stopped, TwoSenders};

/// Every situation, the quick ones more often. The very first message comes right after the agent was created.
const ROUND: [Situation; 18] = [
    Idle(Plain),
    Idle(Large),
    HalfTyped,
    Idle(Lines),
    Busy,
    Shell,
    Idle(LikeOptions),
    CopyMode,
    Slash,
    Idle(Backslash),
    TwoSenders,
    Dialog,
    Idle(Odd),
    Busy,
    HalfTyped,
    Idle(Plain),
    Idle(Lines),
    Stopped,
];

/// Rounds between two texts of 50 kB.
const LARGE_EVERY: usize = 4;

/// An agent that is sent messages, and what is to be found of them in the end.
pub(super) struct Mix {
    scene: Scene,
    /// Texts that were accepted as a message.
    said: Vec<String>,
    /// Marks of texts that must not have been sent.
    kept_back: Vec<String>,
    /// Marks of commands that the shell ran.
    run: Vec<String>,
    sends: usize,
    /// From the call to the proof, where the agent was idle.
    times: Vec<Duration>,
}

impl Mix {
    /// A new agent of this brand.
    pub(super) fn of(brand: Brand) -> Self {
        Self::on(Scene::with_agent(brand))
    }

    /// An agent that is there already.
    pub(super) fn on(scene: Scene) -> Self {
        Self { scene, said: Vec::new(), kept_back: Vec::new(), run: Vec::new(), sends: 0, times: Vec::new() }
    }

    /// Sends that many messages, checks that the exit code said the truth of each, and returns the times.
    #[track_caller]
    pub(super) fn send(mut self, count: usize) -> Times {
        for step in 0.. {
            if self.sends >= count {
                break;
            }
            self.meet(ROUND[step % ROUND.len()], step / ROUND.len());
        }
        self.scene.wait_for(IDLE);
        self.check();
        let times = Times::of(self.times);
        times.print(&format!("{}: {} sends, 0 lost, 0 doubled", self.scene.brand.program(), self.sends));
        times
    }

    /// A word that is in no other message.
    fn mark(&mut self) -> String {
        self.sends += 1;
        format!("mark-{:04}", self.sends)
    }

    #[track_caller]
    fn meet(&mut self, situation: Situation, round: usize) {
        self.scene.wait_for(IDLE);
        let mark = self.mark();
        match situation {
            Idle(shape) => {
                let begun = Instant::now();
                self.say(shape.text(&mark, round));
                self.times.push(begun.elapsed());
            }
            Busy => {
                self.say(format!("[[slow 5]] {mark}"));
                let behind = format!("{} behind the slow one", self.mark());
                self.say(behind);
            }
            HalfTyped => self.beside_half_typed(&mark),
            CopyMode => {
                let _ = self.scene.env.tmux(["copy-mode", "-t", "=mngr-a:"]).success();
                self.say(format!("{mark} while somebody scrolls"));
            }
            Dialog => self.before_a_dialog(&mark),
            Slash => {
                self.scene.say(&format!("/rename {mark}"));
                wait_until(PATIENCE, || self.scene.screen().contains(&mark));
            }
            Shell => {
                self.scene.say(&format!("!echo {mark} >>ran"));
                self.run.push(mark);
            }
            Stopped => {
                let _ = self.scene.env.mngr(["stop", NAME]).success();
                let text = format!("{mark} right after the start");
                let _ = self.scene.env.mngr(["message", NAME, "--start", "-m", &text]).success();
                self.said.push(text);
            }
            TwoSenders => {
                let texts = [format!("{mark} of two"), format!("{} of two", self.mark())];
                let senders =
                    texts.each_ref().map(|text| self.scene.env.spawn(["message", NAME, "-m", text]));
                for sender in senders {
                    let _ = sender.finish().success();
                }
                self.said.extend(texts);
            }
        }
    }

    #[track_caller]
    fn say(&mut self, text: String) {
        self.scene.say(&text);
        self.said.push(text);
    }

    #[track_caller]
    fn beside_half_typed(&mut self, mark: &str) {
        let half = format!("half typed {mark}");
        self.scene.type_text(&half);
        let text = format!("{} beside it", self.mark());
        self.say(text);
        assert!(self.scene.screen().contains(&half), "not brought back:\n{}", self.scene.screen());
        self.kept_back.push(half);
        self.scene.clear_box();
    }

    #[track_caller]
    fn before_a_dialog(&mut self, mark: &str) {
        let asking = format!("[[tool]] {mark}");
        self.scene.provoke(&asking);
        self.said.push(asking);
        self.scene.wait_for("WAITING PERMISSIONS");
        let text = format!("{} into the dialog", self.mark());
        let refused = self.scene.send(&text).code(1);
        assert!(refused.stderr.contains("dialog"), "{refused}");
        self.kept_back.push(text);
        self.scene.escape_the_dialog();
    }

    /// Compares what was accepted with what the model has heard and what the shell has run.
    #[track_caller]
    fn check(&self) {
        let requests = self.scene.model.requests();
        // Titles and the like are asked for beside the conversation.
        let last = requests.iter().rfind(|request| request.scenario.is_some()).expect("a request");
        let heard: Vec<String> = last.history().iter().map(|text| squeeze(text)).collect();
        for text in &self.said {
            let text = squeeze(text);
            let times = heard.iter().filter(|heard| **heard == text).count();
            assert_eq!(times, 1, "heard {times} times: {}", &text[..text.len().min(60)]);
        }
        for text in &self.kept_back {
            assert!(!heard.iter().any(|heard| heard.contains(text)), "was sent: {text}");
        }
        let ran = fs::read_to_string(work_dir(&self.scene.env, NAME).join("ran")).unwrap_or_default();
        assert_eq!(ran.split_whitespace().collect::<Vec<_>>(), self.run);
        assert!(!work_dir(&self.scene.env, NAME).join("made-by-the-model").exists(), "a dialog was answered");
    }
}

impl Shape {
    fn text(self, mark: &str, round: usize) -> String {
        match self {
            Plain => format!("plain {mark}"),
            Lines => format!("first {mark}\nsecond\n\n\tfourth"),
            LikeOptions => format!("-n {mark} --help; # no comment"),
            Backslash => format!("{mark} ends in a backslash \\"),
            Odd => format!("{mark} ünïcödé 漢字 🎉 $(id) `id`; #{{x}}"),
            Large => {
                let lines = if round.is_multiple_of(LARGE_EVERY) { 1000 } else { 10 };
                let line = |n| format!("{mark} line {n} of a long text with many words\n");
                (0..lines).map(line).collect()
            }
        }
    }
}

/// A terminal may change white space.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Measured times, in order.
pub(super) struct Times(Vec<Duration>);

impl Times {
    /// Sorts them.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    /// The time that so many of a hundred do not exceed.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() - 1) * percent / 100]
    }

    /// Shows them behind a few words.
    #[expect(clippy::print_stdout, reason = "the figures are what such a test is run for")]
    pub(super) fn print(&self, what: &str) {
        let [p50, p95, max] = [50, 95, 100].map(|percent| self.percentile(percent).as_millis());
        println!("{what}; {} times: p50 {p50} ms, p95 {p95} ms, max {max} ms", self.0.len());
    }
}
