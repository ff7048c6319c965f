//! `mngr list --hosts`: every host, whatever it does, and the agents on it.

use mngr_model::facts::Detail;
use mngr_ops::fleet::Fleet;
use mngr_ops::list;
use mngr_query::{Align, Catalog, Cell, CellStyle, Column, Table, sanitize};
use serde_json::{Value, json};

use super::{choose_providers, tell_failures};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// What a template may name.
const FIELDS: [&str; 12] = [
    "id",
    "name",
    "provider",
    "state",
    "labels",
    "agents",
    "reason",
    "image",
    "boot_time",
    "uptime_seconds",
    "resource",
    "ssh",
];

/// Shows them.
pub(super) fn run(ctx: &mut Ctx, providers: &[String]) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&FIELDS);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let mut world = ctx.world()?;
    choose_providers(&mut world, providers)?;
    let fleet = Fleet::look(&world, Detail::Basic);
    let report = HostsReport { hosts: list::hosts(&fleet), errors: list::errors(&fleet) };
    output.show(&ctx.console, &report)?;
    Ok(tell_failures(ctx, &fleet, &output))
}

struct HostsReport {
    hosts: Vec<Value>,
    errors: Vec<Value>,
}

impl Report for HostsReport {
    fn human(&self, console: &Console) -> String {
        if self.hosts.is_empty() {
            return "No hosts found\n".to_owned();
        }
        let columns = ["NAME", "PROVIDER", "STATE", "AGENTS"].map(|header| Column::new(header, Align::Left));
        let mut table = Table::new(columns.to_vec());
        for host in &self.hosts {
            let text = |field: &str| sanitize(host[field].as_str().unwrap_or_default()).into_owned();
            let agents = host["agents"].as_array().into_iter().flatten();
            let names: Vec<&str> = agents.filter_map(|agent| agent["name"].as_str()).collect();
            table.push(vec![
                Cell::plain(&text("name")),
                Cell::plain(&text("provider")),
                state_cell(&text("state"), &text("reason")),
                Cell::plain(&sanitize(&names.join(", "))),
            ]);
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "hosts": self.hosts, "errors": self.errors })
    }

    fn events(&self) -> Vec<Value> {
        let hosts = self.hosts.iter().map(|host| event("host", host.clone()));
        hosts.chain(self.errors.iter().map(|error| event("error", error.clone()))).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.hosts.clone()
    }
}

/// The state; of a host that does not run also why. What could not be asked is told in full elsewhere.
fn state_cell(state: &str, reason: &str) -> Cell {
    match state {
        "RUNNING" => Cell::new(state, CellStyle::Good),
        "UNKNOWN" | "UNAUTHENTICATED" => Cell::new(state, CellStyle::Bad),
        _ if reason.is_empty() => Cell::new(state, CellStyle::Warn),
        "CRASHED" | "FAILED" => Cell::new(&format!("{state} ({reason})"), CellStyle::Bad),
        _ => Cell::new(&format!("{state} ({reason})"), CellStyle::Dim),
    }
}
