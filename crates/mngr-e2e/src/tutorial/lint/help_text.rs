//! All that a program's `--help` says, as one text to read.
//!
//! Runs `PROGRAM --help` and, for the commands that this page lists, `PROGRAM COMMAND --help`: at most [`MOST_PAGES`]
//! processes, none of them deeper.

use mngr_host::host::Host;

use super::help_grammar::{HelpError, help_and_text};

/// A program with more commands shows those that come first.
const MOST_PAGES: usize = 100;

/// The help of a program on a host, with that of its commands.
pub fn help_text(host: &dyn Host, program: &str) -> Result<String, HelpError> {
    let (root, said) = help_and_text(host, program, &[])?;
    let mut text = page(program, &said);
    for command in root.commands.into_iter().take(MOST_PAGES - 1) {
        // A command without help of its own is still on the first page.
        if let Ok((_, said)) = help_and_text(host, program, std::slice::from_ref(&command)) {
            text += &page(&format!("{program} {command}"), &said);
        }
    }
    Ok(text)
}

fn page(command: &str, help: &str) -> String {
    format!("## {command} --help\n\n{}\n\n", help.trim_end())
}
