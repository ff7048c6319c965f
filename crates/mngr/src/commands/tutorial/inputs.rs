//! The files that are named on the command line: a script, and where the tests are.

use mngr_e2e::tutorial::{Problem, Script, Severity, Strictness, Suite, TestPath};
use mngr_host::local::LocalFiles;
use mngr_query::sanitize;

use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};

/// Reads the script.
pub(super) fn script(ctx: &Ctx, named: &str) -> Result<Script, CliError> {
    Script::read(&LocalFiles, &ctx.surroundings.path(named), named)
        .map_err(|error| CliError::new(ErrorKind::Failed, error))
}

/// Finds the tests.
pub(super) fn suite(ctx: &Ctx, named: &[String], strictness: Strictness) -> Result<Suite, CliError> {
    let path = |named: &String| TestPath { path: ctx.surroundings.path(named), shown: named.clone() };
    let paths: Vec<TestPath> = named.iter().map(path).collect();
    Suite::find(&LocalFiles, &paths, strictness).map_err(|error| CliError::new(ErrorKind::Failed, error))
}

/// One line about a problem, as compilers write it.
pub(super) fn problem_line(problem: &Problem) -> String {
    let severity = match problem.kind.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    sanitize(&format!("{}:{}: {severity}: {}", problem.file, problem.line, problem.kind)).into_owned()
}

/// `1 block`, `2 blocks`.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
