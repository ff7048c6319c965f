//! The conversation after the worst that can happen to the program, and to the machine.

use std::fs;

use mngr_testkit::model::Brand;

use super::every::holds_for;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// Ends the program as the machine's power switch would, in the middle of a turn, and makes the record say that the
/// machine was started since.
fn restart_the_machine(scene: &Scene) {
    let record = state_dir(&scene.env, NAME).join("process");
    let text = fs::read_to_string(&record).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(text.contains(boot.trim()), "{text}");
    let pids = [recorded_pid(&scene.env, NAME, "pid"), recorded_pid(&scene.env, NAME, "supervisor")];
    let server = scene.env.tmux(["display-message", "-p", "#{pid}"]).success().stdout;
    for pid in pids.into_iter().chain(server.trim().parse()) {
        kill("-9", pid);
    }
    wait_until(PATIENCE, || !pids.into_iter().any(is_alive));
    fs::write(&record, text.replace(boot.trim(), "00000000-0000-4000-8000-000000000000")).unwrap();
}

fn the_model_hears_the_whole_conversation_after_kill_9_and_after_a_restart_of_the_machine(brand: Brand) {
    let scene = Scene::with_agent(brand);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    scene.say("[[think 60000]]");
    kill("-9", recorded_pid(&scene.env, NAME, "pid"));
    wait_for_state(&scene.env, NAME, "DONE");
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.say("after kill 9");
    scene.wait_for(IDLE);
    assert_eq!(scene.history_with("after kill 9")[0], "remember the heron");
    restart_the_machine(&scene);
    let explained = scene.env.mngr(["explain", NAME]).success().stdout;
    assert!(explained.contains("STOPPED") && explained.contains("restarted"), "{explained}");
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.say("after the restart");
    scene.wait_for(IDLE);
    let history = scene.history_with("after the restart");
    assert!(history.iter().any(|said| said == "remember the heron"), "{history:?}");
    assert!(history.iter().any(|said| said == "after kill 9"), "{history:?}");
}

holds_for!(
    claude,
    Brand::Claude,
    the_model_hears_the_whole_conversation_after_kill_9_and_after_a_restart_of_the_machine,
);

holds_for!(
    opencode,
    Brand::Opencode,
    the_model_hears_the_whole_conversation_after_kill_9_and_after_a_restart_of_the_machine,
);

holds_for!(
    codex,
    Brand::Codex,
    the_model_hears_the_whole_conversation_after_kill_9_and_after_a_restart_of_the_machine,
);
