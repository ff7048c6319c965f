//! What a listing looks like.

use std::borrow::Cow;

use jiff::Timestamp;
use mngr_model::background::{BackgroundTask, summary};
use mngr_query::{
    Catalog, Cell, CellStyle, Column, FieldKind, FieldPath, FieldSet, Headers, Projection, Table, cell_text,
    sanitize,
};
use serde_json::{Value, json};

use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// Fields that a table shows beside the state word.
const STATE_REMARKS: [&str; 4] = ["exit_status", "waiting_reason", "background", "wakeups"];

/// A title that has less room says nothing.
const LEAST_ROOM: usize = 20;

/// Numbers that are seconds.
const DURATIONS: [&str; 4] = ["idle", "idle_seconds", "runtime", "runtime_seconds"];

/// Fields that a narrow terminal does without, the last one first.
const LEAVING: [&str; 4] = ["project", "host.name", "host.provider", "host.state"];

/// What is shown of each agent.
pub(super) enum Columns {
    /// Its id.
    Ids,
    /// `name@host.provider`.
    Addresses,
    /// The whole record.
    Everything,
    /// Some fields.
    Fields {
        /// Which.
        projection: Projection,
        /// How they are headed.
        columns: Vec<Column>,
        /// Who chose them.
        choice: Choice,
    },
}

/// Who chose the fields of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// The user: all of them are shown.
    Typed,
    /// Nobody: where every agent is on this machine, nothing is said about hosts.
    Usual,
}

impl Columns {
    /// These fields, headed as the user wants.
    pub(super) fn table(projection: Projection, catalog: &Catalog, headers: &Headers) -> Self {
        Self::Fields { columns: Column::of(&projection, catalog, headers), projection, choice: Choice::Typed }
    }

    /// The fields that are shown when nobody says which: on a narrow terminal fewer of them, the last where there is room.
    pub(super) fn usual_table(projection: Projection, catalog: &Catalog, headers: &Headers) -> Self {
        let mut columns = Column::of(&projection, catalog, headers);
        for (column, path) in columns.iter_mut().zip(projection.paths()) {
            if let Some(rank) = LEAVING.iter().position(|leaving| *leaving == path.as_str()) {
                *column = column.clone().leaving(rank.try_into().unwrap_or(u8::MAX));
            }
        }
        if let Some(last) = columns.pop() {
            columns.push(last.if_room(LEAST_ROOM));
        }
        Self::Fields { projection, columns, choice: Choice::Usual }
    }

    /// The fields they read.
    pub(super) fn wanted(&self) -> FieldSet {
        match self {
            Self::Ids => FieldSet::from_iter(["id"]),
            Self::Addresses => FieldSet::from_iter(["name", "host.name", "host.provider_name"]),
            Self::Everything => FieldSet::everything(),
            Self::Fields { projection, .. } => projection.wanted(),
        }
    }

    /// The fields a table reads: beside a state also how it ended and why it waits.
    pub(super) fn wanted_by_people(&self) -> FieldSet {
        let mut fields = self.wanted();
        if matches!(self, Self::Fields { .. }) && fields.wants("state") {
            fields.extend(STATE_REMARKS.map(str::to_owned));
        }
        fields
    }

    /// One agent in JSON.
    pub(super) fn json<'r>(&self, record: &'r Value) -> Cow<'r, Value> {
        match self {
            Self::Ids => Cow::Owned(json!({ "id": record["id"] })),
            Self::Addresses => Cow::Owned(json!({ "address": address(record) })),
            Self::Everything => Cow::Borrowed(record),
            Self::Fields { projection, .. } => Cow::Owned(projection.apply(record)),
        }
    }
}

/// The agents to be shown, and what could not be asked.
pub(super) struct ListReport<'v> {
    /// In the order they are shown.
    pub(super) agents: Vec<Value>,
    /// Hosts that could not be asked.
    pub(super) unreachable: Vec<Value>,
    /// Why something could not be asked.
    pub(super) errors: Vec<Value>,
    /// How many archived agents are not shown.
    pub(super) hidden: usize,
    /// What is shown of each.
    pub(super) columns: &'v Columns,
}

