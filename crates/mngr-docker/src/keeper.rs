//! What keeps a container running, and what the way it ended says.
//!
//! The engine keeps the exit code of a container for as long as it keeps the container, and shows it to everybody: no
//! other record of why a host stopped is needed.

use mngr_model::state::HostState;

/// The script that a container runs below its init.
pub(crate) const KEEPER: &str = include_str!("keeper.sh");
/// The script that stops a container from inside; the watcher of activity runs it.
pub(crate) const SHUTDOWN: &str = include_str!("shutdown.sh");
/// The signal that says: stop, because nobody is using this host. Also for a watcher inside.
pub(crate) const IDLE_SIGNAL: &str = "SIGUSR1";

/// How it ends when it is stopped.
const STOPPED: i32 = 0;
/// How it ends when it is idle.
const IDLE: i32 = 75;

/// The state of a container and why it has it, from what a listing says: `running`, and `Up 3 hours` or
/// `Exited (75) 2 days ago`.
pub(crate) fn state(word: &str, status: &str) -> (HostState, Option<String>) {
    let why = |reason: &str| Some(reason.to_owned());
    match word {
        "running" => (HostState::Running, None),
        "created" => (HostState::Starting, why("it was never started")),
        "restarting" => (HostState::Starting, None),
        "paused" => (HostState::Paused, why("its processes are frozen")),
        "removing" => (HostState::Stopping, why("it is being removed")),
        "exited" => match exit_code(status) {
            Some(STOPPED) => (HostState::Stopped, why("it was stopped")),
            Some(IDLE) => (HostState::Paused, why("nobody used it")),
            Some(code) => (HostState::Crashed, Some(format!("it ended with exit code {code}"))),
            None => (HostState::Crashed, why("it ended, and how is not known")),
        },
        "dead" => (HostState::Crashed, why("the engine could not remove it")),
        _ => (HostState::Unknown, why("the engine calls its state by a word that is not known here")),
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
        let state = |word: &str, status: &str| super::state(word, status).0;
        assert_eq!(state("exited", "Exited (0) 2 days ago"), HostState::Stopped);
        assert_eq!(state("exited", "Exited (75) 1 second ago"), HostState::Paused);
        assert_eq!(state("exited", "Exited (137) 1 second ago"), HostState::Crashed);
        assert_eq!(state("exited", "gone"), HostState::Crashed);
        assert_eq!(state("running", "Up 3 hours"), HostState::Running);
        assert_eq!(state("sleeping", ""), HostState::Unknown);
        let reason = super::state("exited", "Exited (137) 1 second ago").1;
        assert_eq!(reason.as_deref(), Some("it ended with exit code 137"));
    }
}
