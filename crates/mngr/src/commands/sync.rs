//! What `pull` and `push` share on the command line: options, ends, and how the result is shown.

use clap::{Args, ValueEnum};
use mngr_model::address::{AgentAddress, Location, LocationPath};
use mngr_model::quote::sh_quote;
use mngr_model::{AgentName, HostPath};
use mngr_ops::stop::StopError;
use mngr_ops::sync::{
    Afterwards, BranchChange, BranchReport, Effect, Extraneous, FileChangeKind, FilesReport, MergeKind,
    MergeReport, SetAside, SetAsideState, SyncError, SyncOptions, SyncReport, UncommittedChanges,
};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// How many file names a person is shown.
const SHOWN_FILES: usize = 20;

/// What can be done about uncommitted changes.
const OUT_OF_THE_WAY: &str = "`--uncommitted-changes stash` sets them aside, `merge` also brings them back on top, `clobber` overwrites them";

/// What is brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncMode {
    /// Commits.
    Git,
    /// Files, committed or not.
    Files,
    /// Commits, and uncommitted work on top.
    Full,
}

/// What happens to uncommitted work at the destination that stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Uncommitted {
    /// Nothing is done at all.
    Fail,
    /// It is set aside.
    Stash,
    /// It is set aside and brought back on top.
    Merge,
    /// It is overwritten.
    Clobber,
}

impl From<Uncommitted> for UncommittedChanges {
    fn from(word: Uncommitted) -> Self {
        match word {
            Uncommitted::Fail => Self::Fail,
            Uncommitted::Stash => Self::Stash,
            Uncommitted::Merge => Self::Merge,
            Uncommitted::Clobber => Self::Clobber,
        }
    }
}

// Not a doc comment: clap would show it as the description of both verbs.
#[derive(Debug, Clone, Args)]
pub(crate) struct SyncArgs {
    /// What to bring: commits, files, or both [default: git; files for a path]
    #[arg(long, value_enum, value_name = "MODE", help_heading = "OPTIONS")]
    pub(crate) sync_mode: Option<SyncMode>,

    /// Also delete files that only the destination has
    #[arg(long, help_heading = "OPTIONS")]
    delete: bool,

    /// What happens to uncommitted changes that are in the way
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail", help_heading = "OPTIONS")]
    uncommitted_changes: Uncommitted,

    /// Stop the agent afterwards
    #[arg(long, help_heading = "OPTIONS")]
    stop: bool,

    /// Show what would be done
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,
}

impl SyncArgs {
    /// How to go about it.
    pub(crate) fn options(&self) -> SyncOptions {
        SyncOptions {
            uncommitted: self.uncommitted_changes.into(),
            effect: if self.dry_run { Effect::DryRun } else { Effect::Real },
            afterwards: if self.stop { Afterwards::Stop } else { Afterwards::Leave },
        }
    }

    /// What happens to files that only the destination has.
    pub(crate) fn extraneous(&self) -> Extraneous {
        if self.delete { Extraneous::Delete } else { Extraneous::Keep }
    }

    /// Refuses `--delete` where no files are copied.
    pub(crate) fn require_files_for_delete(&self) -> Result<(), CliError> {
        if self.delete {
            return Err(CliError::usage(
                "`--delete` needs `--sync-mode files` or a path: a branch deletes nothing",
            ));
        }
        Ok(())
    }
}

/// The agent's end: `AGENT` or `AGENT:PATH`.
pub(crate) fn agent_end(word: &str) -> Result<(AgentAddress, Option<LocationPath>), CliError> {
    match word.parse()? {
        Location::Agent { address, path } => Ok((address, path)),
        Location::Local(_) | Location::Host { .. } => {
            let text = format!("`{}` is not an agent: expected AGENT or AGENT:PATH", sanitize(word));
            Err(CliError::usage(text))
        }
    }
}

