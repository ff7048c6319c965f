//! `mngr config get`: one setting, and where it was set.

use clap::Args;
use mngr_config::{KeyPath, Layer, Origin, schema, value};
use mngr_query::sanitize_lines;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::{Ctx, Scope};
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Show one setting
///
/// The value goes to standard output, where it was set to standard error.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config get commands.list.sort\n  \
                        mngr config get agent_types.clock.command --scope user")]
pub(crate) struct GetArgs {
    /// The setting, such as tmux.socket
    #[arg(help_heading = "ARGUMENTS")]
    key: String,

    /// Look only in this file
    #[arg(long, value_enum, help_heading = "OPTIONS")]
    scope: Option<Scope>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows it.
pub(super) fn run(ctx: &mut Ctx, args: &GetArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let key = KeyPath::parse(&args.key)?;
    let report = match args.scope {
        Some(scope) => {
            let file = ctx.scopes.file_to_write(scope)?;
            let text = file.text.as_deref().unwrap_or_default();
            let layer = Layer::from_toml(scope.layer(), file.path.as_str(), text)?;
            let leaf = layer.get(&key).ok_or_else(|| not_found(&key, Some(scope)))?;
            let origin = leaf.origins.last().cloned();
            GetReport { key, value: leaf.value, origin, file: Some((scope, file.path.to_string())) }
        }
        None => {
            let (value, origin) = ctx.merged()?.get(&key).ok_or_else(|| not_found(&key, None))?;
            GetReport { key, value, origin: Some(origin), file: None }
        }
    };
    output.show(&ctx.console, &report)?;
    if let (true, Some(origin)) = (output.is_human(), &report.origin) {
        ctx.console.note(&format!("# {origin}"));
    }
    Ok(ExitCode::Done)
}

/// The key has no value: in that one file, or anywhere.
pub(super) fn not_found(key: &KeyPath, scope: Option<Scope>) -> CliError {
    let failure =
        CliError::message(ErrorKind::Failed, format!("Key not found: {key}")).with("key", key.to_string());
    let catalogue = schema::catalogue();
    let wanted = key.to_string();
    if catalogue.iter().any(|entry| entry.key == *key) {
        return failure.hinted(match scope {
            Some(scope) => format!(
                "the key is known, but the file of scope {} does not set it; `mngr config list` shows what does",
                scope.as_str()
            ),
            None => "the key is known, but nothing sets it and it has no default".to_owned(),
        });
    }
    let near = catalogue
        .iter()
        .map(|entry| (strsim::jaro_winkler(&entry.key.to_string(), &wanted), &entry.key))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    near.iter().fold(failure, |failure, (_, near)| failure.hinted(format!("did you mean `{near}`?")))
}

struct GetReport {
    key: KeyPath,
    value: toml::Value,
    origin: Option<Origin>,
    file: Option<(Scope, String)>,
}

impl Report for GetReport {
    fn human(&self, _console: &Console) -> String {
        match &self.value {
            toml::Value::String(text) => format!("{}\n", sanitize_lines(text)),
            other => format!("{}\n", value::to_json(other)),
        }
    }

    fn json(&self) -> Value {
        let origin = self.origin.as_ref().map(ToString::to_string);
        let mut object =
            json!({ "key": self.key.to_string(), "value": value::to_json(&self.value), "origin": origin });
        if let Some((scope, path)) = &self.file {
            object["scope"] = scope.as_str().into();
            object["path"] = path.as_str().into();
        }
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_value", self.json())]
    }
}
