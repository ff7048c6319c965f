//! `mngr config path`: where settings are kept.

use clap::Args;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::{Ctx, Scope, ScopeFile};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Show where settings are kept
///
/// With --scope: only that path, for scripts. The file need not exist yet.
#[derive(Debug, Args)]
#[command(after_help = "  mngr config path\n  mngr config path --scope user")]
pub(crate) struct PathArgs {
    /// Show only this file
    #[arg(long, value_enum, help_heading = "OPTIONS")]
    scope: Option<Scope>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows it.
pub(super) fn run(ctx: &Ctx, args: &PathArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    match args.scope {
        Some(scope) => {
            let report = OnePath { scope, file: ctx.scopes.file_to_write(scope)? };
            output.show(&ctx.console, &report)?;
        }
        None => {
            let files = Scope::ALL.map(|scope| (scope, ctx.scopes.file_to_write(scope)));
            output.show(&ctx.console, &AllPaths { files: files.into() })?;
        }
    }
    Ok(ExitCode::Done)
}

fn object(scope: Scope, file: &ScopeFile) -> Value {
    json!({ "scope": scope.as_str(), "path": file.path.as_str(), "exists": file.text.is_some() })
}

struct OnePath {
    scope: Scope,
    file: ScopeFile,
}

impl Report for OnePath {
    fn human(&self, _console: &Console) -> String {
        format!("{}\n", self.file.path)
    }

    fn json(&self) -> Value {
        object(self.scope, &self.file)
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_path", self.json())]
    }
}

struct AllPaths {
    files: Vec<(Scope, Result<ScopeFile, CliError>)>,
}

impl Report for AllPaths {
    fn human(&self, _console: &Console) -> String {
        lines(self.files.iter().map(|(scope, file)| match file {
            Ok(file) => {
                let note = if file.text.is_some() { "exists" } else { "does not exist" };
                format!("{}: {} ({note})", scope.as_str(), sanitize(file.path.as_str()))
            }
            Err(error) => format!("{}: {}", scope.as_str(), sanitize(&error.one_line())),
        }))
    }

    fn json(&self) -> Value {
        let path = |(scope, file): &(Scope, Result<ScopeFile, CliError>)| match file {
            Ok(file) => object(*scope, file),
            Err(error) => {
                json!({ "scope": scope.as_str(), "path": null, "exists": false, "error": error.one_line() })
            }
        };
        json!({ "paths": self.files.iter().map(path).collect::<Vec<_>>() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("config_paths", self.json())]
    }
}
