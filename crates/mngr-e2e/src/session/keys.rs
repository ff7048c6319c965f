//! Keys by their names, spelled as tmux spells them: `Enter`, `C-c`, `M-x`, `Up`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const NAMED: &str = include_str!("../../../../python/src/mngr_e2e/shared/keys.json");

/// A test keeps the file readable.
static PARSED: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| serde_json::from_str(NAMED).unwrap_or_default());

/// What a terminal sends for a key; nothing for a name that is none.
pub(crate) fn bytes_of(key: &str) -> Option<Vec<u8>> {
    if let Some(bytes) = PARSED.get(key) {
        return Some(bytes.as_bytes().to_vec());
    }
    if let Some(rest) = key.strip_prefix("M-") {
        return Some([b"\x1b".to_vec(), bytes_of(rest)?].concat());
    }
    let mut characters = key.strip_prefix("C-").unwrap_or(key).chars();
    let (character, more) = (characters.next()?, characters.next());
    match (key.starts_with("C-"), more) {
        (_, Some(_)) => None,
        // `C-` by itself is not a key, though its first character would be one.
        (false, None) => Some(character.to_string().into_bytes()),
        (true, None) => match character.to_ascii_uppercase() {
            letter @ '@'..='_' => Some(vec![letter as u8 & 0x1f]),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_a_terminal_sends() {
        for (key, bytes) in [
            ("Enter", "\r"),
            ("Up", "\x1b[A"),
            ("C-c", "\x03"),
            ("C-[", "\x1b"),
            ("M-x", "\x1bx"),
            ("M-Enter", "\x1b\r"),
            ("q", "q"),
            ("ü", "ü"),
        ] {
            assert_eq!(bytes_of(key).as_deref(), Some(bytes.as_bytes()), "{key}");
        }
        for none in ["", "Entr", "C-", "C-ü", "C-Up"] {
            assert_eq!(bytes_of(none), None, "{none}");
        }
    }
}
