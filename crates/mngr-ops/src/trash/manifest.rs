//! What `trash/<id>/manifest.json` holds: who was destroyed, when, and where everything went.
//!
//! Written before anything moves, so that a command that dies half-way can be carried through. Spelling only: no file
//! is touched here.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mngr_model::layout::HostLayout;
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentId, AgentName, AgentRecord, AgentTypeName, HostPath};
use serde::{Deserialize, Serialize};

/// The newest form this code writes. A reader ignores unknown fields; a newer number means it must not act.
pub(crate) const VERSION: u32 = 1;

/// A destroyed agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The form of this file.
    pub(crate) version: u32,
    /// Its identity, kept when it comes back.
    pub(crate) id: AgentId,
    /// Its name when it was destroyed.
    pub(crate) name: AgentName,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) agent_type: AgentTypeName,
    /// When it was destroyed.
    pub(crate) destroyed_at: Timestamp,
    /// Its labels.
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    /// Where it worked.
    pub(crate) work_dir: HostPath,
    /// Whether mngr made the work dir, so that mngr may move it.
    pub(crate) is_generated: bool,
    /// How its files had come there, where that is known.
    #[serde(default)]
    pub(crate) transfer: Option<TransferMode>,
    /// The common git dir of the repository it belongs to, as its record has it.
    #[serde(default)]
    pub(crate) repository: Option<HostPath>,
    /// The branch mngr made for it.
    #[serde(default)]
    pub(crate) created_branch: Option<String>,
    /// What was asked for.
    pub(crate) request: Request,
    /// What becomes of the work dir; absent until the agent is stopped and its work dir was looked at.
    #[serde(default)]
    pub(crate) work: Option<Work>,
    /// How many bytes it holds, once somebody has counted them. What is in the trash does not change.
    #[serde(default)]
    pub(crate) bytes: Option<u64>,
}

/// What destroying was asked to do beyond the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Also remove the branch mngr made.
    pub(crate) remove_created_branch: bool,
    /// A git worktree may be moved away.
    pub(crate) allow_worktree_removal: bool,
}

/// What becomes of a work dir.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub(crate) enum Work {
    /// It is moved away whole.
    Moved {
        /// To this folder.
        to: HostPath,
        /// Its place in its repository, if it is a linked worktree of one that exists.
        checkout: Option<Checkout>,
    },
    /// It stays where it is.
    Kept {
        /// Why.
        reason: KeptReason,
    },
    /// It was gone before.
    Missing {
        /// What the repository still knew of it.
        checkout: Option<Checkout>,
    },
}

impl Work {
    /// Its place in its repository.
    pub(crate) fn checkout(&self) -> Option<&Checkout> {
        match self {
            Self::Moved { checkout, .. } | Self::Missing { checkout } => checkout.as_ref(),
            Self::Kept { .. } => None,
        }
    }
}

/// Why a work dir stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub(crate) enum KeptReason {
    /// It is the user's own folder.
    InPlace,
    /// The record calls it mngr's own, but nothing proves it.
    NotOurs,
    /// The user asked for it.
    NotAllowed,
    /// Other agents work in it, or in checkouts of the repository in it.
    UsedBy {
        /// Their names.
        agents: Vec<AgentName>,
    },
}

impl std::fmt::Display for KeptReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InPlace => f.write_str("it is not mngr's own"),
            Self::NotOurs => f.write_str("nothing shows that mngr made it"),
            Self::NotAllowed => f.write_str("its removal is not allowed"),
            Self::UsedBy { agents } => {
                let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
                write!(f, "it is used by {}", names.join(", "))
            }
        }
    }
}

/// A linked worktree as its repository knew it when the agent was destroyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkout {
    /// The repository's common git dir.
    pub(crate) repository: HostPath,
    /// The branch it was on; absent when detached.
    pub(crate) branch: Option<String>,
    /// The commit it was at; absent before the first commit.
    pub(crate) head: Option<String>,
    /// Refs that hold commits no other ref holds.
    #[serde(default)]
    pub(crate) rescues: Vec<Rescue>,
    /// The branch that is removed, and where it was.
    #[serde(default)]
    pub(crate) removed_branch: Option<HeldBranch>,
    /// Worktrees of the same repository inside it, relative to it.
    #[serde(default)]
    pub(crate) nested: Vec<String>,
}

/// A ref that keeps commits alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rescue {
    /// Its full name.
    pub(crate) name: String,
    /// The commit.
    pub(crate) oid: String,
}

/// A branch and where it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldBranch {
    /// Its short name.
    pub(crate) name: String,
    /// The commit.
    pub(crate) oid: String,
}

