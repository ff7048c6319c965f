//! `mngr file put`: a file of an agent or a host, written from standard input or from a file here.

use clap::Args;
use mngr_host::files::Files;
use mngr_host::local::LocalFiles;
use mngr_ops::file::Purpose;
use serde_json::{Value, json};

use super::TargetArgs;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report, input};

/// Write a file
///
/// The contents come from standard input, or from a file here. The file is replaced in one step; folders above it are made.
#[derive(Debug, Args)]
#[command(after_help = "  echo 'look at this' | mngr file put plain ideas/two.txt\n  \
                        mngr file put plain run.sh --input ~/tutorial/run.sh --mode 0755")]
pub(crate) struct PutArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// The file
    #[arg(value_name = "PATH", display_order = 2, help_heading = "ARGUMENTS")]
    path: String,

    /// Take the contents from this file, instead of standard input
    #[arg(short, long, value_name = "FILE", help_heading = "OPTIONS")]
    input: Option<String>,

    /// The mode it gets, such as 0644 [default: the one it has]
    #[arg(long, value_name = "MODE", value_parser = parse_mode, help_heading = "OPTIONS")]
    mode: Option<u32>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

fn parse_mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o7777);
    mode.ok_or_else(|| format!("`{}` is not a mode such as 0644", mngr_query::sanitize(text)))
}

/// Writes it.
pub(super) fn run(ctx: &mut Ctx, args: &PutArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let bytes = match &args.input {
        Some(word) => LocalFiles
            .read(&ctx.surroundings.path(word))
            .map_err(|error| CliError::new(ErrorKind::Failed, error))?,
        None if ctx.surroundings.terminals.stdin => {
            let text = "standard input is a terminal: pipe the contents into it";
            return Err(CliError::usage(text).hinted("or name a file with `--input FILE`"));
        }
        None => input::bytes()?,
    };
    let path = args.target.find(ctx, Purpose::Change)?.write(&args.path, &bytes, args.mode)?;
    output.show(&ctx.console, &PutReport { path: path.to_string(), size: bytes.len() })?;
    Ok(ExitCode::Done)
}

struct PutReport {
    path: String,
    size: usize,
}

impl Report for PutReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        format!("Wrote {} bytes to {}\n", self.size, mngr_query::sanitize(&self.path))
    }

    fn json(&self) -> Value {
        event("file_written", json!({ "path": self.path, "size": self.size }))
    }

    fn events(&self) -> Vec<Value> {
        vec![self.json()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal() {
        assert_eq!(parse_mode("0755"), Ok(0o755));
        assert!(parse_mode("999").is_err() && parse_mode("77777").is_err() && parse_mode("u+x").is_err());
    }
}
