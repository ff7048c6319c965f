//! Opening the page in the user's browser.
//!
//! Who may list processes sees their arguments, so the browser is not given the address with its token but a file that
//! only the user can read and that leads there.

use std::time::Duration;

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError};
use mngr_model::HostPath;

/// Starts what opens files on this system, and does not wait for the browser behind it.
const OPEN: &str = r#"for opener in xdg-open open; do
  if command -v "$opener" >/dev/null; then "$opener" "$1" </dev/null >/dev/null 2>&1 & exit 0; fi
done
exit 127"#;

/// Why no browser was opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorError {
    /// There is nothing that opens files.
    #[error("no browser can be opened: there is no `xdg-open` here")]
    NoOpener,
    /// The file could not be written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The command could not be run.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

/// Opens the address by way of a file in the private folder of the server.
pub(super) fn open(host: &dyn Host, folder: &HostPath, url: &str) -> Result<(), DoorError> {
    let door = folder.join("open.html");
    let page = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={url}\">\n");
    host.files().write(&door, page.as_bytes(), Access::Private, Durability::Cached)?;
    open_file(host, &door)
}

/// Opens a page that is a file.
pub(crate) fn open_file(host: &dyn Host, page: &HostPath) -> Result<(), DoorError> {
    let words = ["sh", "-c", OPEN, "sh", page.as_str()];
    let opened = host.exec(&Cmd::from_words(words).deadline(Duration::from_secs(10)))?;
    if opened.success() { Ok(()) } else { Err(DoorError::NoOpener) }
}
