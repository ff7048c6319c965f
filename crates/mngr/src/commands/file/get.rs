//! `mngr file get`: a file of an agent or a host, printed or saved here.

use clap::Args;
use mngr_host::files::{Access, Durability, Files};
use mngr_host::local::LocalFiles;
use mngr_ops::file::Purpose;
use serde_json::{Value, json};

use super::TargetArgs;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Print a file, or save it here
///
/// Byte for byte. As JSON, the contents are part of the result unless --output is given.
#[derive(Debug, Args)]
#[command(after_help = "  mngr file get plain ideas/two.txt\n  \
                        mngr file get plain run.sh --output ~/tutorial/run-again.sh\n  \
                        mngr file get plain data.json --relative-to state")]
pub(crate) struct GetArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// The file
    #[arg(value_name = "PATH", display_order = 2, help_heading = "ARGUMENTS")]
    path: String,

    /// Save it as this file, instead of printing it
    #[arg(short, long, value_name = "FILE", help_heading = "OPTIONS")]
    output: Option<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Gets it.
pub(super) fn run(ctx: &mut Ctx, args: &GetArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (path, bytes) = args.target.find(ctx, Purpose::Look)?.read(&args.path)?;
    let saved_as = args.output.as_ref().map(|word| ctx.surroundings.path(word));
    if let Some(saved_as) = &saved_as {
        LocalFiles
            .write(saved_as, &bytes, Access::AsBefore, Durability::Cached)
            .map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    } else if output.is_human() {
        ctx.console.print_bytes(&bytes)?;
        return Ok(ExitCode::Done);
    }
    let size = bytes.len();
    let content = match &saved_as {
        Some(_) => None,
        None => Some(String::from_utf8(bytes).map_err(|_| {
            let text = format!("`{path}` is not text, so JSON cannot hold it");
            CliError::failed(text).hinted("save it with `--output FILE`, or leave `--format` out")
        })?),
    };
    let report =
        GetReport { path: path.to_string(), size, content, saved_as: saved_as.map(|path| path.to_string()) };
    output.show(&ctx.console, &report)?;
    Ok(ExitCode::Done)
}

struct GetReport {
    path: String,
    size: usize,
    content: Option<String>,
    saved_as: Option<String>,
}

impl Report for GetReport {
    fn human(&self, _console: &Console) -> String {
        let saved_as = self.saved_as.as_deref().unwrap_or_default();
        format!("Saved {} bytes as {}\n", self.size, mngr_query::sanitize(saved_as))
    }

    fn json(&self) -> Value {
        let mut object = json!({ "path": self.path, "size": self.size });
        if let Some(content) = &self.content {
            object["content"] = content.as_str().into();
        }
        if let Some(saved_as) = &self.saved_as {
            object["saved_as"] = saved_as.as_str().into();
        }
        event("file_read", object)
    }

    fn events(&self) -> Vec<Value> {
        vec![self.json()]
    }
}
