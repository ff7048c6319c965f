//! The one table of exit codes. No other file knows a number.

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Everything that was asked for is done.
    Done,
    /// Something failed.
    Failed,
    /// The command line is wrong.
    Usage,
    /// Processes may still be running.
    ProcessesRemain,
    /// Local state is left over.
    LocalStateRemains,
    /// Resources of a host are left over.
    HostResourcesRemain,
    /// A provider could not be enumerated.
    ProviderUnavailable,
    /// Delivered, but a dialog blocks the agent.
    Blocked,
    /// The time was up.
    TimedOut,
    /// No such agent or host.
    NotFound,
    /// The user interrupted it.
    Interrupted,
    /// `exec` on one target and `create --foreground`: the program's own code, or one of the two reserved ones of
    /// `exec`.
    Program(u8),
}

impl ExitCode {
    /// `exec` on one target: mngr itself failed, so there is no code of the command.
    pub(crate) const EXEC_FAILED: Self = Self::Program(125);

    /// `exec` on one target: the time was up, so there is no code of the command.
    pub(crate) const EXEC_TIMED_OUT: Self = Self::Program(124);

    /// The code of a program that was run, as a shell reports it.
    pub(crate) fn of_program(code: i32) -> Self {
        Self::Program(u8::try_from(code).unwrap_or(u8::MAX))
    }

    /// The number the shell sees.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::ProcessesRemain => 3,
            Self::LocalStateRemains => 4,
            Self::HostResourcesRemain => 5,
            Self::ProviderUnavailable => 6,
            Self::Blocked => 7,
            Self::TimedOut => 8,
            Self::NotFound => 9,
            Self::Interrupted => 130,
            Self::Program(code) => code,
        }
    }

    /// The code of two outcomes together: the more severe one.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        if other.severity() > self.severity() { other } else { self }
    }

    fn severity(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Blocked => 1,
            Self::Failed | Self::Program(_) => 2,
            Self::NotFound => 3,
            Self::ProviderUnavailable => 4,
            Self::TimedOut => 5,
            Self::LocalStateRemains => 6,
            Self::ProcessesRemain => 7,
            Self::HostResourcesRemain => 8,
            Self::Usage => 9,
            Self::Interrupted => 10,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_failures_give_the_most_severe_code() {
        use ExitCode::*;
        let order = [
            Interrupted,
            HostResourcesRemain,
            ProcessesRemain,
            LocalStateRemains,
            TimedOut,
            ProviderUnavailable,
        ];
        let order = order.into_iter().chain([NotFound, Failed, Blocked, Done]).collect::<Vec<_>>();
        for (index, severe) in order.iter().enumerate() {
            for mild in &order[index..] {
                assert_eq!(severe.and(*mild), *severe);
                assert_eq!(mild.and(*severe), *severe);
            }
        }
        let numbers: Vec<u8> = order.iter().map(|code| code.number()).collect();
        assert_eq!(numbers, [130, 5, 3, 4, 8, 6, 9, 1, 7, 0]);
    }
}
