//! Scripts that a host runs by itself, without mngr: one stops it when nobody uses it, one starts agents when it has
//! booted. They live in its host dir. What they read and do is in their heads.

/// Stops a host that nobody uses. `sh activity_watcher.sh HOST_DIR HOST_ID UPTIME_AT_BOOT`, for as long as the host runs; it asks
/// `commands/shutdown.sh STATE` of the provider to stop the host.
pub const ACTIVITY_WATCHER: &str = include_str!("own_scripts/activity_watcher.sh");

/// Starts the agents that are wanted after a boot. `sh start_on_boot.sh`, once for each; with `always` every time.
pub const START_ON_BOOT: &str = include_str!("own_scripts/start_on_boot.sh");

#[cfg(test)]
mod tests;
