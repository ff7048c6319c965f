//! Settings: their keys, and the values they take.

use mngr_config::{KeyPath, schema};

use super::candidate::{Answer, Candidate};
use super::place::Place;
use super::source::Source;
use super::stock::Stock;
use crate::cli::options;
use crate::cli::page::Page;

/// The section of the options of verbs.
const COMMANDS: &str = "commands.";
/// What stands in the catalogue for a name that the user chooses.
const ANY_NAME: char = '<';

/// All keys that can be named: those of the catalogue, those that are set, and once `commands.` is typed the options of
/// verbs.
pub(super) fn keys(stock: &Stock<'_>, typed: &str) -> Vec<Candidate> {
    let first_line = |text: &str| text.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
    let catalogue = schema::catalogue().into_iter();
    let known = catalogue.map(|entry| Candidate::new(entry.key.to_string(), first_line(entry.description)));
    let set = stock.merged().map(|merged| merged.leaves()).unwrap_or_default();
    let set = set.into_iter().map(|leaf| Candidate::new(leaf.key.to_string(), "set"));
    let mut all: Vec<Candidate> = known.filter(|key| !key.value.contains(ANY_NAME)).chain(set).collect();
    if typed.starts_with(COMMANDS) {
        all.extend(options_of_verbs());
    }
    all
}

/// What may be given to the key.
pub(super) fn values(stock: &Stock<'_>, key: &str, place: &Place) -> Answer {
    if let Some((verb, option)) = key.strip_prefix(COMMANDS).and_then(|rest| rest.split_once('.')) {
        let Some(command) = options::leaf(verb) else { return Answer::Words(Vec::new()) };
        let Some(arg) = options::option(&command, option) else { return Answer::Words(Vec::new()) };
        if !arg.get_action().takes_values() {
            return Answer::Words(booleans());
        }
        let verb: Vec<String> = verb.split('_').map(str::to_owned).collect();
        return match Source::of(&verb, arg) {
            // It would lead back here.
            Source::Setting | Source::ValueOfKey => Answer::Words(Vec::new()),
            source => stock.answer(source, place),
        };
    }
    let Ok(wanted) = KeyPath::parse(key) else { return Answer::Words(Vec::new()) };
    let found = schema::catalogue().into_iter().find(|entry| is_meant(&entry.key, &wanted));
    let Some(entry) = found else { return Answer::Words(Vec::new()) };
    match entry.key.segments().last().map(String::as_str) {
        Some("parent_type") => stock.answer(Source::Type, place),
        _ if entry.is_bool() => Answer::Words(booleans()),
        _ => Answer::Words(entry.choices.iter().map(|word| Candidate::bare(*word)).collect()),
    }
}

/// `KEY=VALUE`: keys until the `=` is typed, then values.
pub(super) fn settings(stock: &Stock<'_>, place: &Place) -> Answer {
    let Some((key, _)) = place.typed.split_once('=') else {
        let keys = keys(stock, &place.typed).into_iter();
        return Answer::Beginnings(
            keys.map(|key| Candidate::new(format!("{}=", key.value), key.about)).collect(),
        );
    };
    values(stock, key, place).behind(&format!("{key}="))
}

fn booleans() -> Vec<Candidate> {
    ["true", "false"].map(Candidate::bare).into()
}

/// `commands.VERB.OPTION`, for every verb that does something.
fn options_of_verbs() -> Vec<Candidate> {
    let mut found = Vec::new();
    for page in Page::all().iter().skip(1) {
        let verb = page.name.split(' ').skip(1).collect::<Vec<_>>().join("_");
        for option in page.sections.iter().flat_map(|section| &section.options) {
            let Some(name) = option.long.as_deref().filter(|long| *long != "--help" && *long != "--setting")
            else {
                continue;
            };
            let name = name.trim_start_matches('-').replace('-', "_");
            found.push(Candidate::new(format!("{COMMANDS}{verb}.{name}"), option.help.clone()));
        }
    }
    found
}

/// Whether an entry of the catalogue is about this key; a name that the user chooses fits any.
fn is_meant(entry: &KeyPath, key: &KeyPath) -> bool {
    let (entry, key) = (entry.segments(), key.segments());
    entry.len() == key.len() && entry.iter().zip(key).all(|(a, b)| a == b || a.starts_with(ANY_NAME))
}
