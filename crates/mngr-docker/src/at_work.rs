//! Who makes or copies a host right now. Whatever is in the engine only for that time is labelled with the machine and with a
//! lock that is held there meanwhile: where nobody holds it, whoever did is dead, and what it left can go.
//!
//! Another machine cannot tell. Budget: no process; the locks are files of the machine mngr runs on.

use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockError, LockWait, lock_in_own_folder};
use mngr_host::random;
use mngr_model::{HostId, HostPath};

/// What a lock file ends with.
const LOCK: &str = ".lock";
/// What a lock says is shorter.
const LONGEST_LINE: usize = 256;
/// How many new names are tried: somebody who tidies up may hold a lock that is made in this moment.
const TRIES: usize = 10;

/// Says that somebody is at work, until it is dropped.
pub(crate) struct AtWork<'c> {
    client: &'c dyn Host,
    label: String,
    path: HostPath,
    _lock: HostLock,
}

impl<'c> AtWork<'c> {
    /// Begins to make a host. What dead ones left of their locks is removed.
    pub(crate) fn begin(client: &'c dyn Host) -> Result<Self, LockError> {
        Self::with(client, |path| client.lock(path, LockWait::Try))
    }

    /// Begins to copy a host, which stands still meanwhile: the lock says which, so that it can be woken.
    pub(crate) fn begin_copy(client: &'c dyn Host, host: &HostId) -> Result<Self, LockError> {
        Self::with(client, |path| client.lock_with_line(path, host.as_str()))
    }

    fn with(
        client: &'c dyn Host,
        take: impl Fn(&HostPath) -> Result<HostLock, LockError>,
    ) -> Result<Self, LockError> {
        tidy(client);
        let mut tries = 1;
        loop {
            let word = random::hex32();
            let path = lock_of(client, &word);
            match lock_in_own_folder(client, &path, &take) {
                // It may have been removed between the making of the file and its lock.
                Ok(lock) if client.files().exists(&path).unwrap_or(false) => {
                    let label = format!("{}/{word}", client.info().id);
                    return Ok(Self { client, label, path, _lock: lock });
                }
                Ok(_) | Err(LockError::Held { .. }) if tries < TRIES => tries += 1,
                Ok(_) => return Err(LockError::Held { path }),
                Err(error) => return Err(error),
            }
        }
    }

    /// What is laid on things of the engine that are there only for this work.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        // One that stays is removed by the next.
        let _ = self.client.files().remove_file(&self.path);
    }
}

/// What is known of whoever laid a label on something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// It is at work.
    AtWork,
    /// It is done, or died.
    Gone,
    /// It was on another machine, or the label is none of ours.
    Unknown,
}

impl Maker {
    /// Reads a label, which may say anything.
    pub(crate) fn of(client: &dyn Host, label: &str) -> Self {
        let word = label.strip_prefix(client.info().id.as_str()).and_then(|rest| rest.strip_prefix('/'));
        let Some(word) = word.filter(|word| is_word(word)) else { return Self::Unknown };
        match client.free_locks(&[lock_of(client, word)]) {
            Ok(free) if free.is_empty() => Self::AtWork,
            Ok(_) => Self::Gone,
            Err(_) => Self::Unknown,
        }
    }
}

