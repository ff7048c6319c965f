//! `mngr tutorial fill`: what a tutorial does not show yet, and agents that propose it.

use clap::Args;
use mngr_e2e::tutorial::fill::{Gap, GapKind, Judge, Status, gaps};
use mngr_ops::tutorial::{self, Ending, FillRequest, Filled, Insertion};
use mngr_query::{Align, Catalog, Cell, CellStyle, Column, Table, sanitize};
use serde_json::{Value, json};

use super::inputs;
use super::launch::{LaunchArgs, in_words};
use super::project::Project;
use super::{programs, proposals};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// Find headings without commands, and have agents propose some
///
/// Lists headings and comments after which no command comes. With --launch an agent is given the tutorial and the help of
/// the programs it is about, and proposes blocks. Proposals are checked as `mngr tutorial lint` does and kept in
/// `.mngr/tutorial`, which git does not see: `mngr tutorial accept` puts one into the tutorial, `mngr tutorial reject` drops it.
///
/// Words after `--` are arguments of the agents. Exit code 1 when an agent proposed nothing that can be used.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial fill tutorial/tutorial.sh\n  \
                        mngr tutorial fill tutorial/tutorial.sh --launch --type claude\n  \
                        mngr tutorial fill tutorial/tutorial.sh --launch --cli ./mytool --insert")]
pub(crate) struct FillArgs {
    /// The tutorial
    #[arg(display_order = 0, help_heading = "ARGUMENTS")]
    script: String,

    /// A program the tutorial is about, instead of mngr; it is run with `--help` and in no other way (can be repeated)
    #[arg(long, value_name = "PROGRAM", help_heading = "OPTIONS")]
    cli: Vec<String>,

    #[command(flatten)]
    launch: LaunchArgs,

    /// How many agents share the work
    #[arg(long, value_name = "N", default_value_t = 1, requires = "launch", help_heading = "AGENTS",
        value_parser = clap::value_parser!(u16).range(1..=50))]
    agents: u16,

    /// How many proposals are read at most
    #[arg(long, value_name = "N", default_value_t = 20, requires = "launch", help_heading = "AGENTS",
        value_parser = clap::value_parser!(u16).range(1..=500))]
    max: u16,

    /// Put the proposals into the tutorial at once, each under a comment that says so
    #[arg(long, requires = "launch", help_heading = "AGENTS")]
    insert: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Finds the gaps, and has them filled.
pub(super) fn run(ctx: &mut Ctx, args: &FillArgs) -> Result<ExitCode, CliError> {
    if args.launch.launch {
        return launch(ctx, args);
    }
    let fields = Catalog::of(&["line", "end_line", "kind", "title", "text"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let script = inputs::script(ctx, &args.script)?;
    output.show(&ctx.console, &GapReport { script: args.script.clone(), gaps: gaps(&script) })?;
    Ok(ExitCode::Done)
}

fn launch(ctx: &mut Ctx, args: &FillArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let script = inputs::script(ctx, &args.script)?;
    let path = ctx.surroundings.path(&args.script);
    let world = ctx.world()?;
    let project = Project::around(&world, &path.parent().unwrap_or_else(|| world.cwd.clone()))?;
    let learnt = programs::learn(ctx, &*world.client, &args.cli)?;
    let grammars = programs::grammars(&learnt);
    let request = FillRequest {
        script: &script,
        name: project.relative(&path)?,
        path,
        help: programs::manual(ctx, &*world.client, &args.cli)?,
        judge: Judge::new(&script, &grammars),
        store: project.store(&world),
        root: project.root,
        max: args.max.into(),
        insertion: if args.insert { Insertion::AtOnce } else { Insertion::Later },
        crew: args.launch.crew(args.agents)?,
    };
    let filled = tutorial::fill(&world, &request).map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    let is_good = filled.iter().all(is_good);
    output.show(&ctx.console, &FillReport { script: args.script.clone(), filled })?;
    Ok(if is_good { ExitCode::Done } else { ExitCode::Failed })
}

/// Whether an agent did what it was asked for.
fn is_good(filled: &Filled) -> bool {
    let has_any = filled.known > 0 || filled.proposals.iter().any(|it| it.status != Status::Invalid);
    filled.ending == Ending::Finished && filled.problem.is_none() && has_any
}

struct GapReport {
    script: String,
    gaps: Vec<Gap>,
}

impl Report for GapReport {
    fn human(&self, console: &Console) -> String {
        if self.gaps.is_empty() {
            return "every heading has its commands\n".to_owned();
        }
        let columns = [("LINE", Align::Right), ("KIND", Align::Left), ("TITLE", Align::Left)];
        let mut table = Table::new(columns.map(|(header, align)| Column::new(header, align)).to_vec());
        for gap in &self.gaps {
            let kind = match gap.kind {
                GapKind::Heading => "heading",
                GapKind::Comment => "comment",
                GapKind::Remark => "remark",
            };
            table.push(vec![
                Cell::plain(&gap.line.to_string()),
                Cell::new(kind, CellStyle::Dim),
                Cell::plain(&gap.title),
            ]);
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "script": self.script, "gaps": self.gaps })
    }

    fn events(&self) -> Vec<Value> {
        self.items().into_iter().map(|gap| event("gap", gap)).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.gaps.iter().map(|gap| json!(gap)).collect()
    }
}

struct FillReport {
    script: String,
    filled: Vec<Filled>,
}

impl Report for FillReport {
    fn human(&self, console: &Console) -> String {
        if self.filled.is_empty() {
            return "every heading has its commands\n".to_owned();
        }
        let mut text = String::new();
        for filled in &self.filled {
            let usable = filled.proposals.iter().filter(|it| it.status != Status::Invalid).count();
            let mut facts = vec![in_words(&filled.ending), count(usable, "proposal")];
            let unusable = filled.proposals.len() - usable;
            for (number, what) in [
                (unusable, "that cannot be used"),
                (filled.known, "known already"),
                (filled.left_out, "more than asked for"),
            ] {
                if number > 0 {
                    facts.push(format!("{number} {what}"));
                }
            }
            text += &format!("agent {}: {}\n", filled.agent, facts.join(", "));
            if let Some(problem) = &filled.problem {
                text += &format!("    {}\n", sanitize(problem));
            }
            for proposal in &filled.proposals {
                text += &proposals::in_full(proposal, console);
            }
        }
        if self.filled.iter().any(|filled| filled.proposals.iter().any(|it| it.status == Status::Proposed)) {
            text += "\n`mngr tutorial accept ID` keeps one, `mngr tutorial reject ID` drops it\n";
        }
        text
    }

    fn json(&self) -> Value {
        json!({ "script": self.script, "agents": self.filled })
    }

    fn events(&self) -> Vec<Value> {
        let of_agent = |filled: &Filled| {
            let proposals = filled.proposals.iter().map(|proposal| event("proposal", json!(proposal)));
            let mut agent = json!(filled);
            agent["proposals"] = filled.proposals.len().into();
            proposals.chain([event("agent", agent)]).collect::<Vec<_>>()
        };
        self.filled.iter().flat_map(of_agent).collect()
    }
}
