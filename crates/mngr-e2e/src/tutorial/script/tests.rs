//! The grammar of scripts.

use super::*;

fn parse(text: &str) -> Script {
    Script::parse("tutorial.sh", text.as_bytes())
}

fn texts(script: &Script) -> Vec<&str> {
    script.blocks.iter().map(|block| block.text.as_str()).collect()
}

fn problems(script: &Script) -> Vec<String> {
    script.problems.iter().map(|problem| format!("{}: {}", problem.line, problem.kind)).collect()
}

#[test]
fn consecutive_lines_with_a_command_are_a_block() {
    let script = parse("# Say it\necho a\n# and again\necho b\n# done\n\n\n\n# only talk\n\necho c\n");
    assert_eq!(texts(&script), ["# Say it\necho a\n# and again\necho b\n# done", "echo c"]);
    let [first, second] = script.blocks.as_slice() else { panic!("two blocks") };
    assert_eq!((first.line, first.end_line, first.title.as_str()), (1, 5, "Say it"));
    assert_eq!(
        (second.line, second.title.as_str()),
        (11, "echo c"),
        "without a comment the command is the title"
    );
}

#[test]
fn a_line_of_spaces_separates_blocks() {
    assert_eq!(texts(&parse("a\n \t\nb")), ["a", "b"]);
}

#[test]
fn multi_line_commands_stay_in_one_block() {
    let here_document = "cat > f <<'EOF'\nx\n\n# y\nEOF\ncat f";
    let string = "mngr message a \"first\n\nsecond\"";
    let continued = "mngr create a \\\n  --type command \\\n  -- sleep 1";
    let script = parse(&format!("{here_document}\n\n{string}\n\n{continued}\n\nb"));
    assert_eq!(texts(&script), [here_document, string, continued, "b"]);
}

#[test]
fn what_a_script_begins_with_is_no_block() {
    for header in ["#!/bin/sh\n", "#!/bin/bash\nset -euo pipefail\n# A tutorial.\n", "#!/bin/sh\n\nset -e\n"]
    {
        let script = parse(&format!("{header}\n# Say it\necho a"));
        assert_eq!(texts(&script), ["# Say it\necho a"], "{header}");
    }
    assert_eq!(texts(&parse("set -e\necho a")), ["set -e\necho a"], "only with a shebang or on its own");
    assert_eq!(texts(&parse("a\n\nset -e")), ["a", "set -e"], "and only at the top");
}

#[test]
fn a_command_right_below_the_shebang_is_not_lost() {
    let script = parse("#!/bin/sh\n# Say it\necho a\n# so\necho b\n");
    assert_eq!(texts(&script), ["echo a\n# so\necho b"]);
    assert_eq!(script.blocks[0].line, 3);
    assert_eq!(texts(&parse("echo a\n\necho b")), ["echo a", "echo b"], "nor is one without a shebang");
}

#[test]
fn blocks_know_their_section() {
    let script =
        parse("a\n\n#######\n# FIRST\n# about it\n#######\n\nb\n\n# prose about c.\n\nc\n\n# Second\n\nd");
    let sections: Vec<Option<&str>> = script.blocks.iter().map(|block| block.section.as_deref()).collect();
    assert_eq!(sections, [None, Some("FIRST"), Some("FIRST"), Some("Second")]);
    let kinds: Vec<&NoteKind> = script.notes.iter().map(|note| &note.kind).collect();
    assert_eq!(
        kinds,
        [&NoteKind::Heading("FIRST".into()), &NoteKind::Prose, &NoteKind::Heading("Second".into())]
    );
    assert_eq!((script.notes[0].line, script.notes[0].end_line), (3, 6));
    let script = parse("# =====\n# Third\n# =====\n# Say it\necho a");
    assert_eq!(script.blocks[0].section.as_deref(), Some("Third"), "a banner right above a command counts");
}

#[test]
fn ids_stay_when_other_blocks_move_and_tell_twins_apart() {
    let ids =
        |text: &str| parse(text).blocks.into_iter().map(|block| block.id.to_string()).collect::<Vec<_>>();
    let before = ids("a\n\nb\n\n  a");
    assert_eq!(before[2], format!("{}-2", before[0]));
    assert_eq!(ids("new\n\nb\n\na\n\na")[1..], [before[1].clone(), before[0].clone(), before[2].clone()]);
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_change_nothing() {
    let plain = parse("# x\na\n\ncat <<E\n\nE\n\nb\n");
    assert_eq!(parse("\u{feff}# x\r\na\r\n\r\ncat <<E\r\n\r\nE\r\n\r\nb\r\n"), plain);
    assert_eq!(plain.blocks.len(), 3);
}

#[test]
fn what_is_wrong_with_a_script_is_told_with_its_line_and_the_rest_is_read() {
    let script = parse("a\n\ncat <<EOF\nb\n\nc");
    assert_eq!(
        problems(&script),
        ["3: the here-document that begins here never ends: there is no line `EOF`"]
    );
    assert_eq!(texts(&script), ["a", "cat <<EOF\nb", "c"]);
    let script = parse("echo it's\n\nb");
    assert_eq!(problems(&script), ["1: the quote that begins here is not closed before the next empty line"]);
    assert_eq!(texts(&script), ["echo it's", "b"]);
    let script = Script::parse("f", b"a\n\necho \xff\n");
    assert_eq!(problems(&script), ["3: byte 0xff is not UTF-8 (the first of 1 in the file)"]);
    assert_eq!(texts(&script), ["a", "echo \u{fffd}"]);
}

#[test]
fn a_huge_line_is_a_line() {
    let huge = format!("echo {}", "x".repeat(5_000_000));
    let script = parse(&format!("a\n\n{huge}\n\nb"));
    assert_eq!(texts(&script), ["a", &huge, "b"]);
}

#[test]
fn no_text_is_too_odd_and_every_command_line_is_in_a_block() {
    proptest::proptest!(|(text in "[a# '\"<E\\\\$(\n\r]{0,80}")| {
        let script = parse(&text);
        let ends: Vec<usize> = script.blocks.iter().flat_map(|block| [block.line, block.end_line]).collect();
        proptest::prop_assert!(ends.is_sorted());
    });
}
