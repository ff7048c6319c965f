//! `file`: single files of an agent or a host, read, written and listed, wherever it is.
//!
//! Round trips: one to read or write, one for each entry of a listing, side by side.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use mngr_host::beneath::{self, Beneath};
use mngr_host::files::{Access, Durability, FileKind, FileStat, Files, FilesError, FolderEntry};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::address::AgentOrHost;
use mngr_model::facts::Detail;

use crate::awake::{self, WakeError};
use crate::fanout::fan_out;
use crate::fleet::Fleet;
use crate::hosts::{self, FindHostError};
use crate::remains::{self, OffHost, Remains, Source};
use crate::select::SelectError;
use crate::world::World;

/// What relative paths of an agent start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Its work dir.
    Work,
    /// Its state folder.
    State,
    /// The folder that holds the state of its host.
    Host,
}

/// A file could not be read, written or listed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// No agent, or not exactly one.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// No host.
    #[error(transparent)]
    Host(#[from] FindHostError),
    /// The host of the agent could not be started.
    #[error(transparent)]
    Wake(#[from] WakeError),
    /// A destroyed agent has no work dir.
    #[error("agent `{name}` is destroyed and has no work dir")]
    NoWorkDir {
        /// Its name.
        name: String,
    },
    /// There is no such file or folder.
    #[error("`{path}` does not exist")]
    Missing {
        /// Which.
        path: HostPath,
    },
    /// The folder it belongs to went away.
    #[error("`{path}` does not exist any more: the agent was destroyed meanwhile")]
    Gone {
        /// The agent's folder.
        path: HostPath,
    },
    /// It is something else.
    #[error("`{path}` is not {expected}")]
    WrongKind {
        /// Which.
        path: HostPath,
        /// What it should be.
        expected: &'static str,
    },
    /// The host could not do it.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// What is to be done with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// They are looked at: a host need not run for that.
    Look,
    /// They may be changed.
    Change,
}

/// Where files are.
pub struct Target {
    host: Arc<dyn Host>,
    source: Source,
    base: HostPath,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name; below further folders, the path from the listed one.
    pub name: String,
    /// The whole path.
    pub path: HostPath,
    /// What it is.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Last change of its contents.
    pub modified: Option<Timestamp>,
    /// Permission bits.
    pub mode: u32,
}

/// How deep a listing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The entries of the folder.
    One,
    /// Also those of every folder below; links are not followed.
    All,
}

impl Target {
    /// The files of an agent, also a destroyed one that can come back, or of a host. A host that does not run is started,
    /// unless only the state folder of an agent is looked at and can be read without.
    pub fn find(
        world: &World,
        target: &AgentOrHost,
        base: Base,
        purpose: Purpose,
    ) -> Result<Self, FileError> {
        let address = match target {
            AgentOrHost::Host(address) => {
                let host = hosts::started_at(world, address)?;
                let base = host.info().host_dir.clone();
                return Ok(Self { source: Source::Host(host.clone()), host, base });
            }
            AgentOrHost::Agent(address) => address,
        };
        let off = match (base, purpose) {
            (Base::State, Purpose::Look) => OffHost::Read,
            _ => OffHost::Refuse,
        };
        let remains = match remains::find_with(world, address, off) {
            Err(SelectError::HostOff { .. }) => {
                let fleet = Fleet::look_for(world, std::slice::from_ref(address), Detail::Basic);
                Remains::of(&awake::with_host(world, fleet.one(address)?)?)
            }
            found => found?,
        };
        let base = match base {
            Base::State => remains.state,
            Base::Host => remains.host.info().host_dir.clone(),
            Base::Work => {
                remains.work_dir.ok_or_else(|| FileError::NoWorkDir { name: remains.name.to_string() })?
            }
        };
        Ok(Self { host: remains.host, source: remains.source, base })
    }

    /// The whole path that is meant by a word of the user.
    pub fn path(&self, word: &str) -> HostPath {
        self.base.join(word).normalized()
    }

    /// The contents of a file.
    pub fn read(&self, word: &str) -> Result<(HostPath, Vec<u8>), FileError> {
        let path = self.path(word);
        match self.source.files().read_file(&path) {
            Ok(bytes) => Ok((path, bytes)),
            Err(error) if error.is_missing() => Err(FileError::Missing { path }),
            Err(error) => match self.source.files().stat(&path) {
                Ok(Some(stat)) if stat.kind == FileKind::Folder => {
                    Err(FileError::WrongKind { path, expected: "a file" })
                }
                _ => Err(error.into()),
            },
        }
    }

