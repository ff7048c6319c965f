//! The commits of an agent: into a quarantine, checked, and compared with what the outcome says of them.
//!
//! Processes: two to make the quarantine, three to take the bundle in, one to list the commits, one for their changes and
//! those of the rules. The user's repository is only read.

use std::collections::BTreeSet;

use mngr_host::file_reader::FileReader;
use mngr_host::git::{CommitInfo, GitError};
use mngr_model::HostPath;
use mngr_model::quote::excerpt;
use mngr_model::run::ChangeKind;
use mngr_model::run::outcome::Change;
use mngr_query::sanitize;

use super::pack::{BundleHeader, look_through};
use super::{Expected, IntakeError, Refusal};
use crate::verify::{Changed, CommitFacts, breaches};

/// So many breaches are told at once.
const TOLD: usize = 20;

/// Takes the commits in and returns them, oldest first.
pub(super) fn take_commits(
    bundle: &HostPath,
    quarantine: &HostPath,
    expected: &Expected<'_>,
) -> Result<Vec<CommitInfo>, IntakeError> {
    let git = expected.repository;
    let mut reader = FileReader::open(git.host().files(), bundle)?;
    let header = look_through(&mut reader, expected.limits)?;
    check_header(&header, expected)?;
    let quarantine = git.at(quarantine.clone());
    quarantine.init_quarantine(git)?;
    let tip = quarantine.fetch_bundle(bundle, expected.branch).map_err(refused_by_git)?;
    let commits = quarantine.commits_between(expected.base_commit, &tip).map_err(refused_by_git)?;
    check_line(&commits, expected)?;
    Ok(commits)
}

fn check_header(header: &BundleHeader, expected: &Expected<'_>) -> Result<(), Refusal> {
    let names: Vec<_> = header.refs.iter().map(|(name, _)| name.as_str()).collect();
    if names != [format!("refs/heads/{}", expected.branch)] {
        let expected = expected.branch.to_owned();
        return Err(Refusal::Refs { expected, found: excerpt(&names.join(", ")) });
    }
    if header.prerequisites != [expected.base_commit] {
        return Err(Refusal::Base { base: expected.base_commit.to_owned() });
    }
    Ok(())
}

/// One commit after the other from the base on. A bundle may name the base and still bring a history of its own.
fn check_line(commits: &[CommitInfo], expected: &Expected<'_>) -> Result<(), Refusal> {
    if commits.len() > expected.limits.commits {
        let what = "the number of commits".to_owned();
        return Err(Refusal::TooBig { what, limit: expected.limits.commits as u64, unit: "commits" });
    }
    let mut parent = expected.base_commit;
    for commit in commits {
        if commit.parents != [parent] {
            return Err(Refusal::NotLinear { commit: short(commit) });
        }
        parent = &commit.oid;
    }
    if commits.is_empty() { Err(Refusal::Base { base: expected.base_commit.to_owned() }) } else { Ok(()) }
}

/// Whether the commits are those the outcome speaks of.
pub(super) fn check_claims(commits: &[CommitInfo], changes: &[Change]) -> Result<(), Refusal> {
    let claimed: BTreeSet<ChangeKind> = changes.iter().map(|change| change.kind).collect();
    let mut found = BTreeSet::new();
    for (commit, kind) in commits.iter().zip(check_tags(commits)?) {
        if !claimed.contains(&kind) {
            return Err(Refusal::Undeclared { commit: short(commit), kind: kind.name() });
        }
        found.insert(kind);
    }
    match claimed.difference(&found).next() {
        Some(kind) => Err(Refusal::Uncommitted { kind: kind.name() }),
        None => Ok(()),
    }
}

/// The kinds that the commits say they are, one for each.
pub(super) fn check_tags(commits: &[CommitInfo]) -> Result<Vec<ChangeKind>, Refusal> {
    let kind_of = |commit: &CommitInfo| {
        let untagged = || Refusal::Untagged { commit: short(commit), subject: excerpt(commit.subject()) };
        ChangeKind::of_subject(commit.subject()).ok_or_else(untagged)
    };
    commits.iter().map(kind_of).collect()
}

/// Whether the commits leave alone what no agent may change. All that they do not is told, so that it can be repaired at
/// once.
pub(super) fn check_rules(
    commits: &[CommitInfo],
    quarantine: &HostPath,
    expected: &Expected<'_>,
) -> Result<(), IntakeError> {
    let (Some(rules), Some(tip)) = (expected.rules, commits.last()) else { return Ok(()) };
    let git = expected.repository.at(quarantine.clone());
    let (from, to) = (expected.base_commit, tip.oid.as_str());
    let files = git.patch_between(from, to)?;
    let facts: Vec<CommitFacts> =
        commits.iter().map(|commit| CommitFacts::new(commit, &rules.paths)).collect();
    let found = breaches(&git, rules, &Changed { from, to, commits: &facts, files: &files, script: None })?;
    if found.is_empty() {
        return Ok(());
    }
    let problems = found.iter().take(TOLD).map(|breach| sanitize(&breach.to_string()).into_owned()).collect();
    Err(Refusal::Contract { problems }.into())
}

fn short(commit: &CommitInfo) -> String {
    commit.oid.chars().take(12).collect()
}

/// What git says of the bundle is for the agent; that git is missing or too slow is not.
fn refused_by_git(error: GitError) -> IntakeError {
    match error {
        GitError::Failed { stderr, .. } => Refusal::Bundle { message: excerpt(&stderr) }.into(),
        GitError::Unreadable { .. } | GitError::UnknownRevision { .. } => {
            Refusal::Bundle { message: "git does not accept it".to_owned() }.into()
        }
        other => other.into(),
    }
}
