//! `mngr plugin list`: agent types and providers, and whether they are on.

use clap::{Args, ValueEnum};
use mngr_agents::headless;
use mngr_agents::manifest::BuiltIn;
use mngr_config::Settings;
use mngr_query::{Catalog, Cell, Column, Headers, Projection, Table};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};
use crate::wiring::BACKENDS;

/// What there is to know of one.
const FIELDS: &[&str] = &["name", "kind", "version", "description", "enabled"];

/// What a table shows when nobody says otherwise.
const DEFAULT_FIELDS: &str = "name,kind,version,enabled,description";

/// What a plugin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    AgentType,
    Provider,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::AgentType => "agent-type",
            Self::Provider => "provider",
        }
    }
}

/// Show agent types and providers
///
/// Those that are built in. Types of your own are in the settings: `mngr config get agent_types`.
#[derive(Debug, Args)]
#[command(after_help = "  mngr plugin list\n  mngr plugin list --kind agent-type --active --format '{name}'")]
pub(crate) struct ListArgs {
    /// Only those that are enabled
    #[arg(long, help_heading = "OPTIONS")]
    active: bool,

    /// Only agent types, or only providers
    #[arg(long, value_enum, value_name = "KIND", help_heading = "OPTIONS")]
    kind: Option<Kind>,

    /// Show these fields, separated by commas: name, kind, version, description, enabled
    #[arg(long, value_name = "FIELDS", default_value = DEFAULT_FIELDS, hide_default_value = true, help_heading = "OPTIONS")]
    fields: String,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows them.
pub(super) fn run(ctx: &mut Ctx, args: &ListArgs) -> Result<ExitCode, CliError> {
    let catalog = Catalog::of(FIELDS);
    let output = Output::new(&ctx.format, TemplateFields::Of(&catalog))?;
    let projection = Projection::parse(&args.fields, &catalog)?;
    let columns = Column::of(&projection, &catalog, &Headers::parse::<String>(&[], &catalog)?);
    let settings = ctx.settings()?;
    let built_in = all()
        .filter(|plugin| args.kind.is_none_or(|kind| kind == plugin.kind))
        .filter(|plugin| !args.active || plugin.is_on(settings))
        .map(|plugin| plugin.record(settings));
    let disabled = settings.disabled_plugins().filter(|name| !is_known(name)).map(absent);
    let plugins = built_in.chain(disabled.filter(|_| !args.active && args.kind.is_none())).collect();
    output.show(&ctx.console, &ListReport { plugins, projection, columns })?;
    Ok(ExitCode::Done)
}

/// A name that only the settings know, which disable it.
fn absent(name: &str) -> Value {
    json!({ "name": name, "kind": "absent", "version": "-", "description": "", "enabled": "false" })
}

/// Whether something of that name is built in.
pub(crate) fn is_known(name: &str) -> bool {
    all().any(|plugin| plugin.name == name)
}

struct Plugin {
    name: String,
    kind: Kind,
    description: String,
    /// What it cannot do without.
    rests_on: Option<&'static str>,
}

impl Plugin {
    fn is_on(&self, settings: &Settings) -> bool {
        settings.is_plugin_on(&self.name) && self.rests_on.is_none_or(|base| settings.is_plugin_on(base))
    }

    fn record(&self, settings: &Settings) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind.as_str(),
            "version": env!("CARGO_PKG_VERSION"),
            "description": self.description,
            "enabled": if self.is_on(settings) { "true" } else { "false" },
        })
    }
}

/// All of them: agent types first, each followed by the one that does without a terminal.
fn all() -> impl Iterator<Item = Plugin> {
    let types = BuiltIn::ALL.into_iter().flat_map(|base| {
        let manifest = base.manifest();
        let plain = Plugin {
            name: base.name().to_owned(),
            kind: Kind::AgentType,
            description: manifest.summary.clone(),
            rests_on: None,
        };
        let headless = manifest.headless.map(|_| Plugin {
            name: format!("{}{}", headless::PREFIX, base.name()),
            kind: Kind::AgentType,
            description: format!("{}, once and without a terminal", manifest.summary),
            rests_on: Some(base.name()),
        });
        [plain].into_iter().chain(headless)
    });
    let provider = |(name, description): (&str, &str)| Plugin {
        name: name.to_owned(),
        kind: Kind::Provider,
        description: description.to_owned(),
        rests_on: None,
    };
    types.chain(BACKENDS.into_iter().map(provider))
}

struct ListReport {
    plugins: Vec<Value>,
    projection: Projection,
    columns: Vec<Column>,
}

impl Report for ListReport {
    fn human(&self, console: &Console) -> String {
        let mut table = Table::new(self.columns.clone());
        for plugin in &self.plugins {
            table.push(self.projection.cells(plugin).iter().map(|text| Cell::plain(text)).collect());
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "plugins": self.plugins })
    }

    fn events(&self) -> Vec<Value> {
        self.plugins.iter().map(|plugin| event("plugin", plugin.clone())).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.plugins.clone()
    }
}
