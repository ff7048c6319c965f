//! Which run is meant: a folder, a name, or the newest below where the user stands.

use clap::Args;
use jiff::Timestamp;
use mngr_host::files::FileKind;
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_query::sanitize;
use mngr_tmr::journal::{self, Beginning};

use super::failure;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};

/// How many runs an error names.
const NAMED: usize = 5;

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Args)]
pub(super) struct RunArg {
    /// The run: its folder or its name (default: the newest below this folder)
    #[arg(value_name = "RUN", display_order = 0, help_heading = "ARGUMENTS")]
    pub(super) run: Option<String>,
}

/// A run that was found.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    folder: HostPath,
    name: String,
    at: Timestamp,
}

/// The folder of the run that is meant.
pub(super) fn folder(ctx: &Ctx, host: &dyn Host, run: Option<&str>) -> Result<HostPath, CliError> {
    let here = &ctx.surroundings.cwd;
    let given = run.map_or_else(|| here.clone(), |run| ctx.surroundings.path(run).normalized());
    if look(host, &given)?.is_some() {
        return Ok(given);
    }
    let found = below(host, here)?;
    match run {
        None => newest(found).ok_or_else(|| no_run(here)),
        Some(run) => named(found, run, here),
    }
}

/// The run in this folder, if there is one.
fn look(host: &dyn Host, folder: &HostPath) -> Result<Option<Found>, CliError> {
    let beginning = journal::beginning(host, folder).map_err(failure::of_journal)?;
    Ok(beginning.map(|Beginning { at, started }| Found {
        folder: folder.clone(),
        name: started.run.to_string(),
        at,
    }))
}

/// The runs in the folders below this one.
fn below(host: &dyn Host, folder: &HostPath) -> Result<Vec<Found>, CliError> {
    let entries = host.files().list(folder).map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    let folders = entries.iter().filter(|entry| entry.kind == FileKind::Folder);
    let looked = folders.map(|entry| look(host, &folder.join(&entry.name)));
    looked.filter_map(Result::transpose).collect()
}

fn newest(found: Vec<Found>) -> Option<HostPath> {
    found.into_iter().max_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name))).map(|found| found.folder)
}

/// The run of that name; folders of the same run (another variant, a copy) are told apart by their own names.
fn named(found: Vec<Found>, run: &str, here: &HostPath) -> Result<HostPath, CliError> {
    let by_name: Vec<&Found> = found.iter().filter(|found| found.name == run).collect();
    match by_name.as_slice() {
        [only] => Ok(only.folder.clone()),
        [] => {
            let failure =
                CliError::message(ErrorKind::NotFound, format!("there is no run `{}` here", sanitize(run)));
            Err(hinted_with_names(failure, &found, run, here))
        }
        several => {
            let folders: Vec<&str> = several.iter().filter_map(|found| found.folder.file_name()).collect();
            let text = format!("several folders hold the run `{}`", sanitize(run));
            Err(CliError::usage(text).hinted(format!("name one of them: {}", folders.join(", "))))
        }
    }
}

fn hinted_with_names(failure: CliError, found: &[Found], run: &str, here: &HostPath) -> CliError {
    let mut known: Vec<&Found> = found.iter().collect();
    known.sort_by_key(|found| std::cmp::Reverse(found.at));
    let likeness = |found: &&Found| strsim::jaro_winkler(&found.name, run);
    let near = known.iter().copied().filter(|found| likeness(found) > 0.9);
    if let Some(near) = near.max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        return failure.hinted(format!("did you mean `{}`?", sanitize(&near.name)));
    }
    let names: Vec<&str> = known.iter().take(NAMED).map(|found| found.name.as_str()).collect();
    if names.is_empty() {
        return failure.hinted(format!("no folder below `{here}` holds a run; name one that does"));
    }
    failure.hinted(format!("the newest are: {}", sanitize(&names.join(", "))))
}

fn no_run(here: &HostPath) -> CliError {
    CliError::message(ErrorKind::NotFound, format!("no folder below `{here}` holds a run"))
        .hinted("`mngr tmr` starts one; one that is elsewhere is named by its folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folder: &str, name: &str, second: i64) -> Found {
        let at = Timestamp::from_second(second).unwrap();
        Found { folder: HostPath::new(format!("/w/{folder}")), name: name.to_owned(), at }
    }

    #[test]
    fn without_a_name_the_one_begun_last_is_meant() {
        let all = vec![found("tmr_9", "9", 5), found("tmr_1", "1", 7)];
        assert_eq!(newest(all).unwrap().as_str(), "/w/tmr_1");
        assert_eq!(newest(Vec::new()), None);
    }

    #[test]
    fn a_name_must_be_the_name_of_one_run() {
        let here = HostPath::new("/w");
        let all = || vec![found("tmr_20", "20", 1), found("copy", "20", 1), found("odd", "nightly", 2)];
        assert_eq!(named(all(), "nightly", &here).unwrap().as_str(), "/w/odd");
        let several = named(all(), "20", &here).unwrap_err();
        assert_eq!(several.hints, ["name one of them: tmr_20, copy"]);
        assert_eq!(named(all(), "nightlly", &here).unwrap_err().hints, ["did you mean `nightly`?"]);
        assert_eq!(named(all(), "x", &here).unwrap_err().hints, ["the newest are: nightly, 20, 20"]);
    }
}
