//! Sockets that programs on a host listen at: a capability of hosts whose sockets can be reached from here.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mngr_model::HostPath;

/// An open connection. Nothing is waited for longer than its patience: reading or writing fails then.
pub trait Connection: Read + Write + Send {
    /// Sets how long one read or write may take.
    fn set_patience(&self, patience: Duration) -> io::Result<()>;
}

/// The sockets of one host.
pub trait Sockets: Send + Sync {
    /// Connects to the socket at this path.
    fn connect(&self, path: &HostPath, patience: Duration) -> Result<Box<dyn Connection>, SocketError>;
}

/// Nobody could be reached at a socket.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect to the socket `{path}`")]
pub struct SocketError {
    /// The socket.
    pub path: HostPath,
    /// Why.
    #[source]
    pub source: io::Error,
}

impl SocketError {
    /// Whether it is certain that nobody listens: the socket is not there, or its owner has ended.
    pub fn is_nobody_there(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
    }
}

/// The sockets of the machine mngr runs on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LocalSockets;

impl Sockets for LocalSockets {
    fn connect(&self, path: &HostPath, patience: Duration) -> Result<Box<dyn Connection>, SocketError> {
        let failed = |source| SocketError { path: path.clone(), source };
        // A path of more than about a hundred bytes cannot be connected to. Programs that are given one put a link there,
        // to a short one.
        let behind = fs::canonicalize(path.as_str()).map_err(failed)?;
        let stream = UnixStream::connect(behind).map_err(failed)?;
        Connection::set_patience(&stream, patience).map_err(failed)?;
        Ok(Box::new(stream))
    }
}

impl Connection for UnixStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        // None at all would mean for ever.
        let patience = Some(patience.max(Duration::from_millis(1)));
        self.set_read_timeout(patience)?;
        self.set_write_timeout(patience)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_link_leads_to_a_socket_whose_own_path_would_be_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("d".repeat(120));
        fs::create_dir(&deep).unwrap();
        let listener = UnixListener::bind(dir.path().join("s")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("s"), deep.join("link")).unwrap();
        let path = HostPath::new(deep.join("link").to_str().unwrap());
        let patience = Duration::from_millis(50);
        let mut here = LocalSockets.connect(&path, patience).unwrap();
        let (mut there, _) = listener.accept().unwrap();
        there.write_all(b"hello").unwrap();
        let mut said = [0; 5];
        here.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"hello");
        let silence = here.read(&mut said).unwrap_err();
        assert!(matches!(silence.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{silence}");
    }

    #[test]
    fn it_is_certain_when_nobody_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("s").to_str().unwrap());
        let missing = LocalSockets.connect(&path, Duration::from_secs(1)).err().unwrap();
        assert!(missing.is_nobody_there(), "{missing:?}");
        drop(UnixListener::bind(path.as_str()).unwrap());
        let left = LocalSockets.connect(&path, Duration::from_secs(1)).err().unwrap();
        assert!(left.is_nobody_there(), "{left:?}");
    }
}
