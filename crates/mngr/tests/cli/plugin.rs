//! `plugin`: agent types and providers, shown and switched.

use crate::support::*;

#[test]
fn what_is_built_in_is_listed_with_its_kind() {
    let env = env_with_repo();
    let json = env.mngr(["plugin", "list", "--format", "json"]).success().json();
    let plugins = json["plugins"].as_array().unwrap();
    let find = |name: &str| plugins.iter().find(|plugin| plugin["name"] == name).unwrap();
    for (name, kind) in [("claude", "agent-type"), ("headless_codex", "agent-type"), ("ssh", "provider")] {
        assert_eq!((&find(name)["kind"], &find(name)["enabled"]), (&kind.into(), &"true".into()));
    }
    let providers = env.mngr(["plug", "list", "--kind", "provider", "--format", "{name}"]).success();
    assert_eq!(providers.stdout, "local\nssh\ndocker\n");
}

#[test]
fn a_disabled_type_is_unknown_to_create_and_its_agents_live_on() {
    let env = env_with_repo();
    create_scripted(&env, "old", &[]);
    let told = env.mngr(["plugin", "disable", "scripted", "--scope", "user"]).success();
    assert!(told.stdout.starts_with("Disabled plugin 'scripted' in user ("), "{told}");
    let create = ["create", "new", "scripted", "--no-connect"];
    let refused = env.mngr(create).code(1);
    assert!(refused.stderr.contains("unknown agent type `scripted`"), "{refused}");
    assert!(refused.stderr.contains("mngr plugin enable scripted"), "{refused}");
    let _ = env.mngr(create.iter().chain(&["--plugin", "scripted"])).success();
    wait_for_state(&env, "old", "WAITING");
    let _ = env.mngr(["message", "old", "hello"]).success();
    let active = env.mngr(["plugin", "list", "--active", "--format", "{name}"]).success();
    assert!(!active.stdout.contains("scripted"), "{active}");
    let json =
        env.mngr(["plugin", "enable", "scripted", "--scope", "user", "--format", "json"]).success().json();
    assert_eq!(
        (&json["plugin"], &json["enabled"], &json["scope"]),
        (&"scripted".into(), &true.into(), &"user".into())
    );
    let _ = env.mngr(["create", "third", "scripted", "--no-connect"]).success();
    let without = ["create", "fourth", "scripted", "--no-connect", "--disable-plugin", "scripted"];
    let _ = env.mngr(without).code(1);
}

#[test]
fn a_type_that_rests_on_a_disabled_one_goes_with_it() {
    let env = env_with_repo();
    let set = ["config", "set", "agent_types.clock.command", "sleep 1000", "--scope", "user"];
    let _ = env.mngr(set).success();
    let refused = env.mngr(["create", "a", "clock", "--no-connect", "--disable-plugin", "command"]).code(1);
    assert!(refused.stderr.contains("the plugin `command` is disabled"), "{refused}");
    let refused = env.mngr(["create", "a", "clock", "--no-connect", "--disable-plugin", "clock"]).code(1);
    assert!(refused.stderr.contains("the plugin `clock` is disabled"), "{refused}");
}

#[test]
fn a_disabled_provider_is_not_asked() {
    let env = env_with_repo();
    let refused =
        env.mngr(["create", "a@.docker", "--no-connect", "--disable-plugin", "docker", "--", "sh"]).code(1);
    assert!(refused.stderr.contains("Unknown provider backend: `docker`"), "{refused}");
    let refused = env.mngr(["list", "--provider", "ssh", "--disable-plugin", "ssh"]).code(1);
    assert!(refused.stderr.contains("mngr plugin enable ssh"), "{refused}");
    create(&env, "a", &["sleep", "1000"]);
    assert_eq!(env.mngr(["list", "--disable-plugin", "local"]).success().stdout, "No agents found\n");
}

#[test]
fn nothing_is_installed_and_strangers_are_told() {
    let env = env_with_repo();
    for (args, text) in [(["add", "modal"], "cannot be added"), (["remove", "modal"], "cannot be removed")] {
        let refused = env.mngr(["plugin"].iter().chain(&args)).code(1);
        assert!(refused.stderr.contains(text), "{refused}");
    }
    let _ = env.mngr(["plugin", "add", "--git", "https://x/y", "--path", "./z"]).code(1);
    let odd = env.mngr(["plugin", "disable", "modal"]).success();
    assert!(odd.stderr.contains("no agent type or provider of this mngr is called `modal`"), "{odd}");
    let _ = env.mngr(["plugin", "disable", "a b"]).code(2);
    let _ = env.mngr(["list", "--disable-plugin", "modal"]).success();
}
