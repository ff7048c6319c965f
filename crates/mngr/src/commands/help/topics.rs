//! Pages that are not about one command.

/// A page about something that several commands have to do with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Topic {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What it may also be called: the names of the Python mngr's pages, and the obvious ones.
    pub(crate) aliases: &'static [&'static str],
    /// What it is about, in a line.
    pub(crate) about: &'static str,
    /// The page.
    pub(crate) text: &'static str,
}

/// All of them.
pub(crate) const ALL: &[Topic] = &[
    Topic {
        name: "address",
        aliases: &["addresses", "names"],
        about: "How agents, hosts and places are written",
        text: include_str!("address.txt"),
    },
    Topic {
        name: "agents",
        aliases: &["agent", "types", "agent_types", "plugins", "work_dir"],
        about: "What an agent is, and what types there are",
        text: include_str!("agents.txt"),
    },
    Topic {
        name: "common",
        aliases: &["common_options", "options"],
        about: "Options that every command takes",
        text: include_str!("common.txt"),
    },
    Topic {
        name: "environment",
        aliases: &["environment_variables", "env", "variables"],
        about: "Variables that mngr reads and sets",
        text: include_str!("environment.txt"),
    },
    Topic {
        name: "exit_codes",
        aliases: &["exit_code", "errors"],
        about: "What the code at the end of a command means",
        text: include_str!("exit_codes.txt"),
    },
    Topic {
        name: "filters",
        aliases: &["cel", "include", "exclude"],
        about: "Expressions that choose agents",
        text: include_str!("filters.txt"),
    },
    Topic {
        name: "formats",
        aliases: &["json", "jsonl", "template", "templates", "output"],
        about: "JSON, JSON lines and templates",
        text: include_str!("formats.txt"),
    },
    Topic {
        name: "hosts",
        aliases: &["host", "provider", "providers", "ssh", "docker", "docker_usage"],
        about: "Where agents run, and where hosts come from",
        text: include_str!("hosts.txt"),
    },
    Topic {
        name: "idle",
        aliases: &["idle_detection", "idleness"],
        about: "How long nothing has happened",
        text: include_str!("idle.txt"),
    },
    Topic {
        name: "many",
        aliases: &["multi_target", "targets", "stdin"],
        about: "Commands for many agents at once",
        text: include_str!("many.txt"),
    },
    Topic {
        name: "settings",
        aliases: &["configuration", "trust"],
        about: "Where settings come from, and which win",
        text: include_str!("settings.txt"),
    },
    Topic {
        name: "snapshots",
        aliases: &["snapshot"],
        about: "Copies of whole hosts",
        text: include_str!("snapshots.txt"),
    },
    Topic {
        name: "states",
        aliases: &["state", "lifecycle"],
        about: "What agents are doing, and how mngr knows",
        text: include_str!("states.txt"),
    },
    Topic {
        name: "tmux",
        aliases: &["terminal", "terminals"],
        about: "The server the agents are in, and its keys",
        text: include_str!("tmux.txt"),
    },
];

/// The page of these words. `exit codes`, `exit-codes` and `exit_codes` are the same.
pub(crate) fn find<S: AsRef<str>>(words: &[S]) -> Option<&'static Topic> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let wanted = words.join("_").replace(['-', ' '], "_").to_lowercase();
    let is_wanted = |topic: &&Topic| topic.name == wanted || topic.aliases.contains(&wanted.as_str());
    ALL.iter().find(is_wanted)
}
