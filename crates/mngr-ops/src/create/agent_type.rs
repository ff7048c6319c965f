//! From a type's name and the words after `--` to what is run.

use mngr_agents::headless::{self, Headless};
use mngr_agents::kind::Kind;
use mngr_agents::launch::{has_shell_syntax, words_after_dashes};
use mngr_agents::manifest::BuiltIn;
use mngr_agents::scripted::script::{self, Step};
use mngr_config::{AgentTypeSettings, CliArgs, Settings};
use mngr_host::files::Files;
use mngr_model::{AgentTypeName, HostPath};

use super::error::CreateError;
use crate::world::World;

/// A type with everything its chain of parents says.
#[derive(Debug, Clone)]
pub struct ResolvedType {
    /// The built-in type at the end of the chain.
    pub base: BuiltIn,
    /// How it runs without a terminal, where the chain says so.
    pub headless: Option<Headless>,
    /// The settings of the chain, nearest first.
    pub chain: Vec<AgentTypeSettings>,
    /// Whose settings these are, in the same order; what a template put before them has no name.
    pub names: Vec<String>,
}

impl ResolvedType {
    /// The type as it is in force, for whoever looks at the agent later: what a template says is no part of that.
    pub fn kind(self) -> Kind {
        let templates = self.chain.len().saturating_sub(self.names.len());
        Kind::new(self.base, self.names.into_iter().zip(self.chain.into_iter().skip(templates)).collect())
    }
}

/// The built-in type a type rests on, if it can be told.
pub fn base_of(settings: &Settings, name: &AgentTypeName) -> Option<BuiltIn> {
    resolve(settings, name).ok().map(|resolved| resolved.base)
}

/// Follows the chain of parents.
pub fn resolve(settings: &Settings, name: &AgentTypeName) -> Result<ResolvedType, CreateError> {
    let mut chain: Vec<AgentTypeSettings> = Vec::new();
    let mut names = Vec::new();
    let mut current = name.to_string();
    let mut headless = None;
    loop {
        let custom = settings.agent_types.get(&current);
        chain.extend(custom.cloned());
        names.extend(custom.map(|_| current.clone()));
        if let Some(base) = BuiltIn::named(&current) {
            return Ok(ResolvedType { base, headless, chain, names });
        }
        if let Some(base) = headless::named(&current) {
            // The child of the type whose program it runs: what is set for that holds here too.
            headless = base.manifest().headless;
            current = base.name().to_owned();
            continue;
        }
        let Some(custom) = custom else { return Err(unknown(settings, &current)) };
        match &custom.parent_type {
            Some(parent) => current = parent.clone(),
            // A type that only says what to run is a command.
            None => return Ok(ResolvedType { base: BuiltIn::Command, headless, chain, names }),
        }
        if chain.len() > settings.agent_types.len() {
            return Err(CreateError::TypeCycle { name: name.to_string() });
        }
    }
}

/// Fails when the type, or the built-in one it rests on, is switched off. Agents that exist already live on.
pub(super) fn require_on(
    settings: &Settings,
    name: &AgentTypeName,
    resolved: &ResolvedType,
) -> Result<(), CreateError> {
    let base = resolved.base.name();
    let headless = resolved.headless.as_ref().map(|_| format!("{}{base}", headless::PREFIX));
    let mut involved = headless.into_iter().chain([name.to_string(), base.to_owned()]);
    match involved.find(|plugin| !settings.is_plugin_on(plugin)) {
        Some(plugin) => Err(CreateError::DisabledType { name: name.to_string(), plugin }),
        None => Ok(()),
    }
}

/// Fails on a setting in force that mngr refuses, and tells of those that only another brand reads.
pub(super) fn check_settings(world: &World, resolved: &ResolvedType) -> Result<(), CreateError> {
    let base = resolved.base.name();
    for (key, brand) in mngr_config::foreign_keys(&resolved.chain, base) {
        world
            .reporter
            .note(&format!("`{key}` has no effect on an agent of `{base}`: only `{brand}` reads it"));
    }
    let Some(refusal) = mngr_config::refusals(&resolved.chain).into_iter().next() else { return Ok(()) };
    let templates = resolved.chain.len().saturating_sub(resolved.names.len());
    let holder = resolved.chain.iter().position(|settings| settings.extra.contains_key(refusal.key));
    let holder = holder.and_then(|at| resolved.names.get(at.checked_sub(templates)?));
    let is_it = |key: &mngr_config::KeyPath| match (key.segments(), holder) {
        ([registry, name, key], Some(holder)) => {
            registry == "agent_types" && name == holder && key == refusal.key
        }
        ([registry, _, key], None) => registry == "create_templates" && key == refusal.key,
        _ => false,
    };
    let what = match world.refused.iter().find(|problem| is_it(&problem.key)) {
        Some(problem) => problem.to_string(),
        None => format!("the setting `{}` of the agent type: {}", refusal.key, refusal.reason),
    };
    Err(CreateError::RefusedSetting { what })
}

