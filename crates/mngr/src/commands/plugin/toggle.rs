//! `mngr plugin enable` and `disable`: one key of the settings.

use clap::Args;
use mngr_config::KeyPath;
use mngr_query::sanitize;
use serde_json::{Value, json};

use super::list;
use crate::cli::common::{CommonArgs, plugin_name};
use crate::commands::config::write;
use crate::ctx::{Ctx, Scope};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

macro_rules! toggle_args {
    ($(#[$doc:meta])* $name:ident) => {
        #[derive(Debug, Args)]
        $(#[$doc])*
        pub(crate) struct $name {
            /// The agent type or provider
            #[arg(value_name = "NAME", value_parser = plugin_name, help_heading = "ARGUMENTS")]
            name: String,

            /// Which settings file to change
            #[arg(long, value_enum, default_value = "project", help_heading = "OPTIONS")]
            scope: Scope,

            #[command(flatten)]
            pub(super) common: CommonArgs,
        }
    };
}

toggle_args! {
    /// Make an agent type or provider known again
    ///
    /// Sets plugins.NAME.enabled.
    #[command(after_help = "  mngr plugin list\n  mngr plugin enable docker --scope user")]
    EnableArgs
}

toggle_args! {
    /// Make an agent type or provider unknown
    ///
    /// Sets plugins.NAME.enabled. Agents of a disabled type live on; hosts of a disabled provider are not asked.
    #[command(after_help = "  mngr plugin disable docker --scope user\n  \
                        mngr create no-docker --disable-plugin docker --no-connect -- sh   # just once")]
    DisableArgs
}

/// `mngr plugin enable`.
pub(super) fn enable(ctx: &Ctx, args: &EnableArgs) -> Result<ExitCode, CliError> {
    toggle(ctx, &args.name, args.scope, true)
}

/// `mngr plugin disable`.
pub(super) fn disable(ctx: &Ctx, args: &DisableArgs) -> Result<ExitCode, CliError> {
    toggle(ctx, &args.name, args.scope, false)
}

fn toggle(ctx: &Ctx, name: &str, scope: Scope, enabled: bool) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    if !list::is_known(name) {
        ctx.console.warn(&format!("no agent type or provider of this mngr is called `{name}`"));
    }
    let key = KeyPath::from_segments(["plugins", name, "enabled"]);
    let (_, path) = write::edit(ctx, &key, scope, |editor, key| editor.set(key, &enabled.to_string()))?;
    output.show(&ctx.console, &ToggleReport { name: name.to_owned(), enabled, scope, path })?;
    Ok(ExitCode::Done)
}

struct ToggleReport {
    name: String,
    enabled: bool,
    scope: Scope,
    path: String,
}

impl Report for ToggleReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let verb = if self.enabled { "Enabled" } else { "Disabled" };
        let (name, scope, path) = (&self.name, self.scope.as_str(), sanitize(&self.path));
        format!("{verb} plugin '{name}' in {scope} ({path})\n")
    }

    fn json(&self) -> Value {
        json!({ "plugin": self.name, "enabled": self.enabled, "scope": self.scope.as_str(), "path": self.path })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("plugin_toggled", self.json())]
    }
}
