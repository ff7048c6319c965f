//! What keeps a container running, and what the way it ended says.
//!
//! The engine keeps the exit code of a container for as long as it keeps the container, and shows it to everybody: no
//! other record of why a host stopped is needed.

use mngr_model::state::HostState;

/// The script that a container runs below its init.
pub(crate) const KEEPER: &str = include_str!("keeper.sh");
/// The signal that says: stop, because nobody is using this host. Also for a watcher inside.
pub(crate) const IDLE_SIGNAL: &str = "SIGUSR1";

/// How it ends when it is stopped.
const STOPPED: i32 = 0;
/// How it ends when it is idle.
const IDLE: i32 = 75;

/// The state of a container, from what a listing says: `running`, and `Up 3 hours` or `Exited (75) 2 days ago`.
pub(crate) fn state(word: &str, status: &str) -> HostState {
    match word {
        "running" => HostState::Running,
        "created" | "restarting" => HostState::Starting,
        "paused" => HostState::Paused,
        "removing" => HostState::Stopping,
        "exited" => match exit_code(status) {
            Some(STOPPED) => HostState::Stopped,
            Some(IDLE) => HostState::Paused,
            _ => HostState::Crashed,
        },
        "dead" => HostState::Crashed,
        _ => HostState::Unknown,
    }
}

fn exit_code(status: &str) -> Option<i32> {
    status.strip_prefix("Exited (")?.split_once(')')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_tells_a_stop_from_an_idle_stop_and_a_crash() {
        assert_eq!(state("exited", "Exited (0) 2 days ago"), HostState::Stopped);
        assert_eq!(state("exited", "Exited (75) 1 second ago"), HostState::Paused);
        assert_eq!(state("exited", "Exited (137) 1 second ago"), HostState::Crashed);
        assert_eq!(state("exited", "gone"), HostState::Crashed);
        assert_eq!(state("running", "Up 3 hours"), HostState::Running);
        assert_eq!(state("sleeping", ""), HostState::Unknown);
    }
}
