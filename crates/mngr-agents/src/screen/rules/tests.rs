//! Rules as people write them, on screens as programs draw them.

use mngr_config::InputBoxSettings;
use mngr_model::state::{AgentState, WaitingReason};

use super::*;
use crate::screen::InputBox;

type RuleTable = BTreeMap<String, ScreenRuleSettings>;

const TUI: &str = r"
[busy]
order = 20
lines = 3
pattern = 'Working \(\d+s'
state = 'RUNNING'

[permission]
order = 10
pattern = '^Allow .*\? \(y/n\)$'
state = 'WAITING'
reason = 'PERMISSIONS'

[idle]
order = 30
look = 'input_box'
state = 'WAITING'
reason = 'END_OF_TURN'
";

fn table(toml: &str) -> RuleTable {
    toml::from_str(toml).unwrap()
}

fn rules(places: &[(Origin, &RuleTable)]) -> Rules {
    Rules::compile(places).unwrap()
}

/// What the rules make of a report while a terminal shows this.
fn judge(rules: &Rules, report: StateReport, view: &PaneView) -> StateReport {
    let settings: InputBoxSettings = toml::from_str("sign = '> '").unwrap();
    let reading = InputBox::compile(&[&settings]).unwrap().unwrap().read(&view.screen);
    rules.judge(report, Some((view, reading)))
}

fn tui(own: &str) -> Rules {
    let (own, built_in) = (table(own), table(TUI));
    rules(&[(Origin::Settings("mine".into()), &own), (Origin::Manifest("tui".into()), &built_in)])
}

fn view(screen: &str) -> PaneView {
    PaneView { title: "a title".into(), changed: None, screen: screen.into() }
}

fn process() -> StateReport {
    StateReport::new(AgentState::Running, StateSource::Process, "process 1 lives")
}

fn says(state: AgentState, reason: Option<WaitingReason>) -> StateReport {
    let mut report = StateReport::new(state, StateSource::Program, "it says so");
    report.waiting_reason = reason;
    report
}

#[track_caller]
fn standing(rules: &Rules, screen: &str) -> (&'static str, Option<&'static str>) {
    let report = judge(rules, process(), &view(screen));
    (report.state.as_str(), report.waiting_reason.map(WaitingReason::as_str))
}

#[test]
fn the_first_rule_that_applies_decides() {
    let rules = tui("");
    assert_eq!(standing(&rules, "Working (3s)\n\n> \n"), ("RUNNING", None));
    assert_eq!(standing(&rules, "Working (3s)\nAllow rm? (y/n)\n> "), ("WAITING", Some("PERMISSIONS")));
    assert_eq!(standing(&rules, "done\n> "), ("WAITING", Some("END_OF_TURN")));
    assert_eq!(standing(&rules, "Working (3s)\na\nb\n\nc\n> "), ("WAITING", Some("END_OF_TURN")));
}

#[test]
fn the_evidence_names_the_rule_its_place_and_what_was_seen() {
    let own = "[limit]\npattern = 'limit reached.*'\nstate = 'WAITING'\nreason = 'RATE_LIMITED'";
    let report = judge(&tui(own), process(), &view("5-hour limit reached \u{7}`x`\n> "));
    assert_eq!(
        report.evidence,
        "its screen shows `limit reached x` (rule `limit` of `agent_types.mine` in the settings)"
    );
    assert_eq!(report.source, StateSource::Terminal);
    let report = judge(&tui(""), process(), &view("> "));
    assert!(report.evidence.ends_with("(rule `idle` of the built-in type `tui`)"), "{}", report.evidence);
}

#[test]
fn a_dialog_that_no_rule_knows_is_no_end_of_turn() {
    let report = judge(&tui(""), process(), &view("Do you trust this folder?\n1. yes\n2. no"));
    assert_eq!((report.state, report.waiting_reason), (AgentState::Running, None));
    assert_eq!(report.evidence, "process 1 lives; no rule knows what its screen shows");
}

#[test]
fn a_screen_that_cannot_be_read_leaves_the_other_evidence() {
    let report = tui("").judge(process(), None);
    assert_eq!(report.evidence, "process 1 lives; its screen could not be read");
    let said = says(AgentState::Waiting, None);
    assert_eq!(tui("").judge(said.clone(), None), said);
}

