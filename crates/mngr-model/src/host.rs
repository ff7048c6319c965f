//! What is known of a host without asking it, and what it keeps about itself.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::activity::ActivityConfig;

use crate::path::HostPath;
use crate::{HostId, HostName, ProviderName};

/// Identity and place of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Identity for life.
    pub id: HostId,
    /// The name people use.
    pub name: HostName,
    /// The provider instance it belongs to.
    pub provider: ProviderName,
    /// The folder that holds mngr's state there.
    pub host_dir: HostPath,
    /// The home of the user there; `None` for the machine mngr runs on, whose environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<HostPath>,
}

impl HostInfo {
    /// `name.provider`, as it is written after `@`.
    pub fn address(&self) -> String {
        format!("{}.{}", self.name, self.provider)
    }
}

/// What a host that mngr made keeps about itself (`data.json`): when it is stopped without being asked.
///
/// The script that watches the host reads it line by line, so it is written with one key a line, see
/// [`HostRecord::to_text`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Identity for life.
    pub host_id: HostId,
    /// The name people use.
    pub host_name: HostName,
    /// When it was made.
    pub created_at: Timestamp,
    /// When this was last written.
    pub updated_at: Timestamp,
    /// When it is stopped without being asked.
    #[serde(flatten)]
    pub activity: ActivityConfig,
    /// How many seconds lie between two looks at its activity.
    #[serde(default)]
    pub activity_check_seconds: Option<u64>,
    /// What the names of its agents' sessions begin with: without any of them it is not needed.
    #[serde(default)]
    pub tmux_session_prefix: Option<String>,
    /// What another version wrote.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl HostRecord {
    /// As it is written down: an object with one key or list entry a line, which `sh` can read.
    ///
    /// # Errors
    /// Never for a record that was read or made here.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_wrote_into_a_record_stays_and_each_key_has_its_line() {
        let text = r#"{"host_id":"host-0123456789abcdef0123456789abcdef","host_name":"box",
            "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","idle_timeout_seconds":60,
            "idle_mode":"start","activity_sources":["start","boot"],"max_host_age":null,"image":"x:1",
            "tmux_session_prefix":"mngr-","user_tags":{"a":"b"}}"#;
        let record: HostRecord = serde_json::from_str(text).unwrap();
        assert_eq!(record.other["image"], "x:1");
        let text = record.to_text().unwrap();
        for line in
            ["  \"idle_timeout_seconds\": 60,", "    \"start\",", "  \"tmux_session_prefix\": \"mngr-\","]
        {
            assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
        }
        assert!(text.contains("\"user_tags\": {"), "{text}");
        assert_eq!(serde_json::from_str::<HostRecord>(&text).unwrap(), record);
    }
}
