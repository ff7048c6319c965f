//! Comments that are headings: `# Managing agents` on its own, `## Managing agents`, or a text with a rule above it.

/// Longer comments are prose.
const LONGEST: usize = 80;

/// The text of a comment line.
pub(crate) fn comment_text(line: &str) -> &str {
    line.trim().trim_start_matches('#').trim()
}

/// Whether a comment line is only decoration: `#####`, `# -----`.
pub(crate) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let marks = line.trim_start_matches('#').trim();
    let is_decoration = |text: &str| text.chars().all(|c| !c.is_alphanumeric() && !c.is_whitespace());
    (marks.is_empty() && line.len() >= 3) || (marks.len() >= 3 && is_decoration(marks))
}

/// The heading that a whole paragraph of comments is or begins with.
pub(crate) fn of_paragraph(lines: &[&str]) -> Option<String> {
    let banner = of_banner(lines);
    let is_alone = lines.len() == 1;
    banner.or_else(|| lines.first().filter(|_| is_alone).and_then(|line| title(line)))
}

/// The heading that comments begin with because it is decorated.
pub(crate) fn of_banner(lines: &[&str]) -> Option<String> {
    let first = lines.first()?;
    if is_rule(first) {
        return lines[1..].iter().find(|line| !is_rule(line)).and_then(|line| title(line));
    }
    let is_decorated = first.trim().starts_with("##")
        || DECORATION.iter().any(|marks| comment_text(first).starts_with(marks));
    let is_underlined = lines.get(1).is_some_and(|below| is_rule(below));
    if is_decorated || is_underlined { title(first) } else { None }
}

const DECORATION: [&str; 3] = ["---", "===", "***"];

fn title(line: &str) -> Option<String> {
    let text = comment_text(line).trim_matches(['=', '-', '*', '#', '~', ' ']);
    let is_sentence = text.ends_with(['.', ':', ';', ',']);
    let is_remark = ["TODO", "FIXME", "XXX", "NOTE"].iter().any(|word| text.starts_with(word));
    (!text.is_empty() && text.len() <= LONGEST && !is_sentence && !is_remark).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_from_prose() {
        let heading = |text: &str| of_paragraph(&text.lines().collect::<Vec<_>>());
        for text in [
            "# Managing agents",
            "## Managing agents",
            "####\n# Managing agents\n####",
            "# =====\n# Managing agents\n# How to.\n# =====",
            "# --- Managing agents ---",
            "# Managing agents\n# ---------------",
            "#\n##########\n# Managing agents",
        ] {
            let text = text.trim_start_matches("#\n");
            assert_eq!(heading(text).as_deref(), Some("Managing agents"), "{text}");
        }
        for text in [
            "# An agent is a program.",
            "# TODO: more",
            "# first line\n# second line",
            "#####",
            "# mngr can be given:",
        ] {
            assert_eq!(heading(text), None, "{text}");
        }
    }
}
