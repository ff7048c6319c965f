//! Replays recorded moments of the real programs: what mngr makes of each must be what was seen there.
//!
//! A case is one file in `corpus/<brand>/`, found by being there; `docs/concepts/corpus.md` says how to add one. Cases
//! of a brand that mngr does not have yet are read and counted, not replayed.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use mngr_agents::brand::{Brand, Composer};
use mngr_agents::detect::process_state;
use mngr_agents::manifest::BuiltIn;
use mngr_host::files::Files;
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use mngr_model::facts::{AgentFacts, ExtraFacts, Markers, ProcessFact, ProgramFacts, Terminal};
use mngr_model::process::ProcessRecord;
use mngr_model::state::{AgentState, StateSource, WaitingReason};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");

/// How many cases every answer needs before it counts as covered.
const ENOUGH: usize = 5;

type Failure = Box<dyn std::error::Error>;

/// One recorded moment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    brand: String,
    version: String,
    label: String,
    size: String,
    note: String,
    /// Not looked at when rules are written: it tells whether they hold elsewhere.
    #[serde(default)]
    held_out: bool,
    expected: Expected,
    evidence: Evidence,
    /// What was recorded besides, for rules to come.
    #[serde(default, rename = "recorded")]
    _recorded: IgnoredAny,
}

/// What was to be seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// Absent where the program does not say yet what it does: then only its process speaks.
    state: Option<AgentState>,
    reason: Option<WaitingReason>,
    #[serde(with = "ComposerWord")]
    composer: Composer,
}

#[derive(Deserialize)]
#[serde(remote = "Composer", rename_all = "snake_case")]
enum ComposerWord {
    Empty,
    HoldsText,
    NotVisible,
}

/// What lay on the disk and stood on the screen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    status: Option<String>,
    failure: Option<String>,
    active: Option<Timestamp>,
    waiting: Option<Timestamp>,
    waiting_reason: Option<WaitingReason>,
    screen: String,
}

/// What a case is counted under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    State(AgentState, Option<WaitingReason>),
    ProcessOnly,
}

impl Answer {
    /// What every brand can show.
    fn all() -> impl Iterator<Item = Self> {
        let waiting =
            WaitingReason::ALL.into_iter().map(|reason| Self::State(AgentState::Waiting, Some(reason)));
        waiting.chain([Self::State(AgentState::Running, None), Self::ProcessOnly])
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::State(state, None) => state.as_str().to_owned(),
            Self::State(state, Some(reason)) => format!("{state} {}", reason.as_str()),
            Self::ProcessOnly => "nothing said yet".to_owned(),
        };
        f.pad(&text)
    }
}

impl Case {
    fn wanted(&self) -> Answer {
        self.expected.state.map_or(Answer::ProcessOnly, |state| Answer::State(state, self.expected.reason))
    }

    /// What is wrong with mngr's answer, if anything.
    fn problem(&self, brand: &dyn Brand) -> Result<Option<String>, Failure> {
        let report = process_state(&self.facts()?);
        let answer = match report.source {
            StateSource::Process => Answer::ProcessOnly,
            _ => Answer::State(report.state, report.waiting_reason),
        };
        let composer = brand.composer(&self.evidence.screen);
        let mut problems = Vec::new();
        if answer != self.wanted() {
            problems.push(format!("says {answer} ({}), not {}", report.evidence, self.wanted()));
        }
        if composer != self.expected.composer {
            problems.push(format!("sees the box as {composer:?}, not {:?}", self.expected.composer));
        }
        Ok((!problems.is_empty()).then(|| problems.join("; ")))
    }

