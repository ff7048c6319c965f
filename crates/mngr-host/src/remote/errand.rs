//! An errand as one script.

use std::io;
use std::time::Duration;

use super::files::{awaiting, failed_change, making};
use super::script::{Setting, script};
use super::shells::{Outcome, Overdue, Request, Shells};
use crate::errand::{Errand, ErrandDone, ErrandError};
use crate::proc::{ExecError, Input, Output};
use crate::random;

/// How long the changes may take beyond the command.
const MARGIN: Duration = Duration::from_secs(60);

/// Runs it in one round trip. What each part prints is told apart by a word that nobody can guess.
pub(super) fn run(shells: &Shells, errand: &Errand<'_>) -> Result<ErrandDone, ErrandError> {
    let cmd = errand.cmd;
    let mark = random::hex32();
    let (making, mut input) = making(errand.changes);
    if let Input::Bytes(bytes) = &cmd.input {
        input.extend_from_slice(bytes);
    }
    let command = script(cmd, Setting::Captured)?;
    let mut text = format!("{making}printf {mark}\n(\n{command}) || exit\nprintf {mark}\n");
    let mut deadline = cmd.deadline + MARGIN;
    if let Some(awaited) = &errand.awaited {
        text += &awaiting(awaited);
        deadline = deadline.saturating_add(awaited.limit);
    }
    if text.contains('\0') {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "a path holds a NUL");
        return Err(ExecError::Io { program: cmd.program.clone(), source }.into());
    }
    let request = Request {
        program: &cmd.program,
        script: text,
        input: &input,
        deadline,
        kept_output: cmd.kept_output,
        leftovers: cmd.leftovers,
        overdue: Overdue::Ended,
    };
    let Outcome { output, obstacle } = shells.run(&request)?;
    if let Some(obstacle) = obstacle {
        return Err(super::exec::obstacle_error(cmd, obstacle).into());
    }
    let Output { exit, stdout, stderr } = output;
    let Some((_, rest)) = split_once(&stdout, mark.as_bytes()) else {
        return Err(failed_change(errand.changes, &stdout, &stderr).into());
    };
    let (printed, said) = split_once(rest, mark.as_bytes()).unwrap_or((rest, &[]));
    Ok(ErrandDone { output: Output { exit, stdout: printed.to_vec(), stderr }, said: said.to_vec() })
}

fn split_once<'t>(text: &'t [u8], mark: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    Some((&text[..at], &text[at + mark.len()..]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mngr_model::HostPath;

    use super::*;
    use crate::files::{Access, Change};
    use crate::host::AwaitedLine;
    use crate::proc::{Cmd, Exit};
    use crate::remote::testing::all_kinds;

    #[test]
    fn changes_a_command_and_a_wait_are_one_request_and_end_with_the_first_failure() {
        for (line, shells) in all_kinds() {
            let shells = Arc::new(shells);
            let root = HostPath::new(line.root.path().to_str().unwrap());
            let (script, log) = (root.join("run"), root.join("log"));
            let changes = [
                Change::write(
                    script.clone(),
                    "cat >in; (sleep 0.1; echo start; echo agent 1) >log & echo '%1'\n",
                    Access::Shared,
                ),
                Change::Touch(log.clone()),
            ];
            let cmd = Cmd::new("sh").arg(script.as_str()).cwd(&root).stdin("given");
            let limit = Duration::from_secs(20);
            let awaited = AwaitedLine { path: &log, offset: 0, beginnings: &["agent "], limit };
            let errand = Errand { changes: &changes, cmd: &cmd, awaited: Some(awaited) };
            let done = run(&shells, &errand).unwrap();
            assert_eq!(done.output.stdout_text().trim(), "%1");
            assert_eq!(done.said, b"start\nagent 1\n");
            assert_eq!(std::fs::read_to_string(root.join("in").as_str()).unwrap(), "given");

            let failing = Cmd::shell("echo out; echo err >&2; exit 3");
            let done = run(&shells, &Errand { cmd: &failing, changes: &[], awaited: Some(awaited) }).unwrap();
            assert_eq!((done.output.exit, done.output.stderr_text().as_str()), (Exit::Code(3), "err"));
            assert!(done.said.is_empty());

            let missing = root.join("no/folder");
            let bad = [Change::Touch(root.join("first")), Change::Touch(missing.clone())];
            let never = Cmd::new("touch").arg(root.join("never").as_str());
            match run(&shells, &Errand { changes: &bad, cmd: &never, awaited: None }) {
                Err(ErrandError::Files(error)) => assert!(error.is_missing() && error.path == missing),
                other => panic!("{other:?}"),
            }
            assert!(std::path::Path::new(root.join("first").as_str()).exists());
            assert!(!std::path::Path::new(root.join("never").as_str()).exists());
            let absent = Cmd::new("no-such-program");
            let error = run(&shells, &Errand { changes: &[], cmd: &absent, awaited: None }).unwrap_err();
            assert!(matches!(error, ErrandError::Exec(ExecError::NotFound { .. })), "{error:?}");
        }
    }
}
