//! `mngr file list`: a folder of an agent or a host.

use clap::Args;
use mngr_host::files::FileKind;
use mngr_ops::file::{Depth, Listed, Purpose};
use mngr_query::{Catalog, Cell, Column, Headers, Projection, Table};
use serde_json::{Value, json};

use super::TargetArgs;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// What there is to know of a file.
const FIELDS: &[&str] = &["name", "path", "file_type", "size", "modified", "permissions"];

/// What a table shows when nobody says otherwise.
const DEFAULT_FIELDS: &str = "name,file_type,size,modified";

/// List a folder
///
/// Without PATH: the folder that relative paths start from. Links are shown, not followed.
#[derive(Debug, Args)]
#[command(after_help = "  mngr file list plain ideas\n  \
                        mngr file list plain --recursive --fields name,size\n  \
                        mngr file list plain --relative-to state --format '{path}'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// The folder
    #[arg(value_name = "PATH", display_order = 2, help_heading = "ARGUMENTS")]
    path: Option<String>,

    /// Also what is in the folders below
    #[arg(short = 'R', long, help_heading = "OPTIONS")]
    recursive: bool,

    /// Show these fields, separated by commas: name, path, file_type, size, modified, permissions
    #[arg(long, value_name = "FIELDS", default_value = DEFAULT_FIELDS, hide_default_value = true, help_heading = "OPTIONS")]
    fields: String,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Lists it.
pub(super) fn run(ctx: &mut Ctx, args: &ListArgs) -> Result<ExitCode, CliError> {
    let catalog = Catalog::of(FIELDS);
    let output = Output::new(&ctx.format, TemplateFields::Of(&catalog))?;
    let projection = Projection::parse(&args.fields, &catalog)?;
    let depth = if args.recursive { Depth::All } else { Depth::One };
    let files = args.target.find(ctx, Purpose::Look)?.list(args.path.as_deref().unwrap_or("."), depth)?;
    let files = files.iter().map(record).collect();
    let columns = Column::of(&projection, &catalog, &Headers::parse::<String>(&[], &catalog)?);
    output.show(&ctx.console, &ListReport { files, projection, columns })?;
    Ok(ExitCode::Done)
}

fn record(listed: &Listed) -> Value {
    json!({
        "name": listed.name,
        "path": listed.path.as_str(),
        "file_type": word(listed.kind),
        "size": listed.size,
        "modified": listed.modified.map(|time| time.to_string()),
        "permissions": format!("{:04o}", listed.mode & 0o7777),
    })
}

fn word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Folder => "directory",
        FileKind::Link => "symlink",
        FileKind::Other => "other",
    }
}

struct ListReport {
    files: Vec<Value>,
    projection: Projection,
    columns: Vec<Column>,
}

impl Report for ListReport {
    fn human(&self, console: &Console) -> String {
        let mut table = Table::new(self.columns.clone());
        for file in &self.files {
            table.push(self.projection.cells(file).iter().map(|text| Cell::plain(text)).collect());
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "count": self.files.len(), "files": self.files })
    }

    fn events(&self) -> Vec<Value> {
        self.files.iter().map(|file| event("file", file.clone())).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.files.clone()
    }
}