impl Manifest {
    /// The manifest of an agent about to be destroyed, before its work dir was looked at.
    pub(crate) fn begin(record: &AgentRecord, layout: &HostLayout, now: Timestamp, request: Request) -> Self {
        let workspace = record.workspace.as_ref();
        Self {
            version: VERSION,
            id: record.id.clone(),
            name: record.name.clone(),
            agent_type: record.agent_type.clone(),
            destroyed_at: now,
            labels: record.labels.clone(),
            work_dir: record.work_dir.clone(),
            is_generated: workspace
                .map_or_else(|| is_in_our_folders(layout, &record.work_dir), |w| w.is_generated),
            transfer: workspace.map(|workspace| workspace.transfer),
            repository: workspace.and_then(|workspace| workspace.repository.clone()),
            created_branch: record.created_branch_name.clone(),
            request,
            work: None,
            bytes: None,
        }
    }

    /// The same with nothing that needs a ref.
    pub(crate) fn without_rescues(mut self) -> Self {
        if let Some(
            Work::Moved { checkout: Some(checkout), .. } | Work::Missing { checkout: Some(checkout) },
        ) = &mut self.work
        {
            checkout.rescues.clear();
        }
        self
    }

    /// The same with its repository at another place.
    pub(crate) fn with_repository(mut self, repository: HostPath) -> Self {
        if let Some(
            Work::Moved { checkout: Some(checkout), .. } | Work::Missing { checkout: Some(checkout) },
        ) = &mut self.work
        {
            checkout.repository = repository;
        }
        self
    }

    /// The branch it comes back on.
    pub(crate) fn branch(&self) -> Option<&str> {
        self.work.as_ref()?.checkout()?.branch.as_deref()
    }

    /// Whether the branch mngr made is removed with it.
    pub(crate) fn removes_branch(&self) -> bool {
        self.work.as_ref().and_then(Work::checkout).is_some_and(|checkout| checkout.removed_branch.is_some())
    }

    /// The folder its work is in now, if it was moved.
    pub(crate) fn moved_to(&self) -> Option<&HostPath> {
        match self.work.as_ref()? {
            Work::Moved { to, .. } => Some(to),
            Work::Kept { .. } | Work::Missing { .. } => None,
        }
    }
}

/// Records of the Python mngr do not say who made the work dir; it kept what it made in these folders.
fn is_in_our_folders(layout: &HostLayout, dir: &HostPath) -> bool {
    [layout.worktrees(), layout.copies(), layout.projects()]
        .iter()
        .any(|ours| dir.is_within(ours) && dir != ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(workspace: &str, work_dir: &str) -> AgentRecord {
        let text = format!(
            r#"{{"id":"agent-0123456789abcdef0123456789abcdef","name":"foo","type":"command","work_dir":"{work_dir}",
            "create_time":"2026-08-22T10:00:00Z","command":"true","labels":{{"project":"p"}},
            "created_branch_name":"mngr/foo","workspace":{workspace}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn begin(record: &AgentRecord) -> Manifest {
        let request = Request { remove_created_branch: true, allow_worktree_removal: true };
        Manifest::begin(record, &HostLayout::new(HostPath::new("/h")), Timestamp::UNIX_EPOCH, request)
    }

    #[test]
    fn every_fate_reads_back_and_unknown_fields_are_passed_over() {
        let checkout = Checkout {
            repository: HostPath::new("/r/.git"),
            branch: Some("mngr/foo".into()),
            head: Some("a".repeat(40)),
            rescues: vec![Rescue { name: "refs/mngr/rescue/x".into(), oid: "a".repeat(40) }],
            removed_branch: Some(HeldBranch { name: "mngr/foo".into(), oid: "a".repeat(40) }),
            nested: vec!["sub/wt".into()],
        };
        let used_by = KeptReason::UsedBy { agents: vec!["bar".parse().unwrap()] };
        let fates = [
            Work::Moved { to: HostPath::new("/h/trash/x/work"), checkout: Some(checkout.clone()) },
            Work::Kept { reason: used_by },
            Work::Kept { reason: KeptReason::InPlace },
            Work::Kept { reason: KeptReason::NotOurs },
            Work::Missing { checkout: None },
        ];
        for fate in fates {
            let mut manifest = begin(&record("null", "/w"));
            manifest.work = Some(fate);
            let mut value = serde_json::to_value(&manifest).unwrap();
            value["something_new"] = serde_json::json!({"a": 1});
            assert_eq!(serde_json::from_value::<Manifest>(value).unwrap(), manifest);
        }
    }

    #[test]
    fn only_folders_mngr_made_may_be_moved() {
        let in_place = r#"{"transfer":"none","is_generated":false,"repository":null,"base_commit":null,"base_branch":null}"#;
        assert!(!begin(&record(in_place, "/h/worktrees/x")).is_generated, "the record decides");
        assert!(begin(&record("null", "/h/worktrees/x")).is_generated);
        assert!(!begin(&record("null", "/h/worktrees")).is_generated);
        assert!(!begin(&record("null", "/home/me/project")).is_generated);
    }
}
