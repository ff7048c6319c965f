//! Verbs of the Python mngr that this version does not have, and what to say to somebody who types one.

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
    plain("behaviors", None),
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
    plain("ttyd", Some("`mngr connect` shows an agent's terminal")),
    plain("tutor", Some("`tutorial/tutorial.sh` of the source is a tutorial")),
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

/// How settings written for another version call these verbs.
pub(crate) fn settings_names() -> impl Iterator<Item = String> {
    ABSENT.iter().flat_map(|absent| {
        let below = absent.below.iter().map(|below| format!("{}_{below}", absent.name));
        below.chain([absent.name.to_owned()])
    })
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
}
