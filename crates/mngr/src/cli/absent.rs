//! Verbs and options of the Python mngr that this version does not have, and what to say to somebody who types one.

/// A verb that is not here.
struct Absent {
    /// Its name.
    name: &'static str,
    /// Its other name.
    alias: Option<&'static str>,
    /// The verbs below it.
    below: &'static [&'static str],
    /// What does something like it here.
    instead: Option<&'static str>,
}

const ABSENT: &[Absent] = &[
    plain("ask", Some("`mngr help` explains every command")),
    Absent { below: &["prepare", "cleanup"], ..plain("aws", None) },
    Absent { below: &["prepare", "cleanup"], ..plain("azure", None) },
    plain("behaviors", Some("`mngr tutorial check` compares behaviour with what is written")),
    plain("chat", Some("`mngr message` and `mngr transcript` talk with an agent")),
    plain("dependencies", Some("`mngr doctor` says what is missing")),
    Absent { below: &["plugins", "completion", "claude_plugin", "config"], ..plain("extras", None) },
    plain("forward", Some("`ssh -L` forwards a port of a host")),
    Absent { below: &["prepare", "cleanup"], ..plain("gcp", None) },
    plain("imbue_cloud", None),
    plain("kanpan", Some("`mngr list --watch` shows all agents as they change")),
    plain("latchkey", None),
    plain("notify", Some("`mngr wait AGENT WAITING && notify-send ...` tells when an agent waits")),
    Absent { below: &["list"], ..plain("ovh", None) },
    plain("pair", Some("`mngr pull` and `mngr push` bring work over")),
    plain("robinhood", Some("`mngr create --foreground --type headless_claude` answers one question")),
    Absent {
        below: &["add", "remove", "update", "list", "run"],
        ..plain("schedule", Some("cron can run any `mngr` command"))
    },
    plain(
        "tmr-behaviors",
        Some("`mngr tmr` mends tests, and `mngr tutorial check` compares behaviour with what is written"),
    ),
    plain("ttyd", Some("`mngr connect` shows an agent's terminal")),
    plain("tutor", Some("`tutorial/tutorial.sh` of the source is a tutorial")),
];

/// What a verb does not take, or has below it, here.
struct Less {
    /// The verbs.
    verbs: &'static [&'static str],
    /// The options, or the verbs below them.
    words: &'static [&'static str],
    /// What to type instead, or why nothing has to be.
    instead: &'static str,
}

const LESS: &[Less] = &[
    Less {
        verbs: &[
            "create",
            "list",
            "stop",
            "start",
            "destroy",
            "exec",
            "message",
            "wait",
            "pull",
            "push",
            "transcript",
            "event",
            "explain",
            "usage",
            "doctor",
            "archive",
            "label",
            "undo",
            "gc",
            "snapshot list",
            "config list",
        ],
        words: &["--json"],
        instead: "`--format json`",
    },
    Less {
        verbs: &["create", "clone", "migrate", "connect"],
        words: &["--reconnect", "--no-reconnect"],
        instead: "leave it out: `mngr connect` comes back after a broken link by itself",
    },
    Less {
        verbs: &["create", "clone", "migrate", "connect"],
        words: &["--session-command"],
        instead: "`--connect-command` runs a command of your own instead of attaching",
    },
    Less {
        verbs: &["connect"],
        words: &["--allow-unknown-host", "--no-allow-unknown-host"],
        instead: "`ssh HOST` asks whether the key of an unknown host is right",
    },
    Less {
        verbs: &["create", "clone", "migrate"],
        words: &["--post-host-create-outer-command"],
        instead: "`--post-host-create-command` runs in the new host; what it stands on is yours to command",
    },
    Less {
        verbs: &["exec"],
        words: &["--outer", "--no-outer", "--missing-outer"],
        instead: "the command runs where the agent is; what its host stands on is yours to command",
    },
    Less {
        verbs: &["exec"],
        words: &["--stream", "--no-stream"],
        instead: "output is shown as it comes; `--format json` gives it at the end",
    },
    Less {
        verbs: &["stop", "cleanup"],
        words: &["--snapshot-mode", "--snapshot-before"],
        instead: "`mngr snapshot create AGENT` takes a copy first",
    },
    Less {
        verbs: &["event", "observe", "wait"],
        words: &["--daemonize"],
        instead: "nothing goes into the background by itself; `setsid -f mngr ...` puts it there",
    },
    Less {
        verbs: &["snapshot create"],
        words: &["--tag", "--description"],
        instead: "`--name` says what a snapshot is for",
    },
    Less {
        verbs: &["snapshot create"],
        words: &["--no-pause-during", "--no-wait", "--restart-if-larger-than"],
        instead: "agents work on while they are copied",
    },
    Less {
        verbs: &["snapshot list"],
        words: &["--after", "--before"],
        instead: "`--format '{created_at} {id}'` shows when each was made",
    },
    Less {
        verbs: &["rename"],
        words: &["--start", "--no-start"],
        instead: "an agent is renamed whether it runs or not",
    },
    Less { verbs: &["rename"], words: &["--host"], instead: "hosts keep the names they were made with" },
    Less {
        verbs: &["limit"],
        words: &["--refresh-ssh-keys", "--add-ssh-key", "--remove-ssh-key"],
        instead: "`mngr exec AGENT 'COMMAND'` can change `~/.ssh/authorized_keys` there",
    },
    Less {
        verbs: &["rsync"],
        words: &["--include-gitignored"],
        instead: "ignored files are copied anyway: everything but `.git` is",
    },
    Less {
        verbs: &["usage"],
        words: &["--detail"],
        instead: "`--by model`, `--by day` and `--by label:KEY` tell more",
    },
    Less {
        verbs: &["usage"],
        words: &["--stale-after", "--interval"],
        instead: "agents are asked when the command runs, and changes are seen at once",
    },
    Less {
        verbs: &["config", "plugin"],
        words: &["wizard", "install-wizard"],
        instead: "`mngr config list --schema` and `mngr plugin list` show what there is to set",
    },
];

