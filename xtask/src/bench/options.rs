//! What a person can ask of the benchmark.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

/// Options of `cargo xtask bench`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Take a fifth of the samples
    #[arg(long)]
    quick: bool,
    /// Run this case only (can be repeated)
    #[arg(long, value_enum, value_name = "CASE")]
    only: Vec<Case>,
    /// Compare with another release binary instead: the two take turns, case by case
    #[arg(long, value_name = "BINARY")]
    baseline: Option<PathBuf>,
    /// Measure this release binary instead of building one
    #[arg(long, value_name = "BINARY")]
    binary: Option<PathBuf>,
    /// How often the two binaries take turns at a case
    #[arg(long, value_name = "N", default_value_t = 5, requires = "baseline")]
    turns: usize,
}

impl Options {
    /// How many samples to take.
    pub(crate) fn effort(&self) -> Effort {
        if self.quick { Effort::Quick } else { Effort::Full }
    }

    /// The cases that were asked for, in the order in which they run.
    pub(crate) fn cases(&self) -> impl Iterator<Item = Case> {
        let wanted = |case: &&Case| self.only.is_empty() || self.only.contains(case);
        Case::value_variants().iter().filter(wanted).copied()
    }

    /// How often two binaries take turns at a case.
    pub(crate) fn turns(&self) -> usize {
        self.turns
    }

    /// The binary to measure, unless one is to be built.
    pub(crate) fn binary(&self) -> Option<&Path> {
        self.binary.as_deref()
    }

    /// The binary to compare with.
    pub(crate) fn baseline(&self) -> Option<&Path> {
        self.baseline.as_deref()
    }
}

/// One line, or a few that belong together, of the benchmark's table. Declared in the order in which they run: those
/// that share a fleet stand together, by its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// `--version` against `/bin/true`
    Version,
    /// A TAB where there are 500 agents
    Completion,
    /// `list` of 100 agents against one `tmux list-panes -a`
    #[value(name = "list-100")]
    List100,
    /// `exec` against `sh -c`
    Exec,
    /// `message` to an agent that reads lines
    Message,
    /// CPU time of 100 agents at rest
    Idle,
    /// `stop` of a running agent
    Stop,
    /// `list` of 100 coding agents, which keep a status file, against one `tmux list-panes -a`
    // Last of those on a hundred: it marks the agents as another type.
    #[value(name = "list-status")]
    ListStatus,
    /// `list` of 1,000 agents: time, memory, and whether it needs another program
    #[value(name = "list-1000")]
    List1000,
    /// `create` against `git worktree add` and `tmux new-session`
    Create,
    /// 50 `create` at once against 50 `git worktree add` in a row
    #[value(name = "create-50")]
    Create50,
    /// Recording an agent: a flood, a steady stream, and tmux's memory when the recorder stalls
    Record,
    /// `replay` of a recording of 100 MB
    Replay,
    /// `tutorial check` and `tutorial lint` of 5,000 blocks with as many tests
    Tutorial,
    /// `tmr` with 100 agents that work for 10 s, 20 at once
    #[value(name = "tmr-100")]
    Tmr100,
    /// `tmr` with 500 agents that work for 1 s, 20 at once, and its page
    #[value(name = "tmr-500")]
    Tmr500,
    /// `list` over 20 ssh hosts with 5 agents each against 20 bare `ssh` with the same script
    #[value(name = "ssh-list-20")]
    SshList20,
    /// A look at an ssh host without a connection against a bare new `ssh`
    #[value(name = "ssh-first-contact")]
    SshFirstContact,
    /// `create` on a running container against the bare commands
    #[value(name = "docker-create-warm")]
    DockerCreateWarm,
    /// 100 agents over 10 containers
    #[value(name = "docker-100-over-10")]
    Docker100Over10,
}

/// How many samples to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Quick,
    Full,
}

impl Effort {
    /// The number of samples where `full` is the number that gives a steady median.
    pub(crate) fn rounds(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => full.div_ceil(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Probe {
        #[command(flatten)]
        options: Options,
    }

    fn parsed(args: &[&str]) -> Options {
        Probe::parse_from([&["bench"], args].concat()).options
    }

    #[test]
    fn everything_runs_unless_cases_are_named() {
        assert!(parsed(&[]).cases().eq(Case::value_variants().iter().copied()));
        let some = parsed(&["--only", "list-100", "--only", "version"]);
        assert!(some.cases().eq([Case::Version, Case::List100]));
    }

    #[test]
    fn a_quick_run_still_takes_a_sample() {
        assert_eq!(parsed(&["--quick"]).effort().rounds(3), 1);
        assert_eq!(parsed(&["--quick"]).effort().rounds(100), 20);
        assert_eq!(parsed(&[]).effort().rounds(100), 100);
    }
}
