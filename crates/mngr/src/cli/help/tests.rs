//! How pages look.

use super::*;
use crate::cli::{self, NAME};

/// All commands, as words after `mngr`.
fn all() -> Vec<Vec<String>> {
    let pages = Page::all();
    pages.iter().map(|page| page.name.split(' ').skip(1).map(str::to_owned).collect()).collect()
}

#[test]
fn every_command_has_all_sections_in_order() {
    for words in all().into_iter().skip(1) {
        let help = of(&words).unwrap();
        let sections = [
            "Usage: mngr ",
            "NAME\n  mngr ",
            "SYNOPSIS\n  mngr ",
            "\nDESCRIPTION\n",
            "OPTIONS\n",
            "\nEXAMPLES\n  ",
        ];
        let places: Vec<Option<usize>> = sections.iter().map(|section| help.find(section)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{help}");
    }
}

#[test]
fn every_page_fits_the_usual_terminal() {
    for words in all() {
        let help = of(&words).unwrap();
        for line in help.lines() {
            assert!(line.chars().count() <= WIDTH, "{}: {line}", words.join(" "));
            assert_eq!(line, line.trim_end(), "{}", words.join(" "));
        }
        assert!(!help.contains("\n\n\n"), "{help}");
    }
}

#[test]
fn every_command_is_in_one_group_of_the_top_page() {
    let top = cli::command();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
    let mut all: Vec<&str> = top.get_subcommands().map(clap::Command::get_name).collect();
    grouped.sort_unstable();
    all.sort_unstable();
    assert_eq!(grouped, all);
    let page = of::<&str>(&[]).unwrap();
    assert!(page.contains("  List agents and what they are doing (also: ls)\n"), "{page}");
    assert!(page.starts_with(&format!("{NAME} ")), "{page}");
}

#[test]
fn nested_commands_are_found_by_their_short_names_too() {
    assert!(of(&["cfg", "get"]).unwrap().contains("mngr config get [OPTIONS] <KEY>"));
    assert!(of(&["config", "nope"]).is_none());
}

#[test]
fn a_long_term_has_its_text_below() {
    let row = |term: &str, text: &str| (term.to_owned(), text.to_owned());
    let long = "-a, --an-option-with-a-very-long-name <NAME>";
    let shown = table(vec![row("-s, --short", "Text"), row(long, "Below")]);
    assert_eq!(shown, format!("  -s, --short  Text\n  {long}\n               Below\n"));
}
