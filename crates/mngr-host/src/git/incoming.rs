//! Refs for what is on its way into a repository: each transfer has a name of its own, which says whose it is. Spawns
//! nothing but what deletes one.
//!
//! A transfer deletes its ref at its end, however that comes about. What a killed command left is deleted by the next
//! transfer on this machine, and by `gc`.

use std::time::Duration;

use mngr_model::HostPath;

use super::client::Git;
use super::error::GitError;
use crate::clock::{Clock, SystemClock};
use crate::files::FolderEntry;
use crate::interrupt;
use crate::proc::CommandId;
use crate::random;

/// Where they are.
pub(super) const INCOMING: &str = "refs/mngr/incoming/";
/// No transfer takes as long.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// A ref for one transfer.
pub(super) fn new_ref() -> String {
    let hex = random::hex32();
    match CommandId::own() {
        Some(id) => format!("{INCOMING}{hex}.{id}"),
        None => format!("{INCOMING}{hex}"),
    }
}

impl Git<'_> {
    /// Runs a transfer into that ref and gives the commit it brought. The ref is gone afterwards.
    pub(super) fn receive<T>(
        &self,
        incoming: &str,
        transfer: impl FnOnce() -> Result<T, GitError>,
    ) -> Result<String, GitError> {
        if self.host().reach().is_none() {
            // Whoever cannot tidy up has nothing to say about what was asked.
            for left in self.left_incoming().unwrap_or_default() {
                let _ = self.delete_ref(&left);
            }
        }
        let transferred = transfer();
        // Whatever ended it, the ref must not stay.
        let _shield = interrupt::shield();
        if let Err(error) = transferred {
            let _ = self.delete_ref(incoming);
            return Err(error);
        }
        let oid = self.resolve(incoming);
        self.delete_ref(incoming)?;
        oid
    }

    /// The refs that transfers which are over have left. One that git has packed is not seen.
    pub fn left_incoming(&self) -> Result<Vec<String>, GitError> {
        // A bare repository has no checkout to be found by.
        let shared = self.locate()?.map_or_else(|| self.dir().clone(), |location| location.common_dir);
        let folder = shared.join(INCOMING.trim_end_matches('/'));
        let entries = self.host().files().list(&folder)?;
        let left = entries.into_iter().filter(|entry| self.is_left(&folder, entry));
        Ok(left.map(|entry| format!("{INCOMING}{}", entry.name)).collect())
    }

    fn is_left(&self, folder: &HostPath, entry: &FolderEntry) -> bool {
        let command = entry.name.split_once('.').and_then(|(_, id)| CommandId::parse(id));
        if command.is_some_and(|command| command.is_dead()) {
            return true;
        }
        let stat = self.host().files().stat(&folder.join(&entry.name)).ok().flatten();
        let age =
            stat.and_then(|stat| stat.modified).map(|modified| SystemClock.now().duration_since(modified));
        age.is_some_and(|age| age.unsigned_abs() > LONGEST && age.is_positive())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestRepo;
    use super::*;

    #[test]
    fn what_a_dead_transfer_left_goes_with_the_next_and_that_of_a_living_one_stays() {
        let repo = TestRepo::with_commit();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let own = CommandId::own().unwrap().as_str();
        let machine = own.rsplitn(3, '.').nth(2).unwrap();
        let dead = format!("{INCOMING}aa.{machine}.{}.1", child.id());
        child.wait().unwrap();
        let living = new_ref();
        for name in [&dead, &living] {
            repo.run(&["update-ref", name, "HEAD"]);
        }
        assert_eq!(repo.git().left_incoming().unwrap(), [dead]);
        repo.git().fetch_commit(repo.path(), "main").unwrap();
        assert_eq!(repo.run(&["for-each-ref", "--format=%(refname)", INCOMING]).trim(), living);
    }

    #[test]
    fn a_transfer_that_fails_leaves_no_ref() {
        let repo = TestRepo::with_commit();
        let name = new_ref();
        let failed = repo.git().receive(&name, || {
            repo.run(&["update-ref", &name, "HEAD"]);
            Err::<(), _>(GitError::NoCommits { path: HostPath::new("/x") })
        });
        assert!(failed.is_err());
        assert_eq!(repo.run(&["for-each-ref", INCOMING]).trim(), "");
    }
}
