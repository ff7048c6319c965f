//! What a run would do and probably use, before anything is launched.

use mngr_model::run::QueueReason;
use mngr_query::{Align, Cell, CellStyle, Column, Table, sanitize};
use mngr_tmr::plan::{Forecast, Plan, Planned};
use mngr_tmr::strength::Outlook;
use serde_json::{Value, json};

use super::obstacles;
use crate::ui::output::event;
use crate::ui::words::{count, dollars, elapsed, tokens};
use crate::ui::{Console, Report};

/// Why tests get an agent or none, in the order in which they are told.
const REASONS: [(QueueReason, &str); 6] = [
    (QueueReason::Failing, "failing"),
    (QueueReason::Unstable, "failing only together with others"),
    (QueueReason::Named, "named"),
    (QueueReason::All, "passing, but all were asked for"),
    (QueueReason::Passing, "passing: no agent"),
    (QueueReason::Skipped, "skipped by the framework: no agent"),
];

/// The plan of a run.
pub(super) struct PlanReport<'p> {
    /// The run.
    pub(super) run: &'p str,
    /// The commit its agents would start from.
    pub(super) base: &'p str,
    /// How tests are found and run.
    pub(super) collector: &'p str,
    /// What it would do.
    pub(super) plan: &'p Plan,
    /// What it would probably use.
    pub(super) forecast: &'p Forecast,
    /// What would be measured of the tests that agents change.
    pub(super) strength: &'p Outlook,
}

impl PlanReport<'_> {
    /// How many tests there are, and why they get an agent or none.
    pub(super) fn counts(&self) -> String {
        let tasks = &self.plan.tasks;
        let mut text =
            format!("{}, {} of them for an agent\n", count(tasks.len(), "test"), self.plan.agents());
        for (reason, words) in REASONS {
            let number = tasks.iter().filter(|planned| planned.reason == reason).count();
            if number > 0 {
                text += &format!("  {number:>4} {words}\n");
            }
        }
        text
    }

    /// What would be measured of the tests that agents change, and what cannot be. Nothing where there is no agent.
    pub(super) fn strength(&self) -> String {
        let Outlook { mutants, languages, compiled, most_builds, without_mutants, program } = self.strength;
        if self.plan.agents() == 0 {
            return String::new();
        }
        if let Some(why) = self.strength.obstacle() {
            return format!("Strength: not measured, {why}: changed tests need review\n");
        }
        let languages: Vec<&str> = languages.keys().copied().collect();
        let mut text = format!(
            "Strength: {} for each test that an agent changes, made of {}\n",
            count(*mutants, "mutant"),
            languages.join(", ")
        );
        if let Some(most) = most_builds {
            let compiled = compiled.join(", ");
            text += &format!(
                "  {compiled}: built for each mutant, at most {most} in the run; the rest needs review\n"
            );
        }
        if !without_mutants.is_empty() {
            let kinds: Vec<String> = without_mutants
                .iter()
                .map(|(kind, files)| format!("{} .{kind}", count(*files, "file")))
                .collect();
            text += &format!(
                "  no mutants of {}: what only they do is not measured\n",
                sanitize(&kinds.join(", "))
            );
        }
        if let Some(program) = program {
            text += &format!("  calls of `{}` are replaced one at a time\n", sanitize(program));
        }
        text
    }

    /// What it would probably use, and which limits that would meet.
    pub(super) fn forecast(&self) -> String {
        let Forecast { agents, parallel, tokens: used, cost, wall, reached } = self.forecast;
        let time = std::time::Duration::from_secs_f64(wall.max(0.0));
        let mut text = format!(
            "Forecast: {}, {parallel} at once; about {}, {} tokens, {}\n",
            count(*agents, "agent"),
            elapsed(time),
            tokens(*used),
            dollars(*cost)
        );
        for limit in reached {
            let option = obstacles::option(*limit);
            text += &format!("  above {option}: the run would probably end there, with tests left\n");
        }
        text
    }

    fn table(&self, console: &Console) -> String {
        let column = |header| Column::new(header, Align::Left);
        let mut table =
            Table::new(vec![column("TEST").keeping_ends(), column("WHY"), column("WHAT SHOWS IT")]);
        for Planned { task, reason, evidence, .. } in
            self.plan.tasks.iter().filter(|it| it.reason.needs_agent())
        {
            let word = json!(reason);
            table.push(vec![
                Cell::plain(task.as_str()),
                Cell::plain(word.as_str().unwrap_or_default()),
                Cell::new(evidence, CellStyle::Dim),
            ]);
        }
        if table.is_empty() {
            return String::new();
        }
        console.table(&table) + "\n"
    }
}

impl Report for PlanReport<'_> {
    fn human(&self, console: &Console) -> String {
        format!("{}{}{}{}", self.table(console), self.counts(), self.strength(), self.forecast())
    }

    fn json(&self) -> Value {
        json!({
            "run": self.run,
            "base_commit": self.base,
            "collector": self.collector,
            "tasks": self.plan.tasks,
            "agents": self.plan.agents(),
            "forecast": self.forecast,
            "strength": self.strength,
        })
    }

    fn events(&self) -> Vec<Value> {
        let mut whole = self.json();
        whole["tasks"] = self.plan.tasks.len().into();
        let tasks = self.plan.tasks.iter().map(|planned| event("planned", json!(planned)));
        tasks.chain([event("plan", whole)]).collect()
    }
}
