//! Help, and what is said about a command line that is wrong.

use crate::support::*;

#[test]
fn bare_mngr_and_help_show_all_commands() {
    let env = env();
    for args in [&[][..], &["--help"], &["-h"], &["help"]] {
        let help = env.mngr(args).success();
        for verb in ["create", "list", "message", "destroy", "undo", "config"] {
            assert!(help.stdout.contains(&format!("\n  {verb} ")), "{verb} in {help}");
        }
        assert_eq!(help.stderr, "");
    }
}

#[test]
fn every_way_to_ask_for_help_shows_the_same_page() {
    let env = env();
    let page = env.mngr(["help", "list"]).success().stdout;
    for args in [&["list", "--help"][..], &["list", "-h"], &["ls", "--help"], &["help", "ls"]] {
        assert_eq!(env.mngr(args).success().stdout, page, "{args:?}");
    }
    for section in ["SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
        assert!(page.contains(&format!("{section}\n")), "{page}");
    }
    assert!(
        env.mngr(["help", "config", "set"])
            .success()
            .stdout
            .contains("mngr config set [OPTIONS] <KEY> <VALUE>")
    );
    assert!(env.mngr(["help", "filters"]).success().stdout.contains("has(url)"));
    let _ = env.mngr(["help", "nonsense"]).code(2);
}

#[test]
fn the_version_is_shown() {
    let env = env();
    for option in ["--version", "-V"] {
        assert_eq!(env.mngr([option]).success().stdout, concat!("mngr ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

#[test]
fn a_wrong_command_line_exits_2_and_says_what_was_meant() {
    let env = env();
    for (args, expected) in [
        (&["lsit"][..], "error: No such command: `lsit`\nhint: did you mean `list`?"),
        (
            &["schedule"],
            "error: No such command: `schedule`\nhint: `mngr schedule` is not there yet; cron can run any `mngr` command",
        ),
        (
            &["help", "creat"],
            "error: No such command or topic: `creat`\nhint: did you mean `mngr help create`?",
        ),
        (&["tmr", "statu"], "error: No such command: `tmr statu`\nhint: did you mean `tmr status`?"),
        (&["list", "--runing"], "error: No such option: --runing\nhint: did you mean `--running`?"),
        (&["config", "path", "--scope", "x"], "`x` is not one of user, project, local"),
        (&["list", "--limit", "x"], "Invalid value for `--limit`"),
        (
            &["list", "--format", "yaml"],
            "Invalid value for `--format`: `yaml` is not one of human, json, jsonl",
        ),
        (&["rename", "a"], "Missing argument"),
        (&["stop"], "Missing argument: AGENT"),
        (&["stop", "bad name"], "bad name"),
        (&["wait", "a", "--timeout", "soon"], "`soon` is not a duration"),
        (&["label", "a"], "nothing to change"),
        (&["list", "-S", "prefix"], "KEY=VALUE"),
        (&["list", "-S", "commands.lst.sort=name"], "`commands.lst`, did you mean `commands.list`?"),
        (&["list", "-S", "pre_command_scripts.crate=[]"], "did you mean `pre_command_scripts.create`?"),
    ] {
        let wrong = env.mngr(args);
        assert!(wrong.stderr.contains(expected), "{wrong}");
        let code = if args.contains(&"-S") { 1 } else { 2 };
        let _ = wrong.code(code);
    }
}

#[test]
fn in_json_mode_an_error_is_an_object_on_standard_output_too() {
    let env = env();
    let json = env.mngr(["stop", "--format", "json", "--nonsense"]).code(2).json();
    assert_eq!((&json["error_class"], &json["exit_code"]), (&"UsageError".into(), &2.into()));
    let lines = env.mngr(["capture", "nobody", "--format=jsonl"]).code(9).json_lines();
    assert_eq!((&lines[0]["event"], &lines[0]["error_class"]), (&"error".into(), &"NotFound".into()));
}
