//! `[retry]`: how often a lost connection is tried again.

use super::duration::DurationSetting;
use crate::declare::settings_table;

settings_table! {
    /// `[retry]`.
    pub struct RetrySettings {
        /// How many times connecting to a remote host is tried.
        pub connect_retry_times: u32,
        /// How long to wait between two tries.
        pub connect_retry_delay: DurationSetting,
    }
}
