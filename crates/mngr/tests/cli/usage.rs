//! `usage`: tokens and money of agents, from what their programs recorded.

use std::fs;
use std::io::Write as _;

use crate::support::*;
use crate::transcript::pretend;

#[test]
fn tokens_and_money_are_added_up_by_agent_model_and_day() {
    let env = env_with_repo();
    let _ = pretend(&env, "one", "claude");
    let _ = pretend(&env, "two", "codex");
    create(&env, "plain", &["sleep", "1000"]);
    let usage = env.mngr(["usage", "--format", "json"]).success().json();
    assert_eq!(usage["usage"].as_array().unwrap().len(), 2, "{usage}");
    assert_eq!(usage["usage"][0]["group"], "one");
    assert_eq!(usage["usage"][0]["answers"], 3);
    assert_eq!(usage["total"]["total_tokens"], 9675 + 12_059);
    for (by, groups) in [("model", 2), ("day", 1), ("label:nothing", 1)] {
        let lines = env.mngr(["usage", "--by", by, "--format", "jsonl"]).success().json_lines();
        assert_eq!(lines.len(), groups + 1, "{lines:?}");
        assert_eq!(lines.last().unwrap()["total_tokens"], 9675 + 12_059);
    }
    let one = env.mngr(["usage", "two", "--format", "{group} {total_tokens}"]).success();
    assert_eq!(one.stdout, "two 12059\n");
    let none = env.mngr(["usage", "plain"]).success();
    assert_eq!(none.stdout, "No usage found\n");
    let _ = env.mngr(["usage", "--by", "week"]).code(2);
    let _ = env.mngr(["usage", "nobody"]).code(9);
    let both = env.mngr(["usage", "one", "--running"]).code(2);
    assert!(both.stderr.contains("Cannot specify both agents and filters"), "{both}");
}

#[test]
fn people_see_a_table_with_its_total() {
    let env = env_with_repo();
    let _ = pretend(&env, "one", "claude");
    let shown = env.mngr(["usage"]).success().stdout;
    let lines: Vec<&str> = shown.lines().collect();
    let is_remark = |line: &&&str| line.starts_with("not counted:") || line.starts_with("the price of");
    assert_eq!(lines.iter().filter(|line| !is_remark(line)).count(), 3, "{shown}");
    assert!(lines[0].starts_with("AGENT") && lines[0].contains("PAYER UNKNOWN $"), "{shown}");
    assert!(lines[1].starts_with("one") && lines[2].starts_with("total"), "{shown}");
    fs::write(state_dir(&env, "one").join("env"), "ANTHROPIC_API_KEY='k'\n").unwrap();
    let shown = env.mngr(["usage"]).success().stdout;
    assert!(shown.contains("API $") && !shown.contains("UNKNOWN"), "{shown}");
}

#[test]
fn a_model_without_a_price_is_said_and_the_users_prices_win() {
    let env = env_with_repo();
    let file = pretend(&env, "one", "claude");
    let text = fs::read_to_string(&file).unwrap().replace("claude-sonnet-4-5-20250929", "house-model");
    fs::write(&file, text).unwrap();
    let shown = env.mngr(["usage"]).success().stdout;
    assert!(shown.contains("no price is known for house-model: 9675 tokens without money"), "{shown}");
    let _ = env.mngr(["config", "set", "commands.list.sort", "name", "--scope", "user"]).success();
    let profiles = env.host_dir().join("profiles");
    let profile = fs::read_dir(profiles).unwrap().next().unwrap().unwrap().path();
    let prices = "[models.house-model]\ninput = 1000000\noutput = 0\ncache_read = 0\ncache_write = 0\n";
    fs::write(profile.join("prices.toml"), prices).unwrap();
    let usage = env.mngr(["usage", "--format", "json"]).success().json();
    assert_eq!(usage["total"]["total_cost_usd"], 30.0);
    fs::write(profile.join("prices.toml"), "[models.x]\ninput = \"much\"").unwrap();
    let refused = env.mngr(["usage"]).code(1);
    assert!(refused.stderr.contains("prices.toml"), "{refused}");
}

