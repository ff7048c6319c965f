//! The files that are named on the command line: a script, and where the tests are.

use mngr_e2e::tutorial::{Problem, Script, Strictness, Suite, TestPath};
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

/// Warns of what is wrong with the files, where that is not what the user asked about.
pub(super) fn warn(ctx: &Ctx, problems: &[Problem]) {
    for Problem { file, line, kind } in problems {
        ctx.console.warn(&sanitize(&format!("{file}:{line}: {kind}")));
    }
}
