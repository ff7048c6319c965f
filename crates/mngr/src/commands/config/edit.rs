//! `mngr config edit`: a settings file in the user's editor. Spawns one process: the editor.

use clap::Args;
use mngr_config::Layer;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::editor;
use crate::ctx::{self, Ctx, Scope};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// What a file that is opened for the first time holds.
const FRESH: &str = "# Settings of mngr. `mngr config list --schema` shows every key.\n";

/// Open a settings file in an editor
///
/// Uses $EDITOR, then $VISUAL, then vi. What you saved is checked afterwards.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config edit --scope user")]
pub(crate) struct EditArgs {
    /// Which file to edit
    #[arg(long, value_enum, default_value = "project", help_heading = "OPTIONS")]
    scope: Scope,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Opens it.
pub(super) fn run(ctx: &mut Ctx, args: &EditArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let scope = args.scope;
    let file = ctx.scopes.file_to_write(scope)?;
    // Settings too broken to be read cannot ask for silence.
    if ctx.headless || ctx.settings().is_ok_and(|settings| settings.headless) {
        let text = format!("cannot open an editor: this command is headless; the file is `{}`", file.path);
        return Err(CliError::failed(text));
    }
    let trust = ctx::current_trust(&ctx.surroundings, &ctx.scopes)?;
    if file.text.is_none() {
        ctx.scopes.write(&file.path, FRESH)?;
    }
    ctx.console.note(&format!("Opening {}", file.path));
    editor::open(ctx, &file.path)?;
    if scope != Scope::User && trust.is_trusted() {
        ctx::trust_repository(&ctx.scopes)?;
    }
    check(ctx, scope).map_err(|failure| failure.hinted("it is saved; edit it again to mend it"))?;
    output.show(&ctx.console, &EditReport { scope, path: file.path.to_string() })?;
    Ok(ExitCode::Done)
}

/// Says at once what the next command would stumble over.
fn check(ctx: &Ctx, scope: Scope) -> Result<(), CliError> {
    let Some(file) = ctx.scopes.file(scope)? else { return Ok(()) };
    let layer =
        Layer::from_toml(scope.layer(), file.path.as_str(), file.text.as_deref().unwrap_or_default())?;
    let options = mngr_config::BuildOptions {
        options: &crate::cli::options::VerbOptions,
        narrowing: mngr_config::Narrowing::Allow,
        ..Default::default()
    };
    mngr_config::Merged::build(&[layer], &options)?;
    Ok(())
}

struct EditReport {
    scope: Scope,
    path: String,
}

impl Report for EditReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        format!("Edited {} ({})\n", self.scope.as_str(), sanitize(&self.path))
    }

    fn json(&self) -> Value {
        json!({ "scope": self.scope.as_str(), "path": self.path })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_edited", self.json())]
    }
}
