//! Messages in every situation an agent can be in, and what became of each of them.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::model::Brand;

use super::characters::{in_common, mixture, narrow};
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// What the agent is doing, or what is odd about the text, when a message comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Situation {
    /// It waits, and the text is of this shape.
    Idle(Shape),
    /// It is in the middle of an answer.
    Busy,
    /// One comes after the other, whatever it does: in the middle of turns, and where one ends and the next begins.
    InARow,
    /// Three senders at once, each with one after the other.
    ThreeSenders,
    /// Somebody has typed something and not sent it.
    HalfTyped,
    /// Somebody scrolls in its terminal.
    CopyMode,
    /// It asks for a permission.
    Dialog,
    /// The text is a command of the program.
    Slash,
    /// The text would be one, if it were not mistyped.
    Mistyped,
    /// The text is a command for the shell.
    Shell,
    /// The text has nothing that anybody could see.
    Unseen,
    /// It is stopped, and started by the message.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Lines,
    LikeOptions,
    Backslash,
    /// Characters of every class.
    Mixture,
    /// The first character means something to some program.
    Leading,
    /// 50 kB now and then, a few lines else: every request repeats the whole conversation.
    Large,
}

use Shape::{Backslash, Large, Leading, LikeOptions, Lines, Mixture, Plain};
use Situation::{
    Busy, CopyMode, Dialog, HalfTyped, Idle, InARow, Mistyped, Shell, Slash, Stopped, ThreeSenders, Unseen,
};

/// Every situation, the quick ones more often. The very first message comes right after the agent was created.
const ROUND: [Situation; 26] = [
    Idle(Plain),
    Idle(Large),
    HalfTyped,
    Idle(Mixture),
    ThreeSenders,
    Idle(Leading),
    Busy,
    Shell,
    Idle(Lines),
    Idle(Mixture),
    InARow,
    Idle(LikeOptions),
    CopyMode,
    Idle(Leading),
    Slash,
    Idle(Backslash),
    ThreeSenders,
    Dialog,
    Idle(Mixture),
    Mistyped,
    InARow,
    Idle(Leading),
    HalfTyped,
    Unseen,
    Idle(Mixture),
    Stopped,
];

/// Rounds between two texts of 50 kB.
const LARGE_EVERY: usize = 4;
/// How many messages come in a row.
const ROW: usize = 8;
/// How many each of the senders has.
const EACH: usize = 3;