#[test]
fn what_a_destroyed_agent_used_is_still_counted_unless_it_is_left_out() {
    let env = env_with_repo();
    let _ = pretend(&env, "one", "claude");
    let id = text(&agent(&env, "one")["id"]);
    let _ = env.mngr(["destroy", "one", "--force"]).success();
    let total = |args: &[&str]| {
        let all = [&["usage", "--format", "json"], args].concat();
        env.mngr(all).success().json()["total"]["total_tokens"].clone()
    };
    assert_eq!(total(&[]), 9675);
    assert_eq!(total(&["--no-preserved"]), 0);
    assert_eq!(total(&["--running"]), 0, "a filter speaks of agents that exist");
    fs::remove_dir_all(env.host_dir().join("trash").join(id)).unwrap();
    assert_eq!(total(&[]), 9675);
    assert_eq!(total(&["one"]), 9675);
}

#[test]
fn waiting_ends_when_the_condition_holds_or_the_time_is_up() {
    let env = env_with_repo();
    let file = pretend(&env, "one", "claude");
    let _ = env.mngr(["usage", "wait", "one", "--until", "total_tokens > 9000"]).success();
    let late =
        env.mngr(["usage", "wait", "one", "--until", "total_tokens > 9675", "--timeout", "100ms"]).code(8);
    assert!(late.stderr.contains("Timed out"), "{late}");
    let running = env.spawn(["usage", "wait", "one", "--until", "answers >= 6", "--timeout", "20s"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let more = fs::read_to_string(&file).unwrap().replace("\"id\":\"msg_", "\"id\":\"msg_x");
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(more.as_bytes()).unwrap();
    let _ = running.finish().success();
    let _ = env.mngr(["usage", "wait", "one"]).code(2);
    let _ = env.mngr(["usage", "one", "--until", "true"]).code(2);
    let bad = env.mngr(["usage", "wait", "--until", "tokns > 1"]).code(1);
    assert!(bad.stderr.contains("Invalid `--until` expression: unknown field `tokns`"), "{bad}");
    assert!(bad.stderr.contains("the fields are") && !bad.stderr.contains("include"), "{bad}");
}

#[test]
fn what_a_scripted_agent_says_it_used_is_counted_and_outlives_it() {
    let env = env_with_repo();
    create_scripted(&env, "a", &["spend 1200 0.25", "spend 300", "read", "spend 500 0.5", "hang"]);
    create_scripted(&env, "b", &["spend 1200 0.25", "hang"]);
    let condition = "total_tokens >= 2700";
    let _ = env.mngr(["usage", "wait", "--until", condition, "--timeout", "20s"]).success();
    let _ = env.mngr(["message", "a", "go"]).success();
    let condition = "total_tokens >= 3200 && total_cost_usd >= 1.0";
    let _ = env.mngr(["usage", "wait", "--until", condition, "--timeout", "20s"]).success();
    let models = env.mngr(["usage", "--by", "model", "--format", "jsonl"]).success().json_lines();
    assert_eq!((&models[0]["group"], &models[0]["answers"]), (&"scripted".into(), &4.into()), "{models:?}");
    assert_eq!(models[0]["unpriced_tokens"], 0);
    let id = text(&agent(&env, "a")["id"]);
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    fs::remove_dir_all(env.host_dir().join("trash").join(id)).unwrap();
    let one = env.mngr(["usage", "a", "--format", "{group} {total_tokens}"]).success();
    assert_eq!(one.stdout, "a 2000\n");
}

#[test]
fn an_old_price_is_said_and_the_settings_have_a_newer_one() {
    let env = env_with_repo();
    let _ = pretend(&env, "one", "codex");
    let shown = env.mngr(["usage"]).success().stdout;
    assert!(
        shown.contains("the price of gpt-5.1-codex is of 2025-12-01, more than 90 days ago, https://"),
        "{shown}"
    );
    assert!(shown.contains("not counted: what Codex asked beside its turns"), "{shown}");
    let usage = env.mngr(["usage", "--format", "json"]).success().json();
    assert_eq!(usage["total"]["old_price_models"][0], "gpt-5.1-codex");
    assert_eq!(usage["total"]["uncounted"][0], "codex_side_requests");
    let price = &usage["prices"][0];
    assert_eq!((&price["model"], &price["is_old"]), (&"gpt-5.1-codex".into(), &true.into()), "{usage}");
    for (key, value) in [("input", "1000000"), ("output", "0"), ("cache_read", "0")] {
        let key = format!("prices.\"gpt-5.1-codex\".{key}");
        let _ = env.mngr(["config", "set", &key, value, "--scope", "user"]).success();
    }
    let usage = env.mngr(["usage", "--format", "json"]).success().json();
    assert_eq!(usage["total"]["total_cost_usd"], 40.0, "{usage}");
    assert_eq!(usage["total"]["old_price_models"].as_array().unwrap().len(), 0);
    let half = env.mngr(["usage", "-S", "prices.house.input=1"]).code(1);
    assert!(half.stderr.contains("`house` has no `output`") && half.stderr.contains("config set"), "{half}");
    let bad = env.mngr(["usage", "-S", "prices.gpt-5.as_of=yesterday"]).code(1);
    assert!(bad.stderr.contains("YYYY-MM-DD"), "{bad}");
}

#[test]
fn a_repository_that_is_not_trusted_sets_no_prices() {
    let env = env_with_repo();
    let folder = env.work_dir().join(".mngr");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.toml"), "[prices.gpt-5]\ninput = 0\noutput = 0\n").unwrap();
    let stopped = env.mngr(["usage"]).code(1);
    assert!(stopped.stderr.contains("prices.gpt-5") && stopped.stderr.contains("config trust"), "{stopped}");
    let _ = env.mngr(["list"]).success();
}

#[test]
fn what_claude_used_beside_the_conversation_counts_once_it_tells() {
    let env = env_with_repo();
    let file = pretend(&env, "one", "claude");
    let session = "0779a100-cdbf-4863-a0af-c5c8bdd2d7f8";
    let lines = fs::read_to_string(&file).unwrap();
    assert!(lines.contains(&format!("\"sessionId\":\"{session}\"")));
    let usage = || env.mngr(["usage", "--format", "json"]).success().json()["total"].clone();
    assert_eq!(
        (&usage()["total_tokens"], &usage()["uncounted"][0]),
        (&9675.into(), &"claude_until_it_ends".into())
    );
    let main = state_dir(&env, "one").join("plugin/claude/anthropic/.claude.json");
    let model = |input: u64| serde_json::json!({ "inputTokens": input, "outputTokens": 45, "cacheReadInputTokens": 9000, "cacheCreationInputTokens": 600 });
    let write = |session: &str, input: u64| {
        let used =
            serde_json::json!({ "claude-sonnet-4-5-20250929": model(input), "claude-haiku-4-5": model(5) });
        let project = serde_json::json!({ "lastSessionId": session, "lastModelUsage": used });
        fs::write(&main, serde_json::json!({ "projects": { "/w": project } }).to_string()).unwrap();
    };
    write("00000000-0000-0000-0000-000000000000", 1_000_000);
    assert_eq!(usage()["total_tokens"], 9675, "a session of somebody else");
    write(session, 1030);
    assert_eq!((&usage()["side_tokens"], &usage()["answers"]), (&(1000 + 9650).into(), &3.into()));
    assert_eq!(usage()["total_tokens"], 9675 + 1000 + 9650);
    let shown = env.mngr(["usage"]).success().stdout;
    assert!(shown.contains("10650 of these tokens were used beside the conversation"), "{shown}");
    // What its program remembers may be a secret: only the counts are kept.
    let id = text(&agent(&env, "one")["id"]);
    let _ = env.mngr(["destroy", "one", "--force"]).success();
    fs::remove_dir_all(env.host_dir().join("trash").join(id)).unwrap();
    assert_eq!(usage()["total_tokens"], 9675 + 1000 + 9650);
}
