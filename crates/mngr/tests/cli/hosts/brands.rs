//! A real coding agent on other machines, against a scripted model: it is seen, spoken with and read as here.

use std::fs;

use mngr_testkit::model::{Agents, Brand, FirstStart, Folders, ModelServer};
use mngr_testkit::{Sshd, TestEnv};
use serde_json::{Value, json};

use super::equal::Teller;
use super::ground::{Ground, Kind};
use super::places::Places;
use crate::support::{PATIENCE, agent, text, wait_until};

/// Seconds of work for the machine to start.
const STARTED: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn claude_on_another_machine_is_as_here() {
    assert_eq!(tell_of_ssh(), tell_of_here());
}

#[test]
fn docker_claude_in_a_container_is_as_here() {
    assert_eq!(tell_of_docker(), tell_of_here());
}

fn tell_of_here() -> Vec<(String, Value)> {
    let (agents, model) = (Agents::installed(), ModelServer::start());
    let mut ground = Ground::new(Kind::Local);
    agents.set_up(Brand::Claude, FirstStart::Over, &mut ground.env, &model);
    tell(&ground, &[])
}

fn tell_of_ssh() -> Vec<(String, Value)> {
    let (agents, model) = (Agents::installed(), ModelServer::start());
    let ground = Ground::new(Kind::Ssh);
    let variables = install(&agents, &model, ground.sshd());
    tell(&ground, &variables)
}

/// Puts Claude Code on another machine. Gives the words of `create` that it needs there.
fn install(agents: &Agents, model: &ModelServer, sshd: &Sshd) -> Vec<String> {
    let (bin, home) = (sshd.root().join("bin"), sshd.home());
    let folders = Folders { bin: &bin, home: &home, work_dir: "/root".as_ref() };
    let variables = agents.set_up_in(Brand::Claude, FirstStart::Over, &folders, model);
    // What the link leads to is hidden there.
    fs::remove_file(bin.join("claude")).unwrap();
    fs::hard_link(agents.program_file(Brand::Claude), bin.join("claude")).unwrap();
    sshd.put_on_path(&bin);
    words_of(&variables)
}

#[test]
fn a_conversation_with_claude_goes_from_host_to_host_and_on_there() {
    let (agents, model) = (Agents::installed(), ModelServer::start());
    let mut places = Places::new();
    agents.set_up(Brand::Claude, FirstStart::Over, &mut places.ground.env, &model);
    let variables = install(&agents, &model, places.ground.sshd());
    install(&agents, &model, &places.other);
    let env = &places.ground.env;
    let say = |name: &str, words: &str| {
        let _ = env.mngr(["message", name, "-m", &format!("{words} [[echo]]")]).success();
        wait_until_idle(env, name);
    };
    let said = |name: &str| -> Vec<String> {
        let lines = env.mngr(["transcript", name, "--format", "jsonl"]).success().json_lines();
        let of_user = lines.iter().filter(|line| line.to_string().contains("[[echo]]"));
        of_user.map(|line| format!("{} {}", text(&line["role"]), line)).collect()
    };
    // Each was asked and answered once, in this order.
    let assert_said = |name: &str, words: &[&str]| {
        wait_until(PATIENCE, || said(name).len() == 2 * words.len());
        for (pair, word) in said(name).chunks(2).zip(words) {
            assert!(pair[0].starts_with("user ") && pair[1].starts_with("assistant "), "{name}: {pair:?}");
            assert!(pair.iter().all(|line| line.contains(word)), "{name}: {word} in {pair:?}");
        }
    };
    let own = ["--append-system-prompt", "kept"];
    let create = ["create", "here", "--type", "claude", "--yes", "--no-connect", "--"];
    let _ = env.mngr(create.into_iter().chain(own)).success();
    wait_until_idle(env, "here");
    say("here", "the first word");
    assert_said("here", &["first"]);
    let clone = ["clone", "here", "far@box", "--yes", "--no-connect"].map(str::to_owned);
    let _ = env.mngr(clone.into_iter().chain(variables)).success();
    wait_until_idle(env, "far");
    assert_said("far", &["first"]);
    say("far", "the second word");
    assert_said("far", &["first", "second"]);
    let _ = env.mngr(["migrate", "far", "@other", "--force", "--yes", "--no-connect"]).success();
    wait_until_idle(env, "far");
    assert_eq!(agent(env, "far")["host"]["name"], "other");
    assert_said("far", &["first", "second"]);
    say("far", "the third word");
    assert_said("far", &["first", "second", "third"]);
    assert_said("here", &["first"]);
    // The model hears of all that was said.
    let requests = model.requests();
    let knows_all =
        |words: &[String]| ["first", "second", "third"].iter().all(|word| words.join(" ").contains(word));
    assert!(requests.iter().any(|request| knows_all(&request.history())), "the conversation began anew");
    for name in ["here", "far"] {
        let command = text(&agent(env, name)["command"]);
        assert!(command.contains("--append-system-prompt kept"), "{name}: {command}");
    }
}

