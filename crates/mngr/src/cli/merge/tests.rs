//! Over every verb and every pair of a setting and something typed.

use std::ffi::OsString;

use clap::error::ErrorKind as ClapKind;
use clap::{Arg, ArgAction};
use mngr_config::{KeyPath, KnownOptions};

use super::*;
use crate::cli::options::{self, VerbOptions};
use crate::cli::pointless;

/// Something that some option takes.
const SAMPLES: &[&str] = &[
    "100",
    "3",
    "5s",
    "a=b",
    "name",
    "a",
    "io",
    "user",
    "/tmp/x",
    "1.5",
    "80x24",
    "coolname",
    "assistant",
    "RUNNING",
    "2026-01-01",
    "1",
    "model",
    "docker",
    "a@b",
];

/// Beginnings of command lines that say something without an option.
const ADDRESSES: &[&[&str]] = &[
    &["x@localhost"],
    &["x@localhost.local"],
    &["x@.local"],
    &["x@box"],
    &["x@box.docker"],
    &["x@.docker"],
    &["x:/other"],
    &["x", "codex"],
];

struct Verb {
    path: String,
    command: Command,
    /// The arguments it cannot do without.
    base: Vec<String>,
    /// Options that settings can give, with a value.
    options: Vec<(Arg, String)>,
}

impl Verb {
    fn all() -> Vec<Self> {
        VerbOptions.verbs().unwrap().into_iter().filter_map(Self::new).collect()
    }

    fn new(path: String) -> Option<Self> {
        let command = options::leaf(&path)?;
        let positionals = command.get_positionals().filter(|arg| arg.is_required_set());
        let base = positionals.map(|arg| sample(&command, arg, &[])).collect::<Option<_>>()?;
        let mut verb = Self { path, command, base, options: Vec::new() };
        let known = VerbOptions.options(&verb.path)?;
        let is_known =
            |arg: &&Arg| arg.get_long().is_some_and(|long| known.contains(&long.replace('-', "_")));
        let given: Vec<Arg> = verb.command.get_arguments().filter(is_known).cloned().collect();
        for arg in given {
            let value = sample(&verb.command, &arg, &verb.base);
            let value = value.unwrap_or_else(|| panic!("{}: nothing for {}", verb.path, arg.get_id()));
            verb.options.push((arg, value));
        }
        Some(verb)
    }

    fn parse(&self, words: &[String]) -> Result<Values, clap::Error> {
        let argv = std::iter::once(&self.path).chain(words);
        self.command.clone().try_get_matches_from_mut(argv).map(|matches| Values::typed(&matches))
    }

    /// What can be typed: each option, and what addresses say.
    fn lines(&self) -> Vec<Vec<String>> {
        let with = |words: &[String]| words.iter().chain(&self.base).cloned().collect::<Vec<_>>();
        let mut lines: Vec<Vec<String>> =
            self.options.iter().map(|(arg, value)| with(&[word(arg, value)])).collect();
        lines.push(self.base.clone());
        if rules::CREATING.contains(&self.path.as_str()) {
            let after_base = |line: &&[&str]| {
                self.base.iter().cloned().chain(line.iter().map(|word| (*word).to_owned())).collect()
            };
            lines.extend(ADDRESSES.iter().map(after_base));
        }
        lines
    }
}

fn word(arg: &Arg, value: &str) -> String {
    let long = arg.get_long().unwrap();
    match arg.get_action() {
        ArgAction::SetTrue | ArgAction::Count => format!("--{long}"),
        _ => format!("--{long}={value}"),
    }
}

/// A value that the argument takes. Only whether the value is right counts, not what is missing beside it.
fn sample(command: &Command, arg: &Arg, base: &[String]) -> Option<String> {
    match arg.get_action() {
        ArgAction::SetTrue => return Some("true".to_owned()),
        ArgAction::Count => return Some("1".to_owned()),
        _ => {}
    }
    if let Some(possible) = arg.get_possible_values().first() {
        return Some(possible.get_name().to_owned());
    }
    let is_right = |value: &&&str| {
        let words = if arg.is_positional() { vec![(**value).to_owned()] } else { vec![word(arg, value)] };
        let argv = std::iter::once("verb".to_owned()).chain(words).chain(base.to_vec());
        let read = command.clone().try_get_matches_from_mut(argv);
        !read.is_err_and(|error| matches!(error.kind(), ClapKind::ValueValidation | ClapKind::InvalidValue))
    };
    SAMPLES.iter().find(is_right).map(|value| (*value).to_owned())
}

fn given(arg: &Arg, value: &str) -> Given {
    Given {
        key: KeyPath::from_segments(["commands", arg.get_id().as_str()]),
        origin: None,
        id: arg.get_id().to_string(),
        values: vec![OsString::from(value)],
        is_off: false,
        rank: Rank::Settings(1),
    }
}