    /// Replaces the contents of a file in one step; folders above it are made. A new file has the mode, an old one keeps
    /// its own where none is given. No link below the agent's folder is followed: the agent may have put it there.
    pub fn write(&self, word: &str, bytes: &[u8], mode: Option<u32>) -> Result<HostPath, FileError> {
        let path = self.path(word);
        let files = self.source.files();
        let access = mode.map_or(Access::AsBefore, Access::Exactly);
        let written = match self.beneath(&path) {
            Some(file) => files.write_beneath(&file, bytes, access, Durability::Cached),
            None => {
                if files.stat(&path)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
                    return Err(FileError::WrongKind { path, expected: "a file" });
                }
                if let Some(folder) = path.parent() {
                    files.make_folder(&folder)?;
                }
                files.write(&path, bytes, access, Durability::Cached)
            }
        };
        match written {
            Err(error) if error.source.kind() == io::ErrorKind::IsADirectory => {
                return Err(FileError::WrongKind { path, expected: "a file" });
            }
            Err(error) if error.is_missing() && !files.exists(&self.base)? => {
                return Err(FileError::Gone { path: self.base.clone() });
            }
            written => written?,
        }
        Ok(path)
    }

    /// A path below what is trusted: the agent's folder, which is not made again if the agent was destroyed meanwhile, or
    /// the repository of this machine that it is in. Any other is what the user typed.
    fn beneath(&self, path: &HostPath) -> Option<Beneath> {
        let typed = || match self.host.reach() {
            None => beneath::typed_root(path).and_then(|root| Beneath::new(&root, path)),
            Some(_) => None,
        };
        Beneath::new(&self.base, path).map(Beneath::in_existing_root).or_else(typed)
    }

    /// The entries of a folder, by name; of a file, itself.
    pub fn list(&self, word: &str, depth: Depth) -> Result<Vec<Listed>, FileError> {
        let path = self.path(word);
        let files = self.source.files();
        let Some(stat) = files.stat(&path)? else { return Err(FileError::Missing { path }) };
        // A link to a folder is looked into when it is named.
        if stat.kind != FileKind::Folder && !files.exists(&path.join("."))? {
            let name = path.file_name().unwrap_or_default().to_owned();
            return Ok(vec![listed(name, path, &stat)]);
        }
        let mut found = Vec::new();
        let mut folders = vec![(String::new(), path)];
        while !folders.is_empty() {
            for (name, path, stat) in look_into(files, std::mem::take(&mut folders))? {
                if depth == Depth::All && stat.kind == FileKind::Folder {
                    folders.push((format!("{name}/"), path.clone()));
                }
                found.push(listed(name, path, &stat));
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }
}

/// How many entries are examined in one round trip: so few that it is a short one.
const TOGETHER: usize = 200;

/// What is in these folders, each given with what the names of its entries begin with. One round trip for each folder, all
/// at once, and then one for every few hundred entries.
fn look_into(
    files: &dyn Files,
    folders: Vec<(String, HostPath)>,
) -> Result<Vec<(String, HostPath, FileStat)>, FilesError> {
    let entries = fan_out(folders, |(prefix, folder)| {
        let named = |entry: FolderEntry| (format!("{prefix}{}", entry.name), folder.join(&entry.name));
        Ok(files.list(&folder)?.into_iter().map(named).collect::<Vec<_>>())
    });
    let entries: Vec<(String, HostPath)> =
        entries.into_iter().collect::<Result<Vec<_>, FilesError>>()?.into_iter().flatten().collect();
    let paths: Vec<HostPath> = entries.iter().map(|(_, path)| path.clone()).collect();
    let stats = fan_out(paths.chunks(TOGETHER).collect(), |paths| files.stat_all(paths));
    let stats = stats.into_iter().collect::<Result<Vec<_>, FilesError>>()?.into_iter().flatten();
    // What vanished meanwhile is not there.
    Ok(entries.into_iter().zip(stats).filter_map(|((name, path), stat)| Some((name, path, stat?))).collect())
}

fn listed(name: String, path: HostPath, stat: &FileStat) -> Listed {
    let FileStat { kind, size, modified, mode } = stat.clone();
    Listed { name, path, kind, size, modified, mode }
}