impl Report for ListReport<'_> {
    fn human(&self, console: &Console) -> String {
        match self.columns {
            Columns::Ids => {
                lines(self.agents.iter().map(|agent| sanitize(&cell_text(&agent["id"])).into_owned()))
            }
            Columns::Addresses => {
                lines(self.agents.iter().map(|agent| sanitize(&address(agent)).into_owned()))
            }
            _ if self.agents.is_empty() && self.unreachable.is_empty() => "No agents found\n".to_owned(),
            Columns::Everything => lines(self.agents.iter().map(Value::to_string)),
            Columns::Fields { projection, columns, choice } => {
                let paths = projection.paths().iter();
                let is_shown: Vec<bool> = match choice {
                    Choice::Usual if self.is_all_local() => {
                        paths.map(|path| !path.as_str().starts_with("host.")).collect()
                    }
                    Choice::Usual | Choice::Typed => paths.map(|_| true).collect(),
                };
                let now = Timestamp::now();
                let mut table = Table::new(only(columns.iter().cloned(), &is_shown));
                for record in self.agents.iter().chain(&self.unreachable) {
                    table.push(only(row(projection, record, now), &is_shown));
                }
                console.table(&table)
            }
        }
    }

    fn json(&self) -> Value {
        let agents: Vec<Value> =
            self.agents.iter().map(|agent| self.columns.json(agent).into_owned()).collect();
        json!({ "agents": agents, "errors": self.errors })
    }

    fn events(&self) -> Vec<Value> {
        let agents = self.agents.iter().map(|agent| self.columns.json(agent).into_owned());
        agents.chain(self.errors.iter().map(|error| event("error", error.clone()))).collect()
    }

    /// Row by row: a second copy of a thousand records would be most of the memory this command needs.
    fn json_text(&self) -> String {
        let agents: Vec<String> =
            self.agents.iter().map(|agent| self.columns.json(agent).to_string()).collect();
        format!("{{\"agents\":[{}],\"errors\":{}}}\n", agents.join(","), Value::from(self.errors.clone()))
    }

    fn jsonl_text(&self) -> String {
        let agents = self.agents.iter().map(|agent| self.columns.json(agent).to_string());
        lines(agents.chain(self.errors.iter().map(|error| event("error", error.clone()).to_string())))
    }

    fn items(&self) -> Vec<Value> {
        self.agents.clone()
    }
}

impl ListReport<'_> {
    /// Whether there is nothing to say about hosts: every agent is on this machine.
    fn is_all_local(&self) -> bool {
        let is_local = |record: &Value| {
            record["host"]["provider"] == "local" || record["host"]["provider_name"] == "local"
        };
        self.unreachable.is_empty() && self.agents.iter().all(is_local)
    }
}

/// What is shown of these.
fn only<T>(all: impl IntoIterator<Item = T>, is_shown: &[bool]) -> Vec<T> {
    all.into_iter().zip(is_shown).filter(|(_, is_shown)| **is_shown).map(|(one, _)| one).collect()
}

fn row(projection: &Projection, record: &Value, now: Timestamp) -> Vec<Cell> {
    let cell = |(path, text): (&FieldPath, &String)| match path.as_str() {
        "state" => Cell::new(&format!("{text}{}", state_remark(record)), state_style(record, text)),
        "host.state" if text != "RUNNING" => Cell::new(text, CellStyle::Warn),
        _ => Cell::plain(&for_people(path, text, now)),
    };
    projection.paths().iter().zip(&projection.cells(record)).map(cell).collect()
}

/// Times as people say them: how long ago, or how long.
fn for_people(path: &FieldPath, text: &str, now: Timestamp) -> String {
    let is_duration = path.kind() == FieldKind::Float && DURATIONS.contains(&path.as_str());
    let told = match path.kind() {
        FieldKind::Time => {
            text.parse::<Timestamp>().ok().map(|time| match now.duration_since(time).as_secs() {
                past if past >= 0 => format!("{} ago", span(past.unsigned_abs())),
                future => format!("in {}", span(future.unsigned_abs())),
            })
        }
        // What is a fraction of a second is none worth telling.
        FieldKind::Float if is_duration => {
            let whole = text.split('.').next().unwrap_or_default();
            whole.parse::<u64>().ok().map(span)
        }
        _ => None,
    };
    told.unwrap_or_else(|| text.to_owned())
}

/// Seconds in the largest unit that fits.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// What a person wants to know at a glance: that it failed, what it waits for, what it has in the background, and when it
/// goes on by itself.
fn state_remark(record: &Value) -> String {
    let mut remarks = Vec::new();
    match record["state"].as_str() {
        Some("DONE") => {
            let failed = record["exit_status"].as_i64().filter(|status| *status != 0);
            remarks.extend(failed.map(|status| status.to_string()));
        }
        Some("WAITING") => remarks.extend(record["waiting_reason"].as_str().map(str::to_owned)),
        _ => {}
    }
    let tasks: Vec<BackgroundTask> = serde_json::from_value(record["background"].clone()).unwrap_or_default();
    if !tasks.is_empty() {
        remarks.push(format!("{} in the background", summary(&tasks)));
    }
    let wakeups = record["wakeups"].as_array().into_iter().flatten();
    if let Some(next) = wakeups.filter_map(|wakeup| wakeup["at"].as_str()).min() {
        remarks.push(format!("wakes at {next}"));
    }
    if remarks.is_empty() { String::new() } else { format!(" ({})", sanitize(&remarks.join("; "))) }
}

fn state_style(record: &Value, state: &str) -> CellStyle {
    let has_failed = record["exit_status"].as_i64().is_some_and(|status| status != 0);
    match state {
        "DONE" if has_failed => CellStyle::Bad,
        "RUNNING" => CellStyle::Good,
        "WAITING" | "REPLACED" => CellStyle::Warn,
        "UNKNOWN" => CellStyle::Bad,
        "STOPPED" | "DONE" => CellStyle::Dim,
        _ => CellStyle::Plain,
    }
}

fn address(record: &Value) -> String {
    let host = &record["host"];
    let [name, host, provider] = [&record["name"], &host["name"], &host["provider_name"]].map(cell_text);
    format!("{name}@{host}.{provider}")
}
