//! From the text of blocks to what is wrong with their commands.

use serde::Serialize;

use super::grammar::{Complaint, Grammars, Verdict};
use crate::tutorial::block::BlockId;
use crate::tutorial::problem::ProblemKind;
use crate::tutorial::script::Script;
use crate::tutorial::shell::{Commands, SimpleCommand, Word, commands};

/// Programs that run the command in their arguments.
const WRAPPERS: &[&str] = &["command", "env", "exec", "nice", "nohup", "sudo", "time", "timeout", "xargs"];

/// Something wrong in a tutorial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where, counted from 1.
    pub line: usize,
    /// In which block; nothing for a text that is no block yet.
    pub block: Option<BlockId>,
    /// The command as it is written; nothing when it is not about one.
    pub command: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub hints: Vec<String>,
}

/// What linting came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintReport {
    /// What is wrong, in the order of the lines.
    pub findings: Vec<Finding>,
    /// How many commands there are.
    pub commands: usize,
    /// How many of them a grammar knows.
    pub checked: usize,
}

/// Checks every command of a tutorial.
pub fn lint_script(script: &Script, grammars: &Grammars<'_>) -> LintReport {
    let mut all = LintReport::default();
    for block in &script.blocks {
        let mut report = lint_text(&block.text, block.line, grammars);
        for finding in &mut report.findings {
            finding.block = Some(block.id.clone());
        }
        all.findings.append(&mut report.findings);
        all.commands += report.commands;
        all.checked += report.checked;
    }
    all
}

/// Checks every command of a text whose first line has the number `first_line`.
pub fn lint_text(text: &str, first_line: usize, grammars: &Grammars<'_>) -> LintReport {
    let Commands { commands, unclosed, blanks_to_fill } = commands(text, first_line);
    let mut report = LintReport { commands: commands.len(), ..LintReport::default() };
    let general = |line, message, hints| Finding { line, block: None, command: None, message, hints };
    for (line, kind) in unclosed {
        report.findings.push(general(line, ProblemKind::from(kind).to_string(), Vec::new()));
    }
    for (line, blank) in blanks_to_fill {
        let hint = "write an example, or a variable such as `\"$name\"`".to_owned();
        report.findings.push(general(line, format!("a shell reads a file for `{blank}`"), vec![hint]));
    }
    for command in &commands {
        lint_command(command, grammars, &mut report);
    }
    report.findings.sort_by_key(|finding| finding.line);
    report
}

fn lint_command(command: &SimpleCommand, grammars: &Grammars<'_>, report: &mut LintReport) {
    let words = unwrapped(&command.words);
    let Some((program, rest)) = words.split_first() else { return };
    let Some(grammar) = grammars.of(&program.text).filter(|_| program.is_known()) else { return };
    let Verdict::Known(complaints) = grammar.examine(rest) else { return };
    report.checked += 1;
    for Complaint { message, hints, word } in complaints {
        let line = word.and_then(|at| rest.get(at)).map_or(program.line, |word| word.line);
        let command = Some(command.source.clone());
        report.findings.push(Finding { line, block: None, command, message, hints });
    }
}

/// The command that is run in the end: `mngr stop x` of `sudo -E env A=b mngr stop x`.
pub(super) fn unwrapped(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    while let Some(wrapper) =
        words.first().map(|word| word.text.clone()).filter(|it| WRAPPERS.contains(&it.as_str()))
    {
        // Its own options, assignments and durations.
        let is_own = |word: &&Word| {
            word.text.starts_with('-')
                || word.text.contains('=')
                || word.text.starts_with(|c: char| c.is_ascii_digit())
        };
        let own = words.iter().skip(1).take_while(is_own).count();
        if words.len() == 1 + own {
            break;
        }
        let line = words[0].line;
        words.drain(..=own);
        if wrapper == "xargs" {
            words.push(Word::anything(line));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tutorial::lint::Grammar;

    /// Complains about every word `bad`.
    struct NoBad;

    impl Grammar for NoBad {
        fn examine(&self, words: &[Word]) -> Verdict {
            let bad = words.iter().enumerate().filter(|(_, word)| word.text == "bad");
            let complaint = |(at, _)| Complaint { message: "bad".into(), hints: vec![], word: Some(at) };
            Verdict::Known(bad.map(complaint).collect())
        }
    }

    fn lines(text: &str) -> Vec<usize> {
        let report = lint_text(text, 1, &Grammars::new().with("/usr/bin/x", &NoBad));
        report.findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn only_commands_of_known_programs_are_checked_wherever_they_stand() {
        let text = "y bad\nx good\n$x bad\ny | x a \\\n bad\necho $(./x bad) 'x bad'\nsudo -E A=1 x bad | xargs -n1 x bad\n";
        assert_eq!(lines(text), [5, 6, 7, 7]);
        let report = lint_text(text, 1, &Grammars::new().with("x", &NoBad));
        assert_eq!((report.commands, report.checked), (9, 5));
        assert_eq!(report.findings[0].command.as_deref(), Some("x a \\\n bad"));
    }

    #[test]
    fn what_is_no_shell_or_no_example_is_found() {
        assert_eq!(lines("a\nx 'b"), [2]);
        assert_eq!(lines("a\n\nx <name> y"), [3]);
    }

    #[test]
    fn findings_of_a_script_name_their_block() {
        let script = Script::parse("s", b"y\n\n# z\nx bad");
        let report = lint_script(&script, &Grammars::new().with("x", &NoBad));
        assert_eq!(
            (report.findings[0].line, report.findings[0].block.as_ref()),
            (4, Some(&script.blocks[1].id))
        );
    }
}
