//! What a command printed on several agents.
//!
//! That may be much: it is written as it is read, and nothing makes another copy of it.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use mngr_host::proc::{Kept, KeptFile};
use mngr_ops::fleet::Agent;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::commands::batch::Batch;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TameJson, event};
use crate::ui::{Console, Output};

/// What became of the command on each agent.
pub(super) struct ExecReport {
    /// The results.
    pub(super) batch: Batch<Kept>,
    /// Whether people are told whose output it is, and how it ended.
    pub(super) is_headed: bool,
}

impl ExecReport {
    /// The code of several agents together.
    pub(super) fn exit_code(&self) -> ExitCode {
        let has_failed = self.batch.done.iter().any(|(_, kept)| !kept.output.success());
        self.batch.exit_code().and(if has_failed { ExitCode::Failed } else { ExitCode::Done })
    }

    /// Shows it. What the command printed is the point, so it is passed on byte by byte; `limit` is what memory holds of it.
    pub(super) fn show(&mut self, console: &Console, output: &Output, limit: usize) -> Result<(), CliError> {
        match output {
            Output::Human => return self.show_streams(console),
            Output::Json => console.print_with(|out| {
                let mut out = TameJson::new(out);
                serde_json::to_writer(&mut out, &Whole(self))?;
                out.end_line()
            })?,
            Output::Jsonl => console.print_with(|out| self.write_events(out))?,
            Output::Template(template) => {
                for done in &self.batch.done {
                    let text = template.render_verbatim(&One { done, event: None }.to_value());
                    console.print_with(|out| writeln!(out, "{text}"))?;
                }
            }
        }
        self.tell_files(console, limit);
        Ok(())
    }

    fn show_streams(&self, console: &Console) -> Result<(), CliError> {
        for (agent, kept) in &self.batch.done {
            let is_headed = self.is_headed || self.batch.done.len() > 1;
            if is_headed {
                console.print(&format!("--- {} ---\n", agent.name()))?;
            }
            match &kept.files.stdout {
                Some(file) => console.print_with(|out| file.copy_to(out))?,
                None => console.print_bytes(&kept.output.stdout)?,
            }
            match &kept.files.stderr {
                // Nobody is left to be told when standard error itself fails.
                Some(file) => drop(file.copy_to(io::stderr().lock())),
                None => console.print_error_bytes(&kept.output.stderr),
            }
            match kept.output.success() {
                true if is_headed && !console.is_quiet() => {
                    console.print(&format!("Command succeeded on agent {}\n", agent.name()))?;
                }
                true => {}
                false => {
                    let code = kept.output.exit.to_shell();
                    console.note(&format!("Command failed on agent {} (exit code {code})", agent.name()));
                }
            }
        }
        Ok(())
    }

    fn write_events(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = TameJson::new(out);
        for done in &self.batch.done {
            serde_json::to_writer(&mut out, &One { done, event: Some("exec_result") })?;
            out.end_line()?;
        }
        for error in self.batch.error_objects() {
            serde_json::to_writer(&mut out, &event("exec_error", error))?;
            out.end_line()?;
        }
        Ok(())
    }

    /// Says where the whole is of what was too much. From now on these files are the user's.
    fn tell_files(&mut self, console: &Console, limit: usize) {
        for (agent, kept) in &mut self.batch.done {
            let sides =
                [("standard output", &mut kept.files.stdout), ("standard error", &mut kept.files.stderr)];
            for (side, file) in sides.into_iter().filter_map(|(side, file)| Some((side, file.as_mut()?))) {
                file.stay();
                console.warn(&format!(
                    "agent {}: {side} is cut, because it is more than `exec.kept_output_mb` ({} MiB) allows; all of it is in `{}` \
                     (`mngr gc` deletes it after 7 days)",
                    agent.name(),
                    limit >> 20,
                    file.path(),
                ));
            }
        }
    }
}

/// The one object of `--format json`.
struct Whole<'r>(&'r ExecReport);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let batch = &self.0.batch;
        let results: Vec<One<'_>> = batch.done.iter().map(|done| One { done, event: None }).collect();
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("results", &results)?;
        object.serialize_entry("failed_agents", &batch.error_objects())?;
        object.serialize_entry("total_executed", &batch.done.len())?;
        object.serialize_entry("total_failed", &batch.failures.len())?;
        object.end()
    }
}

/// What became of it on one agent.
struct One<'r> {
    done: &'r (Agent, Kept),
    event: Option<&'static str>,
}

impl One<'_> {
    fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|error| json!({ "stderr": error.to_string() }))
    }
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (agent, Kept { output, files }) = self.done;
        let path = |file: &Option<KeptFile>| file.as_ref().map(|file| file.path().to_string());
        let mut object = serializer.serialize_map(None)?;
        if let Some(event) = self.event {
            object.serialize_entry("event", event)?;
        }
        object.serialize_entry("agent", agent.name().as_str())?;
        object.serialize_entry("stdout", &Text(&output.stdout))?;
        object.serialize_entry("stderr", &Text(&output.stderr))?;
        object.serialize_entry("success", &output.success())?;
        object.serialize_entry("exit_code", &output.exit.to_shell())?;
        object.serialize_entry("truncated", &!files.is_empty())?;
        object.serialize_entry("stdout_file", &path(&files.stdout))?;
        object.serialize_entry("stderr_file", &path(&files.stderr))?;
        object.end()
    }
}

/// Bytes as text, without white space at the end; what is no UTF-8 is replaced.
struct Text<'b>(&'b [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in trimmed(self.0).utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

fn trimmed(mut bytes: &[u8]) -> &[u8] {
    /// No character is longer.
    const LONGEST: usize = 4;
    let is_space = |tail: &[u8]| {
        std::str::from_utf8(tail).is_ok_and(|text| !text.is_empty() && text.chars().all(char::is_whitespace))
    };
    let last_space = |bytes: &[u8]| {
        let starts = (1..=LONGEST.min(bytes.len())).map(|length| bytes.len() - length);
        starts.into_iter().find(|start| is_space(&bytes[*start..]))
    };
    while let Some(start) = last_space(bytes) {
        bytes = &bytes[..start];
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_a_lossy_copy_without_the_spaces_behind_it_would_be() {
        for bytes in [
            &b"plain\n"[..],
            b"",
            b" \n\t ",
            b"a\xff\xfeb\xe2\x82 \n",
            "h\u{e9}llo \u{65e5}\u{a0}\u{2003}\n".as_bytes(),
            b"\x00\x7f\xc2\x85",
        ] {
            assert_eq!(Text(bytes).to_string(), String::from_utf8_lossy(bytes).trim_end(), "{bytes:?}");
        }
    }
}
