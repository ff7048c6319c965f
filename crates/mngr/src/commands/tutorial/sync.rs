//! `mngr tutorial sync`: the tests that a tutorial lacks, and agents that write them.

use clap::Args;
use mngr_e2e::tutorial::work::{WorkGroup, WorkItem, groups, work_list};
use mngr_e2e::tutorial::{self as blocks, Script, Strictness};
use mngr_model::run::StrengthState;
use mngr_ops::tutorial::{self, Ending, Judge, Judgement, SyncTestsRequest, Synced};
use mngr_ops::world::World;
use mngr_query::sanitize;
use mngr_tmr::collect::detect;
use mngr_tmr::run::RunError;
use mngr_tmr::written::{WritingRequest, WrittenJudge};
use serde_json::{Value, json};

use super::inputs;
use super::launch::{LaunchArgs, in_words};
use super::project::Project;
use super::shown;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::theme::Tone;
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// List the tests that are missing, and have agents write them
///
/// Lists blocks that no test cites, blocks that changed since and citations of what is gone, in portions of three to five.
/// With --launch an agent for each portion writes or mends the tests and commits them on a branch of its own; then the
/// tests are checked again. With --merge they are measured like the tests of `mngr tmr`, and what holds is merged.
///
/// Words after `--` are arguments of the agents. Exit code 1 when something is still to be done.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial sync tutorial/tutorial.sh tests/\n  \
                        mngr tutorial sync tutorial/tutorial.sh tests/ --launch --type claude --agents 2\n  \
                        mngr tutorial sync tutorial/tutorial.sh tests/ --launch --merge")]
pub(crate) struct SyncArgs {
    /// The tutorial
    #[arg(display_order = 0, help_heading = "ARGUMENTS")]
    script: String,

    /// Files and folders with tests in Python and Rust
    #[arg(required = true, display_order = 1, help_heading = "ARGUMENTS")]
    tests: Vec<String>,

    #[command(flatten)]
    launch: LaunchArgs,

    /// How many agents work at the same time
    #[arg(long, value_name = "N", default_value_t = 4, requires = "launch", help_heading = "AGENTS",
        value_parser = clap::value_parser!(u16).range(1..=50))]
    agents: u16,

    /// Measure the agents' tests, and merge those that hold into the branch you are on
    #[arg(long, requires = "launch", help_heading = "AGENTS")]
    merge: bool,

    /// How the tests are found and run (default: told by the files of the project)
    #[arg(long, value_name = "NAME", requires = "merge", help_heading = "AGENTS")]
    collector: Option<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Lists the work, and has it done.
pub(super) fn run(ctx: &mut Ctx, args: &SyncArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let script = inputs::script(ctx, &args.script)?;
    let items = work(ctx, args, &script)?;
    let mut report =
        SyncReport { script: args.script.clone(), groups: groups(&items), synced: Vec::new(), open: items };
    if args.launch.launch && !report.open.is_empty() {
        launch(ctx, args, &script, &mut report)?;
    }
    let is_good = |synced: &Synced| {
        let measured = synced.portion.measured.as_ref();
        synced.ending == Ending::Finished && measured.is_none_or(Judgement::may_be_merged)
    };
    let is_done = report.open.is_empty() && report.synced.iter().all(is_good);
    output.show(&ctx.console, &report)?;
    Ok(if is_done { ExitCode::Done } else { ExitCode::Failed })
}

/// What is to be done, as the files are here and now.
fn work(ctx: &Ctx, args: &SyncArgs, script: &Script) -> Result<Vec<WorkItem>, CliError> {
    let suite = inputs::suite(ctx, &args.tests, Strictness::Tutorial)?;
    let report = blocks::check(script, &suite, Strictness::Tutorial);
    inputs::warn(ctx, &report.problems);
    Ok(work_list(&report))
}

fn launch(ctx: &mut Ctx, args: &SyncArgs, script: &Script, report: &mut SyncReport) -> Result<(), CliError> {
    let world = ctx.world()?;
    let project = Project::around(&world, &world.cwd)?;
    let relative = |named: &String| project.relative(&ctx.surroundings.path(named));
    let name = relative(&args.script)?;
    let tests: Vec<String> = args.tests.iter().map(relative).collect::<Result<_, _>>()?;
    let judge = match args.merge {
        true => Some(judge(ctx, &world, args, &project, (&name, &tests))?),
        false => None,
    };
    let request = SyncTestsRequest {
        script,
        name,
        tests,
        groups: report.groups.clone(),
        judge: judge.as_ref().map(|judge| judge as &dyn Judge),
        crew: args.launch.crew(args.agents)?,
    };
    report.synced = tutorial::sync(&world, &request).map_err(|e| CliError::new(ErrorKind::Failed, e))?;
    report.open = if args.merge {
        work(ctx, args, script)?
    } else {
        report.synced.iter().flat_map(|synced| synced.portion.open.clone()).collect()
    };
    if !args.launch.is_kept() {
        for synced in report.synced.iter().filter(|synced| synced.portion.uncommitted > 0) {
            let name = &synced.agent;
            ctx.console.warn(&format!(
                "agent `{name}` left uncommitted files; `mngr undo {name}` brings it and them back"
            ));
        }
    }
    Ok(())
}

