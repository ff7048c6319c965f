//! The order of the checks, and the one result of them.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::file_reader::FileReader;
use mngr_host::files::{Access, Durability, FileKind, Files, FilesError};
use mngr_host::git::{CommitInfo, Git, GitError};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::quote::excerpt;
use mngr_model::run::outcome::{Outcome, Problem};
use mngr_model::run::{FailureKind, IntegratorOutcome};
use mngr_query::sanitize_lines;
use serde::Serialize;
use serde_json::Value;

use super::Refusal;
use super::commits::{check_claims, check_rules, check_tags, take_commits};
use super::unpack::{BUNDLE, OUTCOME, unpack};
use crate::mapper::Limits;
use crate::verify::Rules;

/// The quarantine's name while the bundle is looked at.
const QUARANTINE: &str = "quarantine";

/// What an archive must fit.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The repository the agent's branch started in, on the host where the files go.
    pub repository: &'a Git<'a>,
    /// The commit its branch started from.
    pub base_commit: &'a str,
    /// Its branch, without `refs/heads/`.
    pub branch: &'a str,
    /// How much it may be.
    pub limits: &'a Limits,
    /// What its commits may not change; nothing where that is for others to find out.
    pub rules: Option<&'a Rules>,
}

/// What an agent says of its work, as a file.
pub trait Handover: Serialize + Sized {
    /// Reads it strictly.
    fn admit(value: &Value) -> Result<Self, Vec<Problem>>;

    /// Whether the commits are those it speaks of.
    fn check_commits(&self, commits: &[CommitInfo]) -> Result<(), Refusal>;
}

impl Handover for Outcome {
    fn admit(value: &Value) -> Result<Self, Vec<Problem>> {
        Self::admit(value)
    }

    fn check_commits(&self, commits: &[CommitInfo]) -> Result<(), Refusal> {
        check_claims(commits, &self.changes)
    }
}

impl Handover for IntegratorOutcome {
    fn admit(value: &Value) -> Result<Self, Vec<Problem>> {
        Self::admit(value)
    }

    fn check_commits(&self, commits: &[CommitInfo]) -> Result<(), Refusal> {
        check_tags(commits).map(drop)
    }
}

/// What was taken in. The files are in the folder that was asked for: `outcome.json`, and where there are any
/// `branch.bundle` and `artifacts/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted<O = Outcome> {
    /// What the agent says.
    pub outcome: O,
    /// Its commits, oldest first. They are in the bundle, not in the repository.
    pub commits: Vec<CommitInfo>,
    /// Artifacts that are files.
    pub artifacts: u64,
    /// Their bytes together.
    pub artifact_bytes: u64,
}

/// Nothing was taken in.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// What the agent published is not good enough; it may be told so.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The archive could not be read to its end.
    #[error("cannot read what the agent published")]
    Read {
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file operation failed.
    #[error("cannot take in what the agent published")]
    Files(#[from] FilesError),
    /// Git failed for a reason of its own.
    #[error("cannot take in the agent's commits")]
    Git(#[from] GitError),
    /// What was admitted could not be written down.
    #[error("cannot write the outcome")]
    Write {
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

impl IntakeError {
    /// How a task fails that cannot do better than this.
    pub fn failure(&self) -> FailureKind {
        match self {
            Self::Refused(refusal) => refusal.failure(),
            Self::Read { .. } => FailureKind::Host,
            Self::Git(error) if error.is_interrupted() => FailureKind::Interrupted,
            Self::Files(_) | Self::Git(_) | Self::Write { .. } => FailureKind::Internal,
        }
    }

    /// What is wrong with what was published; `None` when it is not the agent's fault.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// Takes an archive on the agent's host into `folder` on the repository's host, replacing what an earlier try left there.
/// On failure there is no such folder.
pub fn take_in<O: Handover>(
    agent_host: &dyn Host,
    archive: &HostPath,
    folder: &HostPath,
    expected: &Expected<'_>,
) -> Result<Admitted<O>, IntakeError> {
    check_file(agent_host.files(), archive, expected.limits)?;
    let files = expected.repository.host().files();
    let partial = HostPath::new(format!("{folder}.partial"));
    files.remove_tree(&partial)?;
    files.remove_tree(folder)?;
    if let Some(above) = folder.parent() {
        files.make_folder_beneath(&Beneath::typed(&above), &BTreeSet::new())?;
    }
    files.make_new_folder(&partial, Access::Private)?;
    let admitted = fill(agent_host.files(), archive, &partial, expected);
    match &admitted {
        Ok(_) => files.rename(&partial, folder)?,
        // Why it failed matters more than what is left; the next try clears it away.
        Err(_) => drop(files.remove_tree(&partial)),
    }
    admitted
}

/// A link or a pipe in the archive's place would make us read something else, or wait for ever.
fn check_file(files: &dyn Files, archive: &HostPath, limits: &Limits) -> Result<(), IntakeError> {
    match files.stat(archive).map_err(|error| IntakeError::Read { source: error.source })? {
        Some(stat) if stat.kind == FileKind::File && stat.size > limits.archive_bytes => {
            let what = "the archive".to_owned();
            Err(Refusal::TooBig { what, limit: limits.archive_bytes, unit: "bytes" }.into())
        }
        Some(stat) if stat.kind == FileKind::File => Ok(()),
        _ => Err(Refusal::NotAFile.into()),
    }
}

fn fill<O: Handover>(
    agent_files: &dyn Files,
    archive: &HostPath,
    folder: &HostPath,
    expected: &Expected<'_>,
) -> Result<Admitted<O>, IntakeError> {
    let files = expected.repository.host().files();
    let reader =
        FileReader::open(agent_files, archive).map_err(|error| IntakeError::Read { source: error.source })?;
    let unpacked = unpack(reader, files, folder, expected.limits)?;
    let outcome: O = admit(&unpacked.outcome.ok_or(Refusal::NoOutcome)?)?;
    let quarantine = folder.join(QUARANTINE);
    let commits = match unpacked.has_bundle {
        true => take_commits(&folder.join(BUNDLE), &quarantine, expected)?,
        false => Vec::new(),
    };
    outcome.check_commits(&commits)?;
    check_rules(&commits, &quarantine, expected)?;
    files.remove_tree(&quarantine)?;
    let text = serde_json::to_vec_pretty(&outcome).map_err(|source| IntakeError::Write { source })?;
    files.write(&folder.join(OUTCOME), &text, Access::Shared, Durability::Synced)?;
    let (artifacts, artifact_bytes) = (unpacked.artifacts, unpacked.artifact_bytes);
    Ok(Admitted { outcome, commits, artifacts, artifact_bytes })
}

fn admit<O: Handover>(bytes: &[u8]) -> Result<O, Refusal> {
    let mut value: Value = serde_json::from_slice(bytes)
        .map_err(|error| Refusal::NotJson { message: excerpt(&error.to_string()) })?;
    make_printable(&mut value);
    O::admit(&value).map_err(|problems| Refusal::Outcome { problems })
}

/// Text of an agent reaches terminals and pages: it must not move a cursor or turn a line around there.
fn make_printable(value: &mut Value) {
    match value {
        Value::String(text) => *text = sanitize_lines(text).into_owned(),
        Value::Array(entries) => entries.iter_mut().for_each(make_printable),
        Value::Object(fields) => fields.values_mut().for_each(make_printable),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
