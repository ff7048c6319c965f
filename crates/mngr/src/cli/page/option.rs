//! One option or argument of a page.

use clap::{Arg, ArgAction};
use serde::Serialize;

/// What is said about an option or an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OptionHelp {
    /// As help shows it: `-t, --template <NAME>`.
    pub(crate) term: String,
    /// `--template`; nothing for an argument.
    pub(crate) long: Option<String>,
    /// `-t`.
    pub(crate) short: Option<String>,
    /// Further names: `--source`.
    pub(crate) aliases: Vec<String>,
    /// What its value is called; nothing for a flag.
    pub(crate) value: Option<String>,
    /// Whether it may be given more than once.
    pub(crate) repeatable: bool,
    /// Whether the command needs it.
    pub(crate) required: bool,
    /// What it is when it is not given.
    pub(crate) default: Option<String>,
    /// The words it accepts, when they are few.
    pub(crate) choices: Vec<String>,
    /// What it is for.
    pub(crate) help: String,
}

impl OptionHelp {
    pub(super) fn read(arg: &Arg) -> Self {
        let takes_value = arg.get_action().takes_values();
        let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let text = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
        let is_shown = |hidden: bool| takes_value && !hidden;
        let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
        let default = defaults.collect::<Vec<_>>().join(" ");
        let has_default = !arg.get_default_values().is_empty() && is_shown(arg.is_hide_default_value_set());
        let choices = if is_shown(arg.is_hide_possible_values_set()) {
            let known = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
            known.map(|value| value.get_name().to_owned()).collect()
        } else {
            Vec::new()
        };
        Self {
            term: term(arg),
            long: arg.get_long().map(|long| format!("--{long}")),
            short: arg.get_short().map(|short| format!("-{short}")),
            aliases: arg
                .get_visible_aliases()
                .unwrap_or_default()
                .iter()
                .map(|alias| format!("--{alias}"))
                .collect(),
            value: value.filter(|_| takes_value),
            repeatable: matches!(arg.get_action(), ArgAction::Append | ArgAction::Count),
            required: arg.is_required_set(),
            default: has_default.then_some(default),
            choices,
            help: text.unwrap_or_default(),
        }
    }

    /// What it is for, with its default, the words it accepts and its other names.
    pub(crate) fn text(&self) -> String {
        let mut text = self.help.clone();
        if let Some(default) = &self.default {
            let shown = if default.is_empty() { "\"\"" } else { default };
            text += &format!(" [default: {shown}]");
        }
        if !self.choices.is_empty() {
            text += &format!(" [possible values: {}]", self.choices.join(", "));
        }
        match self.aliases.as_slice() {
            [] => {}
            [alias] => text += &format!(" [alias: {alias}]"),
            aliases => text += &format!(" [aliases: {}]", aliases.join(", ")),
        }
        text
    }
}

/// `-t, --template <NAME>`; clap knows how values and arguments are written.
fn term(arg: &Arg) -> String {
    let shown = arg.to_string();
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {shown}"),
        _ => shown,
    }
}
