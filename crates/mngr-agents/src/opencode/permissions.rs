//! A permission set as rules of opencode, which reads command lines itself and looks at every command in them.

use mngr_model::permission::{PermissionSet, READING};
use serde_json::{Map, Value, json};

/// The rules. The last one that matches counts: `*` sorts before every other pattern here, whatever order a build keeps.
pub(super) fn rules(set: &PermissionSet) -> Value {
    let mut bash = Map::new();
    bash.insert("*".to_owned(), "deny".into());
    let mut allow = |pattern: String| bash.insert(pattern, "allow".into());
    for name in READING.into_iter().chain(["mktemp", "cd"]) {
        allow(name.to_owned());
        allow(format!("{name} *"));
    }
    for verb in &set.git {
        allow(format!("git {verb}"));
        allow(format!("git {verb} *"));
    }
    for runner in set.runners.iter().filter(|words| words.len() > 1) {
        allow(runner.join(" "));
        allow(format!("{} *", runner.join(" ")));
    }
    for line in set.lines.iter().chain(&set.allow) {
        allow(line.clone());
    }
    allow("?$MNGR_AGENT_STATE_DIR/commands/publish*".to_owned());
    json!({
        "*": "deny",
        "bash": bash,
        "edit": "allow",
        "external_directory": { "*": "deny", "/tmp/*": "allow" },
        "glob": "allow",
        "grep": "allow",
        "list": "allow",
        "read": "allow",
        "task": "allow",
        "todoread": "allow",
        "todowrite": "allow",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_denied_and_the_runner_takes_any_arguments() {
        let runners = vec![vec!["cargo".to_owned(), "test".to_owned()], vec!["sh".to_owned()]];
        let set = PermissionSet { runners, git: vec!["commit".to_owned()], ..PermissionSet::default() };
        let rules = rules(&set);
        assert_eq!(rules["bash"]["*"], "deny");
        assert_eq!(rules["bash"]["cargo test *"], "allow");
        assert_eq!(rules["bash"]["git commit *"], "allow");
        // It would run any text.
        assert_eq!(rules["bash"].get("sh *"), None);
        assert_eq!((&rules["*"], &rules["edit"]), (&json!("deny"), &json!("allow")));
    }
}
