//! `mngr tutorial list`: the blocks of a script.

use clap::Args;
use mngr_e2e::tutorial::{Block, Script};
use mngr_query::{Align, Catalog, Cell, CellStyle, Column, Table};
use serde_json::{Value, json};

use super::inputs;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// List the blocks
///
/// A block's id is made from its text: it stays the same until the block is edited.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial list tutorial/tutorial.sh\n  \
                        mngr tutorial list tutorial/tutorial.sh --format '{id} {line} {title}'")]
pub(crate) struct ListArgs {
    /// The tutorial
    #[arg(help_heading = "ARGUMENTS")]
    script: String,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Lists them.
pub(super) fn run(ctx: &mut Ctx, args: &ListArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["id", "line", "end_line", "title", "section", "text"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let script = inputs::script(ctx, &args.script)?;
    inputs::warn(ctx, &script.problems);
    output.show(&ctx.console, &ListReport { script })?;
    Ok(ExitCode::Done)
}

struct ListReport {
    script: Script,
}

impl Report for ListReport {
    fn human(&self, console: &Console) -> String {
        let columns =
            [("ID", Align::Left), ("LINE", Align::Right), ("SECTION", Align::Left), ("TITLE", Align::Left)];
        let mut table = Table::new(columns.map(|(header, align)| Column::new(header, align)).to_vec());
        for Block { id, line, section, title, .. } in &self.script.blocks {
            table.push(vec![
                Cell::plain(id.as_str()),
                Cell::plain(&line.to_string()),
                Cell::new(section.as_deref().unwrap_or("-"), CellStyle::Dim),
                Cell::plain(title),
            ]);
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        let Script { file, blocks, problems, .. } = &self.script;
        json!({ "script": file, "blocks": blocks, "problems": problems })
    }

    fn events(&self) -> Vec<Value> {
        self.items().into_iter().map(|block| event("block", block)).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.script.blocks.iter().map(|block| json!(block)).collect()
    }
}
