//! Two texts of a file as a diff for people.

use similar::TextDiff;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 2;

/// A unified diff; empty for equal texts.
pub fn small_diff(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_diff_shows_two_lines_around_the_change() {
        let before = "1\n2\n3\n4\n5\n6\n7\n";
        let diff = small_diff("a.py", before, &before.replace('4', "x"));
        assert_eq!(diff, "--- a/a.py\n+++ b/a.py\n@@ -2,5 +2,5 @@\n 2\n 3\n-4\n+x\n 5\n 6\n");
        assert_eq!(small_diff("a.py", before, before), "");
    }
}
