//! Verbs that are not mngr's own: programs on PATH, and what other versions have.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mngr_testkit::TestEnv;

use crate::support::*;

/// An environment with these programs on PATH.
fn with_programs(programs: &[(&str, &str)]) -> TestEnv {
    let mut env = env_with_repo();
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for (name, script) in programs {
        fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    env.set_var("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    env
}

#[test]
fn a_program_on_path_is_a_verb_with_its_words_code_and_variables() {
    let script = r#"printf '%s\n' "$@"; echo "$MNGR_HOST_DIR $MNGR_PREFIX $MNGR_ROOT_NAME"; "$MNGR_BINARY" --version; exit 7"#;
    let env = with_programs(&[("mngr-frob", script)]);
    let ran = env.mngr(["frob", "a b", "--format", "json"]).code(7);
    let host_dir = env.host_dir();
    let version = env.mngr(["--version"]).success().stdout;
    assert_eq!(ran.stdout, format!("a b\n--format\njson\n{} mngr- mngr\n{version}", host_dir.display()));
    assert!(ran.stderr.is_empty(), "{ran}");
}

#[test]
fn mngrs_own_verbs_win_and_absent_ones_can_be_added() {
    let env = with_programs(&[("mngr-list", "echo mine"), ("mngr-schedule", "echo mine")]);
    assert_eq!(env.mngr(["list"]).success().stdout, "No agents found\n");
    assert_eq!(env.mngr(["schedule", "add"]).success().stdout, "mine\n");
}

#[test]
fn a_mistyped_verb_of_the_users_own_is_recognised() {
    let env = with_programs(&[("mngr-frobnicate", "echo mine")]);
    let wrong = env.mngr(["frobnicat"]).code(2);
    assert!(wrong.stderr.contains("did you mean `frobnicate`?"), "{wrong}");
}

#[test]
fn help_shows_the_verbs_of_the_users_own() {
    let env = with_programs(&[("mngr-frobnicate", "echo mine"), ("mngr-list", "echo mine")]);
    let bin = env.root().join("bin");
    for args in [&["--help"][..], &["help"], &[]] {
        let page = env.mngr(args).success().stdout;
        let (_, own) = page.split_once("\nCOMMANDS OF YOUR OWN\n").unwrap();
        assert!(own.contains(&format!("frobnicate  {}/mngr-frobnicate", bin.display())), "{page}");
        assert!(!own.contains("mngr-list"), "{page}");
    }
}

#[test]
fn verbs_of_other_versions_say_what_to_use_instead() {
    let env = env();
    for verb in ["ask", "chat", "forward", "kanpan", "notify", "pair", "schedule", "ttyd", "tutor"] {
        let refused = env.mngr([verb, "--whatever"]).code(2);
        assert!(refused.stderr.contains(&format!("`mngr {verb}` is not there yet; ")), "{refused}");
    }
}

#[test]
fn a_group_without_a_verb_does_what_the_settings_say() {
    let env = env_with_repo();
    let set = |key: &str, value: &str| {
        let _ = env.mngr(["config", "set", key, value, "--scope", "user"]).success();
    };
    let _ = env.mngr(["plugin"]).code(2);
    set("commands.plugin.default_subcommand", "list");
    assert!(env.mngr(["plugin"]).success().stdout.contains("claude"));
    assert_eq!(
        env.mngr(["plug", "--kind", "provider", "--format", "{name}"]).success().stdout,
        "local\nssh\ndocker\n"
    );
    let _ = env.mngr(["plugin", "lst"]).code(2);
    set("commands.mngr.default_subcommand", "list");
    assert_eq!(env.mngr([""; 0]).success().stdout, "No agents found\n");
    set("commands.plugin_list.kind", "provider");
    assert!(!env.mngr(["plugin", "list"]).success().stdout.contains("claude"), "options of nested verbs");
}
