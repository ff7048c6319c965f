//! `mngr config set`, `extend`, `assign` and `unset`: one settings file changed, the rest of it left alone.

use std::time::Duration;

use clap::Args;
use mngr_config::edit::{EditError, Edited, Editor};
use mngr_config::{KeyPath, value};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::lock::{HostLock, LockWait};
use mngr_query::sanitize;
use serde_json::{Value, json};

use super::get::not_found;
use crate::cli::common::CommonArgs;
use crate::cli::options::VerbOptions;
use crate::ctx::{self, Ctx, Scope};
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// How long another command may be changing settings.
const PATIENCE: Duration = Duration::from_secs(10);

macro_rules! value_args {
    ($(#[$doc:meta])* $name:ident) => {
        #[derive(Debug, Args)]
        $(#[$doc])*
        pub(crate) struct $name {
            /// The setting, such as tmux.socket
            #[arg(help_heading = "ARGUMENTS")]
            key: String,

            /// Its value: JSON if it reads as JSON, else text
            #[arg(help_heading = "ARGUMENTS", allow_hyphen_values = true)]
            value: String,

            /// Which file to change
            #[arg(long, value_enum, default_value = "project", help_heading = "OPTIONS")]
            scope: Scope,

            #[command(flatten)]
            pub(super) common: CommonArgs,
        }
    };
}

value_args! {
    /// Change a setting
    ///
    /// Keeps comments and order of the file. Key and value are checked first.
    #[command(after_help = "  mngr config set commands.list.sort name --scope user\n  \
                            mngr config set --scope user pools.crew.hosts '[\"localhost\"]'")]
    SetArgs
}

value_args! {
    /// Add to a list or table
    ///
    /// Adds to what the file holds, or writes KEY__extend, which adds to what lower scopes say.
    #[command(after_help = "  mngr config extend unset_vars '[\"PYTHONPATH\"]' --scope user")]
    ExtendArgs
}

value_args! {
    /// Replace a list or table, dropping what lower scopes say
    #[command(after_help = "  mngr config assign unset_vars '[]' --scope user")]
    AssignArgs
}

/// Remove a setting
///
/// Unknown keys can be removed too: that repairs a file.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config unset commands.list.sort --scope user")]
pub(crate) struct UnsetArgs {
    /// The setting, such as tmux.socket
    #[arg(help_heading = "ARGUMENTS")]
    key: String,

    /// Which file to change
    #[arg(long, value_enum, default_value = "project", help_heading = "OPTIONS")]
    scope: Scope,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `mngr config set`.
pub(super) fn set(ctx: &Ctx, args: &SetArgs) -> Result<ExitCode, CliError> {
    change(ctx, Change::Set, &args.key, args.scope, |editor, key| editor.set(key, &args.value))
}

/// `mngr config extend`.
pub(super) fn extend(ctx: &Ctx, args: &ExtendArgs) -> Result<ExitCode, CliError> {
    change(ctx, Change::Extend, &args.key, args.scope, |editor, key| editor.extend(key, &args.value))
}

/// `mngr config assign`.
pub(super) fn assign(ctx: &Ctx, args: &AssignArgs) -> Result<ExitCode, CliError> {
    change(ctx, Change::Assign, &args.key, args.scope, |editor, key| editor.assign(key, &args.value))
}

/// `mngr config unset`.
pub(super) fn unset(ctx: &Ctx, args: &UnsetArgs) -> Result<ExitCode, CliError> {
    change(ctx, Change::Unset, &args.key, args.scope, |editor, key| editor.unset(key))
}

/// What is done to the key.
#[derive(Debug, Clone, Copy)]
enum Change {
    Set,
    Extend,
    Assign,
    Unset,
}

fn change(
    ctx: &Ctx,
    change: Change,
    key: &str,
    scope: Scope,
    apply: impl FnOnce(&Editor<'_>, &KeyPath) -> Result<Edited, EditError>,
) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (edited, path) = edit(ctx, &KeyPath::parse(key)?, scope, apply)?;
    let report = WriteReport { change, key: edited.key, value: edited.value, scope, path };
    output.show(&ctx.console, &report)?;
    Ok(ExitCode::Done)
}

/// Changes one key of a settings file, and gives the file's path. What the user changes stays trusted.
pub(in crate::commands) fn edit(
    ctx: &Ctx,
    key: &KeyPath,
    scope: Scope,
    apply: impl FnOnce(&Editor<'_>, &KeyPath) -> Result<Edited, EditError>,
) -> Result<(Edited, String), CliError> {
    let _lock = lock(ctx)?;
    let trust = ctx::current_trust(&ctx.surroundings, &ctx.scopes)?;
    let file = ctx.scopes.file_to_write(scope)?;
    let text = file.text.as_deref().unwrap_or_default();
    let editor = Editor { file: file.path.as_str(), text, options: &VerbOptions };
    let edited = apply(&editor, key).map_err(|error| match error {
        EditError::KeyNotFound { key } => not_found(&key, Some(scope)),
        other => other.into(),
    })?;
    ctx.scopes.write(&file.path, &edited.text)?;
    // What users write themselves needs no second consent; what was there before still does.
    if scope != Scope::User && trust.is_trusted() {
        ctx::trust_repository(&ctx.scopes)?;
    } else if scope != Scope::User {
        ctx.console.warn("this repository's settings are not trusted yet (`mngr config trust` trusts them)");
    }
    Ok((edited, file.path.to_string()))
}

/// Two commands that change settings at once would lose one of the changes.
fn lock(ctx: &Ctx) -> Result<HostLock, CliError> {
    let host = LocalHost::open(ctx.scopes.host_dir().clone())?;
    let path = host.layout().root().join("settings.lock");
    host.lock(&path, LockWait::For(PATIENCE)).map_err(|error| CliError::new(ErrorKind::Failed, error))
}

struct WriteReport {
    change: Change,
    key: KeyPath,
    value: Option<toml::Value>,
    scope: Scope,
    path: String,
}

impl Report for WriteReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let place = format!("{} ({})", self.scope.as_str(), sanitize(&self.path));
        let value =
            self.value.as_ref().map(|value| sanitize(&value.to_string()).into_owned()).unwrap_or_default();
        match self.change {
            Change::Set | Change::Assign => format!("Set {} = {value} in {place}\n", self.key),
            Change::Extend => format!("Extended {} by {value} in {place}\n", self.key),
            Change::Unset => format!("Removed {} from {place}\n", self.key),
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({ "key": self.key.to_string() });
        if let Some(value) = &self.value {
            object["value"] = value::to_json(value);
        }
        object["scope"] = self.scope.as_str().into();
        object["path"] = self.path.as_str().into();
        object
    }

    fn events(&self) -> Vec<Value> {
        let name = match self.change {
            Change::Set | Change::Assign => "config_set",
            Change::Extend => "config_extend",
            Change::Unset => "config_unset",
        };
        vec![event(name, self.json())]
    }
}
