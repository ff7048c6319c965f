//! What every page of help keeps to.

use mngr_e2e::tutorial::lint::{Grammars, lint_text, verbs};

use super::*;
use crate::commands::tutorial::own_grammar::OwnGrammar;

const DIFFERENCES: &str = include_str!("../../../../../docs/reference/differences.md");

const TUTORIAL: &str = include_str!("../../../../../tutorial/tutorial.sh");

/// What only mngr itself uses, and what a verb says in another way.
const INTERNAL: &[(&str, &str)] =
    &[("mngr record", "pid-file"), ("mngr clone", "from"), ("mngr migrate", "from")];

/// Whether a word is in capitals.
fn is_upper(text: &str) -> bool {
    !text.chars().any(char::is_lowercase)
}

#[test]
fn every_example_is_a_command_that_mngr_accepts() {
    let grammars = Grammars::new().with(cli::NAME, &OwnGrammar);
    for page in Page::all().iter().skip(1) {
        let text = page.examples.join("\n");
        let report = lint_text(&text, 1, &grammars);
        let found: Vec<String> =
            report.findings.iter().map(|it| format!("{}: {}", it.line, it.message)).collect();
        assert!(found.is_empty(), "{}: {found:#?}\n{text}", page.name);
        // A remark that is no comment of the shell would be taken as arguments.
        let is_remark =
            |line: &str| line.split_once("   ").is_some_and(|(_, rest)| !rest.trim_start().starts_with('#'));
        assert!(
            !page.examples.iter().any(|line| is_remark(line)),
            "{}: remarks begin with `#`:\n{text}",
            page.name
        );
        let shown = verbs(&text, &grammars);
        let is_shown =
            shown.iter().any(|verb| *verb == page.name || verb.starts_with(&format!("{} ", page.name)));
        assert!(is_shown, "{}: none of its examples shows it: {shown:?}", page.name);
    }
}

/// What of a line is typed.
fn typed(line: &str) -> &str {
    line.split_once("  #").map_or(line, |(typed, _)| typed).trim()
}

/// What the tutorial cannot show: it runs on one machine, by itself, before any run there is an id of.
const NOT_IN_TUTORIAL: &[&str] = &[
    "@box",
    "@lab",
    ".docker",
    "https://",
    "01a1df30-",
    "snap-4f2a",
    "9c1e55d0",
    "1a2b3c4d",
    "20260102030405",
    "nightly",
    "claude",
    "~/.config/",
    "--rc",
    "source <(",
    "| jq",
    "--open",
    "--launch",
];

#[test]
fn every_example_is_a_line_of_the_tutorial_unless_that_cannot_show_it() {
    let lines: Vec<&str> = TUTORIAL.lines().map(typed).collect();
    let mut missing = Vec::new();
    for page in Page::all() {
        let examples = page.examples.iter().map(|example| typed(example)).filter(|line| !line.is_empty());
        let shown = examples.filter(|line| !NOT_IN_TUTORIAL.iter().any(|word| line.contains(word)));
        missing.extend(shown.filter(|line| !lines.contains(line)).map(str::to_owned));
    }
    assert!(missing.is_empty(), "not in tutorial/tutorial.sh: {missing:#?}");
}

#[test]
fn every_argument_and_option_is_explained_in_a_group() {
    for page in Page::all().iter().skip(1) {
        assert!(!page.about.is_empty(), "{}", page.name);
        assert!(!page.about.ends_with('.') && page.about.len() <= 66, "{}: {}", page.name, page.about);
        for section in &page.sections {
            assert!(is_upper(&section.heading), "{}: {}", page.name, section.heading);
            for option in &section.options {
                let name = format!("{} {}", page.name, option.term);
                assert!(!option.help.is_empty(), "{name}");
                assert!(!option.help.ends_with('.'), "{name}: {}", option.help);
                assert!(option.value.as_deref().is_none_or(is_upper), "{name}");
            }
        }
    }
}

#[test]
fn a_hidden_option_only_says_no_or_is_named_in_the_differences() {
    let documented = DIFFERENCES.replace("--[no-]", "--no-") + &DIFFERENCES.replace("--[no-]", "--");
    let mut missing = Vec::new();
    for page in Page::all() {
        let (command, _) = cli::options::deepest(page.name.split(' ').skip(1));
        let options: Vec<&Arg> = command.get_arguments().collect();
        let is_there = |long: &str| options.iter().any(|arg| arg.get_long() == Some(long));
        for arg in options.iter().filter(|arg| arg.is_hide_set()) {
            let long = arg.get_long().unwrap_or_default();
            let says_no = long.strip_prefix("no-").is_some_and(is_there);
            let is_internal = INTERNAL.contains(&(page.name.as_str(), long));
            if !says_no && !is_internal && !documented.contains(&format!("--{long}`")) {
                missing.push(format!("{} --{long}", page.name));
            }
        }
    }
    assert!(missing.is_empty(), "not in docs/reference/differences.md: {missing:#?}");
}

#[test]
fn an_option_tells_its_names_default_and_values() {
    let create = Page::of(&["create"]).unwrap();
    let find = |long: &str| {
        let mut options = create.sections.iter().flat_map(|section| &section.options);
        options.find(|option| option.long.as_deref() == Some(long)).unwrap()
    };
    assert_eq!(find("--template").term, "-t, --template <NAME>");
    assert!(find("--template").repeatable);
    assert_eq!(find("--from").aliases, ["--source"]);
    assert_eq!(find("--tmux-width").default.as_deref(), Some("200"));
    assert!(find("--tmux-window-size").text().contains("[possible values: manual, latest,"));
    assert_eq!(find("--reuse").value, None);
    assert_eq!(create.sections.first().map(|it| it.heading.as_str()), Some(ARGUMENTS));
    assert_eq!(create.sections.last().map(|it| it.heading.as_str()), Some(COMMON));
}
