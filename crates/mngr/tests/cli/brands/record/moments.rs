//! The situations a program is brought into, one after another, and what is to be seen in each.

use std::time::Duration;

use mngr_testkit::model::Brand;

use super::case::Expected;
use super::{Session, running, waiting};
use crate::support::*;

/// Plays all situations.
pub(super) fn play(session: &mut Session<'_>, brand: Brand) {
    let nothing_said = Expected { state: None, reason: None, composer: "empty" };
    // Codex says nothing of itself before its first turn.
    let started = if brand == Brand::Codex { nothing_said } else { waiting("END_OF_TURN", "empty") };
    session.take("started", "before its first turn", started);
    turns(session, brand);
    dialogs(session, brand);
    input(session, brand);
    failures(session, brand);
}

/// Turns, from their beginning to their end.
fn turns(session: &mut Session<'_>, brand: Brand) {
    let scene = session.scene;
    scene.say("hello there");
    session.see(&["You said: hello there", "You said: \"hello there\""]);
    session.done();
    session.take("idle", "after one turn", waiting("END_OF_TURN", "empty"));

    scene.say("[[think 60000]] hard");
    scene.wait_until_asked("hard");
    std::thread::sleep(Duration::from_millis(1300));
    session.take("thinking", "1.3 s into thinking", running());
    interrupt(session, brand);
    // Claude Code gives back what was asked for.
    let left = if brand == Brand::Claude { "holds_text" } else { "empty" };
    session.take("interrupted", "Esc while thinking, before any text", waiting("END_OF_TURN", left));
    scene.clear_box();
    session.rest();

    scene.say("[[slow 80]] count");
    scene.wait_until_asked("count");
    // Codex shows whole lines only, so what is on the screen would come too late.
    std::thread::sleep(Duration::from_millis(1500));
    session.take("streaming", "tokens arriving", running());
    scene.say("and then this");
    // Taken is not yet drawn.
    std::thread::sleep(Duration::from_millis(300));
    session.take("queued", "one message queued while streaming", running());
    scene.wait_until_asked("and then this");
    session.see(&["and then this"]);
    session.done();
    session.take("idle", "after the queue was worked off", waiting("END_OF_TURN", "empty"));

    // Claude Code refuses to do nothing but sleep.
    let command = if brand == Brand::Claude { "sh -c 'sleep 60'" } else { "sleep 60" };
    scene.say(&format!("[[safe-tool {command}]]"));
    session.see(&["sleep 60"]);
    std::thread::sleep(Duration::from_millis(1500));
    session.take("tool-running", "shell command runs", running());
    interrupt(session, brand);
    session.take("interrupted", "Esc while a tool runs", waiting("END_OF_TURN", "empty"));
}

/// Stops the turn with the brand's own keys.
fn interrupt(session: &Session<'_>, brand: Brand) {
    match brand {
        Brand::Claude | Brand::Codex => session.scene.press("Escape"),
        // It asks to be pressed again.
        Brand::Opencode => {
            session.scene.press("Escape");
            std::thread::sleep(Duration::from_millis(400));
            session.scene.press("Escape");
        }
    }
    session.rest();
}

fn dialogs(session: &mut Session<'_>, brand: Brand) {
    let scene = session.scene;
    scene.provoke("[[tool]]");
    session.see(&["Do you want to proceed?", "Yes, proceed", "Permission required"]);
    session.rest();
    session.take("permission", "bash command", waiting("PERMISSIONS", "not_visible"));
    scene.escape_the_dialog();
    session.rest();
    session.take("interrupted", "Esc in the permission dialog", waiting("END_OF_TURN", "empty"));

    scene.provoke("[[ask]]");
    session.see(&["Which colour do you want?"]);
    session.rest();
    session.take("question", "its tool for questions", waiting("QUESTION", "not_visible"));
    wait_until(PATIENCE, || {
        scene.press("Escape");
        session.rest();
        !scene.screen().contains("The colour of fire")
    });

    match brand {
        Brand::Claude => {
            scene.type_text("/model");
            session.keys(&["Enter"]);
            session.take("dialog", "/model picker", waiting("QUESTION", "not_visible"));
        }
        Brand::Codex => {
            scene.type_text("/permissions");
            session.keys(&["Enter"]);
            session.take("dialog", "/permissions picker", waiting("END_OF_TURN", "not_visible"));
        }
        Brand::Opencode => {
            session.keys(&["C-p"]);
            session.take("dialog", "command palette", waiting("END_OF_TURN", "not_visible"));
        }
    }
    session.keys(&["Escape"]);
}

/// What somebody has begun to type.
fn input(session: &mut Session<'_>, brand: Brand) {
    let scene = session.scene;
    scene.type_text("half a sentence");
    session.rest();
    session.take("half-typed", "one line", waiting("END_OF_TURN", "holds_text"));
    scene.clear_box();
    session.rest();
    for (label, note, typed) in [("slash-menu", "just the slash", "/"), ("shell-mode", "empty", "!")] {
        let _ = scene.env.tmux(["send-keys", "-t", "=mngr-a:", "-l", typed]).success();
        session.rest();
        session.take(label, note, waiting("END_OF_TURN", "holds_text"));
        session.keys(&["BSpace"]);
        if brand == Brand::Opencode && typed == "!" {
            session.keys(&["Escape"]);
        }
    }
}

fn failures(session: &mut Session<'_>, brand: Brand) {
    let scene = session.scene;
    scene.say("[[401]]");
    scene.wait_until_asked("[[401]]");
    session.see(&["401", "API key", "Please run /login"]);
    std::thread::sleep(Duration::from_secs(8));
    session.rest();
    session.take("auth-error", "401, given up", waiting("AUTH", "empty"));
    scene.say("[[limit]]");
    scene.wait_until_asked("[[limit]]");
    std::thread::sleep(Duration::from_secs(2));
    match brand {
        Brand::Claude | Brand::Codex => {
            session.rest();
            session.take("rate-limited", "limit reached, not retried", waiting("RATE_LIMITED", "empty"));
        }
        Brand::Opencode => {
            session.take("retrying", "usage_limit_reached 429", running());
            interrupt(session, brand);
        }
    }
}
