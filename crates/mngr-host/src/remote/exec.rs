//! Running a [`Cmd`] on another machine.

use std::io::{self, IsTerminal};
use std::time::Duration;

use mngr_model::quote::sh_quote;

use super::line::Terminal;
use super::script::{Setting, script};
use super::shells::{Obstacle, Outcome, Overdue, Request, Shells};
use crate::interrupt;
use crate::proc::{self, Attachment, Cmd, ExecError, Exit, Input, Keep, Kept, Leftovers, Output};
use crate::pty::{Pty, TerminalSize};

/// How long preparing or ending an attached command may take.
const ASIDE: Duration = Duration::from_secs(20);

/// Makes a private folder for a script and says where.
const STAGE: &str =
    r#"dir=$(mktemp -d "${TMPDIR:-/tmp}/.mngr-XXXXXXXXXX") && cat >"$dir/run" && printf %s "$dir""#;

/// A script that waits in a private folder there.
struct Staged {
    dir: String,
    line: String,
}

/// How far a staged script came.
enum Ran {
    ToItsEnd,
    UntilEnded,
}

impl Shells {
    /// Runs a command and collects what it prints. Never runs it twice.
    pub(crate) fn exec(&self, cmd: &Cmd) -> Result<Output, ExecError> {
        self.exec_until(cmd, Overdue::Ended)
    }

    /// The same for a command that changes nothing: one that takes too long is given up at its deadline, and may go on
    /// there for a moment.
    pub(crate) fn look(&self, cmd: &Cmd) -> Result<Output, ExecError> {
        self.exec_until(cmd, Overdue::GivenUp)
    }

    /// Runs a command and keeps what it prints within a limit. Never runs it twice.
    pub(crate) fn exec_kept(&self, cmd: &Cmd, keep: &Keep) -> Result<Kept, ExecError> {
        self.exec_with(cmd, Overdue::Ended, Some(keep))
    }

    fn exec_until(&self, cmd: &Cmd, overdue: Overdue) -> Result<Output, ExecError> {
        Ok(self.exec_with(cmd, overdue, None)?.output)
    }

    fn exec_with(&self, cmd: &Cmd, overdue: Overdue, keep: Option<&Keep>) -> Result<Kept, ExecError> {
        let request = Request {
            program: &cmd.program,
            script: script(cmd, Setting::Captured)?,
            input: match &cmd.input {
                Input::Null => &[],
                Input::Bytes(bytes) => bytes,
            },
            deadline: cmd.deadline,
            kept_output: cmd.kept_output,
            leftovers: cmd.leftovers,
            overdue,
            keep,
        };
        let Outcome { output, files, problem, obstacle } = self.run(&request)?;
        match (obstacle, problem) {
            (Some(obstacle), _) => Err(obstacle_error(cmd, obstacle)),
            (None, Some(kind)) => Err(ExecError::Io { program: cmd.program.clone(), source: kind.into() }),
            (None, None) => Ok(Kept { output, files }),
        }
    }

    /// Runs a command with our own terminal or pipes.
    pub(crate) fn exec_attached(
        &self,
        cmd: &Cmd,
        attachment: Attachment,
        deadline: Option<Duration>,
    ) -> Result<Exit, ExecError> {
        let terminal = match attachment {
            Attachment::Foreground => terminal_of_ours(),
            Attachment::OwnGroup => Terminal::None,
        };
        let setting = Setting::Attached(terminal);
        let staged = self.stage(cmd, setting)?;
        let ended = proc::run_attached(&self.line().command(&staged.line, terminal), attachment, deadline);
        if terminal == Terminal::None {
            // A terminal hangs up when it closes; a pipe does not, and what runs there would go on.
            let is_over = matches!(ended, Ok(exit @ Exit::Code(_)) if !self.line().is_broken_by(exit));
            let cleared = self.clear_up(&staged, if is_over { Leftovers::Spare } else { Leftovers::End });
            // A program may return what the link returns when it breaks; then nothing of it is left.
            if matches!(ended, Ok(exit) if self.line().is_broken_by(exit))
                && !matches!(cleared, Ok(Ran::ToItsEnd))
            {
                return Err(ExecError::Lost {
                    program: cmd.program.as_str().into(),
                    host: self.line().name().into(),
                    detail: "it was ended there, as far as it could be reached".into(),
                });
            }
        }
        ended.map_err(|error| named(error, cmd))
    }

