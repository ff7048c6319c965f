//! `[commands.<verb>]` and `[create_templates.<name>]`: what settings and templates give for the options of a verb, as values.
//! How they lie below what was typed is in `merge.rs`.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};
use mngr_config::{KeyPath, LayerKind, Merged, Origin};
use mngr_query::sanitize;
use toml::Value;

use crate::cli::values::Values;
use crate::cli::{absent, options};
use crate::error::{CliError, ErrorKind};

/// The verbs templates are for.
pub(crate) const TEMPLATED_VERBS: [&str; 3] = ["create", "clone", "migrate"];

/// How far up something lies. What was typed lies above all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// In the settings, by where they come from.
    Settings(u8),
    /// In a template, by its place among those that are asked for.
    Template(usize),
}

/// One option that settings or templates give.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// Where the settings have it.
    pub(crate) key: KeyPath,
    /// Who set it.
    pub(crate) origin: Option<Origin>,
    /// The option.
    pub(crate) id: String,
    /// What it is set to.
    pub(crate) values: Vec<OsString>,
    /// Whether it only takes back what lies below: a flag that is set to false.
    pub(crate) is_off: bool,
    /// How far up it lies.
    pub(crate) rank: Rank,
}

/// What templates say besides options.
#[derive(Debug, Clone, Default)]
pub(crate) struct FromTemplates {
    /// Options, in the order of the templates.
    pub(crate) given: Vec<Given>,
    /// `KEY=VALUE` settings.
    pub(crate) settings: Vec<String>,
    /// Fields of the agent's type.
    pub(crate) type_fields: toml::Table,
}

/// A value of the settings that no option can take.
#[derive(Debug, thiserror::Error)]
#[error("Invalid value for `{key}`: {problem}")]
struct BadValue {
    key: KeyPath,
    problem: String,
}

/// The options that `[commands.<verb>]` gives.
pub(crate) fn of_verb(merged: &Merged, verb: &str, command: &Command) -> Result<Vec<Given>, CliError> {
    let Some(section) = merged.settings().commands.get(verb) else { return Ok(Vec::new()) };
    let section_key = KeyPath::from_segments(["commands", verb]);
    let mut given = Vec::new();
    for (name, value) in &section.extra {
        let key = section_key.child(name);
        if let Some(arg) = options::option(command, name) {
            given.extend(give(merged, key, arg, value, command, Rank::Settings)?);
        }
    }
    Ok(given)
}

/// What the templates called `names` give, in that order.
pub(crate) fn of_templates(
    merged: &Merged,
    names: &[String],
    command: &Command,
    typed: &Values,
) -> Result<FromTemplates, CliError> {
    let mut found = FromTemplates::default();
    let mut base_type: Option<(&str, &Value)> = None;
    for (place, name) in names.iter().enumerate() {
        let templates = &merged.settings().create_templates;
        let template = templates.get(name).ok_or_else(|| no_such_template(name, templates.keys()))?;
        let template_key = KeyPath::from_segments(["create_templates", name]);
        found.settings.extend(template.setting.iter().map(|setting| setting.as_str().to_owned()));
        for (field, value) in &template.extra {
            let key = template_key.child(field);
            let Some(arg) = options::option(command, field) else {
                if !absent::settings_options("create").any(|absent| absent == *field) {
                    found.type_fields.insert(field.clone(), value.clone());
                }
                continue;
            };
            if field == "type" && !typed.has_any(&["agent_type", "positional_type"]) {
                match base_type {
                    Some((other, known)) if known != value => {
                        let text = format!("templates `{other}` and `{name}` name different agent types");
                        return Err(CliError::usage(text).hinted("choose one with `--type`"));
                    }
                    _ => base_type = Some((name, value)),
                }
            }
            found.given.extend(give(merged, key, arg, value, command, |_| Rank::Template(place))?);
        }
    }
    Ok(found)
}

fn no_such_template<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> CliError {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let text = format!("template `{}` not found", sanitize(name));
    CliError::usage(text).hinted(match known.as_slice() {
        [] => "`mngr config set 'create_templates.NAME.OPTION' VALUE` makes one".to_owned(),
        known => format!("there are: {}", known.join(", ")),
    })
}

