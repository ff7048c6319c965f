//! From the words of the command line, and what settings and templates give below them, to a verb with its context.

use std::ffi::OsString;

use clap::error::ErrorKind as ClapKind;
use clap::{ArgMatches, Command, FromArgMatches};
use mngr_config::LogLevel;

use crate::cli::common::CommonArgs;
use crate::cli::defaults::{self, FromTemplates, TEMPLATED_VERBS};
use crate::cli::merge;
use crate::cli::options::{self, VerbOptions};
use crate::cli::page::Page;
use crate::cli::values::Values;
use crate::cli::{self, Verb, help, pointless, usage};
use crate::commands::plugin;
use crate::ctx::{self, Ctx, Guard, Loaded, Scopes, Surroundings};
use crate::error::CliError;
use crate::external::{self, External};
use crate::log;
use crate::ui::{Console, Format};

/// What the command line asks for.
pub(crate) enum Request {
    /// Text to be shown: help or the version.
    Show(String),
    /// A program of the user's own in place of a verb.
    External(External),
    /// A verb.
    Run {
        /// The verb with its arguments.
        verb: Box<Verb>,
        /// As settings spell it: `create`, `config_list`.
        path: String,
        /// As it was called, without what may be secret.
        words: Vec<String>,
        /// Everything else it needs.
        ctx: Box<Ctx>,
    },
}

/// Reads the command line. The first word is the program.
pub(crate) fn parse(argv: &[OsString], surroundings: Surroundings) -> Result<Request, CliError> {
    let scopes = Scopes::find(&surroundings);
    let argv = with_default_of(cli::NAME, argv, &surroundings, &scopes);
    if argv.len() < 2 {
        let is_read_by_a_person = surroundings.terminals.stdout;
        let page = if is_read_by_a_person {
            help::first_steps()
        } else {
            help::here::<&str>(&[], &surroundings).unwrap_or_default()
        };
        return Ok(Request::Show(page));
    }
    let (argv, command, matches) = match understood(argv, &surroundings, &scopes) {
        Understood::Verb { argv, command, matches } => (argv, command, matches),
        Understood::Other(request) => return request,
    };
    let (path, leaf) = leaf_matches(&matches);
    let typed = Values::typed(leaf);
    let (settings, words) = (typed_settings(leaf), log::words(&command, &path, leaf));
    known_plugins(leaf)?;
    pointless::refuse(&path, &typed)?;
    let guard = if is_forgiving(&path) { Guard::Off } else { Guard::On };
    let loaded = ctx::load(&surroundings, &scopes, &settings, &VerbOptions, guard);

    let (read, loaded, templates) = match loaded {
        Ok(loaded) => with_settings(&command, &path, &typed, loaded, |extra| {
            let settings: Vec<String> = extra.iter().chain(&settings).cloned().collect();
            ctx::load(&surroundings, &scopes, &settings, &VerbOptions, guard)
        })?,
        // Whether broken settings matter is for the verb to say: `config edit` repairs them.
        Err(error) => (None, Err(error), FromTemplates::default()),
    };
    let (matches, values) = read.unwrap_or_else(|| (matches.clone(), typed.clone()));
    let verb =
        Verb::from_arg_matches(&matches).map_err(|error| usage::from_clap(&error, &verb_words(&argv)))?;
    let ctx = context(verb.common(), surroundings, scopes, loaded, templates)?;
    for warning in pointless::warnings(&path, &typed, &values) {
        ctx.console.warn(&warning);
    }
    Ok(Request::Run { verb: Box::new(verb), path, words, ctx: Box::new(ctx) })
}

/// What the words are, before settings add to them.
enum Understood {
    /// A verb with its words, one of the settings' own among them where the user's left it open.
    Verb {
        /// The words.
        argv: Vec<OsString>,
        /// The command line's definition, with this verb built.
        command: Box<Command>,
        /// What the words mean.
        matches: ArgMatches,
    },
    /// Something else to do, or nothing that can be done.
    Other(Result<Request, CliError>),
}

/// Reads the words. Settings and PATH are only asked when the words alone are no command line.
fn understood(argv: Vec<OsString>, surroundings: &Surroundings, scopes: &Scopes) -> Understood {
    let mut command = Box::new(cli::command());
    let error = match command.try_get_matches_from_mut(&argv) {
        Ok(matches) => return Understood::Verb { argv, command, matches },
        Err(error) => error,
    };
    match error.kind() {
        ClapKind::DisplayHelp => {
            let page = help::here(&verb_words(&argv), surroundings).unwrap_or_default();
            return Understood::Other(Ok(Request::Show(page)));
        }
        ClapKind::DisplayVersion => return Understood::Other(Ok(Request::Show(error.to_string()))),
        _ => {}
    }
    if let Some(external) = External::find(&argv, surroundings, scopes) {
        return Understood::Other(Ok(Request::External(external)));
    }
    if let Some(group) = undecided_group(&argv) {
        let with_default = with_default_of(&group, &argv, surroundings, scopes);
        if with_default != argv {
            return understood(with_default, surroundings, scopes);
        }
    }
    let failure = usage::from_clap(&error, &verb_words(&argv));
    Understood::Other(Err(with_external_hint(failure, &argv, surroundings)))
}

