//! Records moments of the real programs as cases of the corpus of `mngr-agents`, whatever version is installed.
//!
//! The programs are brought into each situation by what the model does and by keys; what is expected there is written down
//! here, and the moment is known by the screen and by the model, never by what mngr says. mngr's own answer is compared when
//! all is recorded.
//!
//! `MNGR_CORPUS_OUT` names the folder that gets the cases, one folder for each brand; without it they are only compared.
//! `MNGR_CORPUS_SUFFIX` ends their names: the version, where the corpus holds several.

use std::time::Duration;

use mngr_testkit::model::Brand;

use super::scene::{NAME, Scene};
use crate::support::*;

mod case;
mod moments;

use case::{Expected, Recording};

/// A terminal's size, and whether its cases are held out.
const SIZES: [(u16, u16, bool); 3] = [(80, 24, false), (120, 40, false), (100, 30, true)];

/// How long a screen has to stay as it is to count as drawn.
const STILL: Duration = Duration::from_millis(700);

/// What an answer looks like while it is written down.
fn running() -> Expected {
    Expected { state: Some("RUNNING"), reason: None, composer: "empty" }
}

fn waiting(reason: &'static str, composer: &'static str) -> Expected {
    Expected { state: Some("WAITING"), reason: Some(reason), composer }
}

/// An agent of which moments are recorded.
struct Session<'a> {
    scene: &'a Scene,
    recording: Recording,
}

impl Session<'_> {
    /// Notes the moment, which is now.
    #[track_caller]
    fn take(&mut self, label: &'static str, note: &'static str, expected: Expected) {
        self.recording.take(self.scene, label, note, expected);
    }

    /// Waits until the terminal shows one of these texts.
    #[track_caller]
    fn see(&self, texts: &[&str]) {
        let mut screen = String::new();
        let seen = mngr_testkit::wait_until(2 * PATIENCE, || {
            screen = self.scene.screen();
            texts.iter().any(|text| screen.contains(text))
        });
        assert!(seen, "none of {texts:?} in\n{screen}");
    }

    /// Waits until the terminal has stopped changing. One that never does has been waited for long enough as well.
    fn rest(&self) {
        for _ in 0..12 {
            let before = self.scene.screen();
            if !mngr_testkit::wait_until(STILL, || self.scene.screen() != before) {
                return;
            }
        }
    }

    /// Waits until the terminal shows no sign of work any more.
    fn done(&self) {
        const WORKING: [&str; 2] = ["esc to interrupt", "esc interrupt"];
        wait_until(2 * PATIENCE, || {
            let screen = self.scene.screen();
            !WORKING.iter().any(|sign| screen.contains(sign))
        });
        self.rest();
    }

    /// Presses keys and waits until the terminal shows what came of it.
    fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.scene.press(key);
            self.rest();
        }
    }
}

/// Records all moments of a brand in all sizes.
fn record(brand: Brand) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (columns, rows, held_out) in SIZES {
        let mut scene = Scene::of(brand);
        // It would try again for minutes.
        scene.env.set_var("CLAUDE_CODE_MAX_RETRIES", "1");
        let _ = scene.create(&["-S", "agent_ready_timeout=120"]).success();
        let size = format!("{columns}x{rows}");
        let (wide, high) = (columns.to_string(), rows.to_string());
        let _ = scene.env.tmux(["resize-window", "-t", "=mngr-a:", "-x", &wide, "-y", &high]).success();
        let recording = Recording::begin(&scene, NAME, size, held_out);
        let mut session = Session { scene: &scene, recording };
        session.rest();
        moments::play(&mut session, brand);
        count += session.recording.count();
        wrong.extend(session.recording.finish());
    }
    assert!(wrong.is_empty(), "{} of {count} told otherwise by mngr:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn soak_claude_is_recorded_and_told_as_it_was() {
    record(Brand::Claude);
}

#[test]
fn soak_codex_is_recorded_and_told_as_it_was() {
    record(Brand::Codex);
}

#[test]
fn soak_opencode_is_recorded_and_told_as_it_was() {
    record(Brand::Opencode);
}
