//! The field `host` of records: built once per host, with the parts a view wants.

use std::collections::HashMap;

use jiff::Timestamp;
use mngr_host::host::{Host, Reach};
use mngr_model::facts::MachineFacts;
use mngr_model::quote::sh_join;
use mngr_model::{HostPath, HostState};
use mngr_query::FieldSet;
use serde_json::{Map, Value, json};

use super::agent::{seconds, time};
use crate::fleet::{Failure, Fleet, SeenHost};

/// How a part is found out.
type Read = fn(&SeenHost, Timestamp) -> Value;

const PARTS: [(&str, Read); 16] = [
    ("id", |seen, _| seen.host.info().id.as_str().into()),
    ("name", |seen, _| seen.host.info().name.as_ref().into()),
    ("provider_name", |seen, _| seen.host.info().provider.as_ref().into()),
    // Only hosts that answered have such a record.
    ("state", |_, _| HostState::Running.as_str().into()),
    ("image", |_, _| Value::Null),
    ("tags", |seen, _| tags(seen)),
    ("boot_time", |seen, _| time(seen.booted_at)),
    ("uptime_seconds", |seen, now| seen.booted_at.map(|booted| seconds(booted, now)).into()),
    ("resource", |seen, _| resource(seen)),
    ("ssh", |seen, _| ssh(seen.host.as_ref())),
    ("snapshots", |_, _| json!([])),
    // Whether somebody holds the lock can only be told by taking it, which a listing must not do.
    ("is_locked", |_, _| Value::Null),
    ("locked_time", |_, _| Value::Null),
    ("plugin", |_, _| json!({})),
    ("ssh_activity_time", |_, _| Value::Null),
    ("failure_reason", |_, _| Value::Null),
];

/// The host records of one view, by address.
pub(super) struct HostRecords {
    records: HashMap<String, Value>,
}

impl HostRecords {
    pub(super) fn new(fleet: &Fleet, fields: &FieldSet) -> Self {
        if !fields.wants("host") {
            return Self { records: HashMap::new() };
        }
        let wanted: Vec<_> = PARTS.iter().filter(|(name, _)| fields.wants(&format!("host.{name}"))).collect();
        let record = |seen: &SeenHost| {
            let parts = wanted.iter().map(|(name, read)| ((*name).to_owned(), read(seen, fleet.taken_at)));
            (seen.host.info().address(), Value::Object(parts.collect()))
        };
        let silent =
            fleet.failures.iter().filter_map(|failure| Some((failure.address()?, unreachable(failure))));
        Self { records: silent.chain(fleet.hosts.iter().map(record)).collect() }
    }

    pub(super) fn of(&self, address: &str) -> Value {
        self.records.get(address).cloned().unwrap_or_default()
    }
}

/// What can be said of a host that did not answer.
pub(super) fn unreachable(failure: &Failure) -> Value {
    let mut record: Map<String, Value> =
        PARTS.iter().map(|(name, _)| ((*name).to_owned(), Value::Null)).collect();
    record.insert("id".to_owned(), failure.host_id.as_ref().map(|id| id.as_str()).into());
    record.insert("name".to_owned(), failure.host.as_deref().into());
    record.insert("provider_name".to_owned(), failure.provider.as_str().into());
    record.insert("state".to_owned(), HostState::Unknown.as_str().into());
    record.insert("failure_reason".to_owned(), failure.message.as_str().into());
    Value::Object(record)
}

/// How the user reaches another machine without mngr.
fn ssh(host: &dyn Host) -> Value {
    let command = |reach: Reach| json!({ "command": sh_join(reach.shell.iter().chain([&reach.name])) });
    let is_ssh = |reach: &Reach| reach.shell.first().is_some_and(|word| word == "ssh");
    host.reach().filter(is_ssh).map(command).unwrap_or_default()
}

/// The host's labels; another machine has none. A file that cannot be read as labels has none to show.
fn tags(seen: &SeenHost) -> Value {
    let read = |host: &dyn Host| host.files().read_if_there(&host.layout().local_labels()).ok().flatten();
    let bytes = if seen.machine.is_some() { None } else { read(seen.host.as_ref()) };
    let labels = bytes.and_then(|bytes| serde_json::from_slice::<Map<String, Value>>(&bytes).ok());
    Value::Object(labels.unwrap_or_default())
}

/// Two small files of the kernel, or what the look brought of them; on systems without them the numbers are unknown.
fn resource(seen: &SeenHost) -> Value {
    let read = |path: &str| seen.host.files().read_text(&HostPath::new(path)).unwrap_or_default();
    let machine = seen.machine.clone().unwrap_or_else(|| MachineFacts {
        processors: read("/sys/devices/system/cpu/online"),
        memory: read("/proc/meminfo"),
    });
    let cpus = count_cpus(machine.processors.trim());
    let memory_gb = total_memory_gb(&machine.memory);
    json!({
        "cpu": { "count": cpus, "frequency_ghz": null },
        "memory_gb": memory_gb,
        "disk_gb": null,
        "gpu": null,
    })
}

/// How many processors a list such as `0-3,8` names.
fn count_cpus(list: &str) -> Option<u32> {
    let count = |range: &str| -> Option<u32> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    list.split(',').map(count).sum()
}

fn total_memory_gb(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kibibytes / (1024.0 * 1024.0) * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_memory_are_read_from_the_kernels_words() {
        assert_eq!(count_cpus("0-3,8"), Some(5));
        assert_eq!(count_cpus("0"), Some(1));
        assert_eq!(count_cpus(""), None);
        assert_eq!(count_cpus("3-1"), None);
        assert_eq!(total_memory_gb("MemTotal:       24691712 kB\nMemFree: 1 kB\n"), Some(23.55));
        assert_eq!(total_memory_gb(""), None);
    }
}
