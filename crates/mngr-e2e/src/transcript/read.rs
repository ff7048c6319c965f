//! Reading a transcript back, whole or cut short.
//!
//! A test that was killed leaves a line half written and a command without an end; both are read as what they are.

use std::collections::BTreeMap;

use mngr_model::artifacts::{CommandEvent, EndEvent, OutputEvent, OutputStream, TranscriptEvent};

use super::TextRenderer;

/// A whole transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Every event, as it came.
    pub events: Vec<TranscriptEvent>,
    /// The numbers of lines that are not JSON, from 1. The last line of a killed test may be one of them.
    pub damaged: Vec<usize>,
}

/// One command of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// How it started.
    pub command: &'a CommandEvent,
    /// What it printed.
    pub output: Vec<&'a OutputEvent>,
    /// How it ended, if it did.
    pub end: Option<&'a EndEvent>,
}

impl Transcript {
    /// The commands in the order in which they started.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries: BTreeMap<u32, Entry<'_>> = BTreeMap::new();
        for event in &self.events {
            match event {
                TranscriptEvent::Command(command) => {
                    entries.entry(command.id).or_insert(Entry { command, output: Vec::new(), end: None });
                }
                TranscriptEvent::Output(output) => {
                    if let Some(entry) = entries.get_mut(&output.id) {
                        entry.output.push(output);
                    }
                }
                TranscriptEvent::End(end) => {
                    if let Some(entry) = entries.get_mut(&end.id) {
                        entry.end = Some(end);
                    }
                }
                TranscriptEvent::Unknown => {}
            }
        }
        entries.into_values().collect()
    }

    /// The transcript for people.
    pub fn to_text(&self) -> Vec<u8> {
        let mut renderer = TextRenderer::default();
        let mut text = Vec::new();
        for event in &self.events {
            text.append(&mut renderer.push(event));
        }
        text.append(&mut renderer.finish());
        text
    }
}

impl Entry<'_> {
    /// All it wrote to one stream.
    pub fn bytes(&self, stream: OutputStream) -> Vec<u8> {
        let of_stream = self.output.iter().filter(|output| output.stream == stream);
        of_stream.filter_map(|output| output.bytes()).fold(Vec::new(), |mut all, bytes| {
            all.extend_from_slice(&bytes);
            all
        })
    }
}

/// Reads JSON lines.
pub fn parse_lines(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(event) => transcript.events.push(event),
            Err(_) => transcript.damaged.push(index + 1),
        }
    }
    transcript
}

/// One command of a transcript in text form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextEntry {
    /// The lines of its comment.
    pub comment: Vec<String>,
    /// The command, with its further lines.
    pub command: String,
    /// What it printed, line by line.
    pub lines: Vec<(OutputStream, Vec<u8>)>,
    /// Its exit code, if it ended.
    pub exit_code: Option<i32>,
}

/// Reads the text form. It is for people, and not everything in it can be told apart: a further line of a command that
/// begins with two spaces is taken for output, and so is what a terminal printed.
pub fn parse_text(bytes: &[u8]) -> Vec<TextEntry> {
    let mut entries: Vec<TextEntry> = Vec::new();
    let mut comment = Vec::new();
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|_| !bytes.is_empty());
    for line in lines {
        let text = || String::from_utf8_lossy(line.get(2..).unwrap_or_default()).into_owned();
        let current = entries.last_mut().filter(|entry| entry.exit_code.is_none() && comment.is_empty());
        match (current, line.get(..2)) {
            (Some(entry), Some(b"  ")) => entry.lines.push((OutputStream::Stdout, line[2..].to_vec())),
            (Some(entry), Some(b"! ")) => entry.lines.push((OutputStream::Stderr, line[2..].to_vec())),
            (Some(entry), Some(b"? ")) if text().parse::<i32>().is_ok() => {
                entry.exit_code = text().parse().ok();
            }
            (Some(entry), _) if entry.lines.is_empty() => {
                entry.command.push('\n');
                entry.command.push_str(&String::from_utf8_lossy(line));
            }
            (_, Some(b"# ")) => comment.push(text()),
            (_, Some(b"$ ")) => {
                let comment = std::mem::take(&mut comment);
                entries.push(TextEntry { comment, command: text(), ..TextEntry::default() });
            }
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        r#"{"kind":"command","id":1,"time":1,"command":"make","cwd":"/","env":{"set":{"A":"1"},"unset":[]}}"#,
        "\n",
        r#"{"kind":"output","id":1,"time":2,"stream":"stdout","base64":"/w=="}"#,
        "\n",
        r#"{"kind":"output","id":1,"time":3,"stream":"stdout","text":"\n"}"#,
        "\n",
        r#"{"kind":"end","id":1,"time":4,"exit_code":0,"timed_out":false,"duration_ms":3}"#,
        "\n",
        r#"{"kind":"command","id":2,"time":5,"comm"#,
    );

    #[test]
    fn a_torn_last_line_is_noted_and_the_rest_is_read() {
        let transcript = parse_lines(LINES.as_bytes());
        assert_eq!(transcript.damaged, [5]);
        let entries = transcript.entries();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].bytes(OutputStream::Stdout), b"\xff\n");
        assert_eq!(entries[0].end.unwrap().exit_code, 0);
        assert_eq!(transcript.to_text(), b"$ make\n  \xff\n? 0\n");
    }

    #[test]
    fn the_text_form_is_read_back() {
        let text = b"# say\n# it\n$ for x in 1\ndo echo $x; done\n  1\n! \xff\n? 3\n$ true\n? 0\n$ killed\n  so far\n";
        let entries = parse_text(text);
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0].comment, ["say", "it"]);
        assert_eq!(entries[0].command, "for x in 1\ndo echo $x; done");
        let lines = [(OutputStream::Stdout, b"1".to_vec()), (OutputStream::Stderr, b"\xff".to_vec())];
        assert_eq!(entries[0].lines, lines);
        assert_eq!(entries.iter().map(|entry| entry.exit_code).collect::<Vec<_>>(), [Some(3), Some(0), None]);
        assert_eq!(parse_text(b""), []);
    }
}
