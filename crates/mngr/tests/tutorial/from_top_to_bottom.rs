//! The whole tutorial in one go: what a block needs, an earlier one has made.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mngr_e2e::tutorial::Script;
use mngr_e2e::{expect, session};
use mngr_testkit::model::Brand;

use crate::coding_agents::with_model;
use crate::looking_at_tests::a_run;
use crate::support::with_crontab;

/// Commands that go on until somebody ends them.
const ENDLESS: [&str; 6] = [
    "mngr list --watch",
    "mngr observe",
    "mngr event greeter --follow",
    "mngr observe --stream-events | grep AGENT_STATE_CHANGE",
    "mngr record hotfix -o ~/tutorial/hotfix.cast",
    "mngr view",
];
/// Only at a terminal is there somebody to write it.
const EDITED: &str = "--edit-message";
/// How long they are looked at.
const A_LOOK: Duration = Duration::from_millis(500);
/// The exit code of a command whose time is up.
const TIMED_OUT: i32 = 124;

#[test]
fn real_tutorial_can_be_followed_from_top_to_bottom() {
    let mut e2e = session!();
    let _models = [Brand::Claude, Brand::Codex].map(|brand| with_model(&mut e2e, brand));
    e2e.set_env("EDITOR", "true");
    with_crontab(&mut e2e);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tutorial/tutorial.sh");
    let script = Script::parse("tutorial.sh", &fs::read(file).unwrap());
    let mut endless = 0;
    for block in &script.blocks {
        let commands = format!("set -eu\n{}", block.text);
        if block.text.lines().any(|line| line == "mngr view") {
            a_run(&e2e);
        }
        if block.text.lines().any(|line| ENDLESS.contains(&line)) {
            endless += 1;
            expect(&e2e.timeout(A_LOOK).run(&commands)).to_have_exit_code(TIMED_OUT);
        } else if block.text.contains(EDITED) {
            expect(&e2e.terminal(&commands).wait()).to_succeed();
        } else {
            expect(&e2e.run(&commands)).to_succeed();
        }
    }
    assert_eq!(endless, ENDLESS.len());
}
