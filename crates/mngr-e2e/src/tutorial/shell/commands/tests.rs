//! Where commands are found.

use super::*;
use crate::tutorial::shell::Expansion;
use crate::tutorial::shell::word::PLACEHOLDER;

/// The words of all commands, those with the same words once, in the order of their lines.
fn found(text: &str) -> Vec<String> {
    let found = commands(text, 1);
    assert_eq!(found.unclosed, [], "{text}");
    let shown = |command: &SimpleCommand| {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        words.join(" ").replace(PLACEHOLDER, "…")
    };
    found.commands.iter().map(shown).collect()
}

#[test]
fn commands_are_found_in_every_construct() {
    for (text, expected) in [
        ("a b | c && d || e; f & g", &["a b", "c", "d", "e", "f", "g"][..]),
        ("A=1 B+=x C[0]=y a b=c", &["a b=c"]),
        ("x=(a 'b' $(c))\nd", &["d", "c"]),
        ("a b >f 2>&1 c < g &>h d <<<i", &["a b c d"]),
        ("a - <<E\n$(b c)\nE\nd", &["a -", "d", "b c"]),
        ("a <<'E'\n$(b)\nE", &["a"]),
        ("a <<E | b\nx\nE", &["a", "b"]),
        ("for n in $(a -b); do c \"$n\"; done", &["c …", "a -b"]),
        ("for n in x y\ndo c\ndone", &["c"]),
        ("if a; then b; elif ! c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while read -r l; do a; done < f", &["read -r l", "a"]),
        ("case $x in\n a|b) c d;;\n (e) f ;; \n*) g\n esac\nh", &["c d", "f", "g", "h"]),
        ("case x in a) esac; b", &["b"]),
        ("f() { a; }\nfunction g { b; }\n(c; d)", &["a", "b", "c", "d"]),
        ("a `b c` \"x $(d \"e\")\" ${y:-$(f)}", &["a … x … …", "b c", "d e", "f"]),
        ("diff <(a b) c", &["diff … c", "a b"]),
        ("[[ -n $x ]] && a", &["[[ -n … ]]", "a"]),
        ("# a\nb # c\n", &["b"]),
        ("a \\\n  -b \\\n  c\nd", &["a -b c", "d"]),
        ("a 'b c' \"d\" e\\ f \"\\\"\" g'h'\"i\"", &["a b c d e f \" ghi"]),
        ("time a; x=$((1 + 2)); ((x++)); b", &["a", "b"]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn words_know_their_line_and_what_only_the_shell_knows() {
    let found = commands("a \\\n \"$x\" \\\n --b=$y $@\nc $(d \\\n e)", 10);
    let lines: Vec<(usize, Expansion)> =
        found.commands[0].words.iter().map(|word| (word.line, word.expansion)).collect();
    assert_eq!(
        lines,
        [
            (10, Expansion::None),
            (11, Expansion::OneWord),
            (12, Expansion::AnyWords),
            (12, Expansion::AnyWords)
        ]
    );
    assert_eq!(found.commands[2].words[1].line, 14, "in a substitution too");
    assert_eq!(found.commands[0].source, "a \\\n \"$x\" \\\n --b=$y $@");
    let quoted = commands("a \"${x[@]}\" '$y' \"~\"", 1).commands.remove(0);
    let expansions: Vec<Expansion> = quoted.words.iter().map(|word| word.expansion).collect();
    assert_eq!(expansions, [Expansion::None, Expansion::AnyWords, Expansion::None, Expansion::None]);
}

#[test]
fn a_name_in_angle_brackets_is_noticed() {
    assert_eq!(commands("a\nmngr create <name> x", 1).blanks_to_fill, [(2, "<name>".to_owned())]);
    assert_eq!(commands("a <in >out; b < in > out", 1).blanks_to_fill, []);
}

#[test]
fn what_is_never_closed_is_told_with_its_line() {
    assert_eq!(commands("a\nb 'c", 5).unclosed, [(6, UnclosedKind::Quote)]);
    assert_eq!(commands("a <<E\nb", 5).unclosed, [(5, UnclosedKind::HereDocument("E".into()))]);
}

#[test]
fn no_text_is_too_odd() {
    proptest::proptest!(|(text in "[a'\"`$(){}<>;&|E=\\\\\n# -]{0,60}")| {
        let _ = commands(&text, 1);
    });
}
