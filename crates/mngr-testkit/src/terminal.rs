//! A real terminal for the binary: a pane of a tmux server that belongs to the test.
//!
//! The server is not the one agents run on. Budget: one tmux client per call.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::{CmdOutput, TestEnv, wait_until};

/// How long the screen may take to show what a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);

const WIDTH: &str = "100";
const HEIGHT: &str = "30";

/// Runs the program and notes how it ended. tmux knows that too, but it can miss the end of a child and then
/// never tells the status (seen with 3.3a: the child stays a zombie). A trap keeps the shell alive through the
/// keys that are meant for the program, which itself gets the default behaviour back.
const NOTE_EXIT: &str = r#"trap : INT QUIT; exit_file=$1; shift; "$@"; echo $? >"$exit_file""#;

/// Two terminals of one environment need two sockets.
static OPENED: AtomicUsize = AtomicUsize::new(0);

/// What the program in a terminal can see around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// A terminal like any other.
    Plain,
    /// A pane of a tmux that the program can tell it is in.
    InsideTmux,
}

/// A terminal of 100 by 30 with one program in it. It stays on screen after the program's end.
#[derive(Debug)]
pub struct Terminal<'env> {
    env: &'env TestEnv,
    socket: PathBuf,
    exit_file: PathBuf,
}

impl<'env> Terminal<'env> {
    #[track_caller]
    pub(crate) fn open<A: AsRef<OsStr>>(
        env: &'env TestEnv,
        surroundings: Surroundings,
        program: &Path,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let socket = env.root().join(format!("terminal-{number}"));
        let terminal = Self { env, exit_file: socket.with_extension("exit"), socket };
        let mut command = terminal.tmux(["-f", "/dev/null"]);
        // In one call, because a program that ends at once would take the server along before the next one.
        command.args(["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"]);
        command.args(["set-option", "-g", "escape-time", "0", ";"]);
        // The message about the end would push the first line off the screen.
        command.args(["set-option", "-gq", "remain-on-exit-format", "", ";"]);
        command.args(["new-session", "-d", "-x", WIDTH, "-y", HEIGHT, "-c"]).arg(env.work_dir());
        // A terminal has a size of its own, which the fixed one of the environment would hide.
        command.args(["env", "-u", "COLUMNS"]);
        if surroundings == Surroundings::Plain {
            command.args(["-u", "TMUX", "-u", "TMUX_PANE"]);
        }
        command.args(["sh", "-c", NOTE_EXIT, "note-exit"]).arg(&terminal.exit_file).arg(program).args(args);
        env.run(command).success();
        terminal
    }

    /// Presses keys, each by its tmux name: `Enter`, `C-c`, `Escape`, `a`.
    #[track_caller]
    pub fn send_keys<const N: usize>(&self, keys: [&str; N]) {
        self.run(["send-keys"].into_iter().chain(keys));
    }

    /// Types `text` as it is.
    #[track_caller]
    pub fn send_text(&self, text: &str) {
        self.run(["send-keys", "-l", "--", text]);
    }

    /// Gives the terminal another size.
    #[track_caller]
    pub fn resize(&self, cols: u16, rows: u16) {
        self.run(["resize-window", "-x", &cols.to_string(), "-y", &rows.to_string()]);
    }

    /// What is on screen now, without trailing blanks.
    #[track_caller]
    pub fn screen(&self) -> String {
        self.run(["capture-pane", "-p"]).stdout.trim_end().to_owned()
    }

    /// Waits until `text` is on screen and returns the whole screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        let mut screen = String::new();
        let shown = wait_until(PATIENCE, || {
            screen = self.screen();
            screen.contains(text)
        });
        assert!(shown, "`{text}` did not come on screen within {PATIENCE:?}; it shows\n{screen}");
        screen
    }

    /// Waits for the end of the program and returns its exit code, or 128 + n when signal n ended it.
    #[track_caller]
    pub fn wait_for_exit(&self) -> i32 {
        let mut code = None;
        let ended = wait_until(PATIENCE, || {
            code = fs::read_to_string(&self.exit_file).ok().and_then(|text| text.trim().parse().ok());
            code.is_some()
        });
        match code {
            Some(code) if ended => code,
            _ => panic!("the program did not end within {PATIENCE:?}; the screen shows\n{}", self.screen()),
        }
    }

    #[track_caller]
    fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> CmdOutput {
        self.env.run(self.tmux(args)).success()
    }

    fn tmux<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.env.command("tmux");
        command.arg("-S").arg(&self.socket).args(args);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_what_is_typed_and_its_exit_code_is_known() {
        let env = TestEnv::new("/bin/sh");
        let terminal = env.terminal(Surroundings::Plain, ["-c", "read line; echo \"got <$line>\"; exit 7"]);
        terminal.send_text("-l $(hello)");
        terminal.send_keys(["Enter"]);
        terminal.wait_for("got <-l $(hello)>");
        assert_eq!(terminal.wait_for_exit(), 7);
    }

    #[test]
    fn ctrl_c_arrives_as_an_interrupt() {
        let env = TestEnv::new("/bin/sh");
        let terminal = env.terminal(Surroundings::Plain, ["-c", "echo ready; exec sleep 100"]);
        terminal.wait_for("ready");
        terminal.send_keys(["C-c"]);
        assert_eq!(terminal.wait_for_exit(), 130);
    }

    #[test]
    fn only_a_program_inside_tmux_can_tell() {
        let env = TestEnv::new("/bin/sh");
        let script = "echo \"TMUX is ${TMUX:-unset}.\"; tput cols";
        env.terminal(Surroundings::Plain, ["-c", script]).wait_for("TMUX is unset.");
        let inside = env.terminal(Surroundings::InsideTmux, ["-c", script]);
        assert!(inside.wait_for("TMUX is /").contains("terminal-"));
    }
}
