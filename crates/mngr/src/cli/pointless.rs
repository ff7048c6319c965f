//! Words that were typed and cannot do what they say. Those that contradict others are refused (`rules.rs`); those that
//! have nothing to act on are told; those that say what is so already are nobody's business.

use super::rules::{CONTRADICTIONS, CREATING};
use super::values::Values;
use crate::error::CliError;

/// Options with nothing to act on.
struct Idle {
    /// As settings spell them.
    verbs: &'static [&'static str],
    /// By their ids.
    options: &'static [&'static str],
    /// Why, where that is so. Of what was typed, and of all values.
    why: fn(&Values, &Values) -> Option<&'static str>,
}

const IDLE: &[Idle] = &[
    Idle {
        verbs: CREATING,
        options: &["worktree_base_folder", "rsync_args"],
        why: |typed, _| typed.is("transfer", "none").then_some("with `--transfer none` nothing is copied"),
    },
    Idle {
        verbs: CREATING,
        options: &["worktree_base_folder"],
        why: |typed, _| {
            let is_copied =
                typed.is("transfer", "git-mirror") || typed.is("transfer", "rsync") || typed.has("rsync");
            is_copied.then_some("a copy is no worktree")
        },
    },
    Idle {
        verbs: CREATING,
        options: &["rsync_args"],
        why: |typed, _| {
            let is_by_git = typed.is("transfer", "git-worktree") || typed.is("transfer", "git-mirror");
            is_by_git.then_some("the files come by git")
        },
    },
    Idle {
        verbs: &["start"],
        options: &["connect_command"],
        why: |typed, all| {
            let is_said = typed.has("no_connect") || all.has("connect");
            (!is_said).then_some("nothing is connected to without `--connect`; add it")
        },
    },
    Idle {
        verbs: &["start"],
        options: &["restart", "no_resume", "resume_message", "connect"],
        why: |typed, _| {
            let has_agents = typed.has("agent") || !typed.texts("agents").all(|word| word.starts_with('@'));
            let has_hosts = typed.has_any(&["host", "agents"]);
            (has_hosts && !has_agents).then_some("only hosts are named, whose agents stay as they are")
        },
    },
    Idle {
        verbs: &["connect"],
        options: &[
            "include",
            "exclude",
            "running",
            "stopped",
            "archived",
            "active",
            "local",
            "remote",
            "project",
            "label",
            "host_label",
        ],
        why: |typed, _| {
            let is_named = typed.has_any(&["agent", "agent_option"]);
            is_named.then_some("the agent is named, so that there is nothing to choose from")
        },
    },
    Idle {
        verbs: &["replay"],
        options: &["speed", "idle_limit"],
        why: |typed, _| typed.has_any(&["dump", "screen"]).then_some("nothing is played"),
    },
    Idle {
        verbs: &["pull"],
        options: &["uncommitted_changes"],
        why: |typed, all| {
            let is_path = typed.text("from").is_some_and(|from| from.contains(':'));
            let is_branch = !is_path && !all.has_any(&["merge", "target_branch", "sync_mode"]);
            is_branch.then_some("without `--merge` your files are not touched")
        },
    },
];

/// Refuses two things that were typed and contradict each other. The verb is as settings spell it.
pub(super) fn refuse(verb: &str, typed: &Values) -> Result<(), CliError> {
    for rule in CONTRADICTIONS.iter().filter(|rule| rule.verbs.contains(&verb)) {
        let Some(why) = rule.why else { continue };
        if (rule.one.holds)(typed) && (rule.other.holds)(typed) {
            let option = rule.other.options.iter().find(|option| typed.has(option)).unwrap_or(&"");
            let text = format!("`--{}` cannot be used here: {why}", option.replace('_', "-"));
            return Err(CliError::usage(text).hinted("leave one of them out"));
        }
    }
    Ok(())
}

/// What was typed and has nothing to act on, and why.
pub(super) fn warnings(verb: &str, typed: &Values, all: &Values) -> Vec<String> {
    let rules = IDLE.iter().filter(|rule| rule.verbs.contains(&verb));
    let idle = rules.filter_map(|rule| {
        let option = rule.options.iter().find(|option| typed.has(option))?;
        let why = (rule.why)(typed, all)?;
        Some(format!("`--{}` changes nothing here: {why}", option.replace('_', "-")))
    });
    idle.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options;
    use crate::cli::rules::NEEDS;

    #[test]
    fn every_rule_is_about_options_that_the_verb_has() {
        let idle = IDLE.iter().map(|rule| (rule.verbs, rule.options));
        let needs = NEEDS.iter().map(|need| (need.verbs, need.options));
        let contradictions = CONTRADICTIONS
            .iter()
            .flat_map(|rule| [&rule.one, &rule.other].map(|it| (rule.verbs, it.options)));
        for (verbs, ids) in idle.chain(needs).chain(contradictions) {
            for id in ids {
                let has = |verb: &&&str| {
                    let command = options::leaf(verb).unwrap();
                    command.get_arguments().any(|arg| arg.get_id() == id)
                };
                assert!(verbs.iter().any(|verb| has(&verb)), "{verbs:?} have no {id}");
            }
        }
    }
}
