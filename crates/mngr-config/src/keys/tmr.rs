//! `[tmr]`: the test map-reduce. How tests are found and run is said as data; the built-in frameworks are described in
//! the same words.
//!
//! Only the words are here. What follows from them is decided by those who run tests.

use std::collections::BTreeMap;

use super::duration::DurationSetting;
use super::screen::Pattern;
use crate::declare::{choice, settings_table};

choice! {
    /// How the ids of tests are read from what a command prints.
    pub enum IdFormat {
        /// One on each line.
        Lines = "lines",
        /// From one JSON document.
        Json = "json",
        /// From a JSON object on each line.
        JsonLines = "json_lines",
    }
}

choice! {
    /// How a run of tests says what became of each.
    pub enum ReportFormat {
        /// A file of JUnit XML, as pytest writes it.
        Junit = "junit",
        /// JSON lines of libtest among what is printed, as cargo-nextest prints them.
        LibtestJson = "libtest_json",
        /// JSON lines of `go test -json` among what is printed.
        GoJson = "go_json",
        /// A file of JSON, as Vitest writes it.
        VitestJson = "vitest_json",
        /// A file of JSON, as Jest writes it; each id is a file of tests.
        JestJson = "jest_json",
        /// Not at all: the exit status of the command is its result.
        Exit = "exit",
    }
}

settings_table! {
    /// `[tmr.collectors.<name>]`: one way to find and run tests.
    #[derive(Default)]
    #[serde(default)]
    pub struct CollectorSettings {
        /// The collector this one is built on; what is not set here comes from there.
        pub parent: Option<String>,
        /// Files of a project that tell of this framework, as seen from its folder, each with a pattern that its text must match.
        /// A name with `*` is a pattern for files anywhere below, and counts only where no plain name tells anything.
        pub detect: BTreeMap<String, Pattern>,
        /// Shell command that prints the tests. `{paths}` and `{flags}` stand for what `tmr` was given.
        pub collect: Option<String>,
        /// Whether `{paths}` may be files: then the tests of a few files can be asked for.
        pub paths_are_files: Option<bool>,
        /// How the ids are read from what it prints.
        pub ids: Option<IdFormat>,
        /// Pattern of an id; whatever does not match is no test. The group `id`, if there is one, is the id.
        pub id_pattern: Option<Pattern>,
        /// Where the parts of an id are in JSON, as pointers. `*` stands for every key, and the key is a part.
        pub id_pointers: Vec<String>,
        /// What must be true of a test in JSON: a pointer, and the text that must be there.
        pub id_where: BTreeMap<String, String>,
        /// Pattern whose groups are the parts of an id: `{1}`, `{2}`.
        pub id_parts: Option<Pattern>,
        /// Shell command that runs one test: `{id}`, or parts of it as `{1}`, and `{flags}`.
        pub one: Option<String>,
        /// Shell command that runs many tests in one process: `{ids}`, or all there are with `{paths}`; and `{flags}`.
        pub many: Option<String>,
        /// How a run says what became of each test. Without a report (`exit`) a test passes when its command ends with status 0.
        pub report: Option<ReportFormat>,
        /// What makes these commands write the report: put at the end of their lines, or where they have `{report_flags}`.
        /// `{report}` is the path of a new file for it.
        pub report_flags: Option<String>,
        /// Environment variables that make them write the report.
        pub report_env: BTreeMap<String, String>,
        /// Pattern of a result in what `many` prints, where there is no report: the groups `status`, and `id` or `first` and `second`.
        pub result_pattern: Option<Pattern>,
        /// Words for a test that passed.
        pub passed: Vec<String>,
        /// Words for a test that was skipped.
        pub skipped: Vec<String>,
        /// Exit codes that mean: there was no such test.
        pub none_exit: Vec<u16>,
        /// Pattern that means: there was no such test.
        pub none_pattern: Option<Pattern>,
        /// Environment variables of these commands.
        pub env: BTreeMap<String, String>,
        /// Pattern of a file whose tests `collect` could not list, in what it prints; the group `id` is the file. The tests of other
        /// files are planned all the same, and this file as one test that fails.
        pub broken_pattern: Option<Pattern>,
        /// Patterns of failures whose cause is outside of the repository, where no agent can mend it. With a group `file` only if no
        /// file or folder of the repository has this name, with a group `function` only if the repository does not define it.
        pub outside: Vec<Pattern>,
        /// How long finding the tests may take.
        pub collect_timeout: Option<DurationSetting>,
        /// How long one test may take.
        pub one_timeout: Option<DurationSetting>,
        /// How long many tests in one process may take.
        pub many_timeout: Option<DurationSetting>,
    }
}

choice! {
    /// What an agent may not do with a file.
    pub enum Forbidden {
        /// Change it at all.
        ChangeFile = "change_file",
        /// Add a line that matches `pattern`.
        AddLines = "add_lines",
        /// Remove a line that matches `pattern`.
        RemoveLines = "remove_lines",
        /// Change the words from a line that matches `begin` to the next that matches `end`.
        ChangeBlocks = "change_blocks",
    }
}