/// Who mistyped a verb of their own is told too, where nothing of ours is nearer.
fn with_external_hint(failure: CliError, argv: &[OsString], surroundings: &Surroundings) -> CliError {
    let is_guessed = failure.hints.iter().any(|hint| hint.starts_with("did you mean"));
    let word =
        argv.get(1).and_then(|word| word.to_str()).filter(|_| !is_guessed && verb_words(argv).is_empty());
    match word.and_then(|word| external::like(word, surroundings)) {
        Some(near) => failure.hinted(format!("did you mean `{near}`?")),
        None => failure,
    }
}

/// Refuses to use a plugin that nobody has. One that is not to be used need not be there.
fn known_plugins(typed: &ArgMatches) -> Result<(), CliError> {
    match strings(typed, "plugin").iter().find(|name| !plugin::list::is_known(name)) {
        None => Ok(()),
        Some(name) => Err(CliError::usage(format!("Unknown plugin: `{}`", mngr_query::sanitize(name)))
            .hinted("`mngr plugin list` shows those that there are")),
    }
}

/// The settings of this command line: `-S`, and the plugins it switches.
fn typed_settings(typed: &ArgMatches) -> Vec<String> {
    let switched = |option: &str, on: bool| {
        let switch = move |name: &String| format!("plugins.\"{name}\".enabled={on}");
        strings(typed, option).iter().map(switch).collect::<Vec<_>>()
    };
    let plugins = [switched("plugin", true), switched("disable_plugin", false)].concat();
    strings(typed, "setting").into_iter().chain(plugins).chain(logging_settings(typed)).collect()
}

/// What this command line says of the log.
fn logging_settings(typed: &ArgMatches) -> impl Iterator<Item = String> {
    let file = strings(typed, "log_file").into_iter().next_back();
    // As JSON, so that a file called `1` is no number.
    let file = file.map(|path| format!("logging.log_file_path={}", serde_json::Value::from(path)));
    let is_on = |id: &str| typed.try_get_one::<bool>(id).ok().flatten() == Some(&true);
    let commands = match (is_on("log_commands"), is_on("no_log_commands")) {
        (true, _) => Some("logging.is_logging_commands=true".to_owned()),
        (_, true) => Some("logging.is_logging_commands=false".to_owned()),
        _ => None,
    };
    file.into_iter().chain(commands)
}

/// How the command of these words is called, in a line.
pub(crate) fn usage_line(argv: &[OsString]) -> String {
    let page = Page::of(&verb_words(argv));
    let synopsis = page.and_then(|page| page.synopsis.into_iter().next());
    synopsis.map(|line| format!("Usage: {line}\n")).unwrap_or_default()
}

/// How an error should be shown, as far as the words tell before they are understood.
pub(crate) fn format_hint(argv: &[OsString]) -> Format {
    let mut words = argv.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = if word == "--format" { words.next() } else { word.strip_prefix("--format=") };
        if let Some(format) = value.and_then(|value| Format::parse(value).ok()) {
            return format;
        }
    }
    Format::Human
}

/// Verbs that must run although the settings are broken.
pub(crate) fn is_forgiving(path: &str) -> bool {
    matches!(path, "help" | "doctor")
        || path.starts_with("config_")
        || matches!(path, "plugin_enable" | "plugin_disable")
}

fn context(
    common: &CommonArgs,
    surroundings: Surroundings,
    scopes: Scopes,
    loaded: Result<Loaded, CliError>,
    templates: FromTemplates,
) -> Result<Ctx, CliError> {
    let configured = loaded.as_ref().map_or(LogLevel::Build, |it| it.merged.settings().logging.console_level);
    let console = Console::new(&surroundings, common.volume(configured));
    Ok(Ctx {
        format: Format::parse(&common.format)?,
        headless: common.headless,
        type_fields: templates.type_fields,
        console,
        surroundings,
        scopes,
        loaded,
    })
}

/// What the verb reads, where that is more than what was typed, with the values it comes from.
type Read = Option<(ArgMatches, Values)>;

type WithSettings = (Read, Result<Loaded, CliError>, FromTemplates);

