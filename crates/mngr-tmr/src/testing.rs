//! A small project with `sh` tests in a real repository, and agents whose work is a few files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mngr_config::{BuildOptions, CollectorSettings, Merged};
use mngr_host::files::{Access, Durability};
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use mngr_model::run::{AttemptNumber, Entry, RunName, Started, TaskId};

use crate::candidate::{Candidate, Claims, Cost};
use crate::collect::{Bench, Collector, Selection};
use crate::integrate::{Gate, Input, Integrator, Why, why};
use crate::plan::{Finding, pre_run};
use crate::strength::AcrossTasks;
use crate::verify::{Decision, Rules, Verification, Verifier, WorktreePool};

/// How long one command may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A commit of an agent: its subject and its files; a file without text is deleted.
pub(crate) type Work<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

/// The project.
pub(crate) struct Lab {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) base: String,
    pub(crate) rules: Rules,
    pub(crate) pool: WorktreePool,
    /// How often a test is run for one measurement.
    pub(crate) repeats: usize,
    /// How many mutants tests are measured with; without any, strength is no subject.
    pub(crate) mutants: usize,
    pub(crate) across_tasks: AcrossTasks,
    tests: Collector,
    root: HostPath,
    _dir: tempfile::TempDir,
}

impl Lab {
    /// With these files committed on `main`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, Collector::named("sh", &scripts(), Selection::default()).unwrap())
    }

    /// With these files committed on `main`, and tests of this kind.
    pub(crate) fn with(files: &[(&str, &str)], tests: Collector) -> Self {
        let mut lab = Self::empty(tests);
        lab.write(".gitignore", "*.tmp\ntmr_*\n");
        for (name, text) in files {
            lab.write(name, text);
        }
        lab.commit_base();
        lab
    }

    /// With the files of these folders, the later over the earlier, committed on `main`.
    pub(crate) fn of_folders(folders: &[HostPath], tests: Collector) -> Self {
        let mut lab = Self::empty(tests);
        // The folder of a run is not seen by git.
        lab.write(".git/info/exclude", "tmr_*\n");
        folders.iter().for_each(|folder| lab.lay(folder));
        lab.commit_base();
        lab
    }

    /// Copies the files of a folder into the checkout.
    pub(crate) fn lay(&self, folder: &HostPath) {
        let copy = Cmd::new("cp").args(["-R", "--", &format!("{folder}/."), self.repository().as_str()]);
        let output = self.host.exec(&copy).unwrap();
        assert!(output.success(), "{}", output.stderr_text());
    }

    fn commit_base(&mut self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", "base"]);
        self.base = self.git(&["rev-parse", "HEAD"]);
    }

    /// Without a commit.
    fn empty(tests: Collector) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host: Arc<dyn Host> = Arc::new(LocalHost::open(root.join("host")).unwrap());
        host.files().make_folder(&root.join("repo")).unwrap();
        // Below the checkout, as a run's folder is by default.
        let folder = root.join("repo/tmr_1/checkouts");
        let pool = WorktreePool::open(host.clone(), root.join("repo"), folder, 2).unwrap();
        let settings = Merged::build(&[], &BuildOptions::default()).unwrap().settings().tmr.clone();
        let rules = Rules::new(&settings).unwrap();
        let base = String::new();
        let lab = Self {
            host,
            base,
            rules,
            pool,
            repeats: 3,
            mutants: 0,
            across_tasks: AcrossTasks::default(),
            tests,
            root,
            _dir: dir,
        };
        lab.git(&["init", "--quiet", "--initial-branch=main"]);
        lab
    }

    /// A path beside the repository, where nothing is cleaned.
    pub(crate) fn outside(&self, name: &str) -> HostPath {
        self.root.join(name)
    }

    /// The repository.
    pub(crate) fn repository(&self) -> HostPath {
        self.root.join("repo")
    }

    /// Plain git in the repository.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
        let cmd = Cmd::new("git").args(["-C", self.repository().as_str()]).args(identity).args(args.to_vec());
        // The same commits have the same ids every time, and mutants are chosen by them. Another date, other mutants.
        let date = std::env::var("MNGR_LAB_DATE").unwrap_or_else(|_| "2026-01-01T00:00:00Z".to_owned());
        let dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"];
        let cmd = dates.iter().fold(cmd, |cmd, name| cmd.env(*name, &date));
        let output = self.host.exec(&cmd.env("GIT_CONFIG_GLOBAL", "/dev/null")).unwrap();
        assert!(output.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.repository().join(name);
        self.host.files().make_folder(&path.parent().unwrap()).unwrap();
        self.host.files().write(&path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
    }

    /// An agent's commits on top of the base; `main` stays checked out.
    pub(crate) fn commits(&self, works: &[Work<'_>]) -> String {
        self.commits_on(&self.base, works)
    }

    /// An agent's commits on top of another commit; the first item of each is the whole message.
    pub(crate) fn commits_on(&self, start: &str, works: &[Work<'_>]) -> String {
        self.git(&["checkout", "--quiet", "--detach", start]);
        for (subject, files) in works {
            for (name, text) in *files {
                match text {
                    Some(text) => self.write(name, text),
                    None => self.host.files().remove_file(&self.repository().join(name)).unwrap(),
                }
            }
            self.git(&["add", "--all"]);
            self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        }
        let tip = self.git(&["rev-parse", "HEAD"]);
        self.git(&["checkout", "--quiet", "main"]);
        tip
    }

    /// An agent's work on a task, claimed to pass.
    pub(crate) fn candidate(&self, task: &str, works: &[Work<'_>]) -> Candidate {
        Candidate {
            task: id(task),
            attempt: AttemptNumber(1),
            tip: self.commits(works),
            claims: Claims { passing_before: Some(false), passing_after: Some(true) },
            cost: Cost { tokens: Some(1000), dollars: Some(0.25) },
            together: None,
        }
    }

    /// What is measured about it.
    pub(crate) fn verify(&self, candidate: &Candidate) -> Verification {
        self.verifier().verify(candidate).unwrap()
    }

    /// The tests that pass at the base, and those that fail.
    pub(crate) fn guards_and_red(&self) -> (Vec<TaskId>, Vec<TaskId>) {
        let bench = Bench { runner: &self.pool, commit: &self.base };
        let all = self.tests.collect(&bench).unwrap();
        let tested = pre_run(&self.tests, &bench, all).unwrap();
        let of = |finding: Finding| {
            let tests = tested.iter().filter(|test| test.finding == finding);
            tests.map(|test| test.task.clone()).collect()
        };
        (of(Finding::Passing), of(Finding::Failing))
    }

    /// The verifier.
    pub(crate) fn verifier(&self) -> Verifier<'_> {
        Verifier {
            host: self.host.as_ref(),
            repository: self.repository(),
            scratch: self.outside("scratch"),
            base: self.base.clone(),
            tests: &self.tests,
            repeats: self.repeats,
            rules: &self.rules,
            runner: &self.pool,
            mutants: self.mutants,
            across_tasks: &self.across_tasks,
            program: None,
        }
    }

    /// A candidate with its measurements, as if its tests were strong enough.
    pub(crate) fn input(&self, task: &str, works: &[Work<'_>]) -> Input {
        let candidate = self.candidate(task, works);
        let mut verification = self.verify(&candidate);
        if let Decision::Review { parts, .. } = verification.decision {
            verification.decision = Decision::Integrate(parts);
        }
        Input { verification, candidate }
    }

    /// The integrator, with a gate.
    pub(crate) fn integrator<'a>(&'a self, gate: Option<&'a str>) -> Integrator<'a> {
        Integrator {
            host: self.host.as_ref(),
            repository: self.repository(),
            scratch: self.outside("scratch"),
            run: RunName::new("1"),
            base: self.base.clone(),
            time: 1_700_000_000,
            tests: &self.tests,
            gate: gate.map(|command| Gate { command, deadline: DEADLINE }),
            rules: &self.rules,
            runner: &self.pool,
            measuring: None,
        }
    }

    /// Why a commit of the result is there.
    pub(crate) fn why(&self, commit: &str, journal: &[Entry]) -> Why {
        let started = Started {
            run: RunName::new("1"),
            name: "tmr".to_owned(),
            base_commit: self.base.clone(),
            command: Vec::new(),
            settings: serde_json::Map::new(),
            tasks_total: 0,
        };
        why(&Git::new(self.host.as_ref(), self.repository()), &started, commit, journal).unwrap()
    }

    /// Everything of the user's that must stay as it is: refs, checkout, HEAD.
    pub(crate) fn users_view(&self) -> String {
        let refs = self.git(&["for-each-ref"]);
        let kept: Vec<&str> = refs.lines().filter(|line| !line.contains("refs/heads/tmr/")).collect();
        let status = self.git(&["status", "--porcelain", "--branch"]);
        format!("{}\n{status}\n{}", kept.join("\n"), self.git(&["rev-parse", "HEAD"]))
    }
}

/// The work of an agent that puts `src/N` right, which `tests/N.sh` looks at.
pub(crate) fn fix(lab: &Lab, n: usize) -> Input {
    let (task, path) = (format!("tests/{n}.sh"), format!("src/{n}"));
    lab.input(&task, &[(&format!("[FIX_IMPL] put {n} right"), &[(&path, Some("right\n"))])])
}

/// The work of one that leaves it wrong and lets the test want that, with more files in the same commit.
pub(crate) fn fix_test(lab: &Lab, n: usize, more: &[(&str, Option<&str>)]) -> Input {
    let (task, text) = (format!("tests/{n}.sh"), format!("[ \"$(cat src/{n})\" = wrong ]\n"));
    let files: Vec<(&str, Option<&str>)> =
        [(task.as_str(), Some(text.as_str()))].into_iter().chain(more.iter().copied()).collect();
    lab.input(&task, &[(&format!("[FIX_TEST] {n} is wrong"), &files)])
}

/// Tests are `sh` scripts. One that says so has no test in it.
fn scripts() -> BTreeMap<String, CollectorSettings> {
    let said = "collect = 'ls tests/*.sh'\none = 'sh {id}'\nnone_pattern = '^no such test'\n";
    let settings: CollectorSettings = toml::from_str(said).unwrap();
    BTreeMap::from([("sh".to_owned(), settings)])
}

/// The id of a test.
pub(crate) fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}
