//! Extra tmux windows as `--extra-window` spells them: `NAME="CMD"`, `NAME='CMD'`, `NAME=CMD` or just `CMD`.
//!
//! The command is shell text and is carried as it is; nothing here runs or quotes it.

use crate::quote::excerpt;

/// The window every agent has, always the first one.
pub const PRIMARY_WINDOW_NAME: &str = "agent";

/// The longest window name. tmux has no limit, its status line does.
const MAX_NAME_LEN: usize = 64;

/// A further window of an agent's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraWindow {
    /// The window's name: letters, digits, `_` and `-`, so that no tmux target can misread it.
    pub name: String,
    /// Shell text to run in it.
    pub command: String,
}

/// Why a list of window specs is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// Nothing to run.
    #[error("window `{0}` has no command, expected `NAME=COMMAND` or `COMMAND`")]
    NoCommand(String),
    /// A NUL, which no command can hold.
    #[error("the command of window `{0}` holds a NUL character")]
    NulInCommand(String),
    /// The agent's own window.
    #[error("the window name `{PRIMARY_WINDOW_NAME}` is taken by the agent itself")]
    Reserved,
    /// Two windows of one name could not be told apart.
    #[error("two extra windows are called `{0}`")]
    Duplicate(String),
}

impl ExtraWindow {
    /// Reads all specs of one agent. A window without a name is called `cmd-N`, N being its place in the list from 1 on.
    ///
    /// # Errors
    /// When a spec has no command, or two windows would have the same name.
    pub fn parse_all<I>(specs: I) -> Result<Vec<Self>, WindowError>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut windows: Vec<Self> = Vec::new();
        for (index, spec) in specs.into_iter().enumerate() {
            let window = Self::parse(spec.as_ref(), index + 1)?;
            if windows.iter().any(|other| other.name == window.name) {
                return Err(WindowError::Duplicate(window.name));
            }
            windows.push(window);
        }
        Ok(windows)
    }

    /// Reads one spec, the `place`th of its agent.
    ///
    /// # Errors
    /// When it has no command, or takes the name of the agent's own window.
    pub fn parse(spec: &str, place: usize) -> Result<Self, WindowError> {
        let (name, command) = match split_name(spec) {
            Some((name, command)) => (name.to_owned(), command),
            None => (format!("cmd-{place}"), spec.to_owned()),
        };
        if command.trim().is_empty() {
            return Err(WindowError::NoCommand(name));
        }
        if command.contains('\0') {
            return Err(WindowError::NulInCommand(excerpt(&name)));
        }
        if name == PRIMARY_WINDOW_NAME {
            return Err(WindowError::Reserved);
        }
        Ok(Self { name, command })
    }
}

/// The name and the command of a spec that has both. `FOO=bar make` has none: it sets a variable for `make`.
fn split_name(spec: &str) -> Option<(&str, String)> {
    let (name, value) = spec.split_once('=')?;
    if !is_window_name(name) {
        return None;
    }
    match unquoted(value) {
        Some(command) => Some((name, command)),
        None if is_all_caps(name) => None,
        None => Some((name, value.to_owned())),
    }
}

/// The text inside the quotes, if `value` is one quoted text from end to end.
fn unquoted(value: &str) -> Option<String> {
    if let Some(inner) = value.strip_prefix('\'') {
        let inner = inner.strip_suffix('\'')?;
        return (!inner.contains('\'')).then(|| inner.to_owned());
    }
    let mut chars = value.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return chars.as_str().is_empty().then_some(text),
            '\\' => match chars.next()? {
                escaped @ ('"' | '\\') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
}

fn is_window_name(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    text.len() <= MAX_NAME_LEN && text.bytes().all(is_inner) && !text.is_empty() && !text.starts_with('-')
}

fn is_all_caps(name: &str) -> bool {
    let is_caps = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    name.bytes().all(is_caps) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window(spec: &str) -> (String, String) {
        let window = ExtraWindow::parse(spec, 3).unwrap();
        (window.name, window.command)
    }

    fn pair(name: &str, command: &str) -> (String, String) {
        (name.to_owned(), command.to_owned())
    }

    #[test]
    fn a_name_goes_before_the_equals_sign() {
        assert_eq!(window(r#"log="tail -f x""#), pair("log", "tail -f x"));
        assert_eq!(window("log='tail -f x'"), pair("log", "tail -f x"));
        assert_eq!(window("log=tail -f x=1"), pair("log", "tail -f x=1"));
        assert_eq!(window("LOG='tail'"), pair("LOG", "tail"));
    }

    #[test]
    fn an_unquoted_all_caps_word_is_a_variable() {
        assert_eq!(window("PORT=80 serve"), pair("cmd-3", "PORT=80 serve"));
        assert_eq!(window(r#"MSG="a b" serve"#), pair("cmd-3", r#"MSG="a b" serve"#));
        assert_eq!(window("_X=1 serve"), pair("cmd-3", "_X=1 serve"));
    }

    #[test]
    fn a_command_without_a_name_is_numbered() {
        assert_eq!(window("htop"), pair("cmd-3", "htop"));
        assert_eq!(window("ls --color=auto"), pair("cmd-3", "ls --color=auto"));
        assert_eq!(window("--x=y"), pair("cmd-3", "--x=y"));
    }

    #[test]
    fn quotes_are_taken_off_only_when_they_hold_the_whole_command() {
        assert_eq!(window("w='a' && 'b'"), pair("w", "'a' && 'b'"));
        assert_eq!(window(r#"w="a" && "b""#), pair("w", r#""a" && "b""#));
        assert_eq!(window(r#"w="say \"hi\" \$x \\""#), pair("w", r#"say "hi" \$x \"#));
        assert_eq!(window(r#"w="open"#), pair("w", r#""open"#));
    }

    #[test]
    fn windows_that_cannot_work_are_refused() {
        assert_eq!(ExtraWindow::parse("w=", 1), Err(WindowError::NoCommand("w".into())));
        assert_eq!(ExtraWindow::parse("w=' '", 1), Err(WindowError::NoCommand("w".into())));
        assert_eq!(ExtraWindow::parse("", 1), Err(WindowError::NoCommand("cmd-1".into())));
        assert_eq!(ExtraWindow::parse("agent=top", 1), Err(WindowError::Reserved));
        assert_eq!(ExtraWindow::parse("w=a\0b", 1), Err(WindowError::NulInCommand("w".into())));
        assert_eq!(ExtraWindow::parse_all(["w=a", "w=b"]), Err(WindowError::Duplicate("w".into())));
    }

    #[test]
    fn windows_are_numbered_by_their_place() {
        let windows = ExtraWindow::parse_all(["htop", "log=tail", "top"]).unwrap();
        let names: Vec<_> = windows.iter().map(|window| window.name.as_str()).collect();
        assert_eq!(names, ["cmd-1", "log", "cmd-3"]);
    }

    proptest! {
        #[test]
        fn a_single_quoted_command_is_carried_verbatim(command in "[^'\\x00]*[^'\\x00\\s]") {
            prop_assert_eq!(window(&format!("w='{command}'")), pair("w", &command));
        }

        #[test]
        fn whatever_is_accepted_has_a_name_tmux_cannot_misread(spec in any::<String>()) {
            if let Ok(window) = ExtraWindow::parse(&spec, 1) {
                prop_assert!(is_window_name(&window.name));
            }
        }
    }
}