    /// The case as one look at a machine would find it.
    fn facts(&self) -> Result<AgentFacts, serde_json::Error> {
        let record = serde_json::from_value(json!({
            "id": "agent-0123456789abcdef0123456789abcdef",
            "name": "recorded",
            "type": self.brand,
            "brand": self.brand,
            "work_dir": "/home/user/work",
            "create_time": "2026-01-01T00:00:00Z",
            "command": self.brand,
        }))?;
        let alive = ProcessFact::Alive {
            parent: 1,
            group: 1000,
            suspended: false,
            terminal: Some(Terminal { foreground_group: 1000 }),
        };
        let evidence = &self.evidence;
        Ok(AgentFacts {
            record,
            process: ProcessRecord::default(),
            same_boot: Some(true),
            supervisor: alive,
            agent: alive,
            markers: Markers {
                // Every launch makes it; where nothing else is recorded, only its being there matters.
                active: evidence.active.or(Some(Timestamp::UNIX_EPOCH)),
                waiting: evidence.waiting,
                waiting_reason: evidence.waiting_reason,
                folder_changed: None,
            },
            program: Some(ProgramFacts {
                status: evidence.status.clone(),
                failure: evidence.failure.clone(),
                ..ProgramFacts::default()
            }),
            elsewhere: Vec::new(),
            started_at: None,
            clock_lead: jiff::SignedDuration::ZERO,
            extra: ExtraFacts::default(),
        })
    }
}

/// Every case with its name, which is `<brand>/<file>`.
fn cases() -> Result<Vec<(String, Case)>, Failure> {
    let root = HostPath::new(CORPUS);
    let mut found = Vec::new();
    for brand in LocalFiles.list(&root)? {
        let folder = root.join(&brand.name);
        for file in LocalFiles.list(&folder)? {
            let name = format!("{}/{}", brand.name, file.name);
            let case: Case = toml::from_str(&LocalFiles.read_text(&folder.join(&file.name))?)
                .map_err(|error| format!("{name}: {error}"))?;
            if case.brand != brand.name {
                return Err(format!("{name}: it is of the brand `{}`", case.brand).into());
            }
            found.push((name, case));
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Count {
    cases: usize,
    held_out: usize,
    wrong: usize,
    wrong_held_out: usize,
}

impl Count {
    fn add(&mut self, case: &Case, is_wrong: bool) {
        self.cases += 1;
        self.held_out += usize::from(case.held_out);
        self.wrong += usize::from(is_wrong);
        self.wrong_held_out += usize::from(is_wrong && case.held_out);
    }
}

#[test]
fn every_recorded_moment_is_told_as_it_was() -> Result<(), Failure> {
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<(String, Answer), Count> = BTreeMap::new();
    let mut replayed = Count::default();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for (name, case) in cases()? {
        let Some(brand) = BuiltIn::named(&case.brand).and_then(BuiltIn::brand) else {
            *unknown.entry(case.brand).or_default() += 1;
            continue;
        };
        let problem = case.problem(brand)?;
        counts.entry((case.brand.clone(), case.wanted())).or_default().add(&case, problem.is_some());
        replayed.add(&case, problem.is_some());
        if let Some(problem) = problem {
            let Case { label, note, version, size, .. } = &case;
            wrong.push(format!("{name} ({label}: {note}; {version}, {size}) {problem}"));
        }
    }

    println!("{:10} {:22} {:>5} {:>5} {:>8} {:>5}", "brand", "answer", "cases", "wrong", "held out", "wrong");
    for ((brand, answer), count) in &counts {
        println!(
            "{brand:10} {answer:22} {:>5} {:>5} {:>8} {:>5}",
            count.cases, count.wrong, count.held_out, count.wrong_held_out
        );
    }
    let Count { cases, held_out, wrong_held_out, .. } = replayed;
    let mut summary = format!(
        "corpus: {cases} cases replayed, {} wrong; of these {held_out} held out, {wrong_held_out} wrong",
        wrong.len()
    );
    for (brand, count) in &unknown {
        summary.push_str(&format!("; {count} of {brand} not replayed"));
    }
    println!("{summary}");

    assert!(wrong.is_empty(), "{summary}\n{}", wrong.join("\n"));
    let mut thin = Vec::new();
    for brand in BuiltIn::ALL.into_iter().filter(|kind| kind.brand().is_some()) {
        for answer in Answer::all() {
            let cases = counts.get(&(brand.name().to_owned(), answer)).map_or(0, |count| count.cases);
            if cases < ENOUGH {
                thin.push(format!("{} {answer}: {cases}", brand.name()));
            }
        }
    }
    assert!(thin.is_empty(), "fewer than {ENOUGH} cases: {thin:?}");
    assert!(held_out * 3 >= cases, "less than a third is held out: {held_out} of {cases}");
    Ok(())
}
