//! A repository's settings can run programs, so they count only after the user said so.

use std::fs;

use mngr_testkit::TestEnv;

use crate::support::*;

fn hostile_repo(file: &str) -> TestEnv {
    let env = env_with_repo();
    let folder = env.work_dir().join(".mngr");
    fs::create_dir_all(&folder).unwrap();
    let marker = env.root().join("executed");
    let text = format!(
        "[commands.list]\nfields = 'name'\n[pre_command_scripts]\nlist = ['touch {}']\n",
        marker.display()
    );
    fs::write(folder.join(file), text).unwrap();
    env
}

fn was_executed(env: &TestEnv) -> bool {
    env.root().join("executed").exists()
}

#[test]
fn nothing_of_an_untrusted_repository_is_executed() {
    for file in ["settings.toml", "settings.local.toml"] {
        let env = hostile_repo(file);
        let stopped = env.mngr(["list"]).code(1);
        assert!(stopped.stderr.contains("pre_command_scripts.list"), "{stopped}");
        assert!(stopped.stderr.contains("mngr config trust"), "{stopped}");
        assert!(!was_executed(&env));
        let other = env.mngr(["gc", "--dry-run"]).success();
        assert!(other.stderr.contains("not trusted"), "{other}");
        let json = env.mngr(["list", "--format", "json"]).code(1).json();
        assert_eq!(json["error_class"], "UntrustedProject");
    }
}

#[test]
fn trust_covers_what_was_seen_and_nothing_else() {
    let env = hostile_repo("settings.toml");
    let trusted = env.mngr(["config", "trust"]).success();
    assert_eq!(trusted.stderr, "", "who trusts them is not told that they are not trusted");
    assert!(trusted.stdout.contains("pre_command_scripts.list"), "{trusted}");
    let _ = env.mngr(["list"]).success();
    assert!(was_executed(&env));

    let file = env.work_dir().join(".mngr/settings.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n# changed\n")).unwrap();
    let stopped = env.mngr(["list"]).code(1);
    assert!(stopped.stderr.contains("have changed since you trusted them"), "{stopped}");
}

#[test]
fn trust_holds_in_every_worktree_and_not_in_another_repository() {
    let env = hostile_repo("settings.toml");
    let repo = env.work_dir();
    for args in
        [&["add", "-f", ".mngr"][..], &["commit", "-qm", "settings"], &["worktree", "add", "-q", "../tree"]]
    {
        let mut git = env.command("git");
        git.args(args).current_dir(&repo);
        let _ = env.run(git).success();
    }
    let mut clone = env.command("git");
    clone.args(["clone", "-q", ".", "../clone"]);
    let _ = env.run(clone).success();
    let _ = env.mngr(["config", "trust"]).success();
    let _ = env.mngr_in(env.root().join("tree"), ["list"]).success();
    let _ = env.mngr_in(env.root().join("clone"), ["list"]).code(1);
}

#[test]
fn what_users_write_themselves_is_trusted() {
    let env = env_with_repo();
    let _ = env.mngr(["config", "set", "agent_types.mine.command", "sleep 5"]).success();
    let _ = env.mngr(["config", "set", "connect_command", "echo", "--scope", "local"]).success();
    let listing = env.mngr(["list"]).success();
    assert_eq!(listing.stderr, "");
}

#[test]
fn writing_one_key_does_not_trust_the_others() {
    let env = hostile_repo("settings.toml");
    let set = env.mngr(["config", "set", "commands.list.sort", "name"]).success();
    assert!(set.stderr.contains("not trusted"), "{set}");
    let _ = env.mngr(["list"]).code(1);
    assert!(!was_executed(&env));
}

#[test]
fn harmless_keys_need_no_trust() {
    let env = env_with_repo();
    fs::create_dir_all(env.work_dir().join(".mngr")).unwrap();
    fs::write(env.work_dir().join(".mngr/settings.toml"), "[commands.list]\nformat = 'json'\n").unwrap();
    assert!(env.mngr(["list"]).success().json()["agents"].is_array());
}

#[test]
fn one_variable_trusts_for_one_command() {
    let mut env = hostile_repo("settings.toml");
    env.set_var("MNGR_TRUST_PROJECT", "1");
    let _ = env.mngr(["list"]).success();
    assert!(was_executed(&env));
}

#[test]
fn a_failing_script_before_a_command_stops_it() {
    let env = env_with_repo();
    let _ = env.mngr(["config", "set", "pre_command_scripts.list", "[\"echo why >&2; exit 3\"]"]).success();
    let stopped = env.mngr(["list"]).code(1);
    assert!(stopped.stderr.contains("why") && stopped.stderr.contains("exit code 3"), "{stopped}");
    let _ = env.mngr(["undo"]).success();
}

#[test]
fn a_template_of_an_untrusted_repository_prints_text_only() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let folder = env.work_dir().join(".mngr");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("settings.toml");
    let is_shown = |c: char| !c.is_control() || c == '\n' || c == '\t';
    let settings = [
        (
            &["list"][..],
            r#"[commands.list]
format = "\u001b]0;title\u0007\u001b[31m{name}\\r\u009bm\u202e{state:\u001b<9}""#,
        ),
        (
            &["list"],
            r#"[commands.list]
fields = "name,\u001b[2J""#,
        ),
        (
            &["list"],
            r#"[commands.list]
sort = "na\u001bme""#,
        ),
        (
            &["list"],
            r#"[commands.list]
fields = "name"
header = ["name=\u001b[31mNAME"]"#,
        ),
        (
            &["create", "new", "--type", "command", "--no-connect", "--exclude-unclean", "--", "true"],
            r#"[commands.create]
label = ["evil=\u001b[2J"]
project = "\u001b]0;title\u0007""#,
        ),
        (
            &["create", "other", "--type", "command", "--no-connect", "--exclude-unclean", "--", "true"],
            r#"[commands.create]
branch = "\u001b[2J""#,
        ),
        (
            &["create", "other", "--type", "command", "--no-connect", "--exclude-unclean", "--", "true"],
            r#"[commands.create]
name_style = "\u001b[2J""#,
        ),
    ];
    for (args, text) in settings {
        fs::write(&file, text).unwrap();
        let formats = [&[][..], &["--format", "json"]];
        for format in formats {
            let verb_first: Vec<&str> = args[..1].iter().chain(format).chain(&args[1..]).copied().collect();
            let told = env.mngr(verb_first.iter());
            let raw = told.stdout.chars().chain(told.stderr.chars()).find(|c| !is_shown(*c));
            assert_eq!(raw, None, "{text}\n{told:?}");
        }
        let _ = env.mngr(["destroy", "new", "--force"]);
    }
    // What it says is still there, and who is trusted, or types it, may colour it.
    fs::write(&file, r#"commands.list.format = "\u001b[31m{name}""#).unwrap();
    let told = env.mngr(["list"]).success();
    assert!(told.stdout.contains("[31mfoo") && !told.stdout.contains('\u{1b}'), "{told:?}");
    let typed = env.mngr(["list", "--format", "\u{1b}[31m{name}"]).success();
    assert!(typed.stdout.contains("\u{1b}[31mfoo"), "{typed:?}");
    let _ = env.mngr(["config", "trust"]).success();
    let trusted = env.mngr(["list"]).success();
    assert!(trusted.stdout.contains("\u{1b}[31mfoo"), "{trusted:?}");
}
