//! Unpacking gzip piece by piece, and stopping as soon as too much comes out.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::{IntakeError, Refusal};
use crate::mapper::Limits;

/// The unpacked bytes of an archive. Never more than the limits allow, however small the archive is.
pub(super) struct Gunzip<R> {
    unpacked: GzDecoder<Counted<R>>,
    count: u64,
    limits: Limits,
}

impl<R: BufRead> Gunzip<R> {
    pub(super) fn new(packed: R, limits: Limits) -> Self {
        Self { unpacked: GzDecoder::new(Counted { inner: packed, count: 0, failed: None }), count: 0, limits }
    }

    /// Fills the buffer as far as there are bytes, and says how far.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, IntakeError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.unpacked.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += self.account(count)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(&error)),
            }
        }
        Ok(filled)
    }

    fn account(&mut self, count: usize) -> Result<usize, Refusal> {
        self.count += count as u64;
        if self.count > self.limits.unpacked_bytes {
            let what = "the unpacked archive".to_owned();
            return Err(Refusal::TooBig { what, limit: self.limits.unpacked_bytes, unit: "bytes" });
        }
        let packed = self.unpacked.get_ref().count;
        if packed > self.limits.archive_bytes {
            return Err(Refusal::TooBig {
                what: "the archive".to_owned(),
                limit: self.limits.archive_bytes,
                unit: "bytes",
            });
        }
        if self.count > Limits::RATIO_FROM && self.count / packed.max(1) >= self.limits.ratio {
            return Err(Refusal::Bomb { limit: self.limits.ratio });
        }
        Ok(count)
    }

    /// A host that cannot be read is not the agent's fault.
    fn failure(&mut self, error: &io::Error) -> IntakeError {
        if let Some(source) = self.unpacked.get_mut().failed.take() {
            return IntakeError::Read { source };
        }
        IntakeError::Refused(match error.kind() {
            io::ErrorKind::UnexpectedEof => Refusal::Truncated,
            _ => Refusal::NotGzip,
        })
    }
}

/// Counts what is read, and keeps the error of a failed read apart from those of the decoder.
struct Counted<R> {
    inner: R,
    count: u64,
    failed: Option<io::Error>,
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let failed = &mut self.failed;
        self.inner.fill_buf().inspect_err(|error| *failed = Some(error.kind().into()))
    }

    fn consume(&mut self, amount: usize) {
        self.count += amount as u64;
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
