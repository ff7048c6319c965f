//! `mngr config trust`: the user's consent to use the settings that came with a repository.

use clap::Args;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::{self, Ctx};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Allow the settings that came with this repository to be used
///
/// Records what the two settings files hold now. When somebody else changes them, they have to be trusted again; what
/// you change with `mngr config` stays trusted.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config list --scope project\n  mngr config trust")]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Records the consent.
pub(super) fn run(ctx: &Ctx) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let withheld = ctx.untrusted().map(|untrusted| untrusted.keys.as_slice()).unwrap_or_default();
    let keys = withheld.iter().map(|key| (key.key.to_string(), key.at.to_string())).collect();
    let is_trusted = ctx::trust_repository(&ctx.scopes)?;
    output.show(&ctx.console, &TrustReport { repository: ctx.scopes.repository(), is_trusted, keys })?;
    Ok(ExitCode::Done)
}

struct TrustReport {
    repository: Option<String>,
    is_trusted: bool,
    keys: Vec<(String, String)>,
}

impl Report for TrustReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        match (&self.repository, self.is_trusted) {
            (Some(repository), true) => {
                let head = format!("Trusted the settings of {}", sanitize(repository));
                let keys = self.keys.iter().map(|(key, at)| format!("  {key}  # {}", sanitize(at)));
                lines(std::iter::once(head).chain(keys))
            }
            _ => "There are no settings of a repository here: nothing to trust\n".to_owned(),
        }
    }

    fn json(&self) -> Value {
        let keys: Vec<Value> =
            self.keys.iter().map(|(key, origin)| json!({ "key": key, "origin": origin })).collect();
        json!({ "repository": self.repository, "is_trusted": self.is_trusted, "keys": keys })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_trusted", self.json())]
    }
}
