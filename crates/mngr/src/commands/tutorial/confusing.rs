//! `mngr tutorial confusing`: which commands proposals got wrong.

use clap::Args;
use mngr_e2e::tutorial::fill::{Confusing, Misread, confusing};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use super::{proposals, shown};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::theme::Tone;
use crate::ui::{Console, Output, Report};

/// Show which commands proposals got wrong
///
/// Collects proposals that could not be read, use commands or options that do not exist, or were rejected, by command.
/// An agent read the help before it wrote them: where it went wrong, the interface or its help may be unclear.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial confusing\n  mngr tutorial confusing --format '{count} {verb}'")]
pub(crate) struct ConfusingArgs {
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows them.
pub(super) fn run(ctx: &mut Ctx, _args: &ConfusingArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["verb", "count", "proposals"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let verbs = confusing(&proposals::stored(ctx)?);
    output.show(&ctx.console, &ConfusingReport { verbs })?;
    Ok(ExitCode::Done)
}

struct ConfusingReport {
    verbs: Vec<Confusing>,
}

impl Report for ConfusingReport {
    fn human(&self, console: &Console) -> String {
        if self.verbs.is_empty() {
            return "no proposal went wrong\n".to_owned();
        }
        let verb = |it: &Confusing| {
            let name = it.verb.as_deref().unwrap_or("(no command)");
            let head = console.out_colour().paint(Tone::Heading, &sanitize(name));
            let misread: String = it.misread.iter().map(misread).collect();
            format!("{head}: {} of {} went wrong\n{misread}", it.count, it.proposals)
        };
        self.verbs.iter().map(verb).collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> Value {
        json!({ "verbs": self.verbs })
    }

    fn events(&self) -> Vec<Value> {
        self.items().into_iter().map(|verb| event("verb", verb)).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.verbs.iter().map(|verb| json!(verb)).collect()
    }
}

fn misread(misread: &Misread) -> String {
    let reasons = if misread.reasons.is_empty() { "no reason given" } else { &misread.reasons.join("; ") };
    let mut text = format!("  {}  {}: {}\n", misread.id, misread.status.as_str(), sanitize(reasons));
    text += &shown::text(&misread.text);
    text
}
