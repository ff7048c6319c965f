//! Types as users declare them.

use mngr_model::state::{AgentState, StateSource, WaitingReason};

use super::*;

fn kind(base: BuiltIn, toml: &str) -> Kind {
    Kind::new(base, vec![("mine".to_owned(), toml::from_str(toml).unwrap())])
}

fn view(title: &str, screen: &str) -> PaneView {
    PaneView { title: title.to_owned(), changed: None, screen: screen.to_owned() }
}

#[test]
fn a_type_proves_what_it_declares_and_no_more() {
    let level = |toml: &str| kind(BuiltIn::Command, toml).delivery().proves;
    assert_eq!(level(""), DeliveryLevel::Written);
    assert_eq!(level("delivery.framing = 'pasted'"), DeliveryLevel::Written);
    assert_eq!(level("delivery.framing = 'pasted'\ninput_box.sign = '> '"), DeliveryLevel::Submitted);
    assert_eq!(level("proof.file = 'log'"), DeliveryLevel::Accepted);
    assert_eq!(kind(BuiltIn::Claude, "delivery.settle = '1s'").delivery().proves, DeliveryLevel::Accepted);
}

#[test]
fn a_plain_type_never_wants_its_screen_looked_at() {
    let running = StateReport::new(AgentState::Running, StateSource::Process, "lives");
    for base in BuiltIn::ALL {
        assert!(!Kind::new(base, Vec::new()).wants_view(&running), "{}", base.name());
    }
    assert!(kind(BuiltIn::Claude, "screen.a = { pattern = 'x', state = 'WAITING' }").wants_view(&running));
}

#[test]
fn codex_dialogs_are_refuted_by_the_title_alone() {
    let codex = Kind::new(BuiltIn::Codex, Vec::new());
    let mut asking =
        StateReport::new(AgentState::Waiting, StateSource::Marker, "Codex asked for a permission");
    asking.waiting_reason = Some(WaitingReason::Permissions);
    assert!(codex.wants_view(&asking));
    assert_eq!(codex.judge(asking.clone(), Some(&view("[ ! ] Action Required | work", ""))), asking);
    assert_eq!(codex.judge(asking.clone(), Some(&view("⠧ work", ""))).state, AgentState::Running);
    assert_eq!(codex.judge(asking.clone(), None), asking, "without a title the rest of the evidence decides");
}

#[test]
fn rules_that_cannot_be_used_are_part_of_the_evidence() {
    let broken = kind(BuiltIn::Command, "screen.a.pattern = 'x'");
    let running = StateReport::new(AgentState::Running, StateSource::Process, "lives");
    assert!(broken.check().is_err() && broken.wants_view(&running));
    assert_eq!(
        broken.judge(running, None).evidence,
        "lives; its screen was not looked at: the screen rule `a` has no `state`"
    );
}

#[test]
fn a_declared_record_proves_exactly_the_text() {
    let anywhere = kind(BuiltIn::Command, "proof.file = 'log'");
    assert!(anywhere.proves("12:00 got: do this\n  and that\n", "do this\nand that"));
    assert!(!anywhere.proves("12:00 got: do thi", "do this"));
    let pattern = kind(BuiltIn::Command, "proof = { file = 'log', pattern = '^got: (.*)$' }");
    assert!(pattern.proves("x\ngot: do this\n", "do this"));
    assert!(!pattern.proves("got: do this too\nsaid: do this\n", "do this"));
    assert!(!Kind::new(BuiltIn::Command, Vec::new()).proves("do this", "do this"));
}

#[test]
fn a_declared_box_replaces_what_the_brand_shows() {
    let claude = kind(BuiltIn::Claude, "input_box.sign = '>> '");
    assert_eq!(claude.composer(">> half"), Composer::HoldsText);
    assert_eq!(claude.composer("❯\u{a0}half"), Composer::NotVisible);
    assert_eq!(kind(BuiltIn::Claude, "").composer("❯\u{a0}half"), Composer::HoldsText);
}

#[test]
fn a_rule_of_the_user_wins_over_what_the_program_said_of_itself() {
    let claude = kind(BuiltIn::Claude, "screen.compacting = { pattern = 'Compacting', state = 'RUNNING' }");
    let mut idle = StateReport::new(AgentState::Waiting, StateSource::Program, "Claude Code says it is idle");
    idle.waiting_reason = Some(WaitingReason::EndOfTurn);
    let report = claude.judge(idle.clone(), Some(&view("", "Compacting conversation")));
    assert_eq!((report.state, report.waiting_reason), (AgentState::Running, None));
    assert_eq!(
        report.evidence,
        "its screen shows `Compacting` (rule `compacting` of `agent_types.mine` in the settings); \
         against it: Claude Code says it is idle"
    );
    assert_eq!(claude.judge(idle.clone(), Some(&view("", "done"))), idle);
}

#[test]
fn rules_about_the_box_see_what_the_brand_draws() {
    let claude =
        kind(BuiltIn::Claude, "screen.b = { look = 'input_box', pattern = 'later', state = 'WAITING' }");
    let running = StateReport::new(AgentState::Running, StateSource::Process, "lives");
    let report = claude.judge(running.clone(), Some(&view("", "❯\u{a0}later")));
    assert_eq!(report.state, AgentState::Waiting);
    assert_eq!(claude.judge(running, Some(&view("", "later"))).state, AgentState::Running);
}
