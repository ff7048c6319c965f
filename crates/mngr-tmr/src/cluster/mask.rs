//! What varies in every message: times, ids, addresses, paths, numbers. Each becomes a word that says what it was.

use std::sync::LazyLock;

use regex::Regex;

/// How much of a message counts. A cause shows at the beginning; the rest may be a whole log.
const MAX_CHARS: usize = 400;

/// In this order: a date is also numbers, a UUID is also hex.
const MASKS: &[(&str, &str)] = &[
    (r"\x1b\[[0-9;?]*[a-zA-Z]", ""),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b", "<time>"),
    (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
    (r"\b[a-z][a-z0-9+.-]*://[^\s'`\x22]+", "<url>"),
    (r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d+)?\b", "<ip>"),
    (r"(?:~|\.{1,2}|\b[\w.-]+)?(?:/[\w.@+:\[\]-]+)+/?", "<path>"),
    (r"\b0x[0-9a-fA-F]+\b", "<hex>"),
    (r"\b[0-9a-fA-F]*(?:[0-9][a-fA-F]|[a-fA-F][0-9])[0-9a-fA-F]{5,}\b", "<hex>"),
    (r"\b\d+(?:\.\d+)?", "<n>"),
];

static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    MASKS.iter().filter_map(|(pattern, word)| Some((Regex::new(pattern).ok()?, *word))).collect()
});

/// The message with everything that varies masked, on one line, cut to a sensible length.
pub fn mask(message: &str) -> String {
    let mut text: String = message.chars().take(MAX_CHARS).collect();
    for (pattern, word) in PATTERNS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mask_is_a_valid_pattern() {
        assert_eq!(PATTERNS.len(), MASKS.len());
    }

    #[test]
    fn what_varies_is_masked_and_what_tells_stays() {
        for (message, masked) in [
            ("connect to 10.0.0.7:22 failed after 30.5s", "connect to <ip> failed after <n>s"),
            ("cannot read `/tmp/a-1/x.py`", "cannot read `<path>`"),
            ("in tests/test_a.py::test_b[x]", "in <path>"),
            ("at 2026-01-02T03:04:05Z: HTTP 429", "at <time>: HTTP <n>"),
            ("commit 3f2a9c1d7e unknown", "commit <hex> unknown"),
            ("agent 123e4567-e89b-12d3-a456-426614174000 gone", "agent <uuid> gone"),
            ("see https://x.example/a?b=1 now", "see <url> now"),
            ("\u{1b}[31mred\u{1b}[0m\n  next", "red next"),
            ("decade facade", "decade facade"),
        ] {
            assert_eq!(mask(message), masked, "{message}");
        }
    }

    #[test]
    fn a_whole_log_is_cut() {
        assert!(mask(&"word ".repeat(100_000)).len() <= MAX_CHARS);
    }
}