fn unknown(settings: &Settings, name: &str) -> CreateError {
    let known = settings.agent_types.keys().map(String::as_str).chain(BuiltIn::ALL.map(BuiltIn::name));
    let best =
        known.map(|known| (strsim::jaro_winkler(known, name), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let suggestion = best.filter(|(score, _)| *score > 0.8).map(|(_, known)| known.to_owned());
    CreateError::UnknownType { name: name.to_owned(), suggestion }
}

/// The words a `command` agent runs.
pub fn command_words(
    resolved: &ResolvedType,
    name: &AgentTypeName,
    args: &[String],
) -> Result<Vec<String>, CreateError> {
    let command = resolved.chain.iter().find_map(|settings| settings.command.as_deref());
    let fixed = fixed_args(resolved, name)?;
    let Some(command) = command else {
        let words = words_after_dashes(args);
        let Some((program, rest)) = words.split_first() else {
            return Err(CreateError::NoCommand { name: name.to_string() });
        };
        return Ok([program.clone()].into_iter().chain(fixed).chain(rest.iter().cloned()).collect());
    };
    let tail = fixed.into_iter().chain(args.iter().cloned());
    match split_words(command) {
        Some(words) if !words.iter().any(|word| has_operators(word)) => {
            Ok(words.into_iter().chain(tail).collect())
        }
        Some(_) => {
            // Pipes and the like: the shell gets the line, the words behind it stay words.
            let line = format!("{command} \"$@\"");
            Ok(["sh", "-c", &line, "sh"].map(str::to_owned).into_iter().chain(tail).collect())
        }
        None => Err(CreateError::BadWords { name: name.to_string(), key: "command" }),
    }
}

/// The words a coding agent runs: its program, what the type says, what the user says.
pub fn brand_words(
    resolved: &ResolvedType,
    name: &AgentTypeName,
    args: &[String],
) -> Result<Vec<String>, CreateError> {
    let command = resolved.chain.iter().find_map(|settings| settings.command.clone());
    let command = command.or(resolved.base.manifest().program).unwrap_or_default();
    let wrong = || CreateError::BadWords { name: name.to_string(), key: "command" };
    let words = split_words(&command).filter(|words| !words.is_empty()).ok_or_else(wrong)?;
    Ok(words.into_iter().chain(fixed_args(resolved, name)?).chain(args.iter().cloned()).collect())
}

/// The coding agent to use when nobody says which: the first one found on the user's PATH.
pub fn guess(world: &World) -> Result<BuiltIn, CreateError> {
    let path = world.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let is_there = |program: &str| {
        path.split(':').filter(|folder| folder.starts_with('/')).any(|folder| {
            let stat = world.client.files().stat(&HostPath::new(folder).join(program));
            stat.is_ok_and(|stat| stat.is_some())
        })
    };
    let mut guesses = BuiltIn::GUESSES.into_iter().filter(|kind| world.settings.is_plugin_on(kind.name()));
    let found = guesses.find(|kind| kind.manifest().program.as_deref().is_some_and(is_there));
    let found = found.ok_or(CreateError::NoType)?;
    let (name, others) = (found.name(), "mngr config set commands.create.type TYPE --scope user");
    world
        .reporter
        .note(&format!("no type was given: using `{name}`, found on PATH; `{others}` changes that"));
    Ok(found)
}

/// Words for a `scripted` agent, with what their files say in the place of each `@FILE`.
pub(super) fn script_words(
    files: &dyn Files,
    cwd: &HostPath,
    args: &[String],
) -> Result<Vec<String>, CreateError> {
    let word = |word: &String| match word.strip_prefix('@') {
        Some(path) => Ok(files.read_text(&cwd.join(path))?),
        None => Ok(word.clone()),
    };
    args.iter().map(word).collect()
}

/// The steps a `scripted` agent plays, those of its type first: one step per word. Only in the words of its type a file
/// may still stand for what it says.
pub fn script_steps(
    files: &dyn Files,
    cwd: &HostPath,
    resolved: &ResolvedType,
    name: &AgentTypeName,
    args: &[String],
) -> Result<Vec<Step>, CreateError> {
    let fixed = script_words(files, cwd, &fixed_args(resolved, name)?)?;
    if fixed.is_empty() && args.is_empty() {
        return Ok(script::parse(script::DEFAULT_SCRIPT)?);
    }
    let mut steps = Vec::new();
    for word in fixed.iter().chain(args) {
        steps.extend(script::parse(word)?);
    }
    Ok(steps)
}

fn fixed_args(resolved: &ResolvedType, name: &AgentTypeName) -> Result<Vec<String>, CreateError> {
    let mut words = Vec::new();
    // The parent's words first, so that a child's later word wins where programs let the last one win.
    for settings in resolved.chain.iter().rev() {
        match &settings.cli_args {
            None => {}
            Some(CliArgs::Words(list)) => words.extend(list.iter().cloned()),
            Some(CliArgs::Line(line)) => words.extend(
                split_words(line)
                    .ok_or_else(|| CreateError::BadWords { name: name.to_string(), key: "cli_args" })?,
            ),
        }
    }
    Ok(words)
}

fn has_operators(word: &str) -> bool {
    has_shell_syntax(word) && word.chars().any(|c| "|&;<>()$`*?[]~{}".contains(c))
}

/// Splits a line as a shell would, honouring quotes and backslashes; `None` for an unclosed quote.
fn split_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        assert_eq!(split_words(r#"a 'b c' "d\"e" f\ g ''"#).unwrap(), ["a", "b c", "d\"e", "f g", ""]);
        assert_eq!(split_words("a 'b"), None);
    }
}