/// Lays what was typed above what settings and templates give for the verb's options, if that is anything.
fn with_settings(
    command: &Command,
    path: &str,
    typed: &Values,
    loaded: Loaded,
    reload: impl Fn(&[String]) -> Result<Loaded, CliError>,
) -> Result<WithSettings, CliError> {
    let templates =
        if TEMPLATED_VERBS.contains(&path) { template_names(&loaded, path, typed) } else { Vec::new() };
    let has_section =
        loaded.merged.settings().commands.get(path).is_some_and(|section| !section.extra.is_empty());
    let verbs: Vec<&str> = path.split('_').collect();
    let leaf = verbs.iter().try_fold(command, |command, verb| command.find_subcommand(verb));
    let Some(leaf) = leaf.filter(|_| has_section || !templates.is_empty()) else {
        return Ok((None, Ok(loaded), FromTemplates::default()));
    };
    let known = &loaded.merged.settings().create_templates;
    if templates.iter().any(|name| !known.contains_key(name)) {
        // It may well exist, in settings that do not count yet.
        loaded.require_trust(path)?;
    }
    let mut given = defaults::of_verb(&loaded.merged, path, leaf)?;
    let from_templates = defaults::of_templates(&loaded.merged, &templates, leaf, typed)?;
    given.extend(from_templates.given.iter().cloned());
    let loaded =
        if from_templates.settings.is_empty() { Ok(loaded) } else { reload(&from_templates.settings) };
    let together = merge::merge(path, leaf, typed, given)?;
    let matches = together.read(command, &verbs, typed)?;
    Ok((Some((matches, together.values)), loaded, from_templates))
}

/// The templates that are asked for: those of the settings first.
fn template_names(loaded: &Loaded, path: &str, typed: &Values) -> Vec<String> {
    let configured = match loaded.merged.settings().command_default(path, "template") {
        Some(toml::Value::String(name)) if !name.is_empty() => vec![name.clone()],
        Some(toml::Value::Array(names)) => {
            names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    configured.into_iter().chain(typed.texts("template").map(str::to_owned)).collect()
}

/// The command line with the `default_subcommand` of a group right behind it; of mngr itself only when nothing follows:
/// a mistyped verb must not become an argument of another one.
fn with_default_of(
    group: &str,
    argv: &[OsString],
    surroundings: &Surroundings,
    scopes: &Scopes,
) -> Vec<OsString> {
    if group == cli::NAME && argv.len() > 1 {
        return argv.to_vec();
    }
    let default = ctx::load(surroundings, scopes, &[], &VerbOptions, Guard::Off).ok().and_then(|loaded| {
        loaded.merged.settings().commands.get(group).and_then(|section| section.default_subcommand.clone())
    });
    let (before, after) = argv.split_at(argv.len().min(2));
    before.iter().cloned().chain(default.map(OsString::from)).chain(after.iter().cloned()).collect()
}

/// The group whose verb the command line leaves open, as settings spell it.
fn undecided_group(argv: &[OsString]) -> Option<String> {
    let words: Vec<&str> = argv.iter().skip(1).map_while(|word| word.to_str()).collect();
    let (command, taken) = options::deepest(words.first().copied().into_iter());
    if taken.is_empty() || options::does_something(&command) {
        return None;
    }
    let name = command.get_name().to_owned();
    let decides =
        |word: &&str| command.find_subcommand(word).is_some() || usage::verb_like(&name, word).is_some();
    (!words.get(1).is_some_and(decides)).then_some(name)
}

/// The verb that was matched, as settings spell it, and its own matches.
fn leaf_matches(matches: &ArgMatches) -> (String, &ArgMatches) {
    let mut path = Vec::new();
    let mut leaf = matches;
    while let Some((name, below)) = leaf.subcommand() {
        path.push(name);
        leaf = below;
    }
    (path.join("_"), leaf)
}

/// The words before the first option, as far as they are verbs.
fn verb_words(argv: &[OsString]) -> Vec<&str> {
    options::deepest(argv.iter().skip(1).map_while(|word| word.to_str())).1
}

fn strings(matches: &ArgMatches, id: &str) -> Vec<String> {
    let found = matches.try_get_many::<String>(id).ok().flatten();
    found.map(|values| values.cloned().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_format_of_an_error_is_found_without_understanding_the_rest() {
        assert_eq!(format_hint(&words("mngr lsit --bad --format json")), Format::Json);
        assert_eq!(format_hint(&words("mngr x --format=jsonl")), Format::Jsonl);
        assert_eq!(format_hint(&words("mngr x -- --format json")), Format::Human);
        assert_eq!(format_hint(&words("mngr x --format")), Format::Human);
    }

    #[test]
    fn a_group_is_open_until_a_verb_of_it_follows() {
        assert_eq!(undecided_group(&words("mngr cfg")).as_deref(), Some("config"));
        assert_eq!(undecided_group(&words("mngr file agent path")).as_deref(), Some("file"));
        assert_eq!(undecided_group(&words("mngr config --scope user")).as_deref(), Some("config"));
        for decided in ["mngr config list", "mngr config lst", "mngr list", "mngr tmr x", "mngr nope"] {
            assert_eq!(undecided_group(&words(decided)), None, "{decided}");
        }
    }
}
