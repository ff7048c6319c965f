//! `mngr tutorial check`: every block is cited, and every cited block exists.

use clap::Args;
use mngr_e2e::tutorial::{self, Block, Problem, Strictness};
use serde_json::{Value, json};

use super::inputs;
use super::shown;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::theme::Tone;
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// Check that tests cite every block, and only blocks that exist
///
/// A test cites a block with `write_tutorial_block(...)`, in Python also in a section `Tutorial block:` of its docstring,
/// in Rust also with `tutorial_block!(...)`. Only white space around lines and empty lines may differ. Exit code 1 when
/// a block is uncited or changed, or a citation stale.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial check tutorial/tutorial.sh tests/\n  \
                        mngr tutorial check tutorial/tutorial.sh tests/ --strict")]
pub(crate) struct CheckArgs {
    /// The tutorial
    #[arg(help_heading = "ARGUMENTS")]
    script: String,

    /// Files and folders with tests in Python and Rust
    #[arg(required = true, help_heading = "ARGUMENTS")]
    tests: Vec<String>,

    /// Every test there has to cite a block
    #[arg(long, help_heading = "OPTIONS")]
    strict: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Checks it.
pub(super) fn run(ctx: &mut Ctx, args: &CheckArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let strictness = if args.strict { Strictness::EveryTest } else { Strictness::Tutorial };
    let script = inputs::script(ctx, &args.script)?;
    let suite = inputs::suite(ctx, &args.tests, strictness)?;
    let report = tutorial::check(&script, &suite, strictness);
    let code = if report.is_clean() { ExitCode::Done } else { ExitCode::Failed };
    output.show(&ctx.console, &CheckReport { script: args.script.clone(), report })?;
    Ok(code)
}

struct CheckReport {
    script: String,
    report: tutorial::Report,
}

impl CheckReport {
    fn place(&self, block: &Block) -> String {
        format!("  {}", shown::block(&self.script, block))
    }

    fn summary(&self) -> String {
        let report = &self.report;
        let (cited, all) = (report.cited(), report.blocks.len());
        let tests = count(report.citing_tests, "citing test");
        if report.is_clean() {
            return format!("all {} cited, {tests}\n", count(all, "block"));
        }
        format!("{cited} of {} cited, {tests}\n", count(all, "block"))
    }
}

impl Report for CheckReport {
    fn human(&self, console: &Console) -> String {
        let report = &self.report;
        let mut text = String::new();
        for problem in &report.problems {
            text += &shown::problem(problem);
        }
        let mut section = |title: String, items: Vec<String>| {
            if !items.is_empty() {
                let blank = if text.is_empty() { "" } else { "\n" };
                text += &format!(
                    "{blank}{}\n{}",
                    console.out_colour().paint(Tone::Heading, &title),
                    items.concat()
                );
            }
        };
        let uncited: Vec<String> =
            report.uncited().map(|block| self.place(block) + &shown::text(&block.text)).collect();
        section(format!("uncited: {} without a test", count(uncited.len(), "block")), uncited);
        let changed = report.changed.iter();
        let changed: Vec<String> = changed
            .map(|it| {
                self.place(&it.block) + &shown::text(&it.diff) + &shown::tests("    cited by ", &it.tests)
            })
            .collect();
        section(format!("changed: {} edited after being cited", count(changed.len(), "block")), changed);
        let stale = report.stale.iter().map(|it| {
            let near = it.nearest.as_ref().map(|near| format!("    now perhaps\n  {}", self.place(near)));
            shown::tests("  ", &it.tests) + &shown::text(&it.text) + &near.unwrap_or_default()
        });
        let stale: Vec<String> = stale.collect();
        section(format!("stale: {} of what is no block", count(stale.len(), "citation")), stale);
        let bare = if report.uncited_tests.is_empty() {
            vec![]
        } else {
            vec![shown::tests("  ", &report.uncited_tests)]
        };
        section(
            format!("uncited tests: {} without a block", count(report.uncited_tests.len(), "test")),
            bare,
        );
        let blank = if text.is_empty() { "" } else { "\n" };
        text + blank + &self.summary()
    }

    fn json(&self) -> Value {
        let report = &self.report;
        json!({
            "script": self.script,
            "is_clean": report.is_clean(),
            "blocks": report.blocks.len(),
            "cited": report.cited(),
            "citing_tests": report.citing_tests,
            "uncited": report.uncited().collect::<Vec<_>>(),
            "changed": report.changed,
            "stale": report.stale,
            "uncited_tests": report.uncited_tests,
            "problems": report.problems,
        })
    }

    fn events(&self) -> Vec<Value> {
        let report = &self.report;
        let problems = report.problems.iter().map(|problem: &Problem| event("problem", json!(problem)));
        let uncited = report.uncited().map(|block| event("uncited", json!({ "block": block })));
        let changed = report.changed.iter().map(|changed| event("changed", json!(changed)));
        let stale = report.stale.iter().map(|stale| event("stale", json!(stale)));
        let bare = report.uncited_tests.iter().map(|test| event("uncited_test", json!({ "test": test })));
        let summary = json!({
            "script": self.script,
            "is_clean": report.is_clean(),
            "blocks": report.blocks.len(),
            "cited": report.cited(),
            "citing_tests": report.citing_tests,
        });
        let findings = problems.chain(uncited).chain(changed).chain(stale).chain(bare);
        findings.chain([event("summary", summary)]).collect()
    }
}
