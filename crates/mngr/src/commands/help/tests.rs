//! Topics, and help as data.

use std::collections::BTreeSet;

use mngr_e2e::tutorial::lint::{Grammars, lint_text};

use super::*;
use crate::commands::tutorial::own_grammar::OwnGrammar;

#[test]
fn a_mistyped_page_is_recognised_and_nonsense_is_not() {
    for (typed, meant) in [
        ("crate", "create"),
        ("filter", "filters"),
        ("config sett", "config set"),
        ("enviroment", "environment"),
        ("exitcodes", "exit_codes"),
    ] {
        assert_eq!(nearest(typed).as_deref(), Some(meant), "{typed}");
    }
    assert_eq!(nearest("xyzzy"), None);
}

#[test]
fn topics_are_found_by_every_name_however_it_is_written() {
    for words in [&["exit", "codes"][..], &["exit-codes"], &["exit_codes"], &["Exit_Code"]] {
        assert_eq!(topics::find(words).unwrap().name, "exit_codes", "{words:?}");
    }
    // The names of the Python mngr's pages.
    for old in
        ["environment_variables", "idle_detection", "snapshot", "multi_target", "providers", "docker_usage"]
    {
        assert!(topics::find(&[old]).is_some(), "{old}");
    }
}

#[test]
fn no_two_topics_have_a_name_in_common() {
    let mut seen = BTreeSet::new();
    for topic in topics::ALL {
        for name in std::iter::once(&topic.name).chain(topic.aliases) {
            assert!(seen.insert(*name), "{name}");
        }
        assert!(topics::ALL.is_sorted_by_key(|topic| topic.name));
    }
}

#[test]
fn every_topic_begins_with_what_it_is_about_and_fits_the_usual_terminal() {
    for topic in topics::ALL {
        let text = topic.text;
        assert!(help::is_heading(text.lines().next().unwrap()) && text.ends_with('\n'), "{}", topic.name);
        for line in text.lines() {
            assert!(line.chars().count() <= help::WIDTH, "{}: {line}", topic.name);
        }
    }
}

#[test]
fn the_commands_on_topic_pages_are_right() {
    let grammars = Grammars::new().with(cli::NAME, &OwnGrammar);
    let mut checked = 0;
    for topic in topics::ALL {
        let commands = topic.text.lines().filter(|line| line.starts_with("  mngr "));
        for line in commands.filter(|line| !line.contains(", mngr help")) {
            let report = lint_text(line, 1, &grammars);
            assert!(report.findings.is_empty() && report.commands > 0, "{}: {line}", topic.name);
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn the_topics_that_a_page_points_to_exist() {
    for topic in topics::ALL {
        for (at, _) in topic.text.match_indices("mngr help ") {
            let rest = &topic.text[at + "mngr help ".len()..];
            let words = rest.split(['`', ',', '\n']).next().unwrap();
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert!(
                words[0].starts_with('-') || text_of(&words, &Surroundings::of(&[], "/")).is_some(),
                "{}: {words:?}",
                topic.name
            );
        }
    }
}

#[test]
fn all_exit_codes_are_on_their_page() {
    let page = topics::find(&["exit_codes"]).unwrap().text;
    for code in [0_u8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130] {
        assert!(page.contains(&format!("\n  {code:<5}")), "{code}");
    }
}

#[test]
fn the_whole_command_line_is_there_as_data() {
    use crate::ui::Report;
    let all = HelpReport::Everything.json();
    let commands = all["commands"].as_array().unwrap();
    let set = commands.iter().find(|page| page["name"] == "mngr config set").unwrap();
    assert_eq!(set["synopsis"][0], "mngr config set [OPTIONS] <KEY> <VALUE>");
    assert_eq!(all["topics"].as_array().unwrap().len(), topics::ALL.len());
    let variables = all["environment"].as_array().unwrap();
    assert!(variables.iter().any(|variable| variable["name"] == "MNGR_HOST_DIR"));
    assert_eq!(HelpReport::Everything.items()[0]["name"], "mngr");
}
