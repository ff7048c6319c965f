//! A wrong verb, option or value, for every verb and option that there is: what was wrong, what is near, what to type.

use mngr_testkit::{CmdOutput, TestEnv};
use serde_json::Value;

use crate::support::*;

/// A slip of the finger: the last letter twice.
fn mistyped(word: &str) -> String {
    format!("{word}{}", word.chars().last().unwrap())
}

/// What is said of a command line that is wrong.
#[track_caller]
fn wrong(env: &TestEnv, words: &[&str], expected: &[String]) -> Vec<String> {
    let output: CmdOutput = env.mngr(words);
    let is_told = |text: &&String| !output.stderr.contains(*text);
    let mut found: Vec<String> =
        expected.iter().filter(is_told).map(|text| format!("does not say `{text}`:\n{output}")).collect();
    if output.status.code() != Some(2) || !output.stdout.is_empty() {
        found.push(format!("must exit with 2 and print nothing:\n{output}"));
    }
    found
}

/// Verbs that take the options of `create`.
const LIKE_CREATE: &[&str] = &["mngr clone", "mngr migrate"];

/// Every command with its words, and its page.
fn pages(env: &TestEnv) -> Vec<(Vec<String>, Value)> {
    let help = env.mngr(["help", "--format", "json"]).success().json();
    let pages = help["commands"].as_array().unwrap().iter().map(|page| {
        let words = text(&page["name"]).split(' ').skip(1).map(str::to_owned).collect();
        (words, page.clone())
    });
    pages.collect()
}

/// The options of a page; those that several verbs take only for one of them.
fn options<'a>(words: &[String], page: &'a Value) -> impl Iterator<Item = &'a Value> + use<'a> {
    let is_for_all = words == ["list"];
    let is_another = LIKE_CREATE.iter().any(|name| page["name"] == *name);
    let sections = page["sections"].as_array().unwrap().iter().filter(move |_| !is_another);
    let wanted = sections.filter(move |it| is_for_all || it["heading"] != "COMMON OPTIONS");
    wanted
        .flat_map(|section| section["options"].as_array().unwrap())
        .filter(|option| option["long"].is_string())
}

#[test]
fn every_mistyped_verb_is_told_with_the_one_that_is_near() {
    let env = env();
    let mut found = Vec::new();
    for (words, page) in pages(&env) {
        let Some((verb, group)) = words.split_last() else { continue };
        let typo = mistyped(verb);
        let line: Vec<&str> = group.iter().map(String::as_str).chain([typo.as_str()]).collect();
        let command = text(&page["name"]);
        let near = command.strip_prefix("mngr ").unwrap();
        let near = if group == ["tmr"] { near } else { verb };
        // A word after `completion` may also be a shell.
        let said = if group == ["completion"] { "`installl` is not one of" } else { "No such command: `" };
        let expected = [said, &typo, &format!("did you mean `{near}`?")].map(str::to_owned);
        found.extend(wrong(&env, &line, &expected));
    }
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_mistyped_option_is_told_with_the_one_that_is_near_and_where_to_read_more() {
    let env = env();
    let mut found = Vec::new();
    let mut seen = 0;
    for (words, page) in pages(&env) {
        for option in options(&words, &page) {
            let long = text(&option["long"]);
            let typo = mistyped(&long);
            let line: Vec<&str> = words.iter().map(String::as_str).chain([typo.as_str()]).collect();
            let expected = [
                format!("No such option: {typo}\n"),
                format!("did you mean `{long}`?"),
                format!("`{} --help`", text(&page["name"])),
            ];
            found.extend(wrong(&env, &line, &expected));
            seen += 1;
        }
    }
    assert!(found.is_empty(), "{} of {seen}:\n{}", found.len(), found.join("\n"));
    assert!(seen > 250, "{seen} options");
}

#[test]
fn every_wrong_value_is_told_with_those_that_are_right() {
    let env = env();
    let mut found = Vec::new();
    let mut seen = 0;
    for (words, page) in pages(&env) {
        for option in options(&words, &page) {
            let long = text(&option["long"]);
            let choices: Vec<String> = option["choices"].as_array().unwrap().iter().map(text).collect();
            if choices.is_empty() {
                continue;
            }
            let value = format!("{long}=nonsense");
            let line: Vec<&str> = words.iter().map(String::as_str).chain([value.as_str()]).collect();
            let said = format!("Invalid value for `{long}`: `nonsense` is not one of {}", choices.join(", "));
            found.extend(wrong(&env, &line, &[said]));
            seen += 1;
        }
    }
    assert!(found.is_empty(), "{} of {seen}:\n{}", found.len(), found.join("\n"));
    assert!(seen > 10, "{seen} options");
}

#[test]
fn every_option_that_takes_a_value_says_when_there_is_none() {
    let env = env();
    let mut found = Vec::new();
    for (words, page) in pages(&env) {
        for option in options(&words, &page).filter(|option| option["value"].is_string()) {
            let long = text(&option["long"]);
            let line: Vec<&str> = words.iter().map(String::as_str).chain([long.as_str()]).collect();
            found.extend(wrong(&env, &line, &[format!("Option `{long}` needs a value")]));
        }
    }
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}
