//! What the user can do about a cause that many verbs meet, whatever the command was.

use std::error::Error;

use mngr_host::beneath::LinkInTheWay;
use mngr_host::provider::{is_refusal, lost_host};
use mngr_host::tmux::TmuxError;

/// What to do about a link that is in the way.
const BEHIND_LINK: &str = "an agent may have made the link: look where it leads, then remove it or name a destination that is not behind it";

/// The hints that follow from what is behind an error.
pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut hints = hints_for_terminals(error);
    hints.extend(LinkInTheWay::of(error).map(|_| BEHIND_LINK.to_owned()));
    hints.extend(lost_host(error).filter(|_| !is_refusal(error)).map(|host| {
        let host = mngr_query::sanitize(host);
        format!("see whether host `{host}` runs and can be reached: `mngr list --hosts` shows its state")
    }));
    hints
}

/// What can be done where an agent's terminal is on a tmux server that this command does not reach. Many verbs meet it.
fn hints_for_terminals(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut next = Some(error);
    while let Some(cause) = next {
        next = cause.source();
        match cause.downcast_ref::<TmuxError>() {
            Some(TmuxError::Elsewhere { .. }) => {
                return vec![
                    "`mngr stop AGENT` ends the agent by its processes; then `mngr start AGENT` runs it on the server \
                     that answers"
                        .to_owned(),
                    "`mngr doctor` says which agents are on which server".to_owned(),
                ];
            }
            Some(TmuxError::OtherSocket { socket, .. }) => {
                // `DIR/tmux-0/mngr`
                let folder = socket.rsplitn(3, '/').nth(2).unwrap_or_default();
                return vec![format!("run it again with `TMUX_TMPDIR={folder}`")];
            }
            _ => {}
        }
    }
    Vec::new()
}
