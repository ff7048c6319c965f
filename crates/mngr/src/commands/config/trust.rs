//! `mngr config trust`: the user's consent to use the settings that came with a repository.

use clap::Args;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::{self, Ctx, Scope};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report, ask};

/// Allow the settings that came with this repository to be used
///
/// Records what the two settings files hold now. When somebody else changes them, they have to be trusted again; what
/// you change with `mngr config` stays trusted. At a terminal the settings are shown and you are asked first.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config list --scope project\n  mngr config trust")]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Records the consent.
pub(super) fn run(ctx: &mut Ctx) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let withheld = ctx.untrusted().map(|untrusted| untrusted.keys.as_slice()).unwrap_or_default();
    let files = [Scope::Project, Scope::Local].map(|scope| ctx.scopes.file(scope));
    let mut tables = Vec::new();
    for file in files {
        let text = file?.and_then(|file| file.text).unwrap_or_default();
        tables.extend(toml::from_str::<toml::Table>(&text));
    }
    let withheld = withheld.iter().map(|key| Withheld {
        key: key.key.to_string(),
        value: tables.iter().rev().find_map(|table| value_of(table, key.key.segments())),
        at: key.at.to_string(),
    });
    let keys: Vec<Withheld> = withheld.collect();
    if !keys.is_empty() && ctx.is_interactive().unwrap_or_default() {
        ctx.console.print_error_bytes(lines(keys.iter().map(Withheld::line)).as_bytes());
        if !ask::confirm("Trust these settings?")? {
            return Err(CliError::failed("nothing was trusted"));
        }
    }
    let is_trusted = ctx::trust_repository(&ctx.scopes)?;
    output.show(&ctx.console, &TrustReport { repository: ctx.scopes.repository(), is_trusted, keys })?;
    Ok(ExitCode::Done)
}

/// What the file says at this key, as it would be written.
fn value_of(table: &toml::Table, segments: &[String]) -> Option<String> {
    let (first, rest) = segments.split_first()?;
    let is_meant = |name: &str| {
        let name = name.replace('-', "_");
        name == *first || name.strip_prefix(first.as_str()).is_some_and(|rest| rest.starts_with("__"))
    };
    let (_, value) = table.iter().find(|(name, _)| *name == first || is_meant(name))?;
    match value {
        toml::Value::Table(below) if !rest.is_empty() => value_of(below, rest),
        value => Some(value.to_string()),
    }
}

/// A key that is not used before it is trusted.
struct Withheld {
    key: String,
    value: Option<String>,
    at: String,
}

impl Withheld {
    fn line(&self) -> String {
        let value = self.value.as_ref().map(|value| format!(" = {}", sanitize(value))).unwrap_or_default();
        format!("  {}{value}  # {}", sanitize(&self.key), sanitize(&self.at))
    }
}

struct TrustReport {
    repository: Option<String>,
    is_trusted: bool,
    keys: Vec<Withheld>,
}

impl Report for TrustReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        match (&self.repository, self.is_trusted) {
            (Some(repository), true) => {
                let head = format!("Trusted the settings of {}", sanitize(repository));
                let keys = self.keys.iter().map(Withheld::line);
                lines(std::iter::once(head).chain(keys))
            }
            _ => "There are no settings of a repository here: nothing to trust\n".to_owned(),
        }
    }

    fn json(&self) -> Value {
        let key = |key: &Withheld| json!({ "key": key.key, "value": key.value, "origin": key.at });
        let keys: Vec<Value> = self.keys.iter().map(key).collect();
        json!({ "repository": self.repository, "is_trusted": self.is_trusted, "keys": keys })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_trusted", self.json())]
    }
}
