//! Which lines begin inside a string, a substitution or a here-document: what decides where a block ends.

use super::lexer::{Lexer, Strings, Token, Unclosed, UnclosedKind};

/// How a line stands in the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Nothing but white space.
    Blank,
    /// A comment and nothing else.
    Comment,
    /// A command, or a part of one.
    Code,
    /// It begins inside a string, a substitution or a here-document.
    Inside,
}

/// What is known of the lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellLines {
    /// One per line.
    pub(crate) kinds: Vec<LineKind>,
    /// What is never closed, with its line, counted from 1.
    pub(crate) unclosed: Vec<(usize, Unclosed)>,
}

/// Looks at all lines of a text.
pub(crate) fn shell_lines(text: &str) -> ShellLines {
    let lines = read(text, Strings::Anywhere);
    let is_sound =
        lines.unclosed.iter().all(|(_, unclosed)| matches!(unclosed.kind, UnclosedKind::HereDocument(_)));
    if is_sound {
        return lines;
    }
    // Somewhere a quote lacks its partner, and every later one is taken for its opposite. That strings end at empty
    // lines is wrong for a few, but confines the damage to the block with the mistake.
    read(text, Strings::ToEmptyLine)
}

fn read(text: &str, strings: Strings) -> ShellLines {
    let mut lexer = Lexer::new(text, strings);
    let mut kinds: Vec<LineKind> = text.split('\n').map(kind_alone).collect();
    let mut unclosed: Vec<(usize, Unclosed)> = Vec::new();
    let mut inside = |from: usize, to: usize, lexer: &Lexer<'_>| {
        // The line that something begins on is not inside it.
        let (first, last) = (lexer.line_of(from), lexer.line_of(to.saturating_sub(1).max(from)));
        kinds[first..last].fill(LineKind::Inside);
    };
    loop {
        match lexer.token() {
            Ok(None) => break,
            Ok(Some(Token::Word(word))) => inside(word.range.start, word.range.end, &lexer),
            Ok(Some(Token::HereDocument { range, .. })) => {
                // Its first line is inside it: it begins on the line above.
                inside(range.start.saturating_sub(1), range.end, &lexer);
            }
            Ok(Some(_)) => {}
            Err(error) => {
                inside(error.at, error.resume, &lexer);
                lexer.resume(error.resume);
                unclosed.push((lexer.line_of(error.at), error));
            }
        }
    }
    unclosed.extend(lexer.endless.iter().map(|error| (lexer.line_of(error.at), error.clone())));
    unclosed.sort_by_key(|(line, _)| *line);
    ShellLines { kinds, unclosed }
}

fn kind_alone(line: &str) -> LineKind {
    match line.trim_start() {
        "" => LineKind::Blank,
        text if text.starts_with('#') => LineKind::Comment,
        _ => LineKind::Code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let letter = |kind: &LineKind| match kind {
            LineKind::Blank => '.',
            LineKind::Comment => '#',
            LineKind::Code => 'c',
            LineKind::Inside => 'i',
        };
        shell_lines(text).kinds.iter().map(letter).collect()
    }

    fn unclosed(text: &str) -> Vec<(usize, UnclosedKind)> {
        shell_lines(text).unclosed.into_iter().map(|(line, unclosed)| (line, unclosed.kind)).collect()
    }

    #[test]
    fn lines_of_strings_substitutions_and_here_documents_are_inside() {
        for (text, expected) in [
            ("a\n\n# b\n \nc", "c.#.c"),
            ("cat <<EOF\n\n# x\nEOF\nb", "ciiic"),
            ("cat <<-'E F'\n\n\tE F\n\nb", "cii.c"),
            ("cat <<A <<B\na\n\nA\n\nB\n\nc", "ciiiii.c"),
            ("cat <<EOF | tr a b\n\nEOF", "cii"),
            ("echo 'a\n\nb'\n\nc", "cii.c"),
            ("echo \"a\n\n$(b \"c\n\nd\")\n\"\n\nc", "ciiiii.c"),
            ("x=$(\n\na\n)\nb", "ciiic"),
            ("x=$(cat <<E\n)\n\nE\n)\nb", "ciiiic"),
            ("echo \"${x:-\"y\"}\"\n\nc", "c.c"),
            ("echo \"`a 'b'`\"\n\nc", "c.c"),
            ("a \\\n  b\n\nc", "cc.c"),
        ] {
            assert_eq!(kinds(text), expected, "{text}");
            assert_eq!(unclosed(text), [], "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_string_or_here_document_is_none() {
        for text in [
            "# don't\n\na",
            "a # don't\n\nb",
            "a \\'\n\nb",
            "cat <<<word\n\nb",
            "x=$((1 << 2))\n\nb",
            "(( x << 2 ))\n\nb",
            "echo $# ${#x} a#'b'\n\nc",
            "echo $'it\\'s'\n\nc",
            "echo \"it's\"\n\nc",
            "case x in a) echo;; esac\n\nb",
            "((a); b)\n\nc",
            "diff <(a 'b') >(c)\n\nd",
            "echo ${x:-'}'}\n\nd",
        ] {
            assert_eq!(kinds(text).as_bytes()[1], b'.', "{text}");
            assert_eq!(unclosed(text), [], "{text}");
        }
    }

    #[test]
    fn a_here_document_without_end_is_told_and_swallows_nothing() {
        let text = "a\ncat <<EOF\nx\n\nb";
        assert_eq!(kinds(text), "ccc.c");
        assert_eq!(unclosed(text), [(2, UnclosedKind::HereDocument("EOF".into()))]);
    }

    #[test]
    fn what_has_no_partner_is_told_at_its_line_and_ends_with_its_block() {
        let text = "echo 'a'\n\necho it's\nb\n\necho \"c\"\n";
        assert_eq!(kinds(text), "c.ci.c.");
        assert_eq!(unclosed(text), [(3, UnclosedKind::Quote)]);
        assert_eq!(unclosed("a\necho 'b"), [(2, UnclosedKind::Quote)]);
        assert_eq!(unclosed("a\n\nb $(c\n\nd"), [(3, UnclosedKind::Substitution)]);
        assert_eq!(unclosed(&"$(".repeat(10_000)).len(), 1, "however deep it nests");
    }

    #[test]
    fn every_line_has_a_kind_whatever_the_text() {
        proptest::proptest!(|(text in "[a'\"`$(){}<E\\\\\n#-]{0,60}")| {
            proptest::prop_assert_eq!(shell_lines(&text).kinds.len(), text.split('\n').count());
        });
    }
}
