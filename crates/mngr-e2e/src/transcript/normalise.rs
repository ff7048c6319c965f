//! Making two runs of the same test look the same: what differs by nature becomes a placeholder.
//!
//! The rules are data shared with the pytest plugin, so that both say the same of one text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

const RULES: &str = include_str!("../../../../python/src/mngr_e2e/shared/normalise.json");

/// One rule, in the dialect that Rust and Python read alike; `${1}` stands for what a group matched.
#[derive(Debug, Deserialize)]
struct Rule {
    #[serde(with = "pattern")]
    pattern: Regex,
    replace: String,
}

mod pattern {
    use regex::Regex;
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Regex, D::Error> {
        Regex::new(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// In the order in which they apply. A test keeps the file readable.
static PARSED: LazyLock<Vec<Rule>> = LazyLock::new(|| serde_json::from_str(RULES).unwrap_or_default());

/// The text with ids, times, durations, ports, process ids and temporary paths as placeholders.
pub fn normalise(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for rule in PARSED.iter() {
        if let Cow::Owned(replaced) = rule.pattern.replace_all(&text, rule.replace.as_str()) {
            text = Cow::Owned(replaced);
        }
    }
    text.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_readable() {
        assert!(serde_json::from_str::<Vec<Rule>>(RULES).unwrap().len() > 10);
    }

    /// The same cases are in the tests of the plugin.
    #[test]
    fn what_differs_by_nature_becomes_a_placeholder() {
        let cases: Vec<(String, String)> =
            serde_json::from_str(include_str!("../../../../python/tests/normalise_cases.json")).unwrap();
        assert!(cases.len() > 10);
        for (text, wanted) in cases {
            assert_eq!(normalise(&text), wanted, "{text}");
        }
    }
}
