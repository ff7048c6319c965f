//! The failures of a run, few lines for many: those with one cause are one group.

use mngr_model::run::{Run, Stage};
use mngr_tmr::cluster::{Cluster, Clusters};

/// The failed tasks of a run by what went wrong, the largest group first.
pub(super) fn of(run: &Run) -> Vec<Cluster> {
    let mut clusters = Clusters::new();
    for task in &run.tasks {
        let Some(attempt) = task.latest() else { continue };
        if matches!(attempt.stage, Stage::Failed { .. }) {
            clusters.add(&attempt.stage.to_string(), task.id.as_str(), &attempt.evidence);
        }
    }
    clusters.clusters()
}
