//! Which options verbs have, read from the command line's own definition.

use clap::{Arg, Command};
use mngr_config::KnownOptions;

use super::absent;

/// Options that mean nothing in settings.
const NOT_IN_SETTINGS: &[&str] = &["help", "setting", "plugin", "disable_plugin", "enable_plugin"];

/// Tells the settings which options exist.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VerbOptions;

impl KnownOptions for VerbOptions {
    fn options(&self, verb: &str) -> Option<Vec<String>> {
        let command = leaf(verb)?;
        let names = command.get_arguments().flat_map(long_names).map(|long| long.replace('-', "_"));
        let names = names.filter(|name| !NOT_IN_SETTINGS.contains(&name.as_str()));
        Some(names.chain(absent::settings_options(verb)).collect())
    }

    fn verbs(&self) -> Option<Vec<String>> {
        let mut verbs = vec![super::NAME.to_owned()];
        for verb in super::command().get_subcommands() {
            let mut built = verb.clone();
            built.build();
            let name = built.get_name();
            verbs.extend(built.get_subcommands().map(|below| format!("{name}_{}", below.get_name())));
            verbs.push(name.to_owned());
        }
        verbs.extend(absent::settings_names());
        Some(verbs)
    }
}

/// The verb that settings call `create` or `config_list`, ready to be asked for its options.
pub(crate) fn leaf(verb: &str) -> Option<Command> {
    let mut command = super::command();
    for word in verb.split('_') {
        let mut found = command.find_subcommand(word).filter(|found| found.get_name() == word)?.clone();
        found.build();
        command = found;
    }
    does_something(&command).then_some(command)
}

/// Whether a command does something without a further word.
pub(crate) fn does_something(command: &Command) -> bool {
    !command.has_subcommands() || !command.is_subcommand_required_set()
}

/// The verb that the first of these words name, by any of its names, and the words it took. mngr itself for none.
pub(crate) fn deepest<'w>(words: impl Iterator<Item = &'w str>) -> (Command, Vec<&'w str>) {
    let mut command = super::command();
    let mut verb = Vec::new();
    for word in words {
        let Some(mut found) = command.find_subcommand(word).cloned() else { break };
        found.build();
        verb.push(word);
        command = found;
    }
    (command, verb)
}

/// The option that settings call `name`.
pub(crate) fn option<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let long = name.replace('_', "-");
    command.get_arguments().find(|arg| long_names(arg).contains(&long.as_str()))
}

fn long_names(arg: &Arg) -> Vec<&str> {
    arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_by_verb_with_underscores() {
        let of_list = VerbOptions.options("list").unwrap();
        assert!(of_list.contains(&"host_label".to_owned()), "{of_list:?}");
        assert!(!of_list.contains(&"setting".to_owned()));
        assert!(VerbOptions.options("config_list").unwrap().contains(&"scope".to_owned()));
        assert!(VerbOptions.options("config").is_none(), "it only has verbs below it");
        assert!(VerbOptions.options("tmr").unwrap().contains(&"max_cost".to_owned()));
        assert!(VerbOptions.options("tmr_status").unwrap().contains(&"watch".to_owned()));
    }

    #[test]
    fn a_verb_of_another_version_is_nobodys_mistake() {
        assert!(VerbOptions.options("schedule_add").is_none());
        let verbs = VerbOptions.verbs().unwrap();
        for known in ["mngr", "create", "config", "config_list", "tmr_status", "schedule_add", "forward"] {
            assert!(verbs.iter().any(|verb| verb == known), "{known} in {verbs:?}");
        }
        assert!(VerbOptions.options("ls").is_none(), "settings do not use short names");
        assert!(VerbOptions.options("exec").unwrap().contains(&"stream".to_owned()));
        assert!(VerbOptions.options("snapshot_create").unwrap().contains(&"tag".to_owned()));
    }
}
