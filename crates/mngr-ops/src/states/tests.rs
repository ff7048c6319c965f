//! States that depend on what real terminals show.

use mngr_model::AgentState;
use mngr_model::state::StateSource;

use super::*;
use crate::testing::TestWorld;

const TITLED: &str = r"printf '\033]2;busy here\007\033[1mshown\033[0m\n'; exec sleep 100";

fn with_rules(toml: &str) -> TestWorld {
    let mut test = TestWorld::new();
    let settings = toml::from_str(toml).unwrap();
    test.world.settings.agent_types.insert("command".to_owned(), settings);
    test
}

#[test]
fn title_and_screen_of_a_real_terminal_are_seen() {
    let test = with_rules(
        "[screen.title]\nlook = 'title'\npattern = 'busy'\nstate = 'WAITING'\nreason = 'QUESTION'\n\
         [screen.text]\norder = 1\npattern = '^shown$'\nunless = 'hidden'\nstate = 'WAITING'\nreason = 'AUTH'",
    );
    test.launch("a", &["sh", "-c", TITLED]);
    let agent = test.look_when("a", AgentState::Waiting);
    assert_eq!(agent.state.waiting_reason.map(|reason| reason.as_str()), Some("AUTH"));
    assert_eq!(agent.state.source, StateSource::Terminal);
    assert!(agent.state.since.is_some(), "the age of the screen is known");
}

#[test]
fn a_pane_that_is_gone_takes_no_other_one_with_it() {
    let test = with_rules("[screen.text]\npattern = '^shown$'\nstate = 'WAITING'");
    let agent = test.launch("a", &["sh", "-c", TITLED]);
    test.look_when("a", AgentState::Waiting);
    let mut gone = agent.facts.clone();
    gone.process.pane = Some("%999".to_owned());
    let agents = [gone.clone(), agent.facts.clone(), gone];
    let kinds = Kinds::of(&test.world.settings, &agents);
    let socket = test.world.socket(test.host.as_ref());
    let found = states(test.host.as_ref(), &socket, &kinds, &agents);
    let words: Vec<_> = found.iter().map(|report| report.state.as_str()).collect();
    assert_eq!(words, ["RUNNING", "WAITING", "RUNNING"]);
    assert!(found[0].evidence.ends_with("; its screen could not be read"), "{}", found[0].evidence);
}

#[test]
fn what_stands_in_the_terminal_after_the_end_is_not_the_agents() {
    let test = with_rules("[screen.text]\npattern = 'shown'\nstate = 'WAITING'");
    test.launch("a", &["sh", "-c", "echo shown"]);
    assert_eq!(test.look_when("a", AgentState::Done).state.source, StateSource::Process);
}