/// The user's end: a path on this machine, in any of its spellings.
pub(crate) fn local_end(ctx: &Ctx, word: &str) -> Result<LocationPath, CliError> {
    let plain = word.strip_prefix(':').unwrap_or(word);
    let path = match plain.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = ctx.surroundings.path("~").to_string();
            LocationPath::new(&format!("{home}{rest}"))
        }
        _ => LocationPath::new(plain),
    };
    path.ok_or_else(|| CliError::usage("the path is empty"))
}

/// Which way it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the agent.
    Pull,
    /// To the agent.
    Push,
}

/// What was brought.
pub(crate) struct SyncResult {
    /// Which way it went.
    pub(crate) way: Way,
    /// What was done.
    pub(crate) report: SyncReport,
    /// What was asked for.
    pub(crate) options: SyncOptions,
}

impl Report for SyncResult {
    fn is_confirmation(&self) -> bool {
        !self.report.is_dry_run
    }

    fn human(&self, _console: &Console) -> String {
        let SyncReport { branch, merge, files, uncommitted, is_dry_run, agent_name, .. } = &self.report;
        let mut text = Vec::new();
        if let (Some(branch), Way::Pull) = (branch, self.way) {
            text.extend(branch_lines(branch, *is_dry_run));
        }
        if let (Some(merge), Some(branch)) = (merge, branch) {
            text.push(merge_line(merge, branch, *is_dry_run));
        }
        text.extend(files.iter().flat_map(|files| file_lines(files, *is_dry_run)));
        text.extend(uncommitted.iter().map(set_aside_line));
        text.extend(not_committed_lines(&self.report));
        match (self.options.afterwards, is_dry_run) {
            (Afterwards::Leave, _) => {}
            (Afterwards::Stop, false) => text.push(format!("Stopped agent: {agent_name}")),
            (Afterwards::Stop, true) => text.push(format!("Would stop agent: {agent_name}")),
        }
        lines(text.iter().map(|line| sanitize(line).into_owned()))
    }

    fn json(&self) -> Value {
        json!(self.report)
    }

    fn events(&self) -> Vec<Value> {
        let name = match self.way {
            Way::Pull => "pull_result",
            Way::Push => "push_result",
        };
        vec![event(name, self.json())]
    }
}

fn branch_lines(branch: &BranchReport, is_dry_run: bool) -> Vec<String> {
    let name = &branch.name;
    let what = match (branch.change, is_dry_run) {
        (BranchChange::Shared, _) => format!("Branch {name} is in this repository already"),
        (BranchChange::Created, false) => format!("Pulled branch {name}"),
        (BranchChange::Created, true) => format!("Would pull branch {name}"),
        (BranchChange::FastForwarded, false) => format!("Updated branch {name}"),
        (BranchChange::FastForwarded, true) => format!("Would update branch {name}"),
        (BranchChange::UpToDate, _) => format!("Branch {name} is up to date"),
        // The line about the merge says it all.
        (BranchChange::Merged, _) => return Vec::new(),
    };
    let compared = branch.compared_to.as_ref().map(|other| match (branch.ahead, branch.behind) {
        (0, 0) => format!(", the same as {other}"),
        (ahead, 0) => format!(", {} ahead of {other}", commits(ahead)),
        (0, behind) => format!(", {} behind {other}", commits(behind)),
        (ahead, behind) => format!(", {} ahead of {other} and {behind} behind", commits(ahead)),
    });
    let mut text = vec![format!("{what}{}", compared.unwrap_or_default())];
    text.extend(branch.merge_command.iter().map(|command| format!("To merge it: {command}")));
    text
}

fn merge_line(merge: &MergeReport, branch: &BranchReport, is_dry_run: bool) -> String {
    let (from, into, brought) = (&branch.name, &merge.into, commits(merge.commits));
    match (merge.outcome, is_dry_run) {
        (MergeKind::UpToDate, _) => format!("Branch {into} already has everything of {from}"),
        (MergeKind::FastForward, false) => format!("Fast-forwarded {into} to {from} ({brought})"),
        (MergeKind::FastForward, true) => format!("Would fast-forward {into} to {from} ({brought})"),
        (MergeKind::Merged, false) => format!("Merged {from} into {into} ({brought})"),
        (MergeKind::Merged, true) => format!("Would merge {from} into {into} ({brought})"),
    }
}