#[test]
fn users_rules_come_first_and_change_a_rule_of_the_same_name_key_by_key() {
    let first = tui("[mine]\norder = 999\npattern = 'Working'\nstate = 'WAITING'");
    assert_eq!(standing(&first, "Working (3s)"), ("WAITING", None));
    let changed = tui("[busy]\npattern = 'Thinking'");
    assert_eq!(standing(&changed, "Thinking\n> "), ("RUNNING", None));
    assert_eq!(standing(&changed, "Working (3s)\n> "), ("WAITING", Some("END_OF_TURN")));
    let other_state = tui("[permission]\nstate = 'RUNNING'");
    assert_eq!(standing(&other_state, "Allow rm? (y/n)"), ("RUNNING", None));
    let off = tui("[busy]\nis_enabled = false");
    assert_eq!(standing(&off, "Working (3s)\n> "), ("WAITING", Some("END_OF_TURN")));
}

#[test]
fn what_the_screen_shows_now_wins_over_what_the_program_said() {
    let idle = says(AgentState::Waiting, Some(WaitingReason::EndOfTurn));
    let busy = judge(&tui(""), idle, &view("Working (3s)"));
    assert_eq!((busy.state, busy.waiting_reason), (AgentState::Running, None));
    assert!(busy.evidence.ends_with("; against it: it says so"), "{}", busy.evidence);
    let same = says(AgentState::Running, None);
    assert_eq!(judge(&tui(""), same.clone(), &view("Working (3s)")), same, "no news");
}

#[test]
fn a_rule_with_a_condition_looks_only_then() {
    let closed =
        table("[closed]\nlook = 'title'\nunless = 'Action'\nwhen = ['PERMISSIONS']\nstate = 'RUNNING'");
    let rules = rules(&[(Origin::Manifest("tui".into()), &closed)]);
    let (asking, idle) =
        (says(AgentState::Waiting, Some(WaitingReason::Permissions)), says(AgentState::Waiting, None));
    assert!(rules.wants_view(&asking) && !rules.wants_view(&idle) && !rules.wants_view(&process()));
    let report = judge(&rules, asking.clone(), &view(""));
    assert_eq!(report.state, AgentState::Running);
    assert!(
        report.evidence.starts_with("its title does not show `Action` (rule `closed`"),
        "{}",
        report.evidence
    );
    let title = PaneView { title: "Action Required".into(), ..view("") };
    assert_eq!(judge(&rules, asking.clone(), &title), asking);
}

#[test]
fn a_screen_that_had_no_time_to_change_does_not_contradict() {
    let closed = table("[closed]\nlook = 'title'\nunless = 'Action'\nlater_by = '1s'\nstate = 'RUNNING'");
    let rules = rules(&[(Origin::Manifest("tui".into()), &closed)]);
    let at = |millis| jiff::Timestamp::from_millisecond(millis).ok();
    let asked = says(AgentState::Waiting, Some(WaitingReason::Permissions)).since(at(10_500));
    let shown = |millis| PaneView { changed: at(millis), ..view("") };
    assert_eq!(judge(&rules, asked.clone(), &shown(11_000)), asked);
    assert_eq!(judge(&rules, asked.clone(), &shown(12_000)).state, AgentState::Running);
    assert_eq!(judge(&rules, asked, &view("")).state, AgentState::Running, "a time that is not known");
}

#[test]
fn a_rule_that_says_nothing_sensible_is_refused() {
    let compile = |toml: &str| Rules::compile(&[(Origin::Settings("x".into()), &table(toml))]).err();
    assert_eq!(compile("[a]\npattern = 'x'"), Some(ScreenError::NoState { rule: "a".into() }));
    assert_eq!(
        compile("[a]\nstate = 'RUNNING'\nreason = 'AUTH'"),
        Some(ScreenError::ReasonWithoutWaiting { rule: "a".into() })
    );
    let huge = "[a]\npattern = '(\\w{1000}){1000}'\nstate = 'RUNNING'";
    assert!(matches!(compile(huge), Some(ScreenError::Pattern { key, .. }) if key == "screen.a.pattern"));
}
