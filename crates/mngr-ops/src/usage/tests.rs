//! Counting on what real programs recorded.

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;

use super::*;
use crate::remains::Remains;
use crate::testing::TestWorld;

const CLAUDE: &str = include_str!("../../../mngr-agents/tests/fixtures/transcript/claude.jsonl");
const CODEX: &str = include_str!("../../../mngr-agents/tests/fixtures/transcript/codex.jsonl");

fn meter(test: &TestWorld, name: &str, brand: &str) -> Meter {
    let (path, text) = match brand {
        "claude" => ("plugin/claude/anthropic/projects/-w/s.jsonl", CLAUDE),
        _ => ("plugin/codex/home/sessions/2026/11/15/rollout-x.jsonl", CODEX),
    };
    let mut remains = Remains::of(&test.add(name, brand, &[]));
    remains.labels.insert("team".to_owned(), name.to_owned());
    let path = remains.state.join(path);
    test.host.files().make_folder(&path.parent().unwrap()).unwrap();
    test.host.files().write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
    Meter::of(remains).unwrap().unwrap()
}

#[test]
fn sums_are_the_same_however_they_are_grouped_and_nothing_counts_twice() {
    let test = TestWorld::new();
    let mut meters = [meter(&test, "one", "claude"), meter(&test, "two", "codex")];
    meters[0].read_more().unwrap();
    let prices = Prices::built_in();
    let groupings = [GroupBy::Agent, GroupBy::Label("team".into()), GroupBy::Day, GroupBy::Model];
    for (by, groups) in groupings.iter().zip([2, 2, 1, 2]) {
        let (sums, total) = sum_up(&meters, by, None, &prices);
        assert_eq!(sums.len(), groups, "{by:?}: {sums:#?}");
        assert_eq!((total.answers, total.total_tokens), (3 + 4, 9675 + 12_059));
        assert_eq!(sums.iter().map(|sum| sum.total_tokens).sum::<u64>(), total.total_tokens);
        // Three answers of Claude Sonnet 4.5: 30 in, 600 cached, 9000 from the cache, 45 out; the rest is GPT-5.1.
        let claude = (30.0 * 3.0 + 600.0 * 3.75 + 9000.0 * 0.3 + 45.0 * 15.0) / 1e6;
        let codex = (40.0 * 1.25 + 12_000.0 * 0.125 + 19.0 * 10.0) / 1e6;
        assert!((total.unknown_cost_usd - claude - codex).abs() < 1e-9, "{total:#?}");
        assert_eq!((total.api_cost_usd, total.unpriced_tokens), (0.0, 0));
    }
}

#[test]
fn a_copied_conversation_counts_for_the_agent_that_had_it() {
    let test = TestWorld::new();
    let meters = [meter(&test, "one", "claude"), meter(&test, "clone", "claude")];
    let (sums, total) = sum_up(&meters, &GroupBy::Agent, None, &Prices::built_in());
    assert_eq!((sums.len(), sums[0].group.as_str(), total.total_tokens), (1, "one", 9675));
}

#[test]
fn a_model_without_a_price_has_tokens_without_money_and_is_named() {
    let test = TestWorld::new();
    let meters = [meter(&test, "one", "claude")];
    let (_, total) = sum_up(&meters, &GroupBy::Agent, None, &Prices::parse("[models]").unwrap());
    assert_eq!((total.total_tokens, total.unpriced_tokens), (9675, 9675));
    assert_eq!(total.total_cost_usd, 0.0);
    assert_eq!(total.unpriced_models.iter().collect::<Vec<_>>(), ["claude-sonnet-4-5-20250929"]);
}

#[test]
fn what_is_older_is_left_out() {
    let test = TestWorld::new();
    let meters = [meter(&test, "one", "claude")];
    let since = Some("2026-11-15T12:10:20Z".parse().unwrap());
    let (_, total) = sum_up(&meters, &GroupBy::Agent, since, &Prices::built_in());
    assert_eq!(total.answers, 2);
    let (sums, total) = sum_up(&meters, &GroupBy::Agent, Some(jiff::Timestamp::MAX), &Prices::built_in());
    assert_eq!((sums.len(), total.answers), (0, 0));
}

#[test]
fn one_meter_says_what_its_agent_used_and_where_more_may_appear() {
    let test = TestWorld::new();
    let one = meter(&test, "one", "claude");
    let _other = meter(&test, "two", "codex");
    let total = one.total(&Prices::built_in());
    assert_eq!((total.total_tokens, total.answers), (9675, 3));
    assert!(total.total_cost_usd > 0.0);
    assert!(one.folders().iter().any(|folder| folder.as_str().ends_with("projects/-w")));
}

#[test]
fn an_agent_whose_type_records_nothing_has_no_meter() {
    let test = TestWorld::new();
    assert!(Meter::of(Remains::of(&test.add("plain", "command", &["true"]))).unwrap().is_none());
}
