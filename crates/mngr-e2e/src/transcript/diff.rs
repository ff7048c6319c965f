//! What differs between two runs of the same test, once all that differs by nature is out of the way.

use similar::TextDiff;

use super::{Transcript, normalise};

/// How many equal lines are shown around a difference.
const CONTEXT: usize = 3;

/// The difference of two transcripts as a unified diff of their normalised texts; `None` when there is none.
pub fn diff(old: (&str, &Transcript), new: (&str, &Transcript)) -> Option<String> {
    let [old_text, new_text] =
        [old.1, new.1].map(|transcript| normalise(&String::from_utf8_lossy(&transcript.to_text())));
    if old_text == new_text {
        return None;
    }
    let diff = TextDiff::from_lines(old_text.as_str(), new_text.as_str());
    Some(diff.unified_diff().context_radius(CONTEXT).header(old.0, new.0).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::parse_lines;

    fn transcript(output: &str) -> Transcript {
        let command = r#"{"kind":"command","id":1,"time":1,"command":"ls /tmp/e2e-00112233","cwd":"/"}"#;
        let output = format!(r#"{{"kind":"output","id":1,"time":2,"stream":"stdout","text":"{output}\n"}}"#);
        parse_lines(format!("{command}\n{output}\n").as_bytes())
    }

    #[test]
    fn times_and_ids_are_no_difference_and_words_are() {
        let first = transcript("took 12 ms in /tmp/e2e-aabbccdd");
        assert_eq!(diff(("a", &first), ("b", &transcript("took 3 ms in /tmp/e2e-11223344"))), None);
        let text = diff(("a", &first), ("b", &transcript("gave up"))).unwrap();
        let wanted = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n $ ls <ENV>\n-  took <DURATION> in <ENV>\n+  gave up\n";
        assert_eq!(text, wanted);
    }
}