/// Beginnings that mean something to some program, before a word that makes them mean nothing there.
const BEGINNINGS: [&str; 12] =
    ["/ ", "#", "@", "/1st ", "# ", "@ ", "//", "/usr/bin/", "/\u{fc}ber ", "@nobody ", "/.", " /x "];

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
    /// How many texts to an idle agent there were: some depend on it.
    odd: usize,
    /// How many mixtures.
    mixtures: usize,
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
        Self {
            scene,
            said: Vec::new(),
            kept_back: Vec::new(),
            run: Vec::new(),
            sends: 0,
            odd: 0,
            mixtures: 0,
            times: Vec::new(),
        }
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
                let text = match shape {
                    Mixture => self.mixture(&mark),
                    shape => shape.text(&mark, round, self.odd),
                };
                self.odd += 1;
                let begun = Instant::now();
                self.say(text);
                self.times.push(begun.elapsed());
            }
            Busy => {
                self.say(format!("[[slow 5]] {mark}"));
                let behind = self.mark();
                let behind = self.mixture(&behind);
                self.say(behind);
            }
            InARow => self.in_a_row(mark),
            ThreeSenders => self.three_at_once(&mark),
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
            Mistyped => self.mistyped(&mark),
            Shell => {
                self.scene.say(&format!("!echo {mark} >>ran"));
                self.run.push(mark);
            }
            // The others keep every character.
            Unseen if self.scene.brand != Brand::Claude => self.say(format!("\u{200b}\u{feff} {mark}")),
            Unseen => {
                let refused = self.scene.send("\u{200b}\u{feff} \u{2060}").code(1);
                assert!(refused.stderr.contains("nothing that can be seen"), "{refused}");
            }
            Stopped => {
                let _ = self.scene.env.mngr(["stop", NAME]).success();
                let text = format!("{mark} right after the start");
                let _ = self.scene.env.mngr(["message", NAME, "--start", "-m", &text]).success();
                self.said.push(text);
            }
        }
    }

    fn mixture(&mut self, mark: &str) -> String {
        self.mixtures += 1;
        // tmux 3.3a and Claude Code disagree about the width of emoji sequences: the rule below the box may be drawn over the
        // line of the cursor then, and messages are refused.
        let text = mixture(mark, self.mixtures - 1);
        if self.scene.brand == Brand::Claude { narrow(&text) } else { text }
    }

    #[track_caller]
    fn say(&mut self, text: String) {
        self.scene.say(&text);
        self.said.push(text);
    }

    /// The first turns are short, so that some end while the next message is on its way.
    #[track_caller]
    fn in_a_row(&mut self, mark: String) {
        let mut mark = mark;
        for n in 0..ROW {
            let text = match n % 3 {
                0 => format!("[[think {}]] {mark} in a row", 40 * n),
                1 => self.mixture(&mark),
                _ => format!("{mark} in a row"),
            };
            self.say(text);
            mark = self.mark();
        }
        self.say(format!("{mark} ends the row"));
    }

    #[track_caller]
    fn three_at_once(&mut self, mark: &str) {
        let mut texts = vec![format!("[[think 300]] {mark} of three")];
        while texts.len() < 3 * EACH {
            texts.push(format!("{} of three", self.mark()));
        }
        let scene = &self.scene;
        let senders: Vec<Vec<&String>> =
            (0..3).map(|sender| texts.iter().skip(sender).step_by(3).collect()).collect();
        std::thread::scope(|scope| {
            for mine in &senders {
                scope.spawn(move || mine.iter().for_each(|text| scene.say(text)));
            }
        });
        self.said.extend(texts);
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

    /// opencode says what it does not know to the model.
    #[track_caller]
    fn mistyped(&mut self, mark: &str) {
        let text = format!("/compct {mark}");
        if self.scene.brand == Brand::Opencode {
            self.say(text);
            return;
        }
        let refused = self.scene.send(&text).code(1);
        let is_told = refused.stderr.contains("does not know this command");
        assert!(is_told, "{refused}\n{}", self.scene.drawn());
        self.kept_back.push(text);
    }

    /// Compares what was accepted with what the model has heard, in which order, and what the shell has run.
    #[track_caller]
    fn check(&self) {
        let requests = self.scene.model.requests();
        // Titles and the like are asked for beside the conversation.
        let last = requests.iter().rfind(|request| request.scenario.is_some()).expect("a request");
        let arrived = |text: &str| in_common(self.scene.brand, text);
        let heard: Vec<String> = last.history().iter().map(|text| arrived(text)).collect();
        for text in &self.said {
            let text = arrived(text);
            let times = heard.iter().filter(|heard| **heard == text).count();
            assert_eq!(times, 1, "heard {times} times: {:?}", text.chars().take(90).collect::<String>());
        }
        let wanted: Vec<String> = self.sent_in_turn().iter().map(|text| arrived(text)).collect();
        let heard_in_turn: Vec<&String> = heard.iter().filter(|text| wanted.contains(text)).collect();
        let wanted: Vec<&String> = wanted.iter().filter(|text| heard.contains(text)).collect();
        assert_eq!(heard_in_turn, wanted, "in another order");
        for text in &self.kept_back {
            assert!(!heard.iter().any(|heard| heard.contains(text)), "was sent: {text}");
        }
        let ran = fs::read_to_string(work_dir(&self.scene.env, NAME).join("ran")).unwrap_or_default();
        assert_eq!(ran.split_whitespace().collect::<Vec<_>>(), self.run);
        assert!(!work_dir(&self.scene.env, NAME).join("made-by-the-model").exists(), "a dialog was answered");
    }

    /// What was sent, in the order in which the senders had their turns.
    #[track_caller]
    fn sent_in_turn(&self) -> Vec<String> {
        let log = state_dir(&self.scene.env, NAME).join("events/messages/events.jsonl");
        let log = fs::read_to_string(log).unwrap();
        let events = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        events.filter(|event| event["type"] == "message_sent").map(|event| text(&event["text"])).collect()
    }
}

impl Shape {
    fn text(self, mark: &str, round: usize, odd: usize) -> String {
        match self {
            Plain => format!("plain {mark}"),
            Lines => format!("first {mark}\nsecond\n\n\tfourth"),
            LikeOptions => format!("-n {mark} --help; # no comment"),
            Backslash => format!("{mark} ends in a backslash \\"),
            Mixture => mixture(mark, odd),
            Leading => format!("{}{mark} and more", BEGINNINGS[odd % BEGINNINGS.len()]),
            Large => {
                let lines = if round.is_multiple_of(LARGE_EVERY) { 1000 } else { 10 };
                let line = |n| format!("{mark} line {n} of a long text with many words\n");
                (0..lines).map(line).collect()
            }
        }
    }
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
