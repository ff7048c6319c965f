//! What many panes show, in one call.
//!
//! Budget: one tmux process, however many panes. The commands go through standard input: the words of a command line
//! travel to the server in one message of at most 16 kB, which some sixty panes would fill.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;

use crate::random;
use crate::tmux::error::TmuxError;
use crate::tmux::server::Tmux;
use crate::tmux::target::{AgentPane, PaneId};

/// What one pane shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneView {
    /// The title its program gave it.
    pub title: String,
    /// When its window last showed something new, to the second.
    pub changed: Option<Timestamp>,
    /// The visible text, with its colours as escape sequences.
    pub screen: String,
}

impl Tmux<'_> {
    /// What these panes show. A pane that is gone, or is another agent's by now, is missing from the answer.
    pub fn views(&self, panes: &[AgentPane]) -> Result<BTreeMap<AgentPane, PaneView>, TmuxError> {
        // Random, so that no screen can hold it.
        let mark = random::hex32();
        let output = self.run(&self.command(None).args(["source-file", "-"]).stdin(script(&mark, panes)))?;
        let mut seen = parse(&mark, &String::from_utf8_lossy(&output.stdout));
        let mut of = |pane: &AgentPane| seen.remove(&(pane.id().clone(), pane.pid()));
        Ok(panes
            .iter()
            .cloned()
            .map(|pane| (of(&pane), pane))
            .filter_map(|(view, pane)| Some((pane, view?)))
            .collect())
    }
}

/// A command that fails would end the rest, so it is asked first whose pane it is. That and the capture are one step of the
/// server.
///
/// The id is printed by tmux: written out, `%4` would be read as a conversion of `strftime`.
fn script(mark: &str, panes: &[AgentPane]) -> String {
    panes.iter().fold(String::new(), |mut script, pane| {
        let (id, condition) = (pane.id(), pane.condition());
        let _ = writeln!(
            script,
            "if-shell -F -t {id} '{condition}' \"display-message -p -t {id} \
             '{mark} #{{pane_id}} #{{pane_pid}} #{{window_activity}} #{{pane_title}}' ; capture-pane -p -e -t {id}\""
        );
        script
    })
}

fn parse(mark: &str, answer: &str) -> BTreeMap<(PaneId, i32), PaneView> {
    // What stands before the first mark belongs to no pane.
    answer.split(&format!("{mark} ")).skip(1).filter_map(parse_one).collect()
}

fn parse_one(part: &str) -> Option<((PaneId, i32), PaneView)> {
    let (head, screen) = part.split_once('\n').unwrap_or((part, ""));
    let mut words = head.splitn(4, ' ');
    let pane = (PaneId::parse(words.next()?)?, words.next()?.parse().ok()?);
    let changed = words.next()?.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let title = words.next().unwrap_or_default().to_owned();
    Some((pane, PaneView { title, changed, screen: screen.trim_end_matches('\n').to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pane_gets_its_own_screen_and_title() {
        let panes = parse("f00", "noise\nf00 %1 41 1700000000 a title\none\n\ntwo\n\n\nf00 %12 42 0 \n\n");
        let first = &panes[&(PaneId::parse("%1").unwrap(), 41)];
        assert_eq!((first.title.as_str(), first.screen.as_str()), ("a title", "one\n\ntwo"));
        assert_eq!(first.changed, Timestamp::from_second(1_700_000_000).ok());
        let second = &panes[&(PaneId::parse("%12").unwrap(), 42)];
        assert_eq!((second.title.as_str(), second.screen.as_str()), ("", ""));
        assert_eq!(panes.len(), 2);
    }
}