    /// Replaces this process by a command with our terminal. Returns only if that failed.
    pub(crate) fn exec_replace(&self, cmd: &Cmd) -> ExecError {
        match self.stage(cmd, Setting::Attached(Terminal::Ours)) {
            Ok(staged) => named(proc::replace(&self.line().command(&staged.line, terminal_of_ours())), cmd),
            Err(error) => error,
        }
    }

    /// Runs a command under a terminal of its own.
    pub(crate) fn exec_pty(&self, cmd: &Cmd, size: TerminalSize) -> Result<Pty, ExecError> {
        let staged = self.stage(cmd, Setting::Attached(Terminal::Ours))?;
        Pty::open(&self.line().command(&staged.line, Terminal::Ours), size).map_err(|error| named(error, cmd))
    }

    /// Puts the script of a command into a private folder there: on a command line every user could read it.
    fn stage(&self, cmd: &Cmd, setting: Setting) -> Result<Staged, ExecError> {
        let body = script(cmd, setting)?;
        let output = self.aside(&cmd.program, STAGE.to_owned(), body.as_bytes())?;
        let dir = output.stdout_text();
        if !output.success() || !dir.starts_with('/') {
            let source = io::Error::other(output.stderr_text());
            return Err(ExecError::Io { program: cmd.program.clone(), source });
        }
        let (shell, file) = (self.line().shell(), format!("{dir}/run"));
        let line = match setting {
            // A link may not tell by which signal a program ended; a shell around it does. What it says of it is not the
            // program's.
            Setting::Attached(Terminal::None) => {
                let around = format!("exec 3>&2 2>/dev/null; (exec {shell} \"$0\" 2>&3 3>&-); exit $?");
                format!("exec {shell} -c {} {}", sh_quote(&around), sh_quote(&file))
            }
            _ => format!("exec {shell} {}", sh_quote(&file)),
        };
        Ok(Staged { line, dir })
    }

    /// Removes the folder of a staged script, and ends what it runs if that is not over.
    fn clear_up(&self, staged: &Staged, leftovers: Leftovers) -> Result<Ran, ExecError> {
        let _shield = interrupt::shield();
        let dir = sh_quote(&staged.dir);
        // Without a terminal the link makes the script the leader of a group.
        let end = match leftovers {
            Leftovers::End => format!("read -r pid <{dir}/pid && kill -KILL \"-$pid\" && echo ended; "),
            Leftovers::Spare => String::new(),
        };
        let output = self.aside("rm", format!("{end}rm -rf {dir}"), &[])?;
        Ok(if output.stdout_text() == "ended" { Ran::UntilEnded } else { Ran::ToItsEnd })
    }

    fn aside(&self, program: &str, script: String, input: &[u8]) -> Result<Output, ExecError> {
        let leftovers = Leftovers::Spare;
        let (kept_output, overdue) = (None, Overdue::Ended);
        let keep = None;
        let request =
            Request { program, script, input, deadline: ASIDE, kept_output, leftovers, overdue, keep };
        Ok(self.run(&request)?.output)
    }
}

/// A terminal there is of use only where we have one.
fn terminal_of_ours() -> Terminal {
    if io::stdin().is_terminal() { Terminal::Ours } else { Terminal::None }
}

/// The error of the local command that carries it, with the name of the command itself.
fn named(error: ExecError, cmd: &Cmd) -> ExecError {
    match error {
        ExecError::TimedOut { after, partial, .. } => {
            ExecError::TimedOut { program: cmd.program.clone(), after, partial }
        }
        other => other,
    }
}

pub(super) fn obstacle_error(cmd: &Cmd, obstacle: Obstacle) -> ExecError {
    let program = cmd.program.clone();
    let io_error = |source: io::Error| ExecError::Io { program: cmd.program.clone(), source };
    match (obstacle, &cmd.cwd) {
        (Obstacle::NoFolder, Some(dir)) => ExecError::NoFolder { program, dir: dir.clone() },
        (Obstacle::NoProgram | Obstacle::NoFolder, _) => ExecError::NotFound { program },
        (other, _) => io_error(other.into()),
    }
}