fn wait_until_idle(env: &TestEnv, name: &str) {
    let standing = || {
        let agent = agent(env, name);
        format!("{} {}", text(&agent["state"]), text(&agent["waiting_reason"]))
    };
    wait_until(STARTED, || standing() == "WAITING END_OF_TURN");
}

fn tell_of_docker() -> Vec<(String, Value)> {
    let (agents, model) = (Agents::installed(), ModelServer::start());
    let program = agents.program_file(Brand::Claude);
    let mount = format!("--volume={}:/usr/local/bin/claude:ro", program.display());
    let ground = Ground::with_start_args(&[mount, "--network=host".to_owned()]);
    let engine = ground.engine.as_ref().unwrap();
    let (bin, home) = (ground.env.root().join("unused"), ground.env.root().join("theirs"));
    let folders = Folders { bin: &bin, home: &home, work_dir: "/root".as_ref() };
    let mut variables = agents.set_up_in(Brand::Claude, FirstStart::Over, &folders, &model);
    let url = model.url();
    let port = url.rsplit(':').next().and_then(|port| port.trim_end_matches('/').parse().ok()).unwrap();
    let passed_on = format!("http://{}", engine.pass_on(port));
    for (_, value) in &mut variables {
        *value = value.replace(&url, &passed_on);
    }
    engine.docker(&["cp", &format!("{}/.", home.display()), "mngr-box:/root/"]);
    tell(&ground, &words_of(&variables))
}

/// Variables as words of `create`.
fn words_of(variables: &[(&str, String)]) -> Vec<String> {
    variables.iter().flat_map(|(name, value)| ["--env".to_owned(), format!("{name}={value}")]).collect()
}

/// A conversation, and what was said of it.
fn tell(ground: &Ground, options: &[String]) -> Vec<(String, Value)> {
    let env = &ground.env;
    let mut teller = Teller { ground, told: Vec::new() };
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    teller
        .create("far", &[&["--type", "claude", "--yes", "--transfer", "git-mirror"], &options[..]].concat());
    // The words differ: there the variables are given with it.
    "create".clone_into(&mut teller.told[0].0);
    let idle = || wait_until_idle(env, "far");
    idle();
    teller.say(0, &["message", "far", "-m", "say this back [[echo]]"]);
    idle();
    teller.say(0, &["list"]);
    read(&mut teller);
    // It goes on with the same conversation.
    teller.say(0, &["stop", "far"]);
    teller.say(0, &["start", "far"]);
    idle();
    teller.say(0, &["message", "far", "-m", "and this [[echo]]"]);
    idle();
    read(&mut teller);
    teller.say(0, &["destroy", "far", "--force"]);
    // Also what is gone can be read. A container whose last agent went has stopped, and stays so.
    read(&mut teller);
    if let Some(engine) = &ground.engine {
        assert_eq!(engine.docker(&["ps", "--quiet"]), "");
    }
    teller.told
}

fn read(teller: &mut Teller<'_>) {
    let env = &teller.ground.env;
    let mut lines = Vec::new();
    wait_until(PATIENCE, || {
        lines = env.mngr(["transcript", "far", "--format", "jsonl"]).success().json_lines();
        lines.iter().any(|line| line.to_string().contains("assistant"))
    });
    let said = |line: &Value| json!([line["role"], line["type"], line["content"], line["text"]]);
    teller.keep("transcript", lines.iter().map(said).collect());
    let usage = env.mngr(["usage", "far", "--format", "json"]).success().json();
    let total = &usage["total"];
    teller.keep(
        "usage",
        json!([total["input_tokens"], total["output_tokens"], usage["agents"].as_array().map(Vec::len)]),
    );
    let events = env.mngr(["event", "far"]).success().json_lines();
    let mut kinds: Vec<String> = events.iter().map(|event| text(&event["type"])).collect();
    // An answer may come before it is noted that the message went out.
    kinds.sort();
    teller.keep("event", json!(kinds));
}
