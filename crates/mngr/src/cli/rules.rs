//! What on one command line contradicts what. One table for both uses: two typed words that contradict are refused, and a
//! setting that contradicts a typed word is as if it were not there.
//!
//! Options that never go together say so to clap, where they are declared; that is read from there. Here is what clap cannot
//! know: parts of addresses, and options that contradict for some of their values only.

use clap::Command;
use mngr_host::local::LOCAL_HOST_NAME;
use mngr_model::address::LOCAL_PROVIDER;

use super::values::Values;

/// The verbs that create agents.
pub(crate) const CREATING: &[&str] = &["create", "clone", "migrate"];

/// Options about a host that mngr makes.
pub(crate) const ABOUT_NEW_HOSTS: &[&str] = &[
    "agents_per_host",
    "new_host",
    "host_label",
    "cpu",
    "memory",
    "snapshot",
    "build_arg",
    "start_arg",
    "host_name_style",
    "host_env",
    "host_env_file",
    "pass_host_env",
    "post_host_create_command",
    "idle_timeout",
    "idle_mode",
    "activity_sources",
    "max_host_age",
];

/// Something that values say.
pub(crate) struct Saying {
    /// The options that can say it.
    pub(crate) options: &'static [&'static str],
    /// Whether they do.
    pub(crate) holds: fn(&Values) -> bool,
}

/// Which layers give way to what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Yields {
    /// Settings and templates.
    All,
    /// Settings only: a template was asked for on this very command line.
    Settings,
}

/// Two things of which only one can be meant.
pub(crate) struct Contradiction {
    /// As settings spell them.
    pub(crate) verbs: &'static [&'static str],
    /// What is said.
    pub(crate) one: Saying,
    /// What cannot be said beside it.
    pub(crate) other: Saying,
    /// Who gives way.
    pub(crate) yields: Yields,
    /// Why both cannot be typed. Without it they can, or the verb says why not.
    pub(crate) why: Option<&'static str>,
}

/// Something that only counts beside something else.
pub(crate) struct Need {
    /// As settings spell them.
    pub(crate) verbs: &'static [&'static str],
    /// What is passed over.
    pub(crate) options: &'static [&'static str],
    /// Unless this holds of everything together.
    pub(crate) beside: fn(&Values) -> bool,
}

macro_rules! any_of {
    ($($option:literal),+ $(,)?) => {
        Saying { options: &[$($option),+], holds: |values| values.has_any(&[$($option),+]) }
    };
}

macro_rules! saying {
    ([$($option:literal),* $(,)?], $holds:expr) => {
        Saying { options: &[$($option),*], holds: $holds }
    };
}

