//! What of the user's own configuration an agent sees: linked where it runs on the user's machine, copied to another one.
//!
//! One `rsync` for each entry that goes to another machine.

use mngr_host::host::Host;
use mngr_host::rsync::{Endpoint, Rsync};
use mngr_model::HostPath;

use crate::brand::ProvisionError;

/// Whether two hosts are one.
pub(crate) fn is_same(one: &dyn Host, other: &dyn Host) -> bool {
    one.info().id == other.info().id
}

/// How an agent on the user's own machine sees a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As a link: what the user changes later is there at once.
    Link,
    /// As a copy, as on another machine.
    Copy,
}

/// Lets an agent on `host` see the user's file or folder `from` at `to`. A link may lead to what is not there yet, such as a
/// login; of a copy there is nothing then.
pub(crate) fn share(
    client: &dyn Host,
    from: &HostPath,
    host: &dyn Host,
    to: &HostPath,
    way: Way,
) -> Result<(), ProvisionError> {
    if way == Way::Link && is_same(client, host) {
        return Ok(host.files().link(from.as_str(), to)?);
    }
    if !client.files().exists(from)? {
        return Ok(());
    }
    let is_folder = client.files().exists(&from.join("."))?;
    let side = |path: &HostPath| match is_folder {
        true => Endpoint::Contents(path.clone()),
        false => Endpoint::Itself(path.clone()),
    };
    // What a link leads to is not there; and nobody else there may read what the user has.
    let copy = Rsync::new(side(from), side(to)).options(["--copy-links", "--chmod=go="]);
    copy.run_between(client, host)?;
    Ok(())
}
