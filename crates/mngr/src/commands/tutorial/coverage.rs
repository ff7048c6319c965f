//! `mngr tutorial coverage`: which tests cite which block.

use clap::Args;
use mngr_e2e::tutorial::{self, CitedBlock, Coverage, Strictness};
use mngr_query::{Align, Catalog, Cell, CellStyle, Column, Table};
use serde_json::{Value, json};

use super::inputs;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// Show which tests cite which block
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial coverage tutorial/tutorial.sh tests/\n  \
                        mngr tutorial coverage tutorial/tutorial.sh tests/ --format '{title}: {tests}'")]
pub(crate) struct CoverageArgs {
    /// The tutorial
    #[arg(help_heading = "ARGUMENTS")]
    script: String,

    /// Files and folders with tests in Python and Rust
    #[arg(required = true, help_heading = "ARGUMENTS")]
    tests: Vec<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows it.
pub(super) fn run(ctx: &mut Ctx, args: &CoverageArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["id", "line", "title", "section", "tests", "test_count"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let script = inputs::script(ctx, &args.script)?;
    let suite = inputs::suite(ctx, &args.tests, Strictness::Tutorial)?;
    let report = tutorial::check(&script, &suite, Strictness::Tutorial);
    inputs::warn(ctx, &report.problems);
    let coverage = Coverage::of(&report);
    output.show(
        &ctx.console,
        &CoverageReport { script: args.script.clone(), coverage, blocks: report.blocks },
    )?;
    Ok(ExitCode::Done)
}

struct CoverageReport {
    script: String,
    coverage: Coverage,
    blocks: Vec<CitedBlock>,
}

impl Report for CoverageReport {
    fn human(&self, console: &Console) -> String {
        let paint = |style, text: &str| console.out_colour().paint_cell(style, text);
        let style = |is_whole: bool| if is_whole { CellStyle::Good } else { CellStyle::Warn };
        let number = |header| Column::new(header, Align::Right);
        let text = |header| Column::new(header, Align::Left);
        let mut blocks = Table::new(vec![text("BLOCK"), number("LINE"), number("TESTS"), text("TITLE")]);
        for CitedBlock { block, tests } in &self.blocks {
            blocks.push(vec![
                Cell::plain(block.id.as_str()),
                Cell::plain(&block.line.to_string()),
                Cell::new(&tests.len().to_string(), style(!tests.is_empty())),
                Cell::plain(&block.title),
            ]);
        }
        let mut sections = Table::new(vec![text("SECTION"), number("CITED"), number("BLOCKS"), number("%")]);
        for section in &self.coverage.sections {
            sections.push(vec![
                Cell::plain(section.section.as_deref().unwrap_or("-")),
                Cell::new(&section.cited.to_string(), style(section.cited == section.blocks)),
                Cell::plain(&section.blocks.to_string()),
                Cell::plain(&whole(section.percent())),
            ]);
        }
        let Coverage { cited, blocks: all, tests, .. } = &self.coverage;
        let percent = whole(self.coverage.percent());
        format!(
            "{}\n{}\n{cited} of {} cited ({percent} %), {}\n",
            blocks.render(console.width(), paint),
            sections.render(console.width(), paint),
            count(*all, "block"),
            count(*tests, "citing test"),
        )
    }

    fn json(&self) -> Value {
        let section = |section: &tutorial::SectionCoverage| {
            json!({
                "section": section.section,
                "blocks": section.blocks,
                "cited": section.cited,
                "percent": tenths(section.percent()),
            })
        };
        json!({
            "script": self.script,
            "blocks": self.items(),
            "sections": self.coverage.sections.iter().map(section).collect::<Vec<_>>(),
            "block_count": self.coverage.blocks,
            "cited": self.coverage.cited,
            "citing_tests": self.coverage.tests,
            "percent": tenths(self.coverage.percent()),
        })
    }

    fn events(&self) -> Vec<Value> {
        self.items().into_iter().map(|block| event("block", block)).collect()
    }

    fn items(&self) -> Vec<Value> {
        let item = |CitedBlock { block, tests }: &CitedBlock| {
            json!({
                "id": block.id,
                "line": block.line,
                "title": block.title,
                "section": block.section,
                "tests": tests.iter().map(|test| &test.id).collect::<Vec<_>>(),
                "test_count": tests.len(),
            })
        };
        self.blocks.iter().map(item).collect()
    }
}

/// Rounded down: 100 is said only when nothing is missing.
fn whole(percent: f64) -> String {
    format!("{}", percent.floor())
}

fn tenths(percent: f64) -> f64 {
    (percent * 10.0).floor() / 10.0
}
