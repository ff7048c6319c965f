//! Names that end up in tmux targets, where `:` and `.` have a meaning and a leading `-` is an option.

use crate::declare::ruled_text;

ruled_text! {
    /// What the names of sessions and other resources begin with.
    pub struct Prefix, "a name of letters, digits, `_` and `-`", check_name
}

ruled_text! {
    /// The name of a tmux window.
    pub struct WindowName, "a name of letters, digits, `_` and `-`", check_name
}

ruled_text! {
    /// Which tmux server: empty for our own, `default` for the user's, else a socket name.
    pub struct SocketName, "a socket name of letters, digits, `_` and `-`, or an empty string", check_socket
}

fn check_name(text: &str) -> Result<(), String> {
    const LONGEST: usize = 64;
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} characters"));
    }
    if text.starts_with('-') {
        return Err("it begins with `-`".into());
    }
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        Some(c) => Err(format!("it contains `{}`", c.escape_debug())),
        None => Ok(()),
    }
}

fn check_socket(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { check_name(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_tmux_would_misread_are_refused() {
        for text in ["", "-x", "a:b", "a.b", "a b", "a\nb", "$(x)", "../x", &"x".repeat(65)] {
            assert!(check_name(text).is_err(), "{text:?}");
        }
        assert_eq!(check_name("mngr-"), Ok(()));
        assert_eq!(check_socket(""), Ok(()));
        assert!(check_socket("/tmp/x").is_err());
    }
}
