//! What can go wrong: with a command, with the machine it runs on, and with other machines.

/// One kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fault {
    // With a command.
    KilledClient,
    Interrupt,
    Terminate,
    FrozenClient,
    FullDisk,
    // With a machine.
    KilledTmux,
    RemovedSocket,
    KilledProgram,
    KilledSupervisor,
    // With the way to another machine.
    KilledSession,
    KilledMaster,
    CutLink,
    // With containers.
    StoppedContainer,
    KilledContainer,
    PausedEngine,
}

impl Fault {
    /// Those that happen to a command.
    pub(super) const OF_CLIENTS: &[Self] =
        &[Self::KilledClient, Self::Interrupt, Self::Terminate, Self::FrozenClient, Self::FullDisk];
    /// Those that happen to every machine with agents.
    pub(super) const OF_MACHINES: &[Self] =
        &[Self::KilledTmux, Self::RemovedSocket, Self::KilledProgram, Self::KilledSupervisor];
    /// Those that happen to the way to a machine behind an sshd.
    pub(super) const OF_LINKS: &[Self] = &[Self::KilledSession, Self::KilledMaster, Self::CutLink];
    /// Those that happen to containers.
    pub(super) const OF_CONTAINERS: &[Self] =
        &[Self::StoppedContainer, Self::KilledContainer, Self::PausedEngine];

    /// Its name in variables and reports.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::KilledClient => "killed-client",
            Self::Interrupt => "interrupt",
            Self::Terminate => "terminate",
            Self::FrozenClient => "frozen-client",
            Self::FullDisk => "full-disk",
            Self::KilledTmux => "killed-tmux",
            Self::RemovedSocket => "removed-socket",
            Self::KilledProgram => "killed-program",
            Self::KilledSupervisor => "killed-supervisor",
            Self::KilledSession => "killed-session",
            Self::KilledMaster => "killed-master",
            Self::CutLink => "cut-link",
            Self::StoppedContainer => "stopped-container",
            Self::KilledContainer => "killed-container",
            Self::PausedEngine => "paused-engine",
        }
    }

    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let groups = [Self::OF_CLIENTS, Self::OF_MACHINES, Self::OF_LINKS, Self::OF_CONTAINERS];
        groups.into_iter().flatten().copied()
    }

    /// The one of that name.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::all().find(|fault| fault.word() == word)
    }

    /// Whether an agent may lose what it was just told because of it.
    pub(super) fn disturbs_agents(self) -> bool {
        !matches!(
            self,
            Self::KilledClient | Self::Interrupt | Self::Terminate | Self::FrozenClient | Self::RemovedSocket
        )
    }
}

#[test]
fn every_fault_is_found_by_its_name() {
    assert_eq!(Fault::all().count(), 15);
    assert!(Fault::all().all(|fault| Fault::named(fault.word()) == Some(fault)));
}
