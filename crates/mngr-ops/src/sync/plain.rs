//! A copy as rsync itself would be asked for it: its own reading of slashes and the user's own options. Only the care for
//! uncommitted work is ours.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::files::FileKind;
use mngr_host::rsync::{Endpoint, Extraneous, Rsync};
use mngr_model::HostPath;

use super::checkout::Spot;
use super::copy::{Audience, Copy, Destination};
use super::place::require_apart;
use super::{Effect, SyncError, SyncOptions};

/// What the plain form always says: everything as it is, compressed on the way, with a summary.
const OPTIONS: [&str; 2] = ["-avz", "--stats"];

/// One end of a plain copy.
#[derive(Clone)]
pub(crate) struct PlainEnd<'h> {
    /// Where it is.
    pub(crate) spot: Spot<'h>,
    /// It was written with a slash at its end: what is in the folder is meant.
    pub(crate) is_contents: bool,
    /// A folder whose links are not the user's own, if the path is in one.
    pub(crate) root: Option<HostPath>,
}

impl PlainEnd<'_> {
    fn endpoint(&self) -> Endpoint {
        let path = self.spot.path.clone();
        if self.is_contents { Endpoint::Contents(path) } else { Endpoint::Itself(path) }
    }

    /// The path as a destination: below its root no link is followed; without one it is what the user typed.
    fn beneath(&self) -> Beneath {
        let path = &self.spot.path;
        let within = self.root.as_ref().and_then(|root| Beneath::new(root, path));
        within.unwrap_or_else(|| Beneath::root_itself(path.clone()))
    }

    fn is_folder(&self) -> Result<bool, SyncError> {
        Ok(self.spot.host.files().exists(&self.spot.path.join("."))?)
    }
}

/// Works out the copy. `words` are options of rsync.
pub(crate) fn plain_copy<'h>(
    from: PlainEnd<'h>,
    to: PlainEnd<'h>,
    words: &[String],
    audience: Audience,
) -> Result<Copy<'h>, SyncError> {
    let source = from.spot.host.files().stat(&from.spot.path)?;
    let Some(source) = source else { return Err(SyncError::Missing { path: from.spot.path }) };
    let deletes = words.iter().any(|word| word.starts_with("--del"));
    require_apart(&from.spot, &to.spot, if deletes { Extraneous::Delete } else { Extraneous::Keep })?;
    let rsync =
        Rsync::new(from.endpoint(), to.endpoint()).options(OPTIONS).exclude(".git").options(words.to_vec());
    let is_renamed = source.kind != FileKind::Folder && !to.is_contents && !to.is_folder()?;
    let beneath = to.beneath();
    let destination = if is_renamed { Destination::File(beneath) } else { Destination::Folder(beneath) };
    Ok(Copy {
        rsync,
        from: from.spot,
        to: destination,
        to_host: to.spot.host,
        removed: BTreeSet::new(),
        audience,
    })
}

impl Copy<'_> {
    /// Makes a plain copy. In a dry run rsync tells by itself what it would do.
    pub(crate) fn run_plain(&self, options: &SyncOptions) -> Result<super::PlainCopied, SyncError> {
        let (files, uncommitted) = self.run(options)?;
        if options.effect == Effect::DryRun {
            self.run_rsync()?;
        }
        Ok(super::PlainCopied { files, uncommitted })
    }
}
