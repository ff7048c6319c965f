//! From the errors of `mngr-tmr` to failures of a command, with what the user can do about them.

use mngr_host::git::GitError;
use mngr_model::quote::sh_quote;
use mngr_ops::create::CreateError;
use mngr_tmr::collect::{CollectError, CollectorError};
use mngr_tmr::integrate::IntegrateError;
use mngr_tmr::journal::JournalError;
use mngr_tmr::plan::{PreRunError, SetUpError};
use mngr_tmr::run::RunError;
use mngr_tmr::verify::is_room_missing;

use crate::commands::create;
use crate::error::{CliError, ErrorKind};

/// What helps when a disk is full.
const MAKE_ROOM: &str = "free some space on the disk; `mngr tmr resume` then goes on where the run stopped";

/// What helps when the packages of a JavaScript project are missing: git does not carry them.
const NODE_MODULES: &str = "it runs in a clean checkout of the last commit, which has no `node_modules`; \
    `mngr config set work_dir_extra_paths '{\"node_modules\": \"SHARE\"}' --scope project` lays yours into every checkout \
    and into the work dirs of agents; `--collector` and `[tmr.collectors]` in the settings say what else to run";

/// What helps when the program that runs tests is not there.
const NO_PROGRAM: &str = "tests run with your PATH: activate the environment of the project first; \
                          `--collector` and `[tmr.collectors]` in the settings say what else to run";

/// A journal cannot be used.
pub(super) fn of_journal(error: JournalError) -> CliError {
    let (kind, hint) = match &error {
        error if is_room_missing(error) => (ErrorKind::Failed, Some(MAKE_ROOM)),
        JournalError::Exists { .. } => (
            ErrorKind::Failed,
            Some(
                "`mngr tmr resume` goes on with it; another `--run-name` or `--output-dir` starts a new one",
            ),
        ),
        JournalError::Missing { .. } => (ErrorKind::NotFound, Some("`mngr tmr` starts one")),
        JournalError::Owned { .. } => {
            (ErrorKind::Failed, Some("`mngr tmr status --watch` shows what it does; `mngr tmr stop` ends it"))
        }
        _ => (ErrorKind::Failed, None),
    };
    hinted(CliError::new(kind, error), hint)
}

/// A run cannot begin or go on.
pub(in crate::commands) fn of_run(error: RunError) -> CliError {
    match error {
        RunError::Journal(error) => of_journal(error),
        RunError::Integrate(error) => of_integration(error),
        RunError::Crew(error) => of_crew(error),
        RunError::PreRun(PreRunError::SetUp(error)) => of_set_up(error),
        error => {
            let (kind, hint) = match &error {
                error if is_room_missing(error) => (ErrorKind::Failed, Some(MAKE_ROOM)),
                RunError::Collector(CollectorError::NotDetected { .. }) => (
                    ErrorKind::Usage,
                    Some("name one with `--collector`; `[tmr.collectors]` in the settings describes others"),
                ),
                RunError::Collector(CollectorError::Several { .. }) => (
                    ErrorKind::Usage,
                    Some(
                        "stand in the folder of one, or name tests in it; `--collector NAME` runs at the root of the \
                         repository",
                    ),
                ),
                RunError::NotAllowed { .. } => (
                    ErrorKind::Failed,
                    Some(
                        "`permissions = \"set\"` in `[tmr]` allows what the task needs and has the rest refused to the agent; \
                         or allow in the agent's own settings what it needs, or everything with \
                         `auto_allow_permissions = true` in `[agent_types.NAME]`; `mngr tmr resume` then goes on",
                    ),
                ),
                RunError::Collect(CollectError::Failed { line, .. }) if line.contains("npx ") => {
                    (ErrorKind::Failed, Some(NODE_MODULES))
                }
                RunError::Collect(CollectError::Failed { exit: 126 | 127, .. }) => {
                    (ErrorKind::Failed, Some(NO_PROGRAM))
                }
                RunError::Collect(CollectError::Failed { printed, .. })
                    if printed.contains("No module named") =>
                {
                    (ErrorKind::Failed, Some(NO_PROGRAM))
                }
                RunError::Collect(_) => (
                    ErrorKind::Failed,
                    Some(
                        "it runs at the root of a clean checkout of the last commit, with your PATH; `--collector` \
                         and `[tmr.collectors]` in the settings say what else to run",
                    ),
                ),
                RunError::Git(GitError::NoCommits { .. }) => {
                    (ErrorKind::Failed, Some("agents start from a commit: make the first one"))
                }
                RunError::Collector(_) => (ErrorKind::Usage, None),
                RunError::Name { .. } => (ErrorKind::Usage, Some("change `--name` or `--run-name`")),
                RunError::Headless { .. } => {
                    (ErrorKind::Usage, Some("choose another type with `--agent-type`"))
                }
                RunError::RunNameTaken { .. } => (
                    ErrorKind::Failed,
                    Some("`mngr tmr resume` goes on with a run; another `--run-name` starts a new one"),
                ),
                RunError::Settings { .. } => {
                    (ErrorKind::Failed, Some("go on with it with the version of mngr that began it"))
                }
                RunError::Prompt(_) => (
                    ErrorKind::Usage,
                    Some("a prompt of your own is given with `--mapper-prompt` or `--reducer-prompt`"),
                ),
                _ => (ErrorKind::Failed, None),
            };
            hinted(CliError::new(kind, error), hint)
        }
    }
}