/// What contradicts what, beside what clap knows.
pub(crate) const CONTRADICTIONS: &[Contradiction] = &[
    Contradiction {
        verbs: CREATING,
        one: any_of!("positional_type"),
        other: any_of!("agent_type"),
        yields: Yields::All,
        why: None,
    },
    // A word that begins with a hyphen is for the type's own program, any other is a program.
    Contradiction {
        verbs: &["create"],
        one: saying!(["agent_args"], |values| {
            values.texts("agent_args").next().is_some_and(|first| !first.starts_with('-'))
                && !values.has_any(&["agent_type", "positional_type", "foreground"])
        }),
        other: any_of!("agent_type"),
        yields: Yields::Settings,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: saying!(["address", "name"], |values| address(values).path.is_some()),
        other: any_of!("target_path"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: saying!(["address", "name"], |values| address(values).host.is_some()),
        other: any_of!("pool"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: saying!(["address", "name"], |values| address(values).provider().is_some()),
        other: any_of!("provider"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: saying!(["address", "name"], |values| address(values).is_here()),
        other: saying!(["provider"], |values| {
            values.has("provider") && !values.is("provider", LOCAL_PROVIDER)
        }),
        yields: Yields::All,
        why: Some("the address names this machine, and `--provider` another place"),
    },
    // A host that is named is one that exists, wherever it is, unless a new one is asked for.
    Contradiction {
        verbs: CREATING,
        one: saying!(["address", "name"], |values| { address(values).is_named() && !values.has("new_host") }),
        other: any_of!("provider", "new_host"),
        yields: Yields::Settings,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: any_of!("pool"),
        other: Saying { options: ABOUT_NEW_HOSTS, holds: |values| values.has_any(ABOUT_NEW_HOSTS) },
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["create", "clone"],
        one: any_of!("foreground"),
        other: any_of!(
            "connect",
            "connect_command",
            "edit_message",
            "reuse",
            "update",
            "resume_message",
            "start_on_boot"
        ),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: saying!(["transfer"], |values| values.is("transfer", "none")),
        other: any_of!("branch", "exclude_unclean"),
        yields: Yields::All,
        why: Some("with `--transfer none` the agent works in the folder itself, as it is"),
    },
    Contradiction {
        verbs: CREATING,
        one: any_of!("target_path"),
        other: any_of!("worktree_base_folder"),
        yields: Yields::All,
        why: Some("`--target-path` says where the agent works"),
    },
    Contradiction {
        verbs: CREATING,
        one: any_of!("ensure_clean"),
        other: any_of!("include_unclean", "include_gitignored", "exclude_unclean"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: CREATING,
        one: any_of!("exclude_unclean"),
        other: any_of!("include_gitignored"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["create", "clone", "migrate", "start"],
        one: any_of!("connect_command"),
        other: any_of!("no_connect"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["clone", "migrate"],
        one: saying!([], |_| true),
        other: any_of!("from"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["migrate"],
        one: saying!([], |_| true),
        other: any_of!("reuse", "foreground", "edit_message", "exclude_unclean", "ensure_clean"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["start"],
        one: saying!(["agents", "agent"], |values| {
            values.all("agents").len() + values.all("agent").len() > 1
        }),
        other: any_of!("connect"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["stop"],
        one: any_of!("no_graceful"),
        other: any_of!("graceful_timeout"),
        yields: Yields::All,
        why: Some("nothing is waited for with `--no-graceful`"),
    },
    Contradiction {
        verbs: &["file_get", "file_list", "file_put"],
        one: saying!(["target"], |values| values
            .text("target")
            .is_some_and(|target| target.starts_with('@'))),
        other: saying!(["relative_to"], |values| {
            values.has("relative_to") && !values.is("relative_to", "host")
        }),
        yields: Yields::All,
        why: Some("paths of a host are relative to the folder that holds its state"),
    },
    Contradiction {
        verbs: &["list"],
        one: any_of!("watch"),
        other: saying!(["format"], |values| values.is("format", "json")),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["event", "transcript"],
        one: any_of!("head"),
        other: any_of!("tail", "follow"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["event", "transcript"],
        one: any_of!("follow"),
        other: saying!(["format"], |values| values.is("format", "json")),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["observe"],
        one: saying!([], |_| true),
        other: saying!(["format"], |values| values.is("format", "json")),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["pull", "push"],
        one: saying!(["from", "to"], names_a_path),
        other: saying!(["sync_mode"], |values| values.is("sync_mode", "git")
            || values.is("sync_mode", "full")),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["pull"],
        one: saying!(["from", "sync_mode"], |values| {
            names_a_path(values) || values.is("sync_mode", "files")
        }),
        other: any_of!("merge", "target_branch"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["pull"],
        one: saying!(["sync_mode"], |values| values.is("sync_mode", "full")),
        other: any_of!("target_branch"),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["pull", "push"],
        one: any_of!("delete"),
        other: saying!(["sync_mode"], |values| values.is("sync_mode", "git")
            || values.is("sync_mode", "full")),
        yields: Yields::All,
        why: None,
    },
    Contradiction {
        verbs: &["tmr"],
        one: any_of!("no_integrator"),
        other: any_of!("reducer_env", "reducer_prompt", "reducer_timeout"),
        yields: Yields::All,
        why: Some("there is no integrator with `--no-integrator`"),
    },
];

/// What settings give for some command lines only.
pub(crate) const NEEDS: &[Need] = &[
    Need { verbs: CREATING, options: ABOUT_NEW_HOSTS, beside: makes_a_host },
    Need { verbs: CREATING, options: &["update"], beside: |values| values.has("reuse") },
    Need {
        verbs: &["pull", "push"],
        options: &["delete"],
        beside: |values| values.is("sync_mode", "files") || names_a_path(values),
    },
];

/// Options of which the later one counts, beside those called `x` and `no_x`.
const OVERRIDES: &[[&str; 2]] =
    &[["include_unclean", "exclude_unclean"], ["quiet", "verbose"], ["any", "all"]];

/// Whether only one of two options can be given, or only the later one counts.
pub(crate) fn are_rivals(command: &Command, one: &str, other: &str) -> bool {
    is_negation(one, other)
        || is_negation(other, one)
        || OVERRIDES.iter().any(|pair| *pair == [one, other] || *pair == [other, one])
        || conflicts(command, one, other)
        || conflicts(command, other, one)
}

/// Whether clap refuses them together.
pub(crate) fn conflicts(command: &Command, one: &str, other: &str) -> bool {
    let declared = command.get_arguments().find(|arg| arg.get_id() == one);
    declared
        .is_some_and(|arg| command.get_arg_conflicts_with(arg).iter().any(|rival| rival.get_id() == other))
}

fn is_negation(one: &str, other: &str) -> bool {
    other.strip_prefix("no_") == Some(one)
}

/// The parts of the address of a new agent, as they are written.
#[derive(Debug, Default)]
pub(crate) struct Address<'a> {
    host: Option<&'a str>,
    path: Option<&'a str>,
}

/// The address of a new agent.
pub(crate) fn address(values: &Values) -> Address<'_> {
    let text = values.text("address").or(values.text("name")).unwrap_or_default();
    let (place, path) = match text.split_once(':') {
        Some((place, path)) => (place, Some(path)),
        None => (text, None),
    };
    Address { host: place.split_once('@').map(|(_, host)| host), path }
}

impl Address<'_> {
    /// `.PROVIDER`, where it is said.
    fn provider(&self) -> Option<&str> {
        self.host.and_then(|host| host.split_once('.')).map(|(_, provider)| provider)
    }

    /// Whether it says: this machine.
    fn is_here(&self) -> bool {
        match self.provider() {
            Some(provider) => provider == LOCAL_PROVIDER,
            None => self.host == Some(LOCAL_HOST_NAME),
        }
    }

    /// Whether it names a host, and not only who makes one.
    fn is_named(&self) -> bool {
        self.host.is_some_and(|host| !host.is_empty() && !host.starts_with('.'))
    }
}

/// Whether a host is made for the agent.
fn makes_a_host(values: &Values) -> bool {
    let address = address(values);
    if values.has("pool") || address.is_here() {
        return false;
    }
    if address.is_named() {
        return values.has("new_host");
    }
    let provider = address.provider().or(values.text("provider"));
    provider.is_some_and(|provider| provider != LOCAL_PROVIDER)
}

/// Whether the agent's end of a transfer is a path: the first word that names one, `AGENT:PATH`.
fn names_a_path(values: &Values) -> bool {
    let is_path =
        |word: &str| word.split_once(':').is_some_and(|(agent, path)| !agent.is_empty() && !path.is_empty());
    values.text("from").is_some_and(is_path) || values.text("to").is_some_and(is_path)
}