/// What one option is given, if it is given anything.
fn give(
    merged: &Merged,
    key: KeyPath,
    arg: &Arg,
    value: &Value,
    command: &Command,
    rank: impl Fn(u8) -> Rank,
) -> Result<Option<Given>, CliError> {
    let origin = merged.get(&key).map(|(_, origin)| origin);
    let rank = rank(origin.as_ref().map_or(LayerKind::Default, |origin| origin.layer) as u8);
    let given = |id: &str, values: Vec<OsString>| {
        let (is_off, id) = (false, id.to_owned());
        Given { key: key.clone(), origin: origin.clone(), id, values, is_off, rank }
    };
    let id = arg.get_id().as_str();
    if let (ArgAction::SetTrue, Value::Boolean(false)) = (arg.get_action(), value) {
        let negative = format!("no-{}", arg.get_long().unwrap_or_default());
        let negative = command.get_arguments().find(|other| other.get_long() == Some(&negative));
        return Ok(Some(match negative {
            Some(negative) => given(negative.get_id().as_str(), vec!["true".into()]),
            None => Given { is_off: true, ..given(id, vec!["false".into()]) },
        }));
    }
    let values = values(arg, value).map_err(|problem| {
        let failure = CliError::new(ErrorKind::Config, BadValue { key: key.clone(), problem });
        origin.iter().fold(failure, |failure, origin| failure.hinted(format!("it is set in {origin}")))
    })?;
    Ok((!values.is_empty()).then(|| given(id, values)))
}

fn values(arg: &Arg, value: &Value) -> Result<Vec<OsString>, String> {
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(true)) => Ok(vec!["true".into()]),
        (ArgAction::SetTrue, _) => Err("expected true or false".to_owned()),
        (ArgAction::Count, Value::Integer(count)) => {
            let count = u8::try_from(*count).map_err(|_| "expected a count".to_owned())?;
            Ok(if count == 0 { Vec::new() } else { vec![count.to_string().into()] })
        }
        (ArgAction::Count, _) => Err("expected a count".to_owned()),
        // An empty text is how a layer takes back a list.
        (ArgAction::Append, Value::String(text)) if text.is_empty() => Ok(Vec::new()),
        (ArgAction::Append, Value::Array(items)) => {
            items.iter().map(|item| Ok(scalar(item)?.into())).collect()
        }
        (_, Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(scalar).collect::<Result<_, _>>()?;
            Ok(vec![items.join(",").into()])
        }
        (_, value) => Ok(vec![scalar(value)?.into()]),
    }
}

fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        Value::Datetime(date) => Ok(date.to_string()),
        Value::Array(_) | Value::Table(_) => Err("expected a text, a number or a list of them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use mngr_config::{BuildOptions, Layer};

    use super::*;
    use crate::cli::options::VerbOptions;

    fn given(toml: &str) -> Result<Vec<String>, CliError> {
        let layer = Layer::from_toml(LayerKind::User, "f", toml).unwrap();
        let options = BuildOptions { options: &VerbOptions, ..BuildOptions::default() };
        let merged = Merged::build(&[layer], &options).unwrap();
        let given = of_verb(&merged, "list", &options::leaf("list").unwrap())?;
        let text = |given: &Given| {
            let values: Vec<_> = given.values.iter().filter_map(|value| value.to_str()).collect();
            format!("{} {}", given.id, values.join(" "))
        };
        Ok(given.iter().map(text).collect())
    }

    #[test]
    fn values_are_of_the_kind_of_their_option() {
        let toml = "[commands.list]\nrunning = true\nstopped = false\nlimit = 3\nsort = '-x'\n\
                    label = ['a=1', 'b=2']\nfields = ['name', 'state']\nverbose = 2\nproject = ''";
        let expected = [
            "fields name,state",
            "label a=1 b=2",
            "limit 3",
            "running true",
            "sort -x",
            "stopped false",
            "verbose 2",
        ];
        assert_eq!(given(toml).unwrap(), expected);
    }

    #[test]
    fn a_value_no_option_can_take_is_named_with_its_origin() {
        let error = given("[commands.list]\nrunning = 'x'").unwrap_err();
        assert_eq!(
            error.source.to_string(),
            "Invalid value for `commands.list.running`: expected true or false"
        );
        assert_eq!(error.hints, ["it is set in f:2:1"]);
    }
}
