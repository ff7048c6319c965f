//! Tools with their versions, the room on the disk, and whether the host dir can be written. One process per host.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_host::proc::Cmd;
use mngr_host::remote::{OLDEST_GIT, OLDEST_TMUX, Version};

use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::world::World;

const TOOLS: &str = "tools";
const DISK: &str = "disk";
const HOST_DIR: &str = "host_dir";

/// A machine that takes longer for this has other troubles.
const DEADLINE: Duration = Duration::from_secs(10);

/// Prints `tool NAME VERSION`, `missing NAME`, `space KB_FREE` and `read_only`.
const SCRIPT: &str = r#"for tool in tmux git rsync flock ssh; do
    if ! command -v "$tool" >/dev/null 2>&1; then echo "missing $tool"; continue; fi
    case $tool in
    tmux) echo "tool tmux $(tmux -V 2>&1)" ;;
    git) echo "tool git $(git --version 2>&1)" ;;
    *) echo "tool $tool" ;;
    esac
done
[ -w "$1" ] || echo read_only
df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print "space " $4 }'"#;

/// Below this much, checkouts fail.
const LITTLE: u64 = 1 << 30;
/// Below this much, nothing can be relied on.
const NOTHING: u64 = 64 << 20;

/// Which hosts need a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// All.
    Everywhere,
    /// Those that are not this machine: their locks are taken by a program.
    Elsewhere,
    /// None; something can be done without it.
    Nowhere,
}

/// The tools, what each needs and what it is for.
const NEEDED: [(&str, Need, &str); 5] = [
    ("tmux", Need::Everywhere, "agents run in it"),
    ("git", Need::Everywhere, "agents work in its worktrees"),
    ("rsync", Need::Nowhere, "`rsync`, and files that `push` and `pull` carry, need it"),
    ("flock", Need::Elsewhere, "commands that work on the same host wait for each other with it"),
    ("ssh", Need::Nowhere, "other machines are reached by it"),
];

/// Checks the machine of a host.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let host = place.host.as_ref();
    let cmd = Cmd::shell(SCRIPT).arg("look").arg(host.layout().root().as_str()).deadline(DEADLINE);
    match host.exec(&cmd) {
        Ok(output) => {
            let facts = Facts::read(&output.stdout_text());
            let client = world.is_client(host);
            let mut found = facts.tools(client);
            found.push(facts.disk());
            found.extend(facts.host_dir());
            found
        }
        Err(error) => vec![unknown(TOOLS, &error)],
    }
}

/// What the script printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    tools: BTreeMap<String, String>,
    free: Option<u64>,
    is_read_only: bool,
}

impl Facts {
    fn read(text: &str) -> Self {
        let mut facts = Self::default();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "tool" => {
                    let (name, version) = rest.split_once(' ').unwrap_or((rest, ""));
                    facts.tools.insert(name.to_owned(), version.to_owned());
                }
                "space" => facts.free = rest.trim().parse::<u64>().ok().map(|kb| kb.saturating_mul(1024)),
                "read_only" => facts.is_read_only = true,
                _ => {}
            }
        }
        facts
    }

    fn tools(&self, is_client: bool) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut there = Vec::new();
        for (name, need, purpose) in NEEDED {
            let is_needed = need == Need::Everywhere || (need == Need::Elsewhere && !is_client);
            let Some(said) = self.tools.get(name) else {
                // Nobody goes on to a third machine from the second, and locks of this one need no program.
                let is_used = is_needed || (is_client && need == Need::Nowhere);
                let lacks = format!("`{name}` is not on the PATH there");
                let missing =
                    if is_needed { Finding::fail(TOOLS, lacks) } else { Finding::warn(TOOLS, lacks) };
                found.extend(is_used.then(|| missing.because(purpose).advise(format!("install {name}"))));
                continue;
            };
            let oldest = match name {
                "tmux" => Some(OLDEST_TMUX),
                "git" => Some(OLDEST_GIT),
                _ => None,
            };
            let version = Version::in_text(said);
            match (oldest, version) {
                (Some(oldest), Some(version)) if version < oldest => found.push(
                    Finding::fail(TOOLS, format!("{name} is {version}; {oldest} or later is needed"))
                        .because(purpose)
                        .advise(format!("install a newer {name}")),
                ),
                (_, Some(version)) => there.push(format!("{name} {version}")),
                (_, None) => there.push(name.to_owned()),
            }
        }
        if found.is_empty() {
            found.push(Finding::ok(TOOLS, there.join(", ")));
        }
        found
    }

    fn disk(&self) -> Finding {
        let Some(free) = self.free else {
            return Finding::warn(DISK, "how much room there is cannot be told")
                .because("`df` did not say")
                .advise("look with `df`");
        };
        let text = format!("{:.1} GB are free", free as f64 / 1e9);
        let full = if free < NOTHING { Finding::fail(DISK, text) } else { Finding::warn(DISK, text) };
        match free {
            LITTLE.. => Finding::ok(DISK, format!("{:.1} GB are free", free as f64 / 1e9)),
            _ => full
                .because("checkouts fail when the disk is full")
                .advise("make room; `mngr gc --dry-run` shows what mngr could delete"),
        }
    }

    fn host_dir(&self) -> Option<Finding> {
        self.is_read_only.then(|| {
            Finding::fail(HOST_DIR, "the host dir cannot be written")
                .because("every change of an agent is written there")
                .advise("make it writable for you, or name another one with `default_host_dir`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    fn worst(text: &str, is_client: bool) -> Vec<(Status, String)> {
        let told = Facts::read(text).tools(is_client).into_iter();
        told.map(|finding| (finding.status, finding.what)).collect()
    }

    #[test]
    fn an_old_or_missing_tool_is_told_and_only_where_it_is_needed() {
        let all = "tool tmux tmux 3.4\ntool git git version 2.43.0\ntool rsync\ntool flock\ntool ssh\n";
        assert_eq!(worst(all, false), [(Status::Ok, "tmux 3.4, git 2.43, rsync, flock, ssh".to_owned())]);
        let old = all.replace("3.4", "2.9a");
        assert_eq!(worst(&old, true), [(Status::Fail, "tmux is 2.9; 3.0 or later is needed".to_owned())]);
        let bare =
            "tool tmux tmux next-3.5\ntool git git version 2.43.0\nmissing rsync\nmissing flock\nmissing ssh";
        let lacks = |status, name: &str| (status, format!("`{name}` is not on the PATH there"));
        assert_eq!(worst(bare, true), [lacks(Status::Warn, "rsync"), lacks(Status::Warn, "ssh")]);
        assert_eq!(worst(bare, false), [lacks(Status::Fail, "flock")]);
        assert_eq!(worst("missing git\ntool tmux tmux 3.4", false)[0], lacks(Status::Fail, "git"));
    }

    #[test]
    fn a_full_disk_and_a_folder_that_cannot_be_written_are_told() {
        let disk = |text: &str| Facts::read(text).disk().status;
        assert_eq!(disk("space 52428800"), Status::Ok);
        assert_eq!(disk("space 524288"), Status::Warn);
        assert_eq!(disk("space 1024"), Status::Fail);
        assert_eq!(disk(""), Status::Warn);
        assert_eq!(Facts::read("space 1\nread_only").host_dir().unwrap().status, Status::Fail);
        assert!(Facts::read("space 1").host_dir().is_none());
    }
}
