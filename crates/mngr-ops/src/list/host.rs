//! The field `host` of records: built once per host, with the parts a view wants.

use std::collections::HashMap;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_host::provider::Snapshot;
use mngr_model::facts::MachineFacts;
use mngr_model::{HostPath, HostState};
use mngr_query::FieldSet;
use serde_json::{Value, json};

use super::agent::{seconds, time};
use crate::fleet::{Fleet, FleetHost, SeenHost};
use crate::local_labels;
use crate::ssh_reach::SshReach;

/// How a part is found out.
type Read = fn(&FleetHost, Timestamp) -> Value;

const PARTS: [(&str, Read); 16] = [
    ("id", |host, _| host.id.as_ref().map(|id| id.as_str()).into()),
    ("name", |host, _| host.name.as_ref().into()),
    ("provider_name", |host, _| host.provider.as_ref().into()),
    ("state", |host, _| host.report.state.as_str().into()),
    ("image", |host, _| host.report.image.as_deref().into()),
    ("tags", |host, _| tags(host)),
    ("boot_time", |host, _| time(booted_at(host))),
    ("uptime_seconds", |host, now| booted_at(host).map(|booted| seconds(booted, now)).into()),
    ("resource", |host, _| host.seen.as_ref().map(resource).into()),
    ("ssh", |host, _| host.seen.as_ref().map(|seen| ssh(seen.host.as_ref())).into()),
    ("snapshots", |host, _| snapshots(host)),
    // Whether somebody holds the lock can only be told by taking it, which a listing must not do.
    ("is_locked", |_, _| Value::Null),
    ("locked_time", |_, _| Value::Null),
    ("plugin", |_, _| json!({})),
    ("ssh_activity_time", |host, _| time(host.seen.as_ref().and_then(|seen| seen.ssh_activity))),
    ("failure_reason", |host, _| failure_reason(host).into()),
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
        let is_wanted = |part: &&str| fields.wants(&format!("host.{part}"));
        let record = |host: &FleetHost| (host.address(), record(host, fleet.taken_at, is_wanted));
        Self { records: fleet.hosts.iter().map(record).collect() }
    }

    pub(super) fn of(&self, address: &str) -> Value {
        self.records.get(address).cloned().unwrap_or_default()
    }
}

/// The wanted parts of one host.
pub(super) fn record(host: &FleetHost, now: Timestamp, is_wanted: impl Fn(&&str) -> bool) -> Value {
    let wanted = PARTS.iter().filter(|(name, _)| is_wanted(name));
    Value::Object(wanted.map(|(name, read)| ((*name).to_owned(), read(host, now))).collect())
}

/// One host as `list --hosts` shows it.
pub(super) fn row(host: &FleetHost, now: Timestamp, agents: Vec<Value>) -> Value {
    let known =
        record(host, now, |part| ["image", "boot_time", "uptime_seconds", "resource", "ssh"].contains(part));
    let mut row = json!({
        "id": host.id.as_ref().map(|id| id.as_str()),
        "name": host.name.as_str(),
        "provider": host.provider.as_str(),
        "state": host.report.state.as_str(),
        "labels": tags(host),
        "agents": agents,
        "reason": host.report.reason,
    });
    if let (Value::Object(row), Value::Object(known)) = (&mut row, known) {
        row.extend(known);
    }
    row
}

fn booted_at(host: &FleetHost) -> Option<Timestamp> {
    host.seen.as_ref()?.booted_at
}

/// The copies of a host, as `snapshot list` shows them.
fn snapshots(host: &FleetHost) -> Value {
    let row = |(recency, copy): (usize, &Snapshot)| {
        json!({
            "id": copy.id.as_str(),
            "name": copy.name,
            "created_at": time(copy.created_at),
            "size_bytes": copy.size,
            "recency_idx": recency,
        })
    };
    host.snapshots.iter().enumerate().map(row).collect()
}

/// Why a host is not as it should be. One that was stopped, or that nobody used, is.
fn failure_reason(host: &FleetHost) -> Option<&str> {
    let is_failure = matches!(
        host.report.state,
        HostState::Crashed | HostState::Failed | HostState::Unauthenticated | HostState::Unknown
    );
    host.report.reason.as_deref().filter(|_| is_failure)
}

/// How the user reaches another machine without mngr; nothing for one that is not reached by ssh.
fn ssh(host: &dyn Host) -> Value {
    host.reach().and_then(|reach| SshReach::of(&reach)).map(|ssh| ssh.record()).unwrap_or_default()
}

/// The host's labels: as its provider knows them, and for this machine as a file of its own says.
fn tags(host: &FleetHost) -> Value {
    let of_this_machine = host.seen.as_ref().filter(|seen| seen.machine.is_none());
    let mut tags = of_this_machine.map(|seen| local_labels::read(seen.host.as_ref())).unwrap_or_default();
    tags.extend(host.report.tags.clone());
    Value::Object(tags.into_iter().map(|(key, value)| (key, value.into())).collect())
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
