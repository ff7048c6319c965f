//! `mngr tutorial lint`: every command of every block held against the grammar of the program it calls.
//!
//! Spawns nothing for mngr's own commands; for a program named by `--cli` only that program with `--help`.

use clap::Args;
use mngr_e2e::tutorial::lint::{Finding, LintReport, lint_script};
use mngr_e2e::tutorial::{Problem, Script, Severity};
use mngr_query::sanitize;
use serde_json::{Value, json};

use super::inputs;
use super::programs;
use super::shown;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::theme::Tone;
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// Check the commands of every block without running them
///
/// Commands of mngr are checked against its own grammar, those of a program named by --cli against what its `--help`
/// says. Other commands are passed over. Exit code 1 when a command is wrong.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial lint tutorial/tutorial.sh\n  \
                        mngr tutorial lint tutorial/tutorial.sh --cli git")]
pub(crate) struct LintArgs {
    /// The tutorial
    #[arg(help_heading = "ARGUMENTS")]
    script: String,

    /// Also check the commands of this program; it is run with `--help` and in no other way (can be repeated)
    #[arg(long, value_name = "PROGRAM", help_heading = "OPTIONS")]
    cli: Vec<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Checks it.
pub(super) fn run(ctx: &mut Ctx, args: &LintArgs) -> Result<ExitCode, CliError> {
    let fields = mngr_query::Catalog::of(&["file", "line", "block", "command", "message"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let script = inputs::script(ctx, &args.script)?;
    let report = if args.cli.is_empty() {
        lint_script(&script, &programs::grammars(&[]))
    } else {
        with_others(ctx, &script, &args.cli)?
    };
    let report = Linted { script, report };
    let code = if report.is_clean() { ExitCode::Done } else { ExitCode::Failed };
    output.show(&ctx.console, &report)?;
    Ok(code)
}

/// Asks the other programs first.
fn with_others(ctx: &mut Ctx, script: &Script, programs: &[String]) -> Result<LintReport, CliError> {
    let world = ctx.world()?;
    let learnt = programs::learn(ctx, &*world.client, programs)?;
    Ok(lint_script(script, &programs::grammars(&learnt)))
}

struct Linted {
    script: Script,
    report: LintReport,
}

impl Linted {
    /// What is wrong with the file and not with a command; errors in its grammar are findings already.
    fn warnings(&self) -> impl Iterator<Item = &Problem> {
        self.script.problems.iter().filter(|problem| problem.kind.severity() == Severity::Warning)
    }

    fn is_clean(&self) -> bool {
        self.report.findings.is_empty()
    }

    fn finding(&self, finding: &Finding, console: &Console) -> String {
        let place = format!("{}:{}: ", self.script.file, finding.line);
        let error = console.out_colour().paint(Tone::Error, "error:");
        let mut text = format!("{}{error} {}\n", sanitize(&place), sanitize(&finding.message));
        text += &finding.command.as_deref().map(shown::text).unwrap_or_default();
        for hint in &finding.hints {
            text += &format!("    {} {}\n", console.out_colour().paint(Tone::Hint, "hint:"), sanitize(hint));
        }
        text
    }
}

impl Report for Linted {
    fn human(&self, console: &Console) -> String {
        let LintReport { findings, commands, checked } = &self.report;
        let warnings: String = self.warnings().map(shown::problem).collect();
        let shown: String = findings.iter().map(|finding| self.finding(finding, console)).collect();
        let of = format!("{} in {}", count(*commands, "command"), count(self.script.blocks.len(), "block"));
        let mistakes = match findings.len() {
            0 => "no mistakes".to_owned(),
            number => count(number, "mistake"),
        };
        format!("{warnings}{shown}{of}, {checked} checked: {mistakes}\n")
    }

    fn json(&self) -> Value {
        json!({
            "script": self.script.file,
            "is_clean": self.is_clean(),
            "blocks": self.script.blocks.len(),
            "commands": self.report.commands,
            "checked": self.report.checked,
            "findings": self.items(),
            "problems": self.warnings().collect::<Vec<_>>(),
        })
    }

    fn events(&self) -> Vec<Value> {
        let problems = self.warnings().map(|problem| event("problem", json!(problem)));
        let findings = self.items().into_iter().map(|finding| event("finding", finding));
        let summary = json!({
            "script": self.script.file,
            "is_clean": self.is_clean(),
            "commands": self.report.commands,
            "checked": self.report.checked,
        });
        problems.chain(findings).chain([event("summary", summary)]).collect()
    }

    fn items(&self) -> Vec<Value> {
        let item = |finding: &Finding| {
            let mut item = json!(finding);
            item["file"] = self.script.file.clone().into();
            item
        };
        self.report.findings.iter().map(item).collect()
    }
}
