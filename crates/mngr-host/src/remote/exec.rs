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
/// How long ending one may take whose link broke: the machine may be gone.
const ENDING: Duration = Duration::from_secs(5);

/// Makes a private folder for a script and says where.
const STAGE: &str =
    r#"dir=$(mktemp -d "${TMPDIR:-/tmp}/.mngr-XXXXXXXXXX") && cat >"$dir/run" && printf %s "$dir""#;

/// A script that waits in a private folder there.
struct Staged {
    dir: String,
    line: String,
}

/// How far a staged script came, as the machine says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// The program returned this.
    ToItsEnd(i32),
    /// It ran and was ended just now.
    UntilEnded,
    /// Nothing of it is there, and nothing says how it ended.
    NobodyKnows,
}

/// Around a program without a terminal. A link may not tell by which signal a program ended; a shell around it does. What
/// the shell says of that is not the program's. The status stays in the folder, as the proof that the program returned it:
/// a link that breaks returns a status of its own.
const AROUND: &str = "exec 3>&2 2>/dev/null; (exec SHELL \"$0\" 2>&3 3>&-); \
                      status=$?; echo $status >\"${0%/*}/status\"; exit $status";

/// Around a program with a terminal. The folder is gone by its end, and comes back only for the one status that needs a proof.
/// A hang-up ends this shell, and with it everything in its terminal.
const AROUND_TERMINAL: &str = "trap : INT QUIT; SHELL \"$0\"; status=$?; \
                               if [ $status = 255 ]; then \
                               mkdir -m 700 \"${0%/*}\" && echo $status >\"${0%/*}/status\"; fi; exit $status";

/// Where the status of a staged script goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// It is proved by what stays in the folder of the script.
    Proved,
    /// To nobody who could ask for a proof.
    Passed,
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
            repository: cmd.repository.as_ref(),
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
        let staged = self.stage(cmd, setting, Status::Proved)?;
        let ended = proc::run_attached(&self.line().command(&staged.line, terminal), attachment, deadline);
        let is_broken = matches!(ended, Ok(exit) if self.line().is_broken_by(exit));
        // A terminal hangs up when it closes and leaves nothing; a pipe does not, and what runs there would go on.
        let cleared = match terminal {
            Terminal::Ours if !is_broken => None,
            _ => {
                let is_over = !is_broken && matches!(ended, Ok(Exit::Code(_)));
                let leftovers = if is_over { Leftovers::Spare } else { Leftovers::End };
                let within = if is_broken { (ENDING, Overdue::LeftAlone) } else { (ASIDE, Overdue::Ended) };
                Some(self.clear_up(&staged, leftovers, within))
            }
        };
        // A program may return what the link returns when it breaks; then the machine has the proof.
        let is_proved =
            |ran: &Ran| matches!((ran, &ended), (Ran::ToItsEnd(code), Ok(Exit::Code(seen))) if code == seen);
        match cleared {
            Some(cleared) if is_broken && !cleared.as_ref().is_ok_and(is_proved) => Err(ExecError::Lost {
                program: cmd.program.as_str().into(),
                host: self.line().name().into(),
                detail: match cleared {
                    Ok(Ran::UntilEnded) => "it was ended there".into(),
                    Ok(_) => "nothing of it is left there, and its output may be incomplete".into(),
                    Err(_) => "the host cannot be reached any more, so it may still run there".into(),
                },
            }),
            _ => ended.map_err(|error| named(error, cmd)),
        }
    }

    /// Replaces this process by a command with our terminal. Returns only if that failed.
    pub(crate) fn exec_replace(&self, cmd: &Cmd) -> ExecError {
        match self.stage(cmd, Setting::Attached(Terminal::Ours), Status::Passed) {
            Ok(staged) => named(proc::replace(&self.line().command(&staged.line, terminal_of_ours())), cmd),
            Err(error) => error,
        }
    }

    /// Runs a command under a terminal of its own.
    pub(crate) fn exec_pty(&self, cmd: &Cmd, size: TerminalSize) -> Result<Pty, ExecError> {
        let staged = self.stage(cmd, Setting::Attached(Terminal::Ours), Status::Passed)?;
        Pty::open(&self.line().command(&staged.line, Terminal::Ours), size).map_err(|error| named(error, cmd))
    }

    /// Puts the script of a command into a private folder there: on a command line every user could read it.
    fn stage(&self, cmd: &Cmd, setting: Setting, status: Status) -> Result<Staged, ExecError> {
        let body = script(cmd, setting)?;
        let output = self.aside(&cmd.program, STAGE.to_owned(), body.as_bytes(), (ASIDE, Overdue::Ended))?;
        let dir = output.stdout_text();
        if !output.success() || !dir.starts_with('/') {
            let source = io::Error::other(output.stderr_text());
            return Err(ExecError::Io { program: cmd.program.clone(), source });
        }
        let (shell, file) = (self.line().shell(), format!("{dir}/run"));
        let around = match (setting, status) {
            (Setting::Attached(Terminal::None), _) => Some(AROUND),
            (_, Status::Proved) => Some(AROUND_TERMINAL),
            (_, Status::Passed) => None,
        };
        let line = match around {
            Some(around) => {
                let around = around.replace("SHELL", shell);
                format!("exec {shell} -c {} {}", sh_quote(&around), sh_quote(&file))
            }
            None => format!("exec {shell} {}", sh_quote(&file)),
        };
        Ok(Staged { line, dir })
    }

    /// Removes the folder of a staged script, and ends what it runs if that is not over.
    fn clear_up(
        &self,
        staged: &Staged,
        leftovers: Leftovers,
        within: (Duration, Overdue),
    ) -> Result<Ran, ExecError> {
        let _shield = interrupt::shield_this_thread();
        let dir = sh_quote(&staged.dir);
        // Without a terminal the link makes the script the leader of a group.
        let end = match leftovers {
            Leftovers::End => format!(
                "if [ -s {dir}/status ]; then cat {dir}/status; \
                 elif read -r pid <{dir}/pid && kill -KILL \"-$pid\"; then echo ended; fi 2>/dev/null; "
            ),
            Leftovers::Spare => String::new(),
        };
        let output = self.aside("rm", format!("{end}rm -rf {dir}"), &[], within)?;
        Ok(match output.stdout_text().as_str() {
            "ended" => Ran::UntilEnded,
            said => said.parse().map_or(Ran::NobodyKnows, Ran::ToItsEnd),
        })
    }

    fn aside(
        &self,
        program: &str,
        script: String,
        input: &[u8],
        (deadline, overdue): (Duration, Overdue),
    ) -> Result<Output, ExecError> {
        let (leftovers, kept_output, keep, repository) = (Leftovers::Spare, None, None, None);
        let request =
            Request { program, script, input, deadline, kept_output, leftovers, overdue, repository, keep };
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
