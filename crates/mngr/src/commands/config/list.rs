//! `mngr config list`: every setting with its origin.

use clap::Args;
use mngr_config::{Layer, Leaf, schema, value};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::{Ctx, Scope};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::theme::Tone;
use crate::ui::{Console, Output, Report};

/// Show all settings and where each was set
///
/// Without --scope: what is in force, all scopes merged. With it: what that one file says.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config list\n  mngr config list --scope project\n  \
                        mngr config list --format '{key}={value} ({origin})'")]
pub(crate) struct ListArgs {
    /// Show only this file
    #[arg(long, value_enum, help_heading = "OPTIONS")]
    scope: Option<Scope>,

    /// Also show settings that have no value
    #[arg(long, conflicts_with = "scope", help_heading = "OPTIONS")]
    all: bool,

    /// Show what can be set: every key with its type, default and meaning
    #[arg(long, conflicts_with_all = ["scope", "all"], help_heading = "OPTIONS")]
    schema: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows them.
pub(super) fn run(ctx: &mut Ctx, args: &ListArgs) -> Result<ExitCode, CliError> {
    if args.schema {
        let fields = Catalog::of(&["key", "type", "value", "description"]);
        let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
        let report = SchemaReport { entries: schema::catalogue() };
        return output.show(&ctx.console, &report).map(|()| ExitCode::Done);
    }
    let fields = Catalog::of(&["key", "value", "origin", "scope"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let report = match args.scope {
        Some(scope) => of_scope(ctx, scope)?,
        None => merged(ctx, args.all)?,
    };
    output.show(&ctx.console, &report)?;
    Ok(ExitCode::Done)
}

fn merged(ctx: &mut Ctx, with_unset: bool) -> Result<ListReport, CliError> {
    let merged = ctx.merged()?;
    let leaves = merged.leaves();
    let unset = |entry: &schema::SchemaEntry| {
        let is_named_by_user = entry.key.segments().iter().any(|segment| segment.starts_with('<'));
        !is_named_by_user && merged.get(&entry.key).is_none()
    };
    let unset: Vec<String> = if with_unset {
        schema::catalogue().iter().filter(|entry| unset(entry)).map(|entry| entry.key.to_string()).collect()
    } else {
        Vec::new()
    };
    Ok(ListReport {
        title: "Merged configuration (all scopes):".to_owned(),
        config: value::to_json(&toml::Value::Table(merged.table())),
        leaves,
        unset,
        file: None,
    })
}

fn of_scope(ctx: &Ctx, scope: Scope) -> Result<ListReport, CliError> {
    let file = ctx.scopes.file_to_write(scope)?;
    let text = file.text.unwrap_or_default();
    let layer = Layer::from_toml(scope.layer(), file.path.as_str(), &text)?;
    let table: toml::Table = text.parse().unwrap_or_default();
    Ok(ListReport {
        title: format!("Config from {} ({}):", scope.as_str(), sanitize(file.path.as_str())),
        config: value::to_json(&toml::Value::Table(table)),
        leaves: layer.leaves(),
        unset: Vec::new(),
        file: Some((scope, file.path.to_string())),
    })
}

struct ListReport {
    title: String,
    config: Value,
    leaves: Vec<Leaf>,
    unset: Vec<String>,
    file: Option<(Scope, String)>,
}

fn origin(leaf: &Leaf) -> String {
    let origins: Vec<String> = leaf.origins.iter().map(ToString::to_string).collect();
    origins.join(" + ")
}

impl Report for ListReport {
    fn human(&self, console: &Console) -> String {
        let colour = console.out_colour();
        let set = self.leaves.iter().map(|leaf| {
            let text = format!("  {} = {}", leaf.key, sanitize(&leaf.value.to_string()));
            format!("{text}  {}", colour.paint(Tone::Dim, &format!("# {}", sanitize(&origin(leaf)))))
        });
        let unset = self.unset.iter().map(|key| colour.paint(Tone::Dim, &format!("  {key}  # not set")));
        lines(std::iter::once(sanitize(&self.title).into_owned()).chain(set).chain(unset))
    }

    fn json(&self) -> Value {
        let origins: serde_json::Map<String, Value> =
            self.leaves.iter().map(|leaf| (leaf.key.to_string(), origin(leaf).into())).collect();
        let mut object = json!({ "config": self.config, "origins": origins });
        if let Some((scope, path)) = &self.file {
            object["scope"] = scope.as_str().into();
            object["path"] = path.as_str().into();
        }
        if !self.unset.is_empty() {
            object["unset"] = self.unset.clone().into();
        }
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_list", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        let item = |leaf: &Leaf| {
            let scope = leaf.origins.last().map(|origin| origin.layer.as_str());
            json!({
                "key": leaf.key.to_string(),
                "value": value::to_json(&leaf.value),
                "origin": origin(leaf),
                "scope": scope,
            })
        };
        let unset = |key: &String| json!({ "key": key, "value": null, "origin": null, "scope": null });
        self.leaves.iter().map(item).chain(self.unset.iter().map(unset)).collect()
    }
}

struct SchemaReport {
    entries: Vec<schema::SchemaEntry>,
}

impl Report for SchemaReport {
    fn human(&self, console: &Console) -> String {
        let colour = console.out_colour();
        lines(self.entries.iter().map(|entry| {
            let default = entry.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
            let kind = match entry.choices {
                [] => entry.kind.clone(),
                choices => choices.join("|"),
            };
            let about = colour.paint(Tone::Dim, &format!("    {}", entry.description.replace('\n', " ")));
            format!("{}{default} ({kind})\n{about}", entry.key)
        }))
    }

    fn json(&self) -> Value {
        json!({ "schema": self.items() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_list_schema", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        let item = |entry: &schema::SchemaEntry| {
            json!({
                "key": entry.key.to_string(),
                "type": entry.kind,
                "choices": entry.choices,
                "value": entry.default.as_ref().map(value::to_json),
                "description": entry.description,
            })
        };
        self.entries.iter().map(item).collect()
    }
}
