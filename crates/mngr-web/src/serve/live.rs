//! Looking again when something changes.

use std::time::Duration;

use mngr_host::host::WatchRequest;
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::watch::{Wake, Watch};
use mngr_model::HostPath;
use mngr_model::artifacts::TestStatus;
use tokio::sync::oneshot;

use super::site::Site;
use crate::catalogue::{Catalogue, scan};

/// How often to look although nothing seems to change: events can be lost.
const PACE: Duration = Duration::from_secs(2);
/// A test that prints all the time is looked at no more often than this.
const PAUSE: Duration = Duration::from_millis(200);
/// New tests appear in the newest runs.
const MAX_RUNS: usize = 5;
/// More running tests than this are seen by their pace only.
const MAX_TESTS: usize = 200;

/// Keeps the site up to date until the process is interrupted, then stops it.
pub(super) fn follow(site: &Site, folder: &HostPath, stop: oneshot::Sender<()>) {
    loop {
        // The watch stands before the look, so that no change falls between the two.
        let watch = site.host.watch(&watched(folder, &site.catalogue())).ok();
        let before = site.catalogue();
        // A folder that cannot be read for a moment is shown as it was.
        if let Ok(catalogue) = scan(site.host.files(), folder, &before)
            && catalogue != *before
        {
            site.publish(catalogue);
        }
        if wait(watch).is_err() {
            // Nobody listens when the server has ended itself.
            let _ = stop.send(());
            return;
        }
    }
}

fn watched(folder: &HostPath, catalogue: &Catalogue) -> WatchRequest {
    let runs = catalogue.runs.iter().take(MAX_RUNS).map(|run| folder.join(&run.name));
    let running = catalogue.tests().filter(|test| matches!(test.status(), Some(TestStatus::Running) | None));
    let running = running.take(MAX_TESTS).map(|test| test.folder.clone());
    let folders = std::iter::once(folder.clone()).chain(runs).chain(running).collect();
    WatchRequest { folders, processes: Vec::new() }
}

fn wait(watch: Option<Box<dyn Watch>>) -> Result<(), Interrupted> {
    let wake = match watch {
        Some(mut watch) => watch.wait(PACE)?,
        None => {
            std::thread::sleep(PACE);
            Wake::TimedOut
        }
    };
    if wake == Wake::Changed {
        std::thread::sleep(PAUSE);
    }
    interrupt::check()
}