#[test]
fn what_is_typed_is_what_it_is_without_settings() {
    let (mut pairs, mut silenced) = (0, 0);
    for verb in Verb::all() {
        for line in verb.lines() {
            // Some options need another one.
            let Ok(typed) = verb.parse(&line) else { continue };
            if pointless::refuse(&verb.path, &typed).is_err() {
                continue;
            }
            for (arg, value) in &verb.options {
                let id = arg.get_id().as_str();
                let about = format!("{} {} with the setting {id} = {value}", verb.path, line.join(" "));
                let together = merge(&verb.path, &verb.command, &typed, vec![given(arg, value)]);
                let values = together.unwrap_or_else(|error| panic!("{about}: {}", error.source)).values;
                for typed_id in typed.ids() {
                    let (all, mine) = (values.all(typed_id), typed.all(typed_id));
                    let is_mine =
                        if adds_up(&verb.command, typed_id) { all.ends_with(mine) } else { all == mine };
                    assert!(is_mine, "{about}: {typed_id} is {all:?}");
                }
                assert!(values.ids().all(|known| known == id || typed.has(known)), "{about}: {values:?}");
                pairs += 1;
                if typed.has(id) {
                    continue;
                }
                // Who types both is refused, or the later one counts: then the setting is not there at all.
                let both: Vec<String> = std::iter::once(word(arg, value)).chain(line.clone()).collect();
                let is_contradicted = match verb.parse(&both) {
                    Err(error) => error.kind() == ClapKind::ArgumentConflict,
                    Ok(both) => !both.has(id) || pointless::refuse(&verb.path, &both).is_err(),
                };
                if is_contradicted {
                    assert_eq!(values, typed, "{about}");
                    silenced += 1;
                }
            }
        }
    }
    assert!(pairs > 10_000 && silenced > 300, "{pairs} pairs, {silenced} contradicted");
}

#[test]
fn every_setting_is_read_as_it_is_typed() {
    for verb in Verb::all() {
        let Ok(typed) = verb.parse(&verb.base) else { continue };
        for (arg, value) in &verb.options {
            let together = merge(&verb.path, &verb.command, &typed, vec![given(arg, value)]).unwrap();
            if together.given.is_empty() {
                continue;
            }
            let read = together.values.read(verb.command.clone(), &[]).unwrap();
            let raw: Vec<_> = read.get_raw(arg.get_id().as_str()).unwrap().collect();
            assert_eq!(raw, [value.as_str()], "{} {}", verb.path, arg.get_id());
        }
    }
}

/// What is left of settings beside what is typed.
#[track_caller]
fn left(verb: &str, settings: &[(&str, &str)], line: &str) -> Vec<String> {
    let command = options::leaf(verb).unwrap();
    let argv = std::iter::once(verb).chain(line.split(' ').filter(|word| !word.is_empty()));
    let typed = Values::typed(&command.clone().try_get_matches_from_mut(argv).unwrap());
    let of = |(id, value): &(&str, &str)| {
        let arg = command.get_arguments().find(|arg| arg.get_id() == id).unwrap();
        given(arg, value)
    };
    let together = merge(verb, &command, &typed, settings.iter().map(of).collect()).unwrap();
    together.given.into_iter().map(|given| given.id).collect()
}

#[test]
fn a_place_that_is_typed_silences_what_settings_say_of_others() {
    let none: [&str; 0] = [];
    for (line, option, value) in [
        ("x codex", "agent_type", "claude"),
        ("x -- sh", "agent_type", "claude"),
        ("x:/other", "target_path", "/here"),
        ("x@localhost", "pool", "lab"),
        ("x@localhost", "provider", "docker"),
        ("x@localhost.local", "provider", "docker"),
        ("x@.local", "provider", "docker"),
        ("x@box", "provider", "docker"),
        ("x@box", "new_host", "true"),
        ("x", "memory", "4g"),
        ("x", "host_label", "a=b"),
        ("x", "idle_timeout", "5m"),
        ("x", "new_host", "true"),
        ("x --pool lab", "memory", "4g"),
        ("x --memory 4g", "pool", "lab"),
        ("--foreground", "connect_command", "true"),
        ("--foreground", "reuse", "true"),
        ("x --branch b", "transfer", "none"),
        ("x", "update", "true"),
    ] {
        assert_eq!(left("create", &[(option, value)], line), none, "{line} with {option}");
    }
    assert_eq!(left("create", &[("provider", "docker"), ("memory", "4g")], "x").len(), 2);
    assert_eq!(left("create", &[("agent_type", "claude")], "x -- --model opus"), ["agent_type"]);
    assert_eq!(left("create", &[("provider", "docker")], "x@fresh --new-host"), ["provider"]);
    assert_eq!(left("create", &[("branch", "b")], "x --transfer git-mirror"), ["branch"]);
    assert_eq!(left("list", &[("watch", "true")], "--format json"), none);
    assert_eq!(left("list", &[("format", "json")], "--watch"), none);
    assert_eq!(left("transcript", &[("tail", "3")], "a --head 2"), none);
    assert_eq!(left("transcript", &[("tail", "3")], "a"), ["tail"]);
}

#[test]
fn templates_lie_above_settings_and_a_contradiction_in_one_layer_is_told() {
    let command = options::leaf("list").unwrap();
    let arg = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id).unwrap();
    let (low, high) = (given(arg("ids"), "true"), given(arg("addrs"), "true"));
    let above = Given { rank: Rank::Settings(3), ..high.clone() };
    let together = merge("list", &command, &Values::default(), vec![above, low.clone()]).unwrap();
    assert_eq!(together.values.ids().collect::<Vec<_>>(), ["addrs"]);
    let error = merge("list", &command, &Values::default(), vec![low, high]).unwrap_err();
    assert!(error.source.to_string().contains("contradict each other"), "{}", error.source);
    // A flag that a template sets to false takes back what settings say.
    let on = given(arg("running"), "true");
    let off = Given { is_off: true, values: vec!["false".into()], rank: Rank::Template(0), ..on.clone() };
    let together = merge("list", &command, &Values::default(), vec![on, off]).unwrap();
    assert!(together.values.is("running", "false"));
}
