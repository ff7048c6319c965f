//! Every documented setting is read by somebody, or says that it has no effect, or is refused with the reason.

use std::fs;
use std::path::Path;

use crate::support::*;

/// What the description of a key without effect begins with.
const WITHOUT_EFFECT: &str = "Accepted for older settings files; has no effect";
/// Read where layers are merged, by the crate that declares it.
const READ_BY_THE_MERGE: [&str; 1] = ["allow_settings_key_assignment_narrowing"];

/// The source of the product, without the crate that declares the settings and without tests.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_left_out =
            ["mngr-config", "mngr-testkit", "tests", "tests.rs", "target"].contains(&name.as_str());
        if path.is_dir() && !is_left_out {
            sources(&path, text);
        } else if name.ends_with(".rs") && !is_left_out {
            let source = fs::read_to_string(&path).unwrap();
            text.push_str(source.split("#[cfg(test)]\nmod tests {").next().unwrap());
        }
    }
}

/// Whether code reads a field of this name, or a key by this word.
fn is_read(sources: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    sources.contains(&format!("\"{name}\""))
        || sources
            .match_indices(&format!(".{name}"))
            .any(|(at, found)| !sources[at + found.len()..].starts_with(is_word))
}

#[test]
fn every_documented_setting_is_read_or_says_that_it_has_no_effect() {
    let mut product = String::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), &mut product);
    let limited: Vec<&str> = mngr_config::limited_keys().collect();
    let mut unread = Vec::new();
    for entry in mngr_config::schema::catalogue() {
        let name = entry.key.segments().last().unwrap().clone();
        let is_brand_key = entry.key.segments()[0] == "agent_types";
        let is_accounted_for = entry.description.starts_with(WITHOUT_EFFECT)
            || READ_BY_THE_MERGE.contains(&name.as_str())
            || (is_brand_key && limited.contains(&name.as_str()))
            || is_read(&product, &name);
        if !is_accounted_for {
            unread.push(entry.key.to_string());
        }
    }
    assert_eq!(unread, Vec::<String>::new(), "documented as working, and nobody reads them");
    assert!(!is_read(&product, "no_such_setting_of_anybody"));
}

#[test]
fn a_setting_that_mngr_does_not_follow_is_refused_with_its_origin_and_reason() {
    let env = env();
    env.repo(1);
    let _ =
        env.mngr(["config", "set", "agent_types.mine.parent_type", "command", "--scope", "user"]).success();
    let create = |settings: &[String]| {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (head, tail) = (words(&["create", "x", "mine", "--no-connect"]), words(&["--", "sleep", "100"]));
        env.mngr(head.into_iter().chain(settings.iter().cloned()).chain(tail))
    };
    let mut fine = Vec::new();
    for (key, refused, accepted, reason) in [
        ("auto_accept_preflight_prompt_depth", "2", "0", "`auto_dismiss_dialogs`"),
        ("auto_accept_prompt_depth", "2", "0", "`auto_allow_permissions`"),
        ("convert_macos_credentials", "true", "false", "reads no keychain"),
        ("emit_common_transcript", "true", "false", "`mngr transcript`"),
        ("isolate_local_config_dir", "false", "true", "its own configuration folder"),
        ("override_settings_folder", "/x", "\"\"", "`upload_file`"),
        ("post_submit_dialog_observe_seconds", "2.0", "0", "`mngr wait`"),
        ("preserve_on_destroy", "false", "true", "the trash"),
        ("preserve_sessions_on_destroy", "false", "true", "the trash"),
        ("streaming_snapshot_interval_seconds", "5", "0", "`mngr transcript --follow`"),
        ("sync_credentials_on_login", "false", "true", "`sync_claude_credentials = false`"),
        ("sync_repo_settings", "true", "false", "`work_dir_extra_paths`"),
        ("use_env_config_dir", "true", "false", "its own configuration folder"),
    ] {
        let name = format!("agent_types.mine.{key}");
        let wrong = create(&["-S".to_owned(), format!("{name}={refused}")]).code(2);
        let names_all = [format!("option `-S {name}`: `{name}`"), reason.to_owned()];
        assert!(names_all.iter().all(|part| wrong.stderr.contains(part)), "{wrong}");
        fine.extend(["-S".to_owned(), format!("{name}={accepted}")]);
    }
    let _ = create(&fine).success();
    let _ = env
        .mngr(["config", "set", "agent_types.mine.use_env_config_dir", "true", "--scope", "user"])
        .success();
    let wrong = create(&[]).code(2);
    assert!(wrong.stderr.contains("settings.toml:3:1: `agent_types.mine.use_env_config_dir`"), "{wrong}");
    let _ = env.mngr(["list"]).success();
}

#[test]
fn a_template_is_asked_for_refused_settings_too_and_a_key_of_another_brand_is_told() {
    let env = env();
    env.repo(1);
    let create = |setting: &str| {
        env.mngr(["create", "x", "command", "-S", setting, "-t", "t", "--no-connect", "--", "sleep", "100"])
    };
    let wrong = create("create_templates.t.emit_common_transcript=true").code(2);
    assert!(
        wrong.stderr.contains("`create_templates.t.emit_common_transcript`: mngr writes no second"),
        "{wrong}"
    );
    let told = create("create_templates.t.output_style=brief").success();
    assert!(told.stderr.contains("`output_style` has no effect on an agent of `command`"), "{told}");
}