/// The tests show something that no agent could mend.
fn of_set_up(error: SetUpError) -> CliError {
    let hint = match &error {
        SetUpError::Refused { .. } => {
            "run this line yourself at the root of the repository; `-- FLAGS` hands words to the framework, and \
             `[tmr.collectors]` in the settings says what else to run"
                .to_owned()
        }
        SetUpError::Outside { .. } => {
            "install what is missing where the tests run: they see your PATH, so activate the environment of the project first"
                .to_owned()
        }
        SetUpError::NotFound { .. } => {
            "tests run in clean checkouts, where nothing is installed; say where they find it, as in \
             `mngr config set tmr.collectors.pytest.env.PYTHONPATH src --scope project`"
                .to_owned()
        }
        SetUpError::AllSkipped { .. } => {
            "see why they are skipped: `-- FLAGS` hands words to the framework, such as the marks to be run".to_owned()
        }
        SetUpError::Elsewhere { folder, .. } => {
            let folder = if folder.is_empty() { "." } else { folder };
            format!(
                "a package installed with `pip install -e` is imported from your own folder; have the checkout found first: \
                 `mngr config set tmr.collectors.pytest.env.PYTHONPATH {} --scope project`, or uninstall it",
                sh_quote(folder)
            )
        }
        SetUpError::Git(_) => return CliError::new(ErrorKind::Failed, error),
    };
    CliError::new(ErrorKind::Failed, error).hinted(hint).hinted("`--force` launches agents all the same")
}

/// No agent could be created: what helps is what helps with `mngr create`, but for the option that names a type.
fn of_crew(error: CreateError) -> CliError {
    match &error {
        CreateError::NoType => CliError::new(ErrorKind::Usage, error).hinted(
            "name a type with `--agent-type`, or install a coding agent; \
             `mngr config set commands.tmr.agent_type TYPE --scope user` sets one for good",
        ),
        CreateError::UnknownType { .. } => CliError::new(ErrorKind::Usage, error)
            .hinted("`[agent_types.NAME]` in the settings makes one of your own"),
        _ => create::failure(error),
    }
}

fn of_integration(error: IntegrateError) -> CliError {
    if let IntegrateError::NoSuchCommit { branch, .. } = &error {
        let branch = branch.split('`').next().unwrap_or_default();
        let hint = format!("`git log {branch}` shows its commits; `--run` names another run");
        return CliError::new(ErrorKind::Failed, error).hinted(hint);
    }
    let hint = match &error {
        error if is_room_missing(error) => Some(MAKE_ROOM),
        IntegrateError::GateFailsAtBase { .. } => {
            Some("mend the base commit, or set another command with `--gate` or `tmr.gate`")
        }
        IntegrateError::SharedCommit { .. } => {
            Some("drop the commit, or leave the test out with `mngr tmr reintegrate --without`")
        }
        IntegrateError::CannotApply { .. } => {
            Some("take the changes it builds on first: they come before it on the review branch")
        }
        IntegrateError::InNoCommit { .. } => {
            Some("`mngr tmr report --open` shows all that was measured of it")
        }
        IntegrateError::ReviewIsStale { .. } => Some("`mngr tmr reintegrate` makes both anew"),
        IntegrateError::BranchHasOtherWork { .. } => {
            Some("look at it, rename or delete the branch, then `mngr tmr reintegrate`")
        }
        IntegrateError::BranchInUse { .. } => {
            Some("check out another branch there, then `mngr tmr reintegrate`")
        }
        _ => None,
    };
    let kind = match &error {
        IntegrateError::NoSuchTask { .. } => ErrorKind::Usage,
        _ => ErrorKind::Failed,
    };
    hinted(CliError::new(kind, error), hint)
}

fn hinted(failure: CliError, hint: Option<&str>) -> CliError {
    hint.into_iter().fold(failure, CliError::hinted)
}
