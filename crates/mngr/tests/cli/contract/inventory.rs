//! Nothing of what scripts rely on is left out of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use serde::Deserialize;

use super::rows;
use super::table::{Case, World, folder};

/// What has to be shown by some case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inventory {
    verbs: Vec<String>,
    aliases: BTreeMap<String, String>,
    /// By verb; `*` is what every verb takes.
    options: BTreeMap<String, Vec<String>>,
    /// Names in JSON, by verb.
    fields: BTreeMap<String, Vec<String>>,
    /// What people are told.
    texts: Vec<String>,
    /// Files, variables and settings, as they are typed.
    words: Vec<String>,
}

impl Inventory {
    fn read() -> Self {
        toml::from_str(&std::fs::read_to_string(folder().join("inventory.toml")).unwrap()).unwrap()
    }

    /// The verb that a command line has, its aliases replaced.
    fn verb_of<'a>(&'a self, line: &'a str) -> Option<&'a str> {
        let after = line.split("mngr ").nth(1)?;
        let mut words = after.split_whitespace();
        let first = words.next()?;
        let first = self.aliases.get(first).map_or(first, String::as_str);
        let both = words.next().map(|second| format!("{first} {second}"));
        let known = both.and_then(|both| self.verbs.iter().find(|verb| **verb == both));
        Some(known.map_or(first, String::as_str))
    }

    /// The verbs of all commands that a case is about.
    fn verbs_of<'a>(&'a self, text: &'a str) -> BTreeSet<&'a str> {
        let lines = text.split(['\n', ';', '|', '&', '(', '`']);
        lines.filter_map(|line| self.verb_of(line)).collect()
    }
}

/// What a case is about, in words.
fn text_of(case: &Case) -> String {
    if case.run.is_some() { case.typed() } else { case.shows.clone() }
}

/// Fails with everything of a kind that no case shows.
#[track_caller]
fn assert_none<T: Display>(what: &str, missing: impl Iterator<Item = T>) {
    let missing: Vec<String> = missing.map(|it| it.to_string()).collect();
    assert!(missing.is_empty(), "no case shows these {what}: {missing:#?}");
}

#[test]
fn every_verb_alias_and_option_is_shown_by_a_case() {
    let inventory = Inventory::read();
    let cases = World::all_cases();
    let texts: Vec<String> = cases.iter().map(text_of).collect();
    let verbs: Vec<BTreeSet<&str>> = texts.iter().map(|text| inventory.verbs_of(text)).collect();
    let is_shown = |verb: &str| verbs.iter().any(|seen| seen.contains(verb));
    assert_none("verbs", inventory.verbs.iter().filter(|verb| !is_shown(verb)));
    let is_typed = |alias: &str| texts.iter().any(|text| text.contains(&format!("mngr {alias} ")));
    assert_none("aliases", inventory.aliases.keys().filter(|alias| !is_typed(alias)));
    for (verb, options) in &inventory.options {
        let about =
            texts.iter().zip(&verbs).filter(|(_, verbs)| verb == "*" || verbs.contains(verb.as_str()));
        let words: BTreeSet<&str> =
            about.flat_map(|(text, _)| text.split([' ', '\n', '=', '`', '\'', '"', ';', ','])).collect();
        let missing = options.iter().filter(|option| !words.contains(option.as_str()));
        assert_none(&format!("options of `{verb}`"), missing);
    }
}

#[test]
fn every_field_text_file_and_variable_is_shown_by_a_case() {
    let inventory = Inventory::read();
    let cases = World::all_cases();
    for (verb, fields) in &inventory.fields {
        let about = cases.iter().filter(|case| inventory.verbs_of(&case.typed()).contains(verb.as_str()));
        let pointers = about.flat_map(|case| case.json.keys().chain(&case.has));
        let seen: BTreeSet<&str> = pointers.flat_map(|pointer| pointer.split('/')).collect();
        let missing = fields.iter().filter(|field| !seen.contains(field.as_str()));
        assert_none(&format!("fields of `{verb}`"), missing);
    }
    let is_said = |text: &str| {
        let mut said = cases.iter().flat_map(|case| case.says.iter().chain(&case.stdout).chain(&case.then));
        said.any(|said| said.contains(text))
    };
    assert_none("texts", inventory.texts.iter().filter(|text| !is_said(text)));
    let worlds: String = super::table::WORLDS.iter().map(|name| World::read(name).setup).collect();
    let typed = cases.iter().fold(worlds, |all, case| all + &text_of(case) + "\n" + &case.says.join("\n"));
    assert_none("words", inventory.words.iter().filter(|word| !typed.contains(word.as_str())));
}

#[test]
fn every_case_proves_something_or_is_a_difference() {
    let known: BTreeSet<String> = rows::all().into_iter().map(|row| row.id).collect();
    for case in World::all_cases() {
        assert!(case.run.is_some() || !case.differs.is_empty(), "{}: neither run nor explained", case.shows);
        let looks = case.run.as_ref().is_none_or(|run| run.contains("&&") || case.checks_something());
        assert!(looks, "{}: nothing is looked at", case.shows);
        for row in &case.differs {
            assert!(known.contains(row), "{}: there is no row `{row}`", case.shows);
        }
    }
}