const fn plain(name: &'static str, instead: Option<&'static str>) -> Absent {
    Absent { name, alias: None, below: &[], instead }
}

/// What to say of a verb that is not here; nothing when no version has it.
pub(crate) fn advice(word: &str) -> Option<String> {
    let absent = ABSENT.iter().find(|absent| absent.name == word || absent.alias == Some(word))?;
    let said = format!("`mngr {}` is not there yet", absent.name);
    Some(match absent.instead {
        Some(instead) => format!("{said}; {instead}"),
        None => said,
    })
}

/// What to say of an option, or a verb below another one, that is not here; nothing when no version has it.
pub(crate) fn advice_below(verb: &str, word: &str) -> Option<&'static str> {
    let less = LESS.iter().find(|less| less.verbs.contains(&verb) && less.words.contains(&word))?;
    Some(less.instead)
}

/// How settings written for another version call these verbs.
pub(crate) fn settings_names() -> impl Iterator<Item = String> {
    ABSENT.iter().flat_map(|absent| {
        let below = absent.below.iter().map(|below| format!("{}_{below}", absent.name));
        below.chain([absent.name.to_owned()])
    })
}

/// The options that a verb has in other versions only; verb and options as settings call them.
pub(crate) fn settings_options(verb: &str) -> impl Iterator<Item = String> {
    let less = LESS.iter().filter(move |less| less.verbs.iter().any(|name| name.replace(' ', "_") == verb));
    let options = less.flat_map(|less| less.words).filter_map(|word| word.strip_prefix("--"));
    options.map(|option| option.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_verb_is_called_absent_that_is_here() {
        let top = crate::cli::command();
        for absent in ABSENT {
            let names = absent.alias.into_iter().chain([absent.name]);
            assert!(names.into_iter().all(|name| top.find_subcommand(name).is_none()), "{}", absent.name);
        }
    }

    #[test]
    fn nothing_is_called_absent_that_a_verb_takes() {
        for less in LESS {
            for verb in less.verbs {
                let (command, words) = crate::cli::options::deepest(verb.split(' '));
                assert_eq!(words.join(" "), *verb, "there is no such verb");
                let longs = command.get_arguments().filter_map(clap::Arg::get_long);
                let mut longs = longs.map(|long| format!("--{long}"));
                let below = command.get_subcommands().map(clap::Command::get_name);
                let taken = longs.find(|long| less.words.contains(&long.as_str()));
                assert_eq!(taken, None, "{verb}");
                assert!(!below.into_iter().any(|name| less.words.contains(&name)), "{verb}");
            }
        }
    }
}
