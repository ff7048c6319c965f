//! A connection that has left HTTP behind: a blocking stream with two ends that can be closed apart.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;

#[derive(Debug)]
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// The stream, with what was read of it before it was ours.
#[derive(Debug)]
pub(crate) struct RawStream {
    socket: Socket,
    early: io::Cursor<Vec<u8>>,
}

/// The end that is written to.
#[derive(Debug)]
pub(crate) struct RawWriter(Socket);

impl RawStream {
    /// Takes the socket out of the runtime.
    pub(super) fn take(upgraded: Upgraded) -> io::Result<Self> {
        let (socket, early) = match upgraded.downcast::<TokioIo<tokio::net::UnixStream>>() {
            Ok(parts) => {
                let socket = parts.io.into_inner().into_std()?;
                socket.set_nonblocking(false)?;
                (Socket::Unix(socket), parts.read_buf)
            }
            Err(upgraded) => {
                let parts = upgraded
                    .downcast::<TokioIo<tokio::net::TcpStream>>()
                    .map_err(|_| io::Error::from(io::ErrorKind::Unsupported))?;
                let socket = parts.io.into_inner().into_std()?;
                socket.set_nonblocking(false)?;
                socket.set_nodelay(true)?;
                (Socket::Tcp(socket), parts.read_buf)
            }
        };
        Ok(Self { socket, early: io::Cursor::new(early.to_vec()) })
    }

    /// The end that is written to, for another thread.
    pub(crate) fn writer(&self) -> io::Result<RawWriter> {
        Ok(RawWriter(match &self.socket {
            Socket::Unix(socket) => Socket::Unix(socket.try_clone()?),
            Socket::Tcp(socket) => Socket::Tcp(socket.try_clone()?),
        }))
    }
}

impl Read for RawStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.early.read(buffer)? {
            0 => match &mut self.socket {
                Socket::Unix(socket) => socket.read(buffer),
                Socket::Tcp(socket) => socket.read(buffer),
            },
            count => Ok(count),
        }
    }
}

impl RawWriter {
    /// Says that nothing more comes; the other end stays open.
    pub(crate) fn close(&self) -> io::Result<()> {
        match &self.0 {
            Socket::Unix(socket) => socket.shutdown(Shutdown::Write),
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Write),
        }
    }
}

impl Write for RawWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Socket::Unix(socket) => socket.write(bytes),
            Socket::Tcp(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
