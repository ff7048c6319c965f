//! The far side of a [`DockerLine`](crate::DockerLine): a line of shell in a container, with our input and output.
//!
//! Nothing here knows a terminal: whoever has one hands over its sizes and says when it is gone.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use mngr_host::pty::TerminalSize;
use mngr_host::random;
use serde::Deserialize;
use serde_json::json;

use crate::engine::{EngineClient, EngineError, RawStream, encoded};

/// How long the engine may take to open or end an exec.
const DEADLINE: Duration = Duration::from_secs(30);
/// How often a question to an exec that is just beginning or ending is repeated, and after which pause.
const TRIES: usize = 40;
const PAUSE: Duration = Duration::from_millis(25);
/// A header of the engine says which output a piece belongs to, and how long it is.
const HEADER: usize = 8;
const STDERR: u8 = 2;
/// The engine takes some keys for itself and cannot be told to take none. These are never pressed in a row.
const DETACH_KEYS: &str = "ctrl-\\,ctrl-@,ctrl-\\,ctrl-@,ctrl-\\";
/// Marks what a terminal runs, so that it can be told that the terminal is gone.
const MARK: &str = "MNGR_TERMINAL";

/// Hangs up what the engine has started itself (it has no parent inside) and what carries the mark.
const HANG_UP: &str = r#"for dir in /proc/[0-9]*; do
    grep -qsaF "$1" "$dir/environ" || continue
    IFS= read -r stat <"$dir/stat" || continue
    set -- "$1" ${stat##*) }
    [ "$3" = 0 ] && kill -HUP "${dir#/proc/}"
done"#;

/// The line could not be run, or its end is unknown.
#[derive(Debug, thiserror::Error)]
pub enum PipeError {
    /// The engine could not do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What came from the container could not be passed on, or the other way round.
    #[error("the link to the container failed")]
    Io(#[from] io::Error),
    /// The engine has closed the connection without an exit code.
    #[error("the engine does not say how the command ended")]
    NoEnd,
}

/// Whether the line runs under a terminal.
#[derive(Debug)]
pub enum PipeTerminal {
    /// Pipes.
    None,
    /// A terminal of this kind (`TERM`), with the sizes it takes on.
    Like {
        /// The value of `TERM`.
        term: String,
        /// The first comes at once.
        sizes: Receiver<TerminalSize>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Created {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Ended {
    running: bool,
    exit_code: Option<i32>,
}

/// A line that runs in a container.
pub struct Pipe {
    engine: Arc<EngineClient>,
    container: String,
    exec: String,
    mark: String,
    stream: RawStream,
    is_terminal: bool,
}

impl Pipe {
    /// Starts a line.
    ///
    /// # Errors
    /// When the container does not run, or the engine cannot be reached.
    pub fn start(
        engine: Arc<EngineClient>,
        container: &str,
        line: &str,
        terminal: PipeTerminal,
    ) -> Result<Self, PipeError> {
        Self::start_as(engine, container, None, line, terminal)
    }

    /// Starts a line as a user that need not be the container's own.
    pub(crate) fn start_as(
        engine: Arc<EngineClient>,
        container: &str,
        user: Option<&str>,
        line: &str,
        terminal: PipeTerminal,
    ) -> Result<Self, PipeError> {
        let mark = format!("{MARK}={}", random::hex32());
        let is_terminal = matches!(terminal, PipeTerminal::Like { .. });
        let mut body = json!({
            "AttachStdin": true, "AttachStdout": true, "AttachStderr": true,
            "Tty": is_terminal, "Cmd": ["/bin/sh", "-c", line],
        });
        if let Some(user) = user {
            body["User"] = json!(user);
        }
        if let PipeTerminal::Like { term, .. } = &terminal {
            body["Env"] = json!([format!("TERM={term}"), mark]);
            body["DetachKeys"] = json!(DETACH_KEYS);
        }
        let path = format!("/containers/{}/exec", encoded(container));
        let Created { id: exec } = engine.post(&path, &body, DEADLINE)?;
        let stream =
            engine.hijack(&format!("/exec/{exec}/start"), &json!({ "Detach": false, "Tty": is_terminal }))?;
        if let PipeTerminal::Like { sizes, .. } = terminal {
            let (engine, exec) = (engine.clone(), exec.clone());
            thread::spawn(move || sizes.iter().for_each(|size| resize(&engine, &exec, size)));
        }
        Ok(Self { engine, container: container.to_owned(), exec, mark, stream, is_terminal })
    }

    /// What hangs up the program at the other end: a terminal of an engine does not do that when it closes.
    pub fn hang_up(&self) -> impl Fn() -> Result<(), PipeError> + Send + use<> {
        let (engine, container, mark) = (self.engine.clone(), self.container.clone(), self.mark.clone());
        move || {
            let body = json!({ "Cmd": ["/bin/sh", "-c", HANG_UP, "sh", mark] });
            let Created { id } =
                engine.post(&format!("/containers/{}/exec", encoded(&container)), &body, DEADLINE)?;
            engine.order_with(&format!("/exec/{id}/start"), &json!({ "Detach": true }), DEADLINE)?;
            Ok(())
        }
    }

    /// Passes input and output on until the program ends, and gives its exit code.
    ///
    /// # Errors
    /// When the link breaks: then nobody knows how the program ended.
    pub fn run(
        mut self,
        mut input: impl Read + Send + 'static,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<i32, PipeError> {
        let mut writer = self.stream.writer()?;
        // It ends with the process: a read from a terminal cannot be taken back.
        thread::spawn(move || {
            let _ = copy_raw(&mut input, &mut writer);
            let _ = writer.close();
        });
        if self.is_terminal {
            copy_raw(&mut self.stream, out)?;
        } else {
            copy_pieces(&mut self.stream, out, err)?;
        }
        self.exit_code()
    }

    fn exit_code(&self) -> Result<i32, PipeError> {
        for _ in 0..TRIES {
            let ended: Ended = self.engine.get(&format!("/exec/{}/json", self.exec))?;
            match ended.exit_code {
                Some(code) if !ended.running => return Ok(code),
                _ => thread::sleep(PAUSE),
            }
        }
        Err(PipeError::NoEnd)
    }
}

/// An exec that has not begun has no terminal yet; one that has ended has none any more.
fn resize(engine: &EngineClient, exec: &str, size: TerminalSize) {
    let path = format!("/exec/{exec}/resize?h={}&w={}", size.rows, size.cols);
    for _ in 0..TRIES {
        match engine.order(&path, DEADLINE) {
            Err(EngineError::Refused { .. }) => thread::sleep(PAUSE),
            _ => return,
        }
    }
}

fn copy_raw(stream: &mut impl Read, out: &mut dyn Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                out.write_all(&buffer[..count])?;
                out.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn copy_pieces(stream: &mut impl Read, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
    let mut header = [0; HEADER];
    loop {
        // The end may only come between two pieces.
        match stream.read(&mut header[..1]) {
            Ok(0) => return Ok(()),
            Ok(_) => stream.read_exact(&mut header[1..])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let length = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let to: &mut dyn Write = if header[0] == STDERR { &mut *err } else { &mut *out };
        let copied = io::copy(&mut stream.take(u64::from(length)), to)?;
        if copied < u64::from(length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.flush()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(kind: u8, text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap().to_be_bytes();
        [&[kind, 0, 0, 0], &length[..], text.as_bytes()].concat()
    }

    #[test]
    fn pieces_go_to_the_output_they_belong_to() {
        let bytes = [piece(1, "one "), piece(2, "oops"), piece(1, ""), piece(1, "two")].concat();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        copy_pieces(&mut &bytes[..], &mut out, &mut err).unwrap();
        assert_eq!((&out[..], &err[..]), (&b"one two"[..], &b"oops"[..]));
    }

    #[test]
    fn a_piece_that_is_cut_short_is_no_end() {
        let bytes = piece(1, "whole");
        for cut in [1, HEADER, bytes.len() - 1] {
            let copied = copy_pieces(&mut &bytes[..cut], &mut Vec::new(), &mut Vec::new());
            assert_eq!(copied.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{cut}");
        }
    }
}
