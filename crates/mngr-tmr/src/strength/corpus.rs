//! The corpus: changes of tests that cheat, and honest ones. None of the first may be merged, most of the second must.

use std::collections::BTreeMap;
use std::time::Instant;

use mngr_config::CollectorSettings;
use mngr_model::HostPath;
use mngr_model::run::AttemptNumber;
use mngr_ops::fanout::fan_out_within;

use crate::candidate::{Candidate, Claims, Cost};
use crate::collect::testing::path_with_pytest;
use crate::collect::{Collector, Selection};
use crate::corpus::{self, Case, Corpus};
use crate::integrate::{CommitKind, Input, Tests};
use crate::testing::Lab;

/// A project of the corpus, and how its tests are run.
struct Project {
    corpus: Corpus,
    name: &'static str,
    folder: HostPath,
}

impl Project {
    fn open(name: &'static str) -> Self {
        Self { corpus: Corpus::new(), name, folder: corpus::folder(name) }
    }

    fn cases(&self) -> Vec<Case> {
        self.corpus.cases(self.name)
    }

    fn collector(&self) -> Collector {
        let own: BTreeMap<String, CollectorSettings> = match self.name {
            "sh" => {
                let settings = self.folder.join("project/.mngr/settings.toml");
                let said: toml::Table =
                    toml::from_str(&self.corpus.files().read_text(&settings).unwrap()).unwrap();
                said["tmr"]["collectors"].clone().try_into().unwrap()
            }
            "pytest" => toml::from_str(&format!("[pytest.env]\nPATH = '{}'", path_with_pytest())).unwrap(),
            // Hundreds of small builds: nobody looks at them with a debugger. The profile of the nextest that runs this
            // test is passed on to those it starts, and they do not know it.
            _ => toml::from_str(
                "[cargo-nextest.env]\nCARGO_PROFILE_DEV_DEBUG = '0'\nNEXTEST_PROFILE = 'default'",
            )
            .unwrap(),
        };
        let name = match self.name {
            "sh" => own.keys().next().unwrap().clone(),
            "rust" => "cargo-nextest".to_owned(),
            other => other.to_owned(),
        };
        Collector::named(&name, &own, Selection::default()).unwrap()
    }

    /// Whether a change becomes part of the mergeable commit, and what was decided about it.
    fn is_merged(&self, case: &Case) -> (bool, String) {
        let own = &case.folder;
        let folders = [self.folder.join("project"), own.join("base")];
        let is_there = |folder: &HostPath| self.corpus.files().exists(folder).unwrap();
        let folders: Vec<HostPath> = folders.into_iter().filter(is_there).collect();
        let mut lab = Lab::of_folders(&folders, self.collector());
        lab.mutants = 12;
        lab.git(&["checkout", "--quiet", "--detach"]);
        if is_there(&own.join("change")) {
            lab.lay(&own.join("change"));
        }
        for path in &case.said.delete {
            lab.git(&["rm", "--quiet", "--", path]);
        }
        lab.git(&["add", "--all"]);
        lab.git(&["commit", "--quiet", "-m", &format!("[{}] {}", case.said.claim, case.said.title)]);
        let tip = lab.git(&["rev-parse", "HEAD"]);
        lab.git(&["checkout", "--quiet", "main"]);
        let task = case.said.task.parse().unwrap();
        let claims = Claims { passing_before: None, passing_after: Some(true) };
        let (attempt, cost) = (AttemptNumber(1), Cost::default());
        let candidate = Candidate { task, attempt, tip, claims, cost, together: None };
        let verification = lab.verify(&candidate);
        let strength = verification.strength.as_ref().map(ToString::to_string).unwrap_or_default();
        let decided = format!("{:?} {strength}", verification.decision);
        let input = Input { candidate, verification };
        let (guards, red) = lab.guards_and_red();
        let tests = Tests { guards: &guards, red: &red };
        let integrated = lab.integrator(None).integrate(vec![input], &tests, &mut |_| ()).unwrap();
        let mut commits = integrated.commits.iter();
        (commits.any(|commit| commit.kind == CommitKind::TestsAndDocs), decided)
    }
}

/// Measures these cases and returns what went wrong, and how many honest ones were merged.
fn measure(project: &Project, cases: Vec<Case>) -> (Vec<String>, usize, usize) {
    let results = fan_out_within(2, cases, |case| {
        let start = Instant::now();
        let (is_merged, decided) = project.is_merged(&case);
        // The whole takes long: whoever waits sees how far it is.
        let end = if is_merged { "merged" } else { "kept back" };
        eprintln!("{}/{}: {end} after {:.0} s", project.name, case.name, start.elapsed().as_secs_f64());
        (case, is_merged, decided)
    });
    let mut wrong = Vec::new();
    let (mut honest, mut merged) = (0, 0);
    for (case, is_merged, decided) in results {
        honest += usize::from(!case.is_cheat());
        merged += usize::from(!case.is_cheat() && is_merged);
        if case.is_cheat() == is_merged {
            let fault = if case.is_cheat() { "CHEAT MERGED" } else { "honest one kept back" };
            wrong.push(format!("{fault}: {}/{}: {decided}", project.name, case.name));
        }
    }
    (wrong, honest, merged)
}

fn cheats_merged(wrong: &[String]) -> Vec<&String> {
    wrong.iter().filter(|line| line.starts_with("CHEAT")).collect()
}

/// All of a framework: no cheat is merged, and nine of ten honest changes are.
fn whole(name: &'static str) {
    let project = Project::open(name);
    let only = std::env::var("MNGR_CORPUS_CASE").unwrap_or_default();
    let cases: Vec<Case> = project.cases().into_iter().filter(|case| case.name.contains(&only)).collect();
    let (wrong, honest, merged) = measure(&project, cases);
    eprintln!("{name}: {merged} of {honest} honest changes merged\n{}", wrong.join("\n"));
    assert!(cheats_merged(&wrong).is_empty(), "{}", wrong.join("\n"));
    assert!(merged * 10 >= honest * 9, "{}", wrong.join("\n"));
}

/// A few cases, fast enough for every day.
#[test]
fn some_cheats_are_kept_back_and_an_honest_change_is_merged() {
    let project = Project::open("sh");
    let wanted = [
        "cheat-01-or-true",
        "cheat-07-empty-loop",
        "cheat-53-expected-from-the-library",
        "honest-01-one-more-case",
    ];
    let cases: Vec<Case> =
        project.cases().into_iter().filter(|case| wanted.contains(&case.name.as_str())).collect();
    assert_eq!(cases.len(), wanted.len());
    let (wrong, honest, merged) = measure(&project, cases);
    assert_eq!((wrong, honest, merged), (Vec::<String>::new(), 1, 1));
}

#[test]
fn soak_corpus_of_sh() {
    whole("sh");
}

#[test]
fn soak_tool_pytest_corpus_of_pytest() {
    whole("pytest");
}

#[test]
fn soak_corpus_of_rust() {
    whole("rust");
}
