//! What is looked at before a coding agent is made: its program, the version of it, its login. The programs are stand-ins.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use mngr_testkit::{Surroundings, TestEnv};

use crate::support::*;

/// Says that it is idle as Claude Code does, and counts how often it is asked for its version.
const CLAUDE: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then
    echo asked >>"$HOME/asked"
    echo '9.8.7 (Claude Code)'
    exit
fi
mkdir -p "$CLAUDE_CONFIG_DIR/sessions"
echo '{"status":"idle","sessionId":"x"}' >"$CLAUDE_CONFIG_DIR/sessions/$$.json"
exec sleep 1000
"#;

/// An environment whose PATH holds no coding agent but those put into the folder that is returned.
fn without_agents() -> (TestEnv, PathBuf) {
    let mut env = env_with_repo();
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    env.set_var("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    (env, bin)
}

/// The same with a Claude Code that the user has set up and has a key for.
fn with_claude() -> TestEnv {
    let (mut env, bin) = without_agents();
    fs::write(bin.join("claude"), CLAUDE).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let trusted = serde_json::json!({
        "hasCompletedOnboarding": true,
        "projects": { env.work_dir().to_str().unwrap(): { "hasTrustDialogAccepted": true } },
    });
    fs::write(env.home().join(".claude.json"), trusted.to_string()).unwrap();
    fs::create_dir(env.home().join(".claude")).unwrap();
    env.set_var("ANTHROPIC_AUTH_TOKEN", "t");
    env
}

fn times_asked(env: &TestEnv) -> usize {
    fs::read_to_string(env.home().join("asked")).unwrap_or_default().lines().count()
}

#[track_caller]
fn nothing_was_made(env: &TestEnv) {
    assert_eq!(names(env), Vec::<String>::new());
    let worktrees = fs::read_dir(env.host_dir().join("worktrees")).map(Iterator::count).unwrap_or_default();
    assert_eq!(worktrees, 0);
}

#[test]
fn a_missing_program_is_said_with_the_command_that_installs_it() {
    let (env, _) = without_agents();
    let packages =
        [("claude", "@anthropic-ai/claude-code"), ("codex", "@openai/codex"), ("opencode", "opencode-ai")];
    for (brand, package) in packages {
        let refused = env.mngr(["create", "a", brand, "--no-connect"]).code(1);
        assert!(refused.stderr.contains(&format!("there is no `{brand}` on PATH")), "{refused}");
        assert!(refused.stderr.contains(&format!("npm install -g {package}")), "{refused}");
        nothing_was_made(&env);
    }
}

#[test]
fn a_program_that_is_gone_when_its_agent_is_started_is_said_in_the_same_way() {
    let env = with_claude();
    let _ = env.mngr(["create", "a", "claude", "--no-connect"]).success();
    let _ = env.mngr(["stop", "a"]).success();
    fs::remove_file(env.root().join("bin/claude")).unwrap();
    let refused = env.mngr(["start", "a"]).code(1);
    assert!(refused.stderr.contains("the agent's program `claude` was not found"), "{refused}");
    assert!(refused.stderr.contains("npm install -g @anthropic-ai/claude-code"), "{refused}");
}

#[test]
fn the_check_can_be_left_out() {
    let env = with_claude();
    let pinned = ["-S", "agent_types.claude.version=1.0.0"];
    let unchecked = ["-S", "agent_types.claude.check_installation=false"];
    let create = ["create", "a", "claude", "--no-connect"];
    let _ = env.mngr([&create[..], &pinned].concat()).code(1);
    let _ = env.mngr([&create[..], &pinned, &unchecked].concat()).success();
}

#[test]
fn another_version_than_the_wanted_one_is_refused_with_what_to_do() {
    let env = with_claude();
    let create = |version: &str| {
        let setting = format!("agent_types.claude.version=\"{version}\"");
        env.mngr(["create", "a", "claude", "--no-connect", "-S", &setting])
    };
    for wanted in ["9.8.8", "9.8.70", "8"] {
        let refused = create(wanted).code(1);
        assert!(
            refused.stderr.contains(&format!("is version 9.8.7, and the agent type wants {wanted}")),
            "{refused}"
        );
        assert!(refused.stderr.contains(&format!("claude-code@{wanted}`")), "{refused}");
        nothing_was_made(&env);
    }
    for wanted in ["9.8.7", "9.8", "9"] {
        let _ = create(wanted).success();
        let _ = env.mngr(["destroy", "a", "--force"]).success();
    }
}

#[test]
fn a_program_is_asked_for_its_version_once_and_again_when_it_changes() {
    let env = with_claude();
    for name in ["a", "b"] {
        let _ = env.mngr(["create", name, "claude", "--no-connect"]).success();
        assert_eq!(times_asked(&env), 1, "{name}");
    }
    let program = env.root().join("bin/claude");
    fs::write(&program, CLAUDE.replace("9.8.7", "9.8.71")).unwrap();
    let created = env.mngr(["create", "c", "claude", "--no-connect"]).success();
    assert_eq!(times_asked(&env), 2);
    assert!(created.stderr.contains("9.8.71"), "{created}");
}

#[test]
fn a_version_nobody_has_tested_works_and_is_mentioned_once() {
    let env = with_claude();
    let first = env.mngr(["create", "a", "claude", "--no-connect"]).success();
    assert!(
        first.stderr.contains("Claude Code 9.8.7 is newer than the versions tested with this mngr"),
        "{first}"
    );
    let second = env.mngr(["create", "b", "claude", "--no-connect"]).success();
    assert!(!second.stderr.contains("tested"), "{second}");
    // Whoever wonders about an agent is told again.
    for words in [&["explain", "a"][..], &["doctor"]] {
        let told = env.mngr(words).stdout;
        assert!(
            told.contains("Claude Code 9.8.7 is newer than") && told.contains("not proved for it"),
            "{told}"
        );
    }
    let version = &env.mngr(["explain", "a", "--format", "json"]).success().json()["version"];
    assert_eq!(version["installed"], "9.8.7", "{version}");
}

#[test]
fn a_package_tells_the_version_without_a_process() {
    let env = with_claude();
    let package = env.root().join("lib/claude-code");
    fs::create_dir_all(package.join("bin")).unwrap();
    fs::write(package.join("package.json"), r#"{"name":"@anthropic-ai/claude-code","version":"9.9.9"}"#)
        .unwrap();
    fs::rename(env.root().join("bin/claude"), package.join("bin/claude.exe")).unwrap();
    symlink(package.join("bin/claude.exe"), env.root().join("bin/claude")).unwrap();
    let setting = "agent_types.claude.version=9.9.9";
    let _ = env.mngr(["create", "a", "claude", "--no-connect", "-S", setting]).success();
    assert_eq!(times_asked(&env), 0);
}

#[test]
fn without_login_and_key_nothing_is_made_when_nobody_can_log_in() {
    let mut env = with_claude();
    env.set_var("ANTHROPIC_AUTH_TOKEN", "");
    let refused = env.mngr(["create", "a", "claude", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("Claude Code is not logged in"), "{refused}");
    assert!(refused.stderr.contains("ANTHROPIC_API_KEY"), "{refused}");
    nothing_was_made(&env);
    // Each of these is a way to be logged in.
    let _ =
        env.mngr(["create", "b", "claude", "--no-connect", "--env", "CLAUDE_CODE_OAUTH_TOKEN=t"]).success();
    fs::write(env.home().join(".claude/.credentials.json"), "{}").unwrap();
    let _ = env.mngr(["create", "c", "claude", "--no-connect"]).success();
}

#[test]
fn codex_needs_a_login_of_its_own_or_the_key_of_the_service_it_is_set_to() {
    let (mut env, bin) = without_agents();
    fs::write(bin.join("codex"), "#!/bin/sh\n[ -t 0 ] || exit 0\nexec sleep 1000\n").unwrap();
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o755)).unwrap();
    // The program looks at no key among its variables.
    env.set_var("OPENAI_API_KEY", "k");
    let create = |env: &TestEnv| {
        let unversioned = "agent_types.codex.check_installation=false";
        let quick = "agent_ready_timeout=0.2";
        env.mngr(["create", "a", "codex", "--no-connect", "--yes", "-S", unversioned, "-S", quick])
            .code(1)
            .stderr
    };
    let refused = create(&env);
    assert!(refused.contains("Codex is not logged in") && refused.contains("codex login"), "{refused}");
    // Without a terminal it looks at this one.
    let headless = ["create", "h", "--type", "headless_codex", "--foreground", "--yes", "-m", "hello"];
    let refused =
        env.mngr(headless.iter().chain(&["-S", "agent_types.codex.check_installation=false"])).code(1);
    assert!(refused.stderr.contains("not logged in"), "{refused}");
    let key = ["--env", "CODEX_API_KEY=k", "-S", "agent_types.codex.check_installation=false"];
    let ran = env.mngr(headless.iter().chain(&key)).success();
    assert!(!ran.stderr.contains("not logged in"), "{ran}");
    let folder = env.home().join(".codex");
    fs::create_dir(&folder).unwrap();
    fs::write(
        folder.join("config.toml"),
        "model_provider = 'own'\n[model_providers.own]\nenv_key = 'OWN_KEY'\n",
    )
    .unwrap();
    let refused = create(&env);
    assert!(refused.contains("not logged in") && refused.contains("set `OWN_KEY`"), "{refused}");
    // The stand-in is never ready, which is as far as it gets.
    env.set_var("OWN_KEY", "k");
    assert!(create(&env).contains("not ready"));
    fs::remove_file(folder.join("config.toml")).unwrap();
    fs::write(folder.join("auth.json"), "{}").unwrap();
    assert!(create(&env).contains("not ready"));
}

/// What the agent's Claude Code will call, by event.
#[track_caller]
fn hooks(env: &TestEnv, name: &str) -> serde_json::Value {
    let path = state_dir(env, name).join("plugin/claude/anthropic/settings.json");
    let settings: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    settings["hooks"].clone()
}

#[test]
fn settings_of_an_unexpected_shape_are_left_to_the_program_and_stop_nobody() {
    let mut env = with_claude();
    env.set_var("ANTHROPIC_API_KEY", "k");
    let (settings, main) = (env.home().join(".claude/settings.json"), env.home().join(".claude.json"));
    for (n, hooks_there) in ["3", "[]", r#"{"Stop": "x"}"#].iter().enumerate() {
        fs::write(&settings, format!(r#"{{"hooks": {hooks_there}}}"#)).unwrap();
        let odd = [r#"{"projects": 3}"#, r#"{"projects": [], "customApiKeyResponses": 3}"#, "{}"][n];
        fs::write(&main, odd).unwrap();
        let name = format!("a{n}");
        let _ = env.mngr(["create", &name, "claude", "--no-connect", "--yes"]).success();
        assert!(hooks(&env, &name)["Stop"].is_array(), "{hooks_there}");
        assert_eq!(fs::read_to_string(&main).unwrap(), odd, "the user's own stays as it is");
    }
    let wrong = "agent_types.claude.settings_overrides=3";
    let refused = env.mngr(["create", "b", "claude", "--no-connect", "--yes", "-S", wrong]).code(1);
    assert!(refused.stderr.contains("settings_overrides"), "{refused}");
}

#[test]
fn what_an_agent_wrote_into_its_own_configuration_cannot_keep_it_from_being_cloned() {
    let mut env = with_claude();
    let _ = env.mngr(["create", "a", "claude", "--no-connect"]).success();
    env.set_var("ANTHROPIC_API_KEY", "k");
    fs::write(env.home().join(".claude.json"), r#"{"hasCompletedOnboarding": true}"#).unwrap();
    let own = state_dir(&env, "a").join("plugin/claude/anthropic/.claude.json");
    let work_dir = work_dir(&env, "a");
    for (n, odd) in [
        serde_json::json!({ "customApiKeyResponses": 3, "projects": 3 }),
        serde_json::json!({ "customApiKeyResponses": [], "projects": { work_dir.to_str().unwrap(): 3 } }),
        serde_json::json!(3),
    ]
    .iter()
    .enumerate()
    {
        fs::write(&own, odd.to_string()).unwrap();
        let _ = env.mngr(["clone", "a", &format!("b{n}"), "--no-connect", "--yes"]).success();
    }
}

#[test]
fn a_pipe_where_an_agent_notes_its_conversation_does_not_hold_its_next_start() {
    let env = with_claude();
    let _ = env.mngr(["create", "a", "claude", "--no-connect"]).success();
    let _ = env.mngr(["stop", "a"]).success();
    let mut mkfifo = env.command("mkfifo");
    mkfifo.arg(state_dir(&env, "a").join("claude_session_id"));
    let _ = env.run(mkfifo).success();
    let _ = env.mngr(["start", "a"]).success();
}

#[test]
fn a_program_that_ends_at_once_is_said_with_its_last_words() {
    let env = with_claude();
    let script = "#!/bin/sh\n[ \"$1\" != --version ] || exec echo 9.8.7\necho my config is broken\nexit 7\n";
    fs::write(env.root().join("bin/claude"), script).unwrap();
    let refused = env.mngr(["create", "a", "claude", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("ended with exit code 7 before it was ready"), "{refused}");
    assert!(refused.stderr.contains("my config is broken"), "{refused}");
    nothing_was_made(&env);
}

#[test]
fn at_a_terminal_the_login_is_left_to_the_user() {
    let mut env = with_claude();
    env.set_var("ANTHROPIC_AUTH_TOKEN", "");
    let terminal = env.terminal(Surroundings::Plain, ["create", "a", "claude", "--connect-command", "true"]);
    let _ = terminal.wait_for("is not logged in: its terminal shows you how");
    wait_until(PATIENCE, || names(&env) == ["a"]);
}

#[test]
fn a_login_made_at_one_agents_terminal_is_everybodys() {
    let env = with_claude();
    let _ = env.mngr(["create", "a", "claude", "--no-connect"]).success();
    let theirs = env.home().join(".claude/.credentials.json");
    let link = state_dir(&env, "a").join("plugin/claude/anthropic/.credentials.json");
    // Written the way Claude Code writes it: through whatever the path leads to.
    fs::write(&link, "{\"new\":1}").unwrap();
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "{\"new\":1}");
    let _ = env.mngr(["create", "b", "claude", "--no-connect"]).success();
    let other = state_dir(&env, "b").join("plugin/claude/anthropic/.credentials.json");
    fs::write(&theirs, "{\"newer\":1}").unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "{\"newer\":1}");
}