fn file_lines(files: &FilesReport, is_dry_run: bool) -> Vec<String> {
    let (copy, delete) = if is_dry_run { ("Would copy", "delete") } else { ("Copied", "deleted") };
    let deleted = if files.deleted > 0 { format!(", {delete} {}", files.deleted) } else { String::new() };
    let mut text = vec![format!("{copy} {} file(s) to {}{deleted}", files.written, files.to)];
    text.extend(files.changes.iter().take(SHOWN_FILES).map(|file| match file.change {
        FileChangeKind::New => format!("  new      {}", file.path),
        FileChangeKind::Changed => format!("  changed  {}", file.path),
        FileChangeKind::Deleted => format!("  deleted  {}", file.path),
    }));
    if files.changes.len() > SHOWN_FILES {
        text.push(format!("  and {} more", files.changes.len() - SHOWN_FILES));
    }
    text
}

/// What the agent has and no commit does, and how to get it.
fn not_committed_lines(report: &SyncReport) -> Vec<String> {
    let SyncReport { agent_name, not_committed, merge, .. } = report;
    if not_committed.is_empty() {
        return Vec::new();
    }
    let count = match not_committed.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let mut text = vec![format!("Not pulled: agent {agent_name} has not committed {count}")];
    text.extend(not_committed.iter().take(SHOWN_FILES).map(|file| format!("  {file}")));
    if not_committed.len() > SHOWN_FILES {
        text.push(format!("  and {} more", not_committed.len() - SHOWN_FILES));
    }
    let mode = if merge.is_some() { "full" } else { "files" };
    text.push(format!("To get them too: mngr pull {agent_name} --sync-mode {mode}"));
    text
}

/// What became of uncommitted work.
pub(crate) fn set_aside_line(aside: &SetAside) -> String {
    let checkout = &aside.checkout;
    let stash = format!("git -C {} stash", sh_quote(checkout.as_str()));
    match (aside.state, &aside.stash) {
        (SetAsideState::Restored, _) => format!("Uncommitted changes in {checkout} are back on top"),
        (SetAsideState::Stashed, _) => {
            format!("Uncommitted changes in {checkout} are in the stash: {stash} pop")
        }
        (SetAsideState::Overwritten, Some(oid)) => {
            format!(
                "Uncommitted changes in {checkout} were overwritten; git still has them: {stash} apply {oid}"
            )
        }
        (SetAsideState::Overwritten, None) => format!("Untracked files in {checkout} were overwritten"),
    }
}

fn commits(count: u64) -> String {
    if count == 1 { "1 commit".to_owned() } else { format!("{count} commits") }
}

/// What went wrong, and what the user can do about it.
pub(crate) fn failure(error: SyncError, way: Way, agent: &AgentName) -> CliError {
    let hint = way_out(&error, way, agent);
    hint.into_iter().fold(plain_failure(error), CliError::hinted)
}

/// The same for a copy of files, whoever they belong to.
pub(crate) fn copy_failure(error: SyncError) -> CliError {
    let hint = matches!(error, SyncError::InTheWay { .. }).then_some(OUT_OF_THE_WAY);
    hint.into_iter().fold(plain_failure(error), CliError::hinted)
}

fn plain_failure(error: SyncError) -> CliError {
    let kind = match &error {
        error if error.is_interrupted() => ErrorKind::Interrupted,
        SyncError::Stop(StopError::ProcessesRemain { .. }) => ErrorKind::ProcessesRemain,
        _ => ErrorKind::Failed,
    };
    let files = error.files().to_vec();
    let failure = CliError::new(kind, error);
    if files.is_empty() { failure } else { failure.with("files", files) }
}

