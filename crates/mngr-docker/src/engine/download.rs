//! A long answer, read piece by piece, up to a limit of bytes and of time.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use tokio::runtime::Runtime;

/// How much of an answer is read, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// In bytes.
    pub(crate) bytes: u64,
    /// In time.
    pub(crate) time: Duration,
}

/// The answer. Reading beyond a limit is an error.
#[derive(Debug)]
pub(crate) struct Download<'e> {
    runtime: &'e Runtime,
    body: Incoming,
    chunk: Bytes,
    bytes_left: u64,
    until: Instant,
}

impl<'e> Download<'e> {
    pub(super) fn new(runtime: &'e Runtime, body: Incoming, limits: Limits) -> Self {
        let until = Instant::now() + limits.time;
        Self { runtime, body, chunk: Bytes::new(), bytes_left: limits.bytes, until }
    }

    /// The next piece; empty at the end.
    fn next(&mut self) -> io::Result<Bytes> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let frame = self.body.frame();
            // The limit is made inside: a timer belongs to a runtime.
            let limited = async { tokio::time::timeout(left, frame).await };
            let frame = self.runtime.block_on(limited).map_err(|_| io::ErrorKind::TimedOut)?;
            let Some(frame) = frame else { return Ok(Bytes::new()) };
            match frame.map_err(io::Error::other)?.into_data() {
                Ok(data) if data.is_empty() => {}
                Ok(data) => return Ok(data),
                // Headers that come last say nothing of interest.
                Err(_) => {}
            }
        }
    }
}

impl Read for Download<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() {
            self.chunk = self.next()?;
            let size = u64::try_from(self.chunk.len()).unwrap_or(u64::MAX);
            self.bytes_left = self.bytes_left.checked_sub(size).ok_or(io::ErrorKind::FileTooLarge)?;
        }
        let count = into.len().min(self.chunk.len());
        into[..count].copy_from_slice(&self.chunk.split_to(count));
        Ok(count)
    }
}
