//! Replacing what differs from run to run by fixed words.

use std::path::Path;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use crate::or_fail::OrFail;

/// Pattern and replacement, applied in this order: an id that holds another pattern comes first.
const RULES: &[(&str, &str)] = &[
    (r"\bagent-[0-9a-f]{32}\b", "[AGENT_ID]"),
    (r"\bhost-[0-9a-f]{32}\b", "[HOST_ID]"),
    (r"\bevt-[0-9a-f]{32}\b", "[EVENT_ID]"),
    (r"\b[0-9a-f]{40}\b", "[COMMIT]"),
    (r"\b[0-9a-f]{32}\b", "[UUID]"),
    (
        r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?",
        "[TIME]",
    ),
    (r"\bpid [0-9]+\b", "pid [PID]"),
    (r"\b[0-9]+(\.[0-9]+)? ?ms\b", "[MILLIS]"),
];

static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compile = |(pattern, word): &(&str, &'static str)| {
        let regex = RegexBuilder::new(pattern).unicode(false).build();
        (regex.or_fail(format_args!("compiling `{pattern}`")), *word)
    };
    RULES.iter().map(compile).collect()
});

/// `text` with `root` as `$TEST_ENV` and every id, time, commit and process id as a word in brackets.
pub(crate) fn normalize(text: &str, root: &Path) -> String {
    let text = text.replace(&*root.to_string_lossy(), "$TEST_ENV");
    COMPILED.iter().fold(text, |text, (pattern, word)| pattern.replace_all(&text, *word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(text: &str) -> String {
        normalize(text, Path::new("/tmp/mtAbc"))
    }

    #[test]
    fn paths_in_the_environment_lose_its_random_part() {
        assert_eq!(normalized("cd /tmp/mtAbc/work/x"), "cd $TEST_ENV/work/x");
    }

    #[test]
    fn ids_times_and_commits_become_words() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(normalized(&format!("agent-{id}")), "[AGENT_ID]");
        assert_eq!(normalized(&format!("host-{id}")), "[HOST_ID]");
        assert_eq!(normalized(&format!("worktrees/fix-{id}")), "worktrees/fix-[UUID]");
        assert_eq!(normalized(&format!("{id}01234567 HEAD")), "[COMMIT] HEAD");
        assert_eq!(normalized("at 2026-11-15T10:32:05.123456789Z."), "at [TIME].");
        assert_eq!(normalized("at 2026-11-15T10:32:05+00:00"), "at [TIME]");
        assert_eq!(normalized("pid 4711, after 12.5 ms"), "pid [PID], after [MILLIS]");
    }

    #[test]
    fn ordinary_words_and_numbers_stay() {
        let text = "NAME  STATE\nagent-fix  RUNNING  exit 130, 3 agents";
        assert_eq!(normalized(text), text);
    }
}
