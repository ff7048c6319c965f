//! Lock files that a git which died has left in a repository. No process, unless there is one.
//!
//! Git makes such a file before it changes something and refuses to work while it is there. Whose it is cannot be read
//! from it. The one that a dead command of ours has left is known by that command's journal: it names the repository, the
//! lock is not older than the journal, everything the command had started is ended, and no other git lives that could
//! have made it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mngr_host::host::Host;
use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use mngr_model::journal::Step;

/// The lock files that all checkouts of a repository share.
pub(crate) const SHARED: [&str; 3] = ["packed-refs.lock", "config.lock", "shallow.lock"];
/// Those of one checkout.
pub(crate) const OF_CHECKOUT: [&str; 2] = ["index.lock", "HEAD.lock"];
/// The process table is read in moments.
const DEADLINE: Duration = Duration::from_secs(10);
/// By how much the clocks of two machines may differ.
const CLOCKS: SignedDuration = SignedDuration::from_secs(2);

/// Succeeds when a git works in one of the folders `$@`, or was given one of them, or when that cannot be told. Those that
/// only answer questions live long and take no lock.
const IS_BUSY: &str = r#"[ -d /proc/self ] || exit 0
for process in /proc/[0-9]*; do
    case $(cat "$process/comm" 2>/dev/null) in git*) ;; *) continue ;; esac
    words=$(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)
    case $words in '' | *' fsmonitor--daemon '* | *' cat-file '* | *credential-cache--daemon*) continue ;; esac
    cwd=$(readlink "$process/cwd" 2>/dev/null) || { [ ! -e "$process" ] || exit 0; continue; }
    for folder; do
        case $cwd/ in "$folder"/*) exit 0 ;; esac
        case $words in *"$folder"*) exit 0 ;; esac
    done
done
exit 1"#;

/// What a lock is for: where a git that holds it may be at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// This checkout.
    Checkout(HostPath),
    /// The repository with this shared folder, in any of its checkouts.
    Repository(HostPath),
}

impl Scope {
    fn folders(&self, host: &dyn Host) -> Vec<HostPath> {
        let real = |path: &HostPath| host.files().canonical(path).unwrap_or_else(|_| path.clone());
        match self {
            Self::Checkout(root) => vec![real(root)],
            Self::Repository(shared) => {
                let mut folders = vec![real(shared)];
                let own = shared.parent().filter(|_| shared.file_name() == Some(".git"));
                folders.extend(own.as_ref().map(real));
                let linked = shared.join("worktrees");
                for entry in host.files().list(&linked).unwrap_or_default() {
                    let told = host.files().read_text(&linked.join(&entry.name).join("gitdir"));
                    let checkout = told.ok().and_then(|text| HostPath::new(text.trim_end()).parent());
                    folders.extend(checkout.as_ref().map(real));
                }
                folders
            }
        }
    }
}

/// Whether somebody may still need a lock.
pub(crate) fn is_busy(host: &dyn Host, scope: &Scope) -> bool {
    let folders = scope.folders(host).into_iter().map(|folder| folder.to_string());
    let cmd = Cmd::shell(IS_BUSY).arg("look").args(folders).deadline(DEADLINE);
    host.exec(&cmd).map_or(true, |output| output.success())
}

/// Removes what a command that died has left in the repositories of its journal; nothing of it runs any more.
pub(crate) fn remove_left(host: &dyn Host, steps: &[Step], since: Timestamp) {
    let mut repositories: Vec<&HostPath> = Vec::new();
    let mut names = Vec::new();
    for step in steps {
        match step {
            Step::Worktree { repository, .. } => repositories.push(repository),
            Step::Branch { repository, name, .. } => {
                repositories.push(repository);
                names.push(format!("refs/heads/{name}.lock"));
            }
            _ => {}
        }
    }
    repositories.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    repositories.dedup();
    names.extend(SHARED.iter().chain(&OF_CHECKOUT).map(|name| (*name).to_owned()));
    for repository in repositories {
        let locks: Vec<HostPath> = names.iter().map(|name| repository.join(name)).collect();
        let left = later_than(host, locks, since);
        if left.is_empty() || is_busy(host, &Scope::Repository(repository.clone())) {
            continue;
        }
        for path in left {
            // Where it cannot be removed, whatever is done there next says so.
            let _ = host.files().remove_file(&path);
        }
    }
}

fn later_than(host: &dyn Host, locks: Vec<HostPath>, since: Timestamp) -> Vec<HostPath> {
    let Ok(stats) = host.files().stat_all(&locks) else { return Vec::new() };
    let is_later = |modified: Timestamp| modified.duration_since(since) >= -CLOCKS;
    let found = locks.into_iter().zip(stats);
    let left = found.filter(|(_, stat)| stat.as_ref().and_then(|stat| stat.modified).is_some_and(is_later));
    left.map(|(path, _)| path).collect()
}