choice! {
    /// What of tests no agent may change, without a rule of one's own.
    pub enum ReadOnly {
        /// Doc strings of tests, and of the classes and modules they are in.
        DocStrings = "doc_strings",
        /// Comments above a test, and the first one inside.
        LeadingComments = "leading_comments",
        /// Paragraphs that begin with `Scope:`.
        Scopes = "scopes",
        /// Citations of a tutorial.
        Citations = "citations",
        /// How well tests and tutorial agree.
        Tutorial = "tutorial",
    }
}

settings_table! {
    /// `[tmr.contract.<name>]`: something that no agent may change.
    #[derive(Default)]
    #[serde(default)]
    pub struct ContractSettings {
        /// The files it is about, as patterns; without any, all tests.
        pub paths: Vec<String>,
        /// What an agent may not do with them.
        pub may_not: Option<Forbidden>,
        /// Pattern of a line that may not be added or removed.
        pub pattern: Option<Pattern>,
        /// Pattern of the first line of a block.
        pub begin: Option<Pattern>,
        /// Pattern of the last line of a block.
        pub end: Option<Pattern>,
        /// Kinds of commits that may do it all the same, such as `FIX_TUTORIAL`.
        pub except: Vec<String>,
    }
}

choice! {
    /// What becomes of the hosts that were made for the agents of a run.
    pub enum HostsAfter {
        /// They go on.
        Keep = "keep",
        /// They are stopped; the agents in them stay.
        Stop = "stop",
        /// They are removed, with the agents in them.
        Remove = "remove",
    }
}

choice! {
    /// What agents of a run may do without anybody being asked.
    pub enum TmrPermissions {
        /// What their task needs, and `allow`. Anything else is refused to the agent, and listed.
        Set = "set",
        /// What the program's own settings say. One that asks is given up.
        Own = "own",
    }
}

settings_table! {
    /// `[tmr]`.
    pub struct TmrSettings {
        /// Paths of tests and what only tests use, as in `.gitignore`.
        pub test_paths: Vec<String>,
        /// Paths of documentation. Whatever is neither a test nor documentation is implementation.
        pub doc_paths: Vec<String>,
        /// Tutorials whose blocks tests cite. They are documentation wherever they lie.
        pub tutorial_paths: Vec<String>,
        /// What of tests no agent may change: doc strings, leading comments, `Scope:` paragraphs, citations of a tutorial; and
        /// that tests and tutorial may not agree less than before.
        pub read_only: Vec<ReadOnly>,
        /// Paths that make a change of the implementation come later in the result.
        pub risky_paths: Vec<String>,
        /// Paths of files that several tests use: helpers, fixtures, golden files. A change of one needs review.
        pub shared_paths: Vec<String>,
        /// Paths that say how tests are found, built and run. A change of one needs review.
        pub runner_paths: Vec<String>,
        /// How often a test is run for each measurement: before, after, without the fix.
        pub verify_runs: u16,
        /// What agents may do without anybody being asked: what their task needs (`set`), or what their program's own settings say (`own`).
        pub permissions: TmrPermissions,
        /// Further commands that agents may run, word by word. `*` stands for any letters of a word, a last word `*` for any further words.
        pub allow: Vec<String>,
        /// How many small changes of the program the tests of a task are measured with.
        pub mutants: u16,
        /// The command that end-to-end tests drive; without it, the command of the tutorial.
        pub program: Option<String>,
        /// Shell command that every commit of the result has to pass: compile, lint, import.
        pub gate: Option<String>,
        /// How long that command may take.
        pub gate_timeout: DurationSetting,
        /// How long creating an agent may take.
        pub launch_timeout: DurationSetting,
        /// How long an agent that waits without having published is left alone before it is reminded.
        pub idle_grace: DurationSetting,
        /// How long it then has to publish.
        pub nudge_patience: DurationSetting,
        /// How long an agent may show no sign of work before it is reminded.
        pub silent_after: DurationSetting,
        /// How long an agent may wait for a model's service that refuses requests.
        pub rate_limit_patience: DurationSetting,
        /// How long a host may not answer before its tasks are given to agents elsewhere.
        pub host_patience: DurationSetting,
        /// What becomes of the hosts that were made for the agents of a run: `keep`, `stop` or `remove`.
        pub hosts_after: HostsAfter,
        /// How many equal failures in a row stop further launches.
        pub breaker_after: u16,
        /// How long launches then stop before one agent is tried.
        pub breaker_pause: DurationSetting,
        /// How many such tries there are before the rest of the tasks is given up.
        pub breaker_tries: u16,
        /// What no agent may change.
        pub contract: BTreeMap<String, ContractSettings>,
        /// Tokens one agent is expected to use, for the forecast.
        pub tokens_per_agent: u64,
        /// US dollars one agent is expected to cost, for the forecast.
        pub cost_per_agent: f64,
        /// How long one agent is expected to work, for the forecast.
        pub time_per_agent: DurationSetting,
        /// Ways to find and run tests, and changes to the built-in ones.
        pub collectors: BTreeMap<String, CollectorSettings>,
    }
}
