//! Options that would change nothing beside other words of the same command line. They are refused: who typed them
//! expects something of them.
//!
//! Only what was typed is refused. What settings and templates give is meant for many commands, and is passed over where
//! it does not fit. Two options that never go together say so to clap, where they are declared.

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::error::CliError;

/// The words of a command line.
struct Words<'m> {
    /// As they were typed.
    typed: &'m ArgMatches,
    /// With those that settings and templates add.
    all: &'m ArgMatches,
}

/// Options, and why they would change nothing.
struct Rule {
    /// As settings spell them.
    verbs: &'static [&'static str],
    /// By their ids.
    options: &'static [&'static str],
    /// The reason, where there is one.
    why: fn(&Words<'_>) -> Option<&'static str>,
}

const CREATING: &[&str] = &["create", "clone", "migrate"];

const RULES: &[Rule] = &[
    Rule {
        verbs: CREATING,
        options: &[
            "branch",
            "ensure_clean",
            "no_ensure_clean",
            "include_unclean",
            "exclude_unclean",
            "include_gitignored",
            "worktree_base_folder",
            "rsync_args",
        ],
        why: |words| {
            words
                .is("transfer", "none")
                .then_some("with `--transfer none` the agent works in the folder itself")
        },
    },
    Rule {
        verbs: CREATING,
        options: &["worktree_base_folder"],
        why: |words| {
            let is_copied =
                words.is("transfer", "git-mirror") || words.is("transfer", "rsync") || words.has("rsync");
            let reasons = [
                (is_copied, "a copy is no worktree"),
                (words.has("target_path"), "`--target-path` says where the agent works"),
            ];
            reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
        },
    },
    Rule {
        verbs: CREATING,
        options: &["rsync_args"],
        why: |words| {
            let is_by_git = words.is("transfer", "git-worktree") || words.is("transfer", "git-mirror");
            is_by_git.then_some("the files come by git")
        },
    },
    Rule {
        verbs: &["create", "clone"],
        options: &["name_style"],
        why: |words| {
            let given = words.text("address").or(words.text("name"));
            let is_named =
                given.is_some_and(|given| given.starts_with(|first: char| first.is_alphanumeric()));
            is_named.then_some("the agent is given a name")
        },
    },
    Rule {
        verbs: &["migrate"],
        options: &["name_style"],
        why: |_| Some("an agent that moves keeps its name unless it is given another"),
    },
    Rule {
        verbs: &["create", "clone", "migrate", "start"],
        options: &["connect_command"],
        why: |words| words.has("no_connect").then_some("nothing is connected to with `--no-connect`"),
    },
    Rule {
        verbs: &["start"],
        options: &["connect_command"],
        why: |words| words.lacks(&["connect"]).then_some("nothing is connected to without `--connect`"),
    },
    Rule {
        verbs: &["start"],
        options: &["restart", "no_resume", "resume_message", "connect"],
        why: |words| {
            let is_host = |word: &String| word.starts_with('@');
            let has_agents = words.has("agent") || !words.texts("agents").all(is_host);
            let has_hosts = words.has("host") || words.has("agents");
            (has_hosts && !has_agents).then_some("only hosts are named, whose agents stay as they are")
        },
    },
    Rule {
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
        why: |words| {
            let is_named = words.has("agent") || words.has("agent_option");
            is_named.then_some("the agent is named, so that there is nothing to choose from")
        },
    },
    Rule {
        verbs: &["stop"],
        options: &["graceful_timeout"],
        why: |words| words.has("no_graceful").then_some("nothing is waited for with `--no-graceful`"),
    },
    Rule {
        verbs: &["file_get", "file_list", "file_put"],
        options: &["relative_to"],
        why: |words| {
            let is_host = words.text("target").is_some_and(|target| target.starts_with('@'));
            is_host.then_some("paths of a host are relative to the folder that holds its state")
        },
    },
    Rule {
        verbs: &["list"],
        options: &["header"],
        why: |words| (words.has("ids") || words.has("addrs")).then_some("there are no columns to head"),
    },
    Rule {
        verbs: &["replay"],
        options: &["speed", "idle_limit"],
        why: |words| (words.has("dump") || words.has("screen")).then_some("nothing is played"),
    },
    Rule {
        verbs: &["pull"],
        options: &["uncommitted_changes"],
        why: |words| {
            let is_path = words.text("from").is_some_and(|from| from.contains(':'));
            let is_branch = !is_path && words.lacks(&["merge", "target_branch", "sync_mode"]);
            is_branch.then_some("without `--merge` your files are not touched")
        },
    },
    Rule {
        verbs: &["tmr"],
        options: &["reducer_env", "reducer_prompt", "reducer_timeout"],
        why: |words| words.has("no_integrator").then_some("there is no integrator with `--no-integrator`"),
    },
];

/// Refuses an option that was typed and would change nothing. The verb is as settings spell it.
pub(super) fn check(verb: &str, typed: &ArgMatches, all: &ArgMatches) -> Result<(), CliError> {
    let words = Words { typed, all };
    for rule in RULES.iter().filter(|rule| rule.verbs.contains(&verb)) {
        let Some(option) = rule.options.iter().find(|option| words.has(option)) else { continue };
        if let Some(why) = (rule.why)(&words) {
            let option = option.replace('_', "-");
            return Err(
                CliError::usage(format!("`--{option}` changes nothing here: {why}")).hinted("leave it out")
            );
        }
    }
    Ok(())
}

impl Words<'_> {
    /// Whether it was typed.
    fn has(&self, id: &str) -> bool {
        is_given(self.typed, id)
    }

    /// Whether nobody gave any of them, the settings neither.
    fn lacks(&self, ids: &[&str]) -> bool {
        !ids.iter().any(|id| is_given(self.all, id))
    }

    /// What was typed for it.
    fn text(&self, id: &str) -> Option<&str> {
        let text = self.typed.try_get_one::<String>(id).ok().flatten();
        text.filter(|_| self.has(id)).map(String::as_str)
    }

    /// All that was typed for it.
    fn texts(&self, id: &str) -> impl Iterator<Item = &String> {
        self.typed.try_get_many::<String>(id).ok().flatten().into_iter().flatten()
    }

    fn is(&self, id: &str, value: &str) -> bool {
        self.text(id) == Some(value)
    }
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    // Asking about an id the verb does not have would panic; `ids` lists those that are present.
    matches.ids().any(|known| known == id) && matches.value_source(id) == Some(ValueSource::CommandLine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options;

    #[test]
    fn every_rule_is_about_options_that_the_verb_has() {
        for rule in RULES {
            for verb in rule.verbs {
                let command = options::leaf(verb).unwrap();
                for option in rule.options {
                    let known = command.get_arguments().find(|arg| arg.get_id() == option);
                    let long = known.and_then(|arg| arg.get_long()).unwrap_or_default();
                    assert_eq!(long, option.replace('_', "-"), "{verb}");
                }
            }
        }
    }
}
