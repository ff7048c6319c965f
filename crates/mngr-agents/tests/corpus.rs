//! Replays recorded moments of the real programs: what mngr makes of each must be what was seen there.
//!
//! A case is one file in `corpus/<brand>/`, found by being there; `docs/concepts/corpus.md` says how to add one. Cases
//! of a brand that mngr does not have yet are read and counted, not replayed. `MNGR_CORPUS` names another folder of cases:
//! then only their answers are judged, not whether there are enough of them.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use mngr_agents::brand::{Brand, Composer};
use mngr_agents::detect::process_state;
use mngr_agents::kind::Kind;
use mngr_agents::manifest::BuiltIn;
use mngr_host::files::Files;
use mngr_host::local::LocalFiles;
use mngr_host::tmux::PaneView;
use mngr_model::HostPath;
use mngr_model::facts::{AgentFacts, ExtraFacts, Markers, ProcessFact, ProgramFacts, Terminal};
use mngr_model::process::ProcessRecord;
use mngr_model::state::{AgentState, StateSource, WaitingReason};
use serde::Deserialize;
use serde_json::json;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
/// Names another folder of cases.
const ELSEWHERE: &str = "MNGR_CORPUS";

/// How many cases every answer needs before it counts as covered.
const ENOUGH: usize = 5;

/// How many versions of a brand there are cases of.
const VERSIONS: usize = 3;

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
    /// What was recorded besides.
    #[serde(default)]
    recorded: Recorded,
}

/// What was recorded besides; most of it is for rules to come.
#[derive(Debug, Default, Deserialize)]
struct Recorded {
    #[serde(default)]
    title: String,
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
    /// What a brand can show at one moment. Background work is told over time, which no case has; failures of the service are
    /// known from Claude Code alone.
    fn all_of(brand: &str) -> impl Iterator<Item = Self> {
        let is_shown = move |reason: &WaitingReason| match reason {
            WaitingReason::Background => false,
            WaitingReason::ApiError => brand == BuiltIn::Claude.name(),
            _ => true,
        };
        let reasons = WaitingReason::ALL.into_iter().filter(is_shown);
        let waiting = reasons.map(|reason| Self::State(AgentState::Waiting, Some(reason)));
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
    fn problem(&self, kind: &Kind) -> Result<Option<String>, Failure> {
        let report = process_state(&self.facts()?);
        // The screen is as old as the rest: rules that want it to be newer do not speak.
        let view = PaneView {
            title: self.recorded.title.clone(),
            changed: report.since,
            screen: self.evidence.screen.clone(),
        };
        let report = kind.judge(report, Some(&view));
        let answer = match report.source {
            StateSource::Process => Answer::ProcessOnly,
            _ => Answer::State(report.state, report.waiting_reason),
        };
        let composer = kind.composer(&self.evidence.screen);
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
fn cases(root: &HostPath) -> Result<Vec<(String, Case)>, Failure> {
    let mut found = Vec::new();
    for brand in LocalFiles.list(root)? {
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
    let elsewhere = std::env::var(ELSEWHERE).ok();
    let root = HostPath::new(elsewhere.as_deref().unwrap_or(CORPUS));
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<(String, Answer), Count> = BTreeMap::new();
    let mut versions: BTreeMap<(String, String), Count> = BTreeMap::new();
    let mut replayed = Count::default();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for (name, case) in cases(&root)? {
        let Some(kind) = BuiltIn::named(&case.brand).filter(|kind| kind.brand().is_some()) else {
            *unknown.entry(case.brand).or_default() += 1;
            continue;
        };
        let problem = case.problem(&Kind::new(kind, Vec::new()))?;
        counts.entry((case.brand.clone(), case.wanted())).or_default().add(&case, problem.is_some());
        versions.entry((case.brand.clone(), case.version.clone())).or_default().add(&case, problem.is_some());
        replayed.add(&case, problem.is_some());
        if let Some(problem) = problem {
            let Case { label, note, version, size, .. } = &case;
            wrong.push(format!("{name} ({label}: {note}; {version}, {size}) {problem}"));
        }
    }

    println!("{:10} {:22} {:>5} {:>5} {:>8} {:>5}", "brand", "answer", "cases", "wrong", "held out", "wrong");
    let line = |brand: &str, what: &dyn fmt::Display, count: &Count| {
        println!(
            "{brand:10} {what:22} {:>5} {:>5} {:>8} {:>5}",
            count.cases, count.wrong, count.held_out, count.wrong_held_out
        );
    };
    for ((brand, answer), count) in &counts {
        line(brand, answer, count);
    }
    for ((brand, version), count) in &versions {
        line(brand, version, count);
    }
    let Count { cases, held_out, wrong_held_out, .. } = replayed;
    let mut summary = format!(
        "corpus: {cases} cases of {} versions replayed, {} wrong; of these {held_out} held out, {wrong_held_out} wrong",
        versions.len(),
        wrong.len()
    );
    for (brand, count) in &unknown {
        summary.push_str(&format!("; {count} of {brand} not replayed"));
    }
    println!("{summary}");

    assert!(wrong.is_empty(), "{summary}\n{}", wrong.join("\n"));
    if elsewhere.is_some() {
        return Ok(());
    }
    assert_eq!(lacks(&counts, &versions), Vec::<String>::new());
    Ok(())
}

/// What there is too little of.
fn lacks(
    counts: &BTreeMap<(String, Answer), Count>,
    versions: &BTreeMap<(String, String), Count>,
) -> Vec<String> {
    let mut lacks = Vec::new();
    for brand in BuiltIn::ALL.into_iter().filter(|kind| kind.brand().is_some()).map(BuiltIn::name) {
        for answer in Answer::all_of(brand) {
            let cases = counts.get(&(brand.to_owned(), answer)).map_or(0, |count| count.cases);
            if cases < ENOUGH {
                lacks.push(format!("{brand} {answer}: {cases} cases, fewer than {ENOUGH}"));
            }
        }
        let known = versions.iter().filter(|((of, _), _)| of == brand);
        if known.count() < VERSIONS {
            lacks.push(format!("{brand}: cases of fewer than {VERSIONS} versions"));
        }
    }
    for ((brand, version), count) in versions {
        if count.held_out * 3 < count.cases {
            lacks.push(format!(
                "{brand} {version}: {} of {} held out, less than a third",
                count.held_out, count.cases
            ));
        }
    }
    lacks
}