fn is_word(word: &str) -> bool {
    word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn lock_of(client: &dyn Host, word: &str) -> HostPath {
    client.layout().hosts_in_work().join(&format!("{word}{LOCK}"))
}

/// The hosts that stand still because whoever copied them died, unless somebody copies them again.
pub(crate) fn left_standing(client: &dyn Host) -> Vec<HostId> {
    let noted = locks(client).into_iter().filter_map(|path| Some((copied(client, &path)?, path)));
    let (busy, mut left): (Vec<_>, Vec<_>) = noted.partition(|(_, path)| {
        client.free_locks(std::slice::from_ref(path)).is_ok_and(|free| free.is_empty())
    });
    left.retain(|(host, _)| !busy.iter().any(|(other, _)| other == host));
    left.into_iter().map(|(host, _)| host).collect()
}

/// Notes that a host was woken.
pub(crate) fn forget_standing(client: &dyn Host, host: &HostId) {
    for path in locks(client).into_iter().filter(|path| copied(client, path).as_ref() == Some(host)) {
        remove_free(client, &path);
    }
}

/// The host whose copier holds, or held, a lock.
fn copied(client: &dyn Host, path: &HostPath) -> Option<HostId> {
    let line = client.files().read_part(path, 0, LONGEST_LINE).ok()?;
    HostId::parse(std::str::from_utf8(&line).ok()?.trim_end())
}

fn locks(client: &dyn Host) -> Vec<HostPath> {
    let folder = client.layout().hosts_in_work();
    let entries = client.files().list(&folder).unwrap_or_default().into_iter();
    let ours = entries.filter(|entry| entry.name.strip_suffix(LOCK).is_some_and(is_word));
    ours.map(|entry| folder.join(&entry.name)).collect()
}

/// Removes locks that nobody holds and that say nothing.
fn tidy(client: &dyn Host) {
    for path in locks(client).into_iter().filter(|path| copied(client, path).is_none()) {
        remove_free(client, &path);
    }
}

/// Held while it goes, so that nobody takes it for his own.
fn remove_free(client: &dyn Host, path: &HostPath) {
    if let Ok(_held) = client.lock(path, LockWait::Try) {
        let _ = client.files().remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::local::LocalHost;

    use super::*;

    fn client() -> (tempfile::TempDir, LocalHost) {
        let folder = tempfile::tempdir().unwrap();
        let client = LocalHost::open(HostPath::new(folder.path().join("host").to_str().unwrap())).unwrap();
        (folder, client)
    }

    #[test]
    fn a_maker_is_known_on_its_own_machine_alone() {
        let (_folder, here) = client();
        let (_other, elsewhere) = client();
        let work = AtWork::begin(&here).unwrap();
        let second = AtWork::begin(&here).unwrap();
        let label = work.label().to_owned();
        assert_eq!(
            (Maker::of(&here, &label), Maker::of(&elsewhere, &label)),
            (Maker::AtWork, Maker::Unknown)
        );
        drop(work);
        assert_eq!(
            (Maker::of(&here, &label), Maker::of(&here, second.label())),
            (Maker::Gone, Maker::AtWork)
        );
        for label in ["", "x", &format!("{}/../../x", here.info().id), &format!("{}", here.info().id)] {
            assert_eq!(Maker::of(&here, label), Maker::Unknown, "{label}");
        }
    }

    #[test]
    fn a_host_whose_copier_died_is_known_until_it_was_woken_and_not_while_another_copies_it() {
        let (_folder, here) = client();
        let (host, other) = (random::host_id(), random::host_id());
        let work = AtWork::begin_copy(&here, &host).unwrap();
        assert_eq!(left_standing(&here), []);
        let line = format!("{host}\n");
        drop(work);
        // As one that was killed would leave it.
        let left = lock_of(&here, &random::hex32());
        here.files().append(&left, line.as_bytes(), mngr_host::files::Durability::Cached).unwrap();
        let work = AtWork::begin_copy(&here, &host).unwrap();
        assert_eq!(left_standing(&here), [], "another one copies it");
        drop(work);
        let work = AtWork::begin_copy(&here, &other).unwrap();
        assert_eq!(left_standing(&here), std::slice::from_ref(&host));
        forget_standing(&here, &host);
        drop(work);
        assert_eq!(here.files().list(&here.layout().hosts_in_work()).unwrap(), []);
    }

    #[test]
    fn what_a_dead_maker_left_of_its_lock_goes_with_the_next() {
        let (_folder, here) = client();
        let left = lock_of(&here, &random::hex32());
        here.files().make_folder(&here.layout().hosts_in_work()).unwrap();
        here.files().touch(&left).unwrap();
        let work = AtWork::begin(&here).unwrap();
        assert!(!here.files().exists(&left).unwrap());
        drop(work);
        assert_eq!(here.files().list(&here.layout().hosts_in_work()).unwrap(), []);
    }
}
