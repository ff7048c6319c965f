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
    let (first, mut input) = making(errand.changes);
    let (then, later_input) = making(errand.then);
    // What the command does not read must not be taken for what comes after it, nor the other way round.
    let source = match &cmd.input {
        Input::Bytes(bytes) => {
            input.extend_from_slice(bytes);
            ""
        }
        Input::Null => "</dev/null ",
    };
    input.extend_from_slice(&later_input);
    let command = script(cmd, Setting::Captured)?;
    let mut text =
        format!("{first}printf {mark}\n(\n{command}) {source}|| exit\nprintf {mark}\n{then}printf {mark}\n");
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
        repository: cmd.repository.as_ref(),
        keep: None,
    };
    let Outcome { output, obstacle, .. } = shells.run(&request)?;
    if let Some(obstacle) = obstacle {
        return Err(super::exec::obstacle_error(cmd, obstacle).into());
    }
    let Output { exit, stdout, stderr } = output;
    let Some((_, rest)) = split_once(&stdout, mark.as_bytes()) else {
        return Err(failed_change(errand.changes, &stdout, &stderr).into());
    };
    let (printed, rest) = match split_once(rest, mark.as_bytes()) {
        Some((printed, rest)) => (printed, Some(rest)),
        None => (rest, None),
    };
    let said = match rest.map(|rest| split_once(rest, mark.as_bytes()).ok_or(rest)) {
        Some(Ok((_, said))) => said,
        Some(Err(number)) => return Err(failed_change(errand.then, number, &stderr).into()),
        None => &[],
    };
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
            let errand = Errand { changes: &changes, cmd: &cmd, then: &[], awaited: Some(awaited) };
            let done = run(&shells, &errand).unwrap();
            assert_eq!(done.output.stdout_text().trim(), "%1");
            assert_eq!(done.said, b"start\nagent 1\n");
            assert_eq!(std::fs::read_to_string(root.join("in").as_str()).unwrap(), "given");

            let failing = Cmd::shell("echo out; echo err >&2; exit 3");
            let after = [Change::Touch(root.join("after"))];
            let done =
                run(&shells, &Errand { cmd: &failing, changes: &[], then: &after, awaited: Some(awaited) })
                    .unwrap();
            assert_eq!((done.output.exit, done.output.stderr_text().as_str()), (Exit::Code(3), "err"));
            assert!(done.said.is_empty());

            let missing = root.join("no/folder");
            let bad = [Change::Touch(root.join("first")), Change::Touch(missing.clone())];
            let never = Cmd::new("touch").arg(root.join("never").as_str());
            match run(&shells, &Errand { changes: &bad, cmd: &never, then: &[], awaited: None }) {
                Err(ErrandError::Files(error)) => assert!(error.is_missing() && error.path == missing),
                other => panic!("{other:?}"),
            }
            assert!(std::path::Path::new(root.join("first").as_str()).exists());
            assert!(!std::path::Path::new(root.join("never").as_str()).exists());
            let absent = Cmd::new("no-such-program");
            let error =
                run(&shells, &Errand { changes: &[], cmd: &absent, then: &[], awaited: None }).unwrap_err();
            assert!(matches!(error, ErrandError::Exec(ExecError::NotFound { .. })), "{error:?}");
            assert!(!std::path::Path::new(root.join("after").as_str()).exists());
        }
    }

    #[test]
    fn changes_after_a_command_are_made_with_what_is_theirs_and_the_one_that_fails_is_named() {
        for (line, shells) in all_kinds() {
            let shells = Arc::new(shells);
            let root = HostPath::new(line.root.path().to_str().unwrap());
            let write = |name: &str, text: &str| Change::write(root.join(name), text, Access::Shared);
            let first = [write("before", "one")];
            let then = [
                write("later", "three"),
                Change::Rename { from: root.join("before"), to: root.join("moved") },
            ];
            // It would take all that it is given.
            let cmd = Cmd::shell("cat >taken; echo done").cwd(&root);
            let done =
                run(&shells, &Errand { changes: &first, cmd: &cmd, then: &then, awaited: None }).unwrap();
            assert_eq!(done.output.stdout_text().trim(), "done");
            let read = |name: &str| std::fs::read_to_string(root.join(name).as_str()).unwrap();
            assert_eq!(
                (read("taken"), read("later"), read("moved")),
                (String::new(), "three".into(), "one".into())
            );
            let lost = [Change::Rename { from: root.join("gone"), to: root.join("there") }];
            match run(&shells, &Errand { changes: &[], cmd: &cmd, then: &lost, awaited: None }) {
                Err(ErrandError::Files(error)) => {
                    assert!(error.is_missing() && error.path == root.join("gone"))
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
