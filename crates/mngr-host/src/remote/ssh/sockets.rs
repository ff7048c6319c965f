//! Sockets of connections that are over. Spawns nothing.

use std::io;
use std::os::unix::net::UnixStream;

use mngr_model::HostPath;

use crate::files::{FileKind, Files, FilesError};
use crate::local::LocalFiles;

/// The sockets below the folder of all connections that nobody listens on any more.
///
/// # Errors
/// When a folder cannot be listed.
pub fn dead_sockets(connections: &HostPath) -> Result<Vec<HostPath>, FilesError> {
    let mut dead = Vec::new();
    for folder in LocalFiles.list(connections)? {
        if folder.kind != FileKind::Folder {
            continue;
        }
        let folder = connections.join(&folder.name);
        let sockets = LocalFiles.list(&folder)?.into_iter().filter(|entry| entry.kind == FileKind::Other);
        dead.extend(sockets.map(|entry| folder.join(&entry.name)).filter(is_dead));
    }
    Ok(dead)
}

/// A socket file outlives whoever made it; then the system refuses to connect.
fn is_dead(socket: &HostPath) -> bool {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    UnixStream::connect(socket.as_str()).as_ref().is_err_and(refused)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_socket_that_nobody_listens_on_is_dead() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("0123456789abcdef");
        std::fs::create_dir(&folder).unwrap();
        let _alive = UnixListener::bind(folder.join("c")).unwrap();
        drop(UnixListener::bind(folder.join("gone")).unwrap());
        std::fs::write(folder.join("known_hosts"), "a file").unwrap();
        let dead = dead_sockets(&HostPath::new(dir.path().to_str().unwrap())).unwrap();
        assert_eq!(dead, [HostPath::new(folder.join("gone").to_str().unwrap())]);
    }
}
