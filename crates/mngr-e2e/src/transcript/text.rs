//! The transcript as text.
//!
//! ```text
//! # <line of the comment>
//! $ <command>
//!   <line of standard output or of the terminal>
//! ! <line of standard error>
//! ? <exit code>
//! ```
//!
//! Lines come in the order in which they were completed; bytes are passed as they are. Commands that run at the same
//! time stand one after the other, in the order in which they started.

use std::collections::BTreeMap;

use mngr_model::artifacts::{CommandEvent, EndEvent, OutputEvent, OutputStream, TranscriptEvent};

/// Turns events into text as they come. Holds unfinished lines, and what commands print while an earlier one still runs.
#[derive(Debug, Default)]
pub struct TextRenderer {
    open: BTreeMap<u32, Open>,
}

/// A command whose text is not complete.
#[derive(Debug, Default)]
struct Open {
    /// Text that has to wait for earlier commands.
    text: Vec<u8>,
    out: Vec<u8>,
    err: Vec<u8>,
    terminal: Vec<u8>,
    timeout_ms: Option<u64>,
    has_ended: bool,
}

impl TextRenderer {
    /// Takes the next event and returns the text that is now settled.
    pub fn push(&mut self, event: &TranscriptEvent) -> Vec<u8> {
        match event {
            TranscriptEvent::Command(command) => self.start(command),
            TranscriptEvent::Output(output) => self.output(output),
            TranscriptEvent::End(end) => self.end(end),
            TranscriptEvent::Unknown => {}
        }
        self.take_settled()
    }

    /// The rest: what commands printed whose end is unknown.
    pub fn finish(mut self) -> Vec<u8> {
        let mut text = Vec::new();
        for open in self.open.values_mut() {
            open.flush_lines();
            text.append(&mut open.text);
        }
        text
    }

    fn start(&mut self, command: &CommandEvent) {
        let open = self.open.entry(command.id).or_default();
        open.timeout_ms = command.timeout_ms;
        for line in command.comment.iter().flat_map(|comment| comment.lines()) {
            open.line(b"# ", line.as_bytes());
        }
        open.line(b"$ ", command.command.as_bytes());
    }

    fn output(&mut self, output: &OutputEvent) {
        let (Some(open), Some(bytes)) = (self.open.get_mut(&output.id), output.bytes()) else { return };
        open.output(output.stream, &bytes);
    }

    fn end(&mut self, end: &EndEvent) {
        let Some(open) = self.open.get_mut(&end.id) else { return };
        open.flush_lines();
        if end.timed_out {
            let after = open.timeout_ms.unwrap_or(end.duration_ms) as f64 / 1000.0;
            open.line(b"! ", format!("timed out after {after} s").as_bytes());
        }
        open.line(b"? ", end.exit_code.to_string().as_bytes());
        open.has_ended = true;
    }

    fn take_settled(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        while let Some(mut first) = self.open.first_entry() {
            text.append(&mut first.get_mut().text);
            if !first.get().has_ended {
                break;
            }
            first.remove();
        }
        text
    }
}

impl Open {
    fn line(&mut self, prefix: &[u8], line: &[u8]) {
        self.text.extend_from_slice(prefix);
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.partial(stream).extend_from_slice(piece);
            if pieces.peek().is_some() {
                self.finish_line(stream);
            }
        }
    }

    fn partial(&mut self, stream: OutputStream) -> &mut Vec<u8> {
        match stream {
            OutputStream::Stdout => &mut self.out,
            OutputStream::Stderr => &mut self.err,
            OutputStream::Terminal => &mut self.terminal,
        }
    }

    fn finish_line(&mut self, stream: OutputStream) {
        let mut line = std::mem::take(self.partial(stream));
        // The terminal itself makes CR LF of a newline.
        if stream == OutputStream::Terminal && line.last() == Some(&b'\r') {
            line.pop();
        }
        self.line(if stream == OutputStream::Stderr { b"! " } else { b"  " }, &line);
    }

    fn flush_lines(&mut self) {
        for stream in [OutputStream::Stdout, OutputStream::Stderr, OutputStream::Terminal] {
            if !self.partial(stream).is_empty() {
                self.finish_line(stream);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::parse_lines;

    /// The text of a transcript written as a few short lines of JSON.
    fn text_of(lines: &[&str]) -> String {
        let mut renderer = TextRenderer::default();
        let mut text = Vec::new();
        for line in lines {
            text.extend(renderer.push(&serde_json::from_str(line).unwrap()));
        }
        text.extend(renderer.finish());
        assert_eq!(text, parse_lines(lines.join("\n").as_bytes()).to_text());
        String::from_utf8_lossy(&text).into_owned()
    }

    #[test]
    fn every_kind_of_line_has_its_prefix() {
        let text = text_of(&[
            r#"{"kind":"command","id":1,"time":0,"command":"ls \\\n  -l","comment":"two\nlines","cwd":"/"}"#,
            r#"{"kind":"output","id":1,"time":0,"stream":"stdout","text":"out 1\n\nout"}"#,
            r#"{"kind":"output","id":1,"time":0,"stream":"stderr","text":"err\n"}"#,
            r#"{"kind":"output","id":1,"time":0,"stream":"stdout","text":" 2\nrest"}"#,
            r#"{"kind":"end","id":1,"time":0,"exit_code":3}"#,
        ]);
        assert_eq!(text, "# two\n# lines\n$ ls \\\n  -l\n  out 1\n  \n! err\n  out 2\n  rest\n? 3\n");
    }

    #[test]
    fn commands_at_the_same_time_stand_one_after_the_other() {
        let text = text_of(&[
            r#"{"kind":"command","id":1,"time":0,"command":"a","cwd":"/"}"#,
            r#"{"kind":"command","id":2,"time":0,"command":"b","cwd":"/"}"#,
            r#"{"kind":"output","id":2,"time":0,"stream":"stdout","text":"b\n"}"#,
            r#"{"kind":"end","id":2,"time":0,"exit_code":0}"#,
            r#"{"kind":"output","id":1,"time":0,"stream":"terminal","text":"a\r\n"}"#,
            r#"{"kind":"end","id":1,"time":0,"exit_code":0}"#,
        ]);
        assert_eq!(text, "$ a\n  a\n? 0\n$ b\n  b\n? 0\n");
    }

    #[test]
    fn a_timeout_says_so_and_a_killed_test_has_no_end() {
        let text = text_of(&[
            r#"{"kind":"command","id":1,"time":0,"command":"a","cwd":"/","timeout_ms":200}"#,
            r#"{"kind":"end","id":1,"time":0,"exit_code":124,"timed_out":true}"#,
            r#"{"kind":"command","id":2,"time":0,"command":"b","cwd":"/"}"#,
            r#"{"kind":"output","id":2,"time":0,"stream":"stderr","text":"half"}"#,
        ]);
        assert_eq!(text, "$ a\n! timed out after 0.2 s\n? 124\n$ b\n! half\n");
    }

    #[test]
    fn a_text_is_settled_as_soon_as_its_line_is() {
        let mut renderer = TextRenderer::default();
        let mut push = |line| String::from_utf8(renderer.push(&serde_json::from_str(line).unwrap())).unwrap();
        assert_eq!(push(r#"{"kind":"command","id":1,"time":0,"command":"a","cwd":"/"}"#), "$ a\n");
        assert_eq!(push(r#"{"kind":"output","id":1,"time":0,"stream":"stdout","text":"x\ny"}"#), "  x\n");
    }
}