/// Who measures the tests before they are merged. What is wrong with the settings is said before any agent is launched.
fn judge<'w>(
    ctx: &Ctx,
    world: &'w World,
    args: &SyncArgs,
    project: &Project,
    (script, tests): (&str, &[String]),
) -> Result<WrittenJudge<'w>, CliError> {
    let of_run = crate::commands::tmr::failure::of_run;
    let collector = match &args.collector {
        Some(name) => name.clone(),
        None => {
            let own = &world.settings.tmr.collectors;
            let found = detect(world.client.files(), &project.root, own)
                .map_err(|error| of_run(RunError::Collector(error)))?;
            let file = found.file.unwrap_or_default();
            ctx.console.note(&format!("collector `{}`, told by {file}", found.collector));
            found.collector
        }
    };
    let (repository, script, tests) = (project.root.clone(), script.to_owned(), tests.to_vec());
    WrittenJudge::open(world, WritingRequest { repository, script, tests, collector }).map_err(of_run)
}

struct SyncReport {
    script: String,
    groups: Vec<WorkGroup>,
    synced: Vec<Synced>,
    open: Vec<WorkItem>,
}

impl SyncReport {
    fn agent(synced: &Synced) -> String {
        let portion = &synced.portion;
        let all = portion.done + portion.open.len();
        let ending = in_words(&synced.ending);
        let mut text = format!("agent {}: {ending}, {} of {all} done\n", synced.agent, portion.done);
        text.extend(portion.measured.iter().map(Self::measured));
        if let Some(merge) = &portion.merge {
            text +=
                &format!("    merged into {}: {}\n", sanitize(&merge.into), count(merge.commits, "commit"));
        } else if let Some(branch) = &portion.branch {
            let command = branch.merge_command.as_deref().unwrap_or("nothing to merge");
            let (commits, name) = (count(branch.ahead, "commit"), sanitize(&branch.name));
            text += &format!("    {commits} on {name}: {command}\n");
            if portion.measured.is_some() {
                let diff = format!("git diff HEAD...{name}");
                text +=
                    &format!("    not merged: look at `{diff}`, mend it there, or merge it all the same\n");
            }
        }
        if portion.uncommitted > 0 {
            text += &format!("    {} not committed\n", count(portion.uncommitted, "file"));
        }
        for problem in &portion.problems {
            text += &format!("    problem: {}\n", sanitize(problem));
        }
        text
    }

    /// What was measured of the tests of one agent.
    fn measured(measured: &Judgement) -> String {
        let Judgement { strength, review, refused, .. } = measured;
        let strengths = strength.iter().filter(|it| it.state != StrengthState::NotNeeded);
        let strengths = strengths.map(|it| format!("    strength of {}: {it}\n", sanitize(it.task.as_str())));
        let refused = refused.iter().map(|why| format!("    refused: {}\n", sanitize(why)));
        let review = review
            .iter()
            .map(|reason| format!("    needs review ({}): {}\n", reason.kind, sanitize(&reason.text)));
        strengths.chain(refused).chain(review).collect()
    }

    fn item(&self, item: &WorkItem) -> String {
        let cited = |tests| shown::tests("    cited by ", tests);
        match item {
            WorkItem::Uncited { block } => format!("  uncited  {}", shown::block(&self.script, block)),
            WorkItem::Changed(changed) => {
                let block = shown::block(&self.script, &changed.block);
                format!("  changed  {block}{}{}", shown::text(&changed.diff), cited(&changed.tests))
            }
            WorkItem::Stale(stale) => {
                let title = stale.text.lines().next().unwrap_or_default();
                format!("  stale    {}\n{}", sanitize(title), cited(&stale.tests))
            }
        }
    }
}

impl Report for SyncReport {
    fn human(&self, console: &Console) -> String {
        let heading = |text: &str| console.out_colour().paint(Tone::Heading, text);
        let mut text: String = self.synced.iter().map(Self::agent).collect();
        if self.open.is_empty() {
            return text + "nothing to do: every block is cited, and every citation is a block\n";
        }
        if self.synced.is_empty() {
            for (number, group) in self.groups.iter().enumerate() {
                let sections = sanitize(&group.sections.join(", ")).into_owned();
                text += &format!("{}\n", heading(format!("{}. {sections}", number + 1).trim_end()));
                text += &group.items.iter().map(|item| self.item(item)).collect::<String>();
            }
            let portions = count(self.groups.len(), "portion");
            return text + &format!("\n{} to do, in {portions}\n", count(self.open.len(), "thing"));
        }
        text += &format!("\n{}\n", heading("still to do"));
        text + &self.open.iter().map(|item| self.item(item)).collect::<String>()
    }

    fn json(&self) -> Value {
        json!({
            "script": self.script,
            "is_clean": self.open.is_empty(),
            "groups": self.groups,
            "agents": self.synced,
            "open": self.open,
        })
    }

    fn events(&self) -> Vec<Value> {
        let groups = self.groups.iter().map(|group| event("group", json!(group)));
        let agents = self.synced.iter().map(|synced| event("agent", json!(synced)));
        let open = self.open.iter().map(|item| event("open", json!(item)));
        let summary =
            json!({ "script": self.script, "is_clean": self.open.is_empty(), "open": self.open.len() });
        groups.chain(agents).chain(open).chain([event("summary", summary)]).collect()
    }
}
