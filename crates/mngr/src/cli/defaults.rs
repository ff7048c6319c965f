//! `[commands.<verb>]` and `[create_templates.<name>]`: settings turned into words of the command line, which stand
//! before the user's own. So the user's words win, lists add up, and every value is checked like a typed one.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mngr_config::{KeyPath, Merged, Origin};
use mngr_query::sanitize;
use toml::Value;

use crate::cli::{absent, options};
use crate::error::{CliError, ErrorKind};

/// The verbs templates are for.
pub(crate) const TEMPLATED_VERBS: [&str; 3] = ["create", "clone", "migrate"];

/// One option that the settings give.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// Where the settings have it.
    pub(crate) key: KeyPath,
    /// Who set it.
    pub(crate) origin: Option<Origin>,
    /// What it becomes.
    pub(crate) words: Vec<String>,
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
pub(crate) fn of_verb(
    merged: &Merged,
    verb: &str,
    command: &Command,
    typed: &ArgMatches,
) -> Result<Vec<Given>, CliError> {
    let Some(section) = merged.settings().commands.get(verb) else { return Ok(Vec::new()) };
    let section_key = KeyPath::from_segments(["commands", verb]);
    let mut given = Vec::new();
    for (name, value) in &section.extra {
        let key = section_key.child(name);
        if let Some(arg) = options::option(command, name) {
            given.extend(give(merged, key, arg, value, command, typed)?);
        }
    }
    Ok(given)
}

/// What the templates called `names` give, in that order.
pub(crate) fn of_templates(
    merged: &Merged,
    names: &[String],
    command: &Command,
    typed: &ArgMatches,
) -> Result<FromTemplates, CliError> {
    let mut found = FromTemplates::default();
    let mut base_type: Option<(&str, &Value)> = None;
    for name in names {
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
            if field == "type" && !is_typed(typed, arg) {
                match base_type {
                    Some((other, known)) if known != value => {
                        let text = format!("templates `{other}` and `{name}` name different agent types");
                        return Err(CliError::usage(text).hinted("choose one with `--type`"));
                    }
                    _ => base_type = Some((name, value)),
                }
            }
            found.given.extend(give(merged, key, arg, value, command, typed)?);
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

/// The words of one option, or nothing where something the user typed rules it out.
fn give(
    merged: &Merged,
    key: KeyPath,
    arg: &Arg,
    value: &Value,
    command: &Command,
    typed: &ArgMatches,
) -> Result<Option<Given>, CliError> {
    let rivals = command.get_arg_conflicts_with(arg);
    if rivals.iter().any(|rival| is_typed(typed, rival)) {
        return Ok(None);
    }
    let origin = merged.get(&key).map(|(_, origin)| origin);
    let words = words(arg, value, command).map_err(|problem| {
        let failure = CliError::new(ErrorKind::Config, BadValue { key: key.clone(), problem });
        origin.iter().fold(failure, |failure, origin| failure.hinted(format!("it is set in {origin}")))
    })?;
    Ok(Some(Given { key, origin, words }))
}

fn is_typed(typed: &ArgMatches, arg: &Arg) -> bool {
    // Asking about an id the verb does not have would panic; `ids` lists those that are present.
    let id = arg.get_id();
    typed.ids().any(|known| known == id) && typed.value_source(id.as_str()) == Some(ValueSource::CommandLine)
}

fn words(arg: &Arg, value: &Value, command: &Command) -> Result<Vec<String>, String> {
    let long = arg.get_long().unwrap_or_default();
    let with = |text: String| format!("--{long}={text}");
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(true)) => Ok(vec![format!("--{long}")]),
        (ArgAction::SetTrue, Value::Boolean(false)) => {
            let negative = format!("no-{long}");
            let is_known = command.get_arguments().any(|other| other.get_long() == Some(&negative));
            Ok(if is_known { vec![format!("--{negative}")] } else { Vec::new() })
        }
        (ArgAction::SetTrue, _) => Err("expected true or false".to_owned()),
        (ArgAction::Count, Value::Integer(count)) => {
            let count = usize::try_from(*count).map_err(|_| "expected a count".to_owned())?;
            Ok(vec![format!("--{long}"); count.min(usize::from(u8::MAX))])
        }
        (ArgAction::Count, _) => Err("expected a count".to_owned()),
        // An empty text is how a layer takes back a list.
        (ArgAction::Append, Value::String(text)) if text.is_empty() => Ok(Vec::new()),
        (ArgAction::Append, Value::Array(items)) => {
            items.iter().map(|item| Ok(with(scalar(item)?))).collect()
        }
        (_, Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(scalar).collect::<Result<_, _>>()?;
            Ok(vec![with(items.join(","))])
        }
        (_, value) => Ok(vec![with(scalar(value)?)]),
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
    use mngr_config::{BuildOptions, Layer, LayerKind};

    use super::*;
    use crate::cli::options::VerbOptions;

    fn given(toml: &str, args: &[&str]) -> Result<Vec<String>, CliError> {
        let layer = Layer::from_toml(LayerKind::User, "f", toml).unwrap();
        let options = BuildOptions { options: &VerbOptions, ..BuildOptions::default() };
        let merged = Merged::build(&[layer], &options).unwrap();
        let command = options::leaf("list").unwrap();
        let typed = command.clone().try_get_matches_from(std::iter::once(&"list").chain(args)).unwrap();
        let given = of_verb(&merged, "list", &command, &typed)?;
        Ok(given.into_iter().flat_map(|given| given.words).collect())
    }

    #[test]
    fn values_become_words_of_their_kind() {
        let toml = "[commands.list]\nrunning = true\nstopped = false\nlimit = 3\nsort = '-x'\n\
                    label = ['a=1', 'b=2']\nfields = ['name', 'state']\nverbose = 2\nproject = ''";
        let words = given(toml, &[]).unwrap();
        let expected = [
            "--fields=name,state",
            "--label=a=1",
            "--label=b=2",
            "--limit=3",
            "--running",
            "--sort=-x",
            "--verbose",
            "--verbose",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn an_option_that_the_typed_ones_rule_out_is_not_given() {
        let toml = "[commands.list]\nids = true";
        assert_eq!(given(toml, &[]).unwrap(), ["--ids"]);
        assert_eq!(given(toml, &["--addrs"]).unwrap(), [""; 0]);
    }

    #[test]
    fn a_value_no_option_can_take_is_named_with_its_origin() {
        let error = given("[commands.list]\nrunning = 'x'", &[]).unwrap_err();
        assert_eq!(
            error.source.to_string(),
            "Invalid value for `commands.list.running`: expected true or false"
        );
        assert_eq!(error.hints, ["it is set in f:2:1"]);
    }
}
