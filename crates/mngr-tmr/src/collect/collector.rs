//! A collector, ready for use: checked once, then only asked for command lines and readings.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_config::{CollectorSettings, DurationSetting, IdFormat, Pattern, ReportFormat};
use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_model::HostPath;
use mngr_model::env::{EnvError, EnvName};
use mngr_model::quote::sh_quote;
use mngr_model::run::TaskId;
use regex::Regex;

use super::builtin;
use super::ids::{IdReader, IdsError};
use super::results::ResultReader;
use super::run::is_above;
use super::template::{Template, Word};
use crate::verify::{GlobError, REPORT_VARIABLE};

/// How long finding the tests may take when nothing is said.
const COLLECT_TIMEOUT: Duration = Duration::from_secs(2 * 60);
/// How long one test may take when nothing is said.
const ONE_TIMEOUT: Duration = Duration::from_secs(2 * 60);
/// How long many tests may take when nothing is said.
const MANY_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How long the words of one command line may be in all. A single argument of a process may have 128 KiB.
const LONGEST_LINE: usize = 96 * 1024;

/// The place for what makes a command write its report.
const REPORT_FLAGS: &str = "report_flags";

/// A collector cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// There is none of that name.
    #[error("there is no collector `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Nothing tells which to use.
    #[error("no file in `{root}` tells how its tests are found; name a collector: {}", known.join(", "))]
    NotDetected {
        /// Where was looked.
        root: HostPath,
        /// Those there are.
        known: Vec<String>,
    },
    /// Several projects, and nothing tells which is meant.
    #[error("there are several projects with tests: {}", folders.iter().map(|folder| format!("`{folder}`")).collect::<Vec<_>>().join(", "))]
    Several {
        /// Their folders.
        folders: Vec<String>,
    },
    /// It is built on itself.
    #[error("the collector `{name}` is built on `{parent}`, which is built on it")]
    Circle {
        /// Its name.
        name: String,
        /// Where the circle closes.
        parent: String,
    },
    /// Something that has to be said is not.
    #[error("the collector `{name}` does not say `{key}`: set `tmr.collectors.{name}.{key}`")]
    Missing {
        /// Its name.
        name: String,
        /// What is missing.
        key: &'static str,
    },
    /// A command line without a place for the id of a test.
    #[error("`one` of the collector `{name}` has no `{{id}}`: every test would be the same")]
    NoPlace {
        /// Its name.
        name: String,
    },
    /// A report in a file that no command line would write.
    #[error(
        "`report_flags` of the collector `{name}` has no `{{report}}`: nothing says where the report is written"
    )]
    NoReport {
        /// Its name.
        name: String,
    },
    /// Words for the framework that no command line would hand on.
    #[error("no command of the collector `{name}` has `{{flags}}`: words after `--` would go nowhere")]
    NoFlags {
        /// Its name.
        name: String,
    },
    /// A pattern that does not compile.
    #[error("`{key}` of the collector `{name}` is not a pattern")]
    Pattern {
        /// Its name.
        name: String,
        /// Which pattern.
        key: &'static str,
        /// Why.
        #[source]
        source: regex::Error,
    },
    /// A variable that cannot be one.
    #[error("`env` of the collector `{name}` names a variable that cannot be one")]
    Variable {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: EnvError,
    },
    /// The project cannot be looked at.
    #[error("cannot look for what tells of a test framework")]
    Files(#[from] FilesError),
    /// The last commit cannot be read.
    #[error("cannot look for what tells of a test framework in the last commit")]
    Git(#[from] GitError),
    /// A name of a file that is no pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

/// What the user asked for: where to look, and what to tell the framework.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Selection {
    /// Paths or whatever else the framework takes for a selection, as seen from the root of the repository.
    pub paths: Vec<String>,
    /// Further words for it, for every run.
    pub flags: Vec<String>,
    /// The folder of the repository that commands run in, where that is not its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Files whose tests could not be listed at the base: each is a test of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
}

/// One way to find and run tests.
#[derive(Debug, Clone)]
pub struct Collector {
    name: String,
    collect: Template,
    pub(super) paths_are_files: bool,
    one: Template,
    many: Option<(Template, Option<ResultReader>)>,
    report: ReportFormat,
    /// What makes a command write the report, with the variable that has its path.
    report_flags: String,
    pub(super) ids: IdReader,
    parts: Option<Regex>,
    none_exit: Vec<i32>,
    none_pattern: Option<Regex>,
    pub(super) broken_pattern: Option<Regex>,
    pub(super) outside: Vec<Regex>,
    /// `export A=1; `, or nothing.
    exports: String,
    /// The same for what makes a command write the report.
    report_exports: String,
    pub(super) selection: Selection,
    timeouts: [Duration; 3],
}

impl Collector {
    /// The collector of that name for a selection of tests, from the settings and the built-in ones.
    ///
    /// # Errors
    /// When there is none, or it does not say enough.
    pub fn named(
        name: &str,
        own: &BTreeMap<String, CollectorSettings>,
        selection: Selection,
    ) -> Result<Self, CollectorError> {
        Self::compile(name, builtin::find(name, own)?, selection)
    }

    fn compile(name: &str, said: CollectorSettings, selection: Selection) -> Result<Self, CollectorError> {
        let missing = |key| CollectorError::Missing { name: name.to_owned(), key };
        let pattern = |key: &'static str, said: &Option<Pattern>| {
            let compile = |said: &Pattern| {
                let compiled = Regex::new(said.as_str());
                compiled.map_err(|source| CollectorError::Pattern { name: name.to_owned(), key, source })
            };
            said.as_ref().map(compile).transpose()
        };
        let one = Template::new(said.one.ok_or_else(|| missing("one"))?);
        let parts = pattern("id_parts", &said.id_parts)?;
        let has_place = one.has("id") || (parts.is_some() && one.has("1"));
        if !has_place {
            return Err(CollectorError::NoPlace { name: name.to_owned() });
        }
        let format = said.ids.unwrap_or(IdFormat::Lines);
        if format != IdFormat::Lines && said.id_pointers.is_empty() {
            return Err(missing("id_pointers"));
        }
        let report = said.report.unwrap_or(ReportFormat::Exit);
        let report_flags = said.report_flags.filter(|_| report != ReportFormat::Exit).unwrap_or_default();
        if is_file(report) && !Template::new(&*report_flags).has("report") {
            return Err(CollectorError::NoReport { name: name.to_owned() });
        }
        let reader = pattern("result_pattern", &said.result_pattern)?.map(|pattern| ResultReader {
            pattern,
            passed: said.passed,
            skipped: said.skipped,
        });
        if said.many.is_some() && reader.is_none() && report == ReportFormat::Exit {
            return Err(missing("result_pattern"));
        }
        let many = said.many.map(|line| (Template::new(line), reader));
        let collect = Template::new(said.collect.ok_or_else(|| missing("collect"))?);
        if !selection.flags.is_empty() && !collect.has("flags") && !one.has("flags") {
            return Err(CollectorError::NoFlags { name: name.to_owned() });
        }
        let timeout = |said: Option<DurationSetting>, usual| said.map_or(usual, DurationSetting::get);
        Ok(Self {
            name: name.to_owned(),
            collect,
            paths_are_files: said.paths_are_files.unwrap_or(false),
            one,
            many,
            ids: IdReader {
                format,
                pattern: pattern("id_pattern", &said.id_pattern)?,
                pointers: said.id_pointers,
                conditions: said.id_where,
            },
            parts,
            none_exit: said.none_exit.into_iter().map(i32::from).collect(),
            none_pattern: pattern("none_pattern", &said.none_pattern)?,
            broken_pattern: pattern("broken_pattern", &said.broken_pattern)?,
            outside: {
                let all = said.outside.into_iter().map(|one| pattern("outside", &Some(one)));
                all.filter_map(Result::transpose).collect::<Result<_, _>>()?
            },
            exports: exports(name, &said.env)?,
            report,
            report_flags: {
                let path = format!("\"${REPORT_VARIABLE}\"");
                Template::new(report_flags).fill(&[("report", Word::Piece(&path))])
            },
            report_exports: match report {
                ReportFormat::Exit => String::new(),
                _ => exports(name, &said.report_env)?,
            },
            selection,
            timeouts: [
                timeout(said.collect_timeout, COLLECT_TIMEOUT),
                timeout(said.one_timeout, ONE_TIMEOUT),
                timeout(said.many_timeout, MANY_TIMEOUT),
            ],
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a test was asked for by its id.
    pub fn is_named(&self, id: &TaskId) -> bool {
        self.selection.paths.iter().any(|path| path == id.as_str())
    }

    /// Of all tests those that were asked for. A command line with a place for paths has chosen already; for one without,
    /// a path is the id of a test or a folder above it.
    pub(super) fn selected(&self, mut ids: Vec<TaskId>) -> Result<Vec<TaskId>, IdsError> {
        let paths = &self.selection.paths;
        if paths.is_empty() || self.collect.has("paths") {
            return Ok(ids);
        }
        if let Some(path) = paths.iter().find(|path| !ids.iter().any(|id| is_above(path, id))) {
            return Err(IdsError::NotAmong { path: path.clone() });
        }
        ids.retain(|id| paths.iter().any(|path| is_above(path, id)));
        Ok(ids)
    }

    /// The command line that prints the tests.
    pub fn collect_line(&self) -> String {
        let (paths, flags) = (self.inner_paths(), &self.selection.flags);
        let places = [("paths", Word::Many(&paths)), ("flags", Word::Many(flags))];
        self.with_exports(&self.collect.fill(&places))
    }

    /// The command line that runs one test: what agents are told to run.
    pub fn one_line(&self, id: &TaskId) -> String {
        let id = self.inner(id.as_str());
        self.with_exports(&self.one.fill(&self.one_places(id)))
    }

    /// The command line that is run to check a test: the same, and its result is reported.
    pub(super) fn one_line_with_report(&self, id: &TaskId) -> String {
        self.with_report(&self.one, self.one_places(self.inner(id.as_str())))
    }

    fn one_places<'a>(&'a self, id: &'a str) -> Vec<(&'static str, Word<'a>)> {
        let flags = Word::Many(&self.selection.flags);
        let mut places = vec![("id", Word::One(id)), ("flags", flags), (REPORT_FLAGS, Word::Piece(""))];
        if let Some(found) = self.parts.as_ref().and_then(|parts| parts.captures(id)) {
            let numbers = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
            let groups = found.iter().skip(1).map(|part| part.map_or("", |part| part.as_str()));
            places.extend(numbers.into_iter().zip(groups.map(Word::One)));
        }
        places
    }

    /// The command line that runs all tests of the selection in one process; nothing where the framework cannot.
    pub fn together_line(&self) -> Option<String> {
        let (many, _) = self.many.as_ref()?;
        let (paths, flags) = (self.inner_paths(), &self.selection.flags);
        let places = [
            ("ids", Word::Many(&paths)),
            ("paths", Word::Many(&paths)),
            ("flags", Word::Many(flags)),
            (REPORT_FLAGS, Word::Piece("")),
        ];
        Some(self.with_exports(&many.fill(&places)))
    }

    /// The command lines that run these tests and report their results, many in one process, each with its tests; none
    /// where the framework cannot.
    pub(super) fn many_lines(&self, ids: &[TaskId]) -> Vec<(String, Vec<TaskId>)> {
        let Some((many, _)) = &self.many else { return Vec::new() };
        let (paths, flags) = (self.inner_paths(), &self.selection.flags);
        let fill = |ids: &[TaskId]| {
            let words: Vec<String> = ids.iter().map(|id| self.inner(id.as_str()).to_owned()).collect();
            let places = vec![
                ("ids", Word::Many(&words)),
                ("paths", Word::Many(&paths)),
                ("flags", Word::Many(flags)),
                (REPORT_FLAGS, Word::Piece("")),
            ];
            (self.with_report(many, places), ids.to_vec())
        };
        if !many.has("ids") {
            return vec![fill(ids)];
        }
        let mut lines = Vec::new();
        let mut start = 0;
        let mut length = 0;
        for (at, id) in ids.iter().enumerate() {
            let more = sh_quote(id.as_str()).len() + 1;
            if length + more > LONGEST_LINE && at > start {
                lines.push(fill(&ids[start..at]));
                (start, length) = (at, 0);
            }
            length += more;
        }
        if start < ids.len() {
            lines.push(fill(&ids[start..]));
        }
        lines
    }

    /// Whether many tests can be run in one process.
    pub(crate) fn runs_many(&self) -> bool {
        self.many.is_some()
    }

    /// The same, knowing that these files are broken at the base.
    #[must_use]
    pub(crate) fn with_broken(mut self, files: &[TaskId]) -> Self {
        self.selection.broken = files.iter().map(ToString::to_string).collect();
        self
    }

    /// What it was asked for.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Whether ids of tests can be given to a run of many.
    pub fn takes_many_ids(&self) -> bool {
        self.many.as_ref().is_some_and(|(many, _)| many.has("ids"))
    }

    /// How the results of a run of many are read where there is no report.
    pub(super) fn results(&self) -> Option<&ResultReader> {
        self.many.as_ref().and_then(|(_, results)| results.as_ref())
    }

    /// How a run says what became of each test.
    pub(super) fn report(&self) -> ReportFormat {
        self.report
    }

    /// Whether its report is a file, and not a part of what is printed.
    pub(super) fn has_report_file(&self) -> bool {
        is_file(self.report)
    }

    fn with_report<'a>(&'a self, line: &Template, mut places: Vec<(&str, Word<'a>)>) -> String {
        for (name, word) in &mut places {
            if *name == REPORT_FLAGS {
                *word = Word::Piece(&self.report_flags);
            }
        }
        let mut filled = line.fill(&places);
        if !line.has(REPORT_FLAGS) && !self.report_flags.is_empty() {
            filled.push(' ');
            filled.push_str(&self.report_flags);
        }
        format!("{}{}", self.report_exports, self.with_exports(&filled))
    }

    /// Whether a command that ended like this had no test to run.
    pub fn found_none(&self, exit: i32, printed: &str) -> bool {
        self.none_exit.contains(&exit)
            || self.none_pattern.as_ref().is_some_and(|none| none.is_match(printed))
    }

    /// How long finding the tests may take.
    pub fn collect_timeout(&self) -> Duration {
        self.timeouts[0]
    }

    /// How long one test may take.
    pub fn one_timeout(&self) -> Duration {
        self.timeouts[1]
    }

    /// How long many tests in one process may take.
    pub fn many_timeout(&self) -> Duration {
        self.timeouts[2]
    }

    /// The same collector, with lines of `sh` before each of its commands and after its variables.
    pub(crate) fn prefaced(&self, lines: &str) -> Self {
        Self { exports: format!("{}{lines}", self.exports), ..self.clone() }
    }

    fn with_exports(&self, line: &str) -> String {
        let folder = self.selection.folder.as_deref();
        let enter = folder.map(|folder| format!("cd {} || exit; ", sh_quote(folder))).unwrap_or_default();
        format!("{}{enter}{line}", self.exports)
    }
}

/// Whether a report of this format is a file that the command writes.
fn is_file(format: ReportFormat) -> bool {
    match format {
        ReportFormat::Junit | ReportFormat::VitestJson | ReportFormat::JestJson => true,
        ReportFormat::LibtestJson | ReportFormat::GoJson | ReportFormat::Exit => false,
    }
}

fn exports(name: &str, env: &BTreeMap<String, String>) -> Result<String, CollectorError> {
    let mut line = String::new();
    for (variable, value) in env {
        let variable: EnvName =
            variable.parse().map_err(|source| CollectorError::Variable { name: name.to_owned(), source })?;
        line.push_str(&format!("{variable}={} ", sh_quote(value)));
    }
    Ok(if line.is_empty() { line } else { format!("export {}; ", line.trim_end()) })
}
