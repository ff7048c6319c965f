//! Which variables are not written down: a transcript is shown to others.

use mngr_model::artifacts::EnvDelta;

use super::environment::Variables;

/// What stands in the place of a value.
const MASK: &str = "***";
/// Words in the name of a variable whose value is nobody else's business. The pytest plugin has the same.
const SECRET_WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Whether the value of a variable of this name is kept out of files.
pub(crate) fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// What has changed since the session started, with secrets masked.
pub(crate) fn delta(start: &Variables, now: &Variables) -> EnvDelta {
    let changed = now.iter().filter(|(name, value)| start.get(*name) != Some(*value));
    let masked =
        |name: &str, value: &str| if looks_secret(name) { MASK.to_owned() } else { value.to_owned() };
    EnvDelta {
        set: changed.map(|(name, value)| (name.clone(), masked(name, value))).collect(),
        unset: start.keys().filter(|name| !now.contains_key(*name)).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_delta_holds_changes_only_and_no_secret() {
        let start = variables(&[("SAME", "1"), ("GONE", "1"), ("CHANGED", "1")]);
        let now = variables(&[("SAME", "1"), ("CHANGED", "2"), ("Some_Api_Key", "hunter2")]);
        let delta = delta(&start, &now);
        assert_eq!(delta.set, variables(&[("CHANGED", "2"), ("Some_Api_Key", "***")]));
        assert_eq!(delta.unset, ["GONE"]);
    }
}
