//! Proposals on disk: one file each, in a folder that git does not see.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_model::HostPath;

use super::proposal::{Proposal, ProposalId};

/// Hides the folder from git, itself included.
const IGNORE_ALL: &str = "*\n";

/// Where proposals are kept.
pub struct Store<'f> {
    files: &'f dyn Files,
    folder: HostPath,
}

/// What is in a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// The proposals, the oldest first.
    pub proposals: Vec<Proposal>,
    /// Files that are none.
    pub broken: Vec<HostPath>,
}

/// Proposals cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such proposal.
    #[error("there is no proposal `{id}`")]
    Unknown {
        /// Its id.
        id: ProposalId,
    },
    /// Its file is not one.
    #[error("`{path}` is not a proposal")]
    Broken {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A file operation failed.
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl<'f> Store<'f> {
    /// The store in this folder. Nothing is made before something is kept.
    pub fn new(files: &'f dyn Files, folder: HostPath) -> Self {
        Self { files, folder }
    }

    /// Its folder.
    pub fn folder(&self) -> &HostPath {
        &self.folder
    }

    /// Makes the folder, hidden from git.
    pub fn make(&self) -> Result<(), StoreError> {
        // It is in a repository, which may hold links that agents have made.
        self.files.make_folder_beneath(&Beneath::typed(&self.proposals()), &BTreeSet::new())?;
        let ignore = self.folder.join(".gitignore");
        if !self.files.exists(&ignore)? {
            self.files.write(&ignore, IGNORE_ALL.as_bytes(), Access::Shared, Durability::Cached)?;
        }
        Ok(())
    }

    /// Keeps a proposal as it is now.
    pub fn save(&self, proposal: &Proposal) -> Result<(), StoreError> {
        self.make()?;
        let path = self.file(&proposal.id);
        let text = serde_json::to_vec_pretty(proposal)
            .map_err(|source| StoreError::Broken { path: path.clone(), source })?;
        Ok(self.files.write(&path, &text, Access::Shared, Durability::Cached)?)
    }

    /// Whether there is a proposal of this id.
    pub fn has(&self, id: &ProposalId) -> Result<bool, StoreError> {
        Ok(self.files.exists(&self.file(id))?)
    }

    /// The proposal of this id.
    pub fn load(&self, id: &ProposalId) -> Result<Proposal, StoreError> {
        let path = self.file(id);
        match self.files.read_if_there(&path)? {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|source| StoreError::Broken { path, source })
            }
            None => Err(StoreError::Unknown { id: id.clone() }),
        }
    }

    /// All of them.
    pub fn all(&self) -> Result<Stored, StoreError> {
        let mut stored = Stored::default();
        for entry in self.files.list(&self.proposals())? {
            let path = self.proposals().join(&entry.name);
            match serde_json::from_slice(&self.files.read(&path)?) {
                Ok(proposal) => stored.proposals.push(proposal),
                Err(_) => stored.broken.push(path),
            }
        }
        stored.proposals.sort_by(|a, b| a.time.cmp(&b.time).then_with(|| a.id.cmp(&b.id)));
        Ok(stored)
    }

    fn proposals(&self) -> HostPath {
        self.folder.join("proposals")
    }

    fn file(&self, id: &ProposalId) -> HostPath {
        self.proposals().join(&format!("{id}.json"))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use mngr_host::local::LocalFiles;

    use super::*;
    use crate::tutorial::fill::Status;

    #[test]
    fn proposals_come_back_and_git_sees_none_of_them() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&LocalFiles, HostPath::new(dir.path().to_str().unwrap()).join("t"));
        assert_eq!(store.all().unwrap(), Stored::default());
        let proposal = Proposal {
            id: ProposalId::of("s", "h", "x"),
            status: Status::Proposed,
            script: "s".into(),
            heading: "h".into(),
            text: "x".into(),
            reason: Some("because".into()),
            agent: "a".into(),
            time: Timestamp::UNIX_EPOCH,
            verbs: vec![],
            problems: vec![],
            rejected_because: None,
        };
        store.save(&proposal).unwrap();
        assert_eq!(store.load(&proposal.id).unwrap(), proposal);
        let stray = store.folder().join("proposals/stray");
        LocalFiles.write(&stray, b"{", Access::Shared, Durability::Cached).unwrap();
        assert_eq!(store.all().unwrap(), Stored { proposals: vec![proposal], broken: vec![stray] });
        assert_eq!(LocalFiles.read(&store.folder().join(".gitignore")).unwrap(), b"*\n");
        let other = ProposalId::of("s", "h", "y");
        assert!(matches!(store.load(&other), Err(StoreError::Unknown { .. })) && !store.has(&other).unwrap());
    }
}
