//! Reading standard input so that Ctrl-C is met: a plain read would wait on.

use std::io::{self, Read};

use mngr_host::interrupt::{self, Interrupted};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::{CliError, ErrorKind};

/// How often to look for an interrupt while nothing comes.
const PACE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

#[derive(Debug, thiserror::Error)]
#[error("cannot read standard input")]
struct InputError {
    #[source]
    source: io::Error,
}

#[derive(Debug, thiserror::Error)]
#[error("standard input is not valid UTF-8")]
struct NotText;

/// Everything there is.
pub(crate) fn bytes() -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    read_until(&mut bytes, |_| false)?;
    Ok(bytes)
}

/// Everything there is, as text.
pub(crate) fn all() -> Result<String, CliError> {
    String::from_utf8(bytes()?).map_err(|_| CliError::new(ErrorKind::Failed, NotText))
}

/// One line; empty at the end of the input.
pub(crate) fn line() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    read_until(&mut bytes, |bytes| bytes.ends_with(b"\n"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_until(bytes: &mut Vec<u8>, is_enough: impl Fn(&[u8]) -> bool) -> Result<(), CliError> {
    let failed = |source| CliError::new(ErrorKind::Failed, InputError { source });
    let mut input = io::stdin().lock();
    let mut chunk = [0; 64 * 1024];
    while !is_enough(bytes) {
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        let is_ready = match poll(&mut fds, Some(&PACE)) {
            Ok(count) => count > 0,
            Err(rustix::io::Errno::INTR) => false,
            Err(error) => return Err(failed(error.into())),
        };
        interrupt::check().map_err(|Interrupted| CliError::new(ErrorKind::Interrupted, Interrupted))?;
        if !is_ready {
            continue;
        }
        match input.read(&mut chunk).map_err(failed)? {
            0 => break,
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(())
}