fn way_out(error: &SyncError, way: Way, agent: &AgentName) -> Option<String> {
    let git = |checkout: &HostPath| format!("git -C {}", sh_quote(checkout.as_str()));
    Some(match error {
        SyncError::AgentWithoutGit { .. } => "`--sync-mode files` copies files instead".to_owned(),
        SyncError::Destroyed { name } => format!("`mngr undo {name}` brings it back"),
        SyncError::NotARepository { .. } => "stand in the repository meant, or name it".to_owned(),
        SyncError::Detached { checkout } => format!("`{} switch -c NAME` puts it on a branch", git(checkout)),
        SyncError::NoSuchBranch { branch, .. } => format!("`git branch {}` makes it", sh_quote(branch)),
        SyncError::OtherRepository { .. } => {
            format!("stand in a checkout of the repository that agent `{agent}` works on")
        }
        SyncError::Diverged { branch, .. } => {
            let kept = format!("{branch}-mine");
            let rename = format!("git branch -m {} {}", sh_quote(branch), sh_quote(&kept));
            format!("keep yours under another name with `{rename}`, then pull again")
        }
        SyncError::CheckedOut { at, .. } => {
            format!("run `mngr pull {agent} --merge` in {}", sh_quote(at.as_str()))
        }
        SyncError::Conflict { branch, .. } if way == Way::Pull => {
            format!("`mngr pull {agent}`, then `git merge {}` lets you resolve it", sh_quote(branch))
        }
        SyncError::Conflict { .. } => format!("`mngr pull {agent}`, merge and resolve here, then push again"),
        SyncError::OverlayConflict { .. } => "`--sync-mode git` brings the commits alone".to_owned(),
        SyncError::InTheWay { .. } => OUT_OF_THE_WAY.to_owned(),
        SyncError::NotBroughtBack { checkout, .. } => {
            format!("resolve what git has marked, then `{} stash drop`", git(checkout))
        }
        SyncError::LeftAside { checkout, stash, .. } => {
            format!("`{} stash apply {stash}` brings them back", git(checkout))
        }
        SyncError::CannotDelete { .. } => "leave `--delete` out, or name a folder as AGENT:PATH".to_owned(),
        SyncError::NoSource { .. } => "name it after the place: `mngr push AGENT:PATH SOURCE`".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(change: BranchChange, ahead: u64, behind: u64) -> BranchReport {
        BranchReport {
            name: "mngr/foo".to_owned(),
            change,
            commit: "abc".to_owned(),
            compared_to: Some("main".to_owned()),
            ahead,
            behind,
            merge_command: (ahead > 0).then(|| "git merge mngr/foo".to_owned()),
        }
    }

    #[test]
    fn a_branch_is_told_with_its_counts_and_the_command_that_merges_it() {
        let told = branch_lines(&branch(BranchChange::Created, 2, 1), false);
        let expected = "Pulled branch mngr/foo, 2 commits ahead of main and 1 behind";
        assert_eq!(told, [expected, "To merge it: git merge mngr/foo"]);
        let told = branch_lines(&branch(BranchChange::Shared, 0, 0), false);
        assert_eq!(told, ["Branch mngr/foo is in this repository already, the same as main"]);
    }

    #[test]
    fn only_agents_have_an_end_there() {
        let (address, path) = agent_end("foo:dir/").unwrap();
        assert_eq!((address.to_string(), path.unwrap().to_string()), ("foo".to_owned(), "dir/".to_owned()));
        for word in ["./foo", "@host:/x", ":x"] {
            assert_eq!(agent_end(word).unwrap_err().kind, ErrorKind::Usage, "{word}");
        }
    }

    #[test]
    fn files_in_the_way_are_listed_for_scripts() {
        let error = SyncError::InTheWay { checkout: "/r".into(), files: vec!["a".to_owned()] };
        let failure = failure(error, Way::Pull, &"foo".parse().unwrap());
        assert_eq!(failure.to_json()["files"], json!(["a"]));
        assert!(failure.hints[0].contains("--uncommitted-changes stash"));
    }
}
