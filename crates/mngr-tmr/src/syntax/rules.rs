//! The rules of a language: data in `mutations/`, compiled in. A new rule is new lines there.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;
use thiserror::Error;
use tree_sitter::Query;

use super::language::Grammar;
use super::query::{QueryParts, Section};

/// The key of a file that says only what is different from JavaScript.
const BASED_ON: &str = "based_on";

/// Why the data of a language cannot be used.
#[derive(Debug, Error)]
pub(super) enum RulesError {
    #[error("cannot read the rules")]
    Toml(#[from] toml::de::Error),
    #[error("the query of `{what}` is wrong: {text}")]
    Query { what: String, text: String },
    #[error("the pattern of `{what}` is wrong")]
    Pattern { what: String, source: Box<regex::Error> },
    #[error("rule `{name}` needs a query and one of `to`, `swap` and `change`, or `begin` alone")]
    Rule { name: String },
}

/// A file in `mutations/`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesText {
    /// Between the names of a scope and of what is in it.
    separator: String,
    /// `@function` with `@body`, and where they exist `@name`, `@owner` and `@returns`.
    functions: String,
    /// `@scope` and its `@name`.
    scopes: Option<String>,
    /// Kinds of nodes that a function may be wrapped in, and whose lines are its lines too.
    #[serde(default)]
    wrappers: Vec<String>,
    /// `@test`: what is a test.
    tests: Option<String>,
    /// What an attribute above an item says if the item is test code.
    test_attribute: Option<String>,
    /// `@main`: statements outside of functions that are the program.
    main: Option<String>,
    /// `@first`: what stays in front of a statement that is put at the beginning of a body.
    first: Option<String>,
    begin: BeginText,
    some_arguments: Option<SomeArgumentsText>,
    /// `@skip`: where nothing is changed.
    skip: String,
    /// `@minor`: where a change says little.
    minor: Option<String>,
    /// `@statement`, or `@whole` for one that is not taken apart.
    statements: String,
    /// `@documentation`: what is no statement although it looks like one.
    documentation: Option<String>,
    /// Kinds of nodes that are kept letter by letter.
    #[serde(default)]
    texts: Vec<String>,
    /// Whether a space between words always means something.
    #[serde(default)]
    spaces_count: bool,
    /// What is put at the end of a line so that a command goes on in the next.
    #[serde(default)]
    continued: String,
    #[serde(default)]
    assertion: Vec<AssertionText>,
    #[serde(default)]
    message: Vec<MessageText>,
    #[serde(default)]
    default: Vec<DefaultText>,
    #[serde(default)]
    rule: Vec<RuleText>,
}

/// How a function is made to fail or to be recorded. `{}` is the statement.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct BeginText {
    before: String,
    after: Option<String>,
    around: Option<[String; 2]>,
    fail: String,
    fail_around: Option<String>,
    record: String,
    record_around: Option<String>,
    /// What recording needs once in a file, and the kind of node it is put behind.
    import: Option<String>,
    import_after: Option<String>,
    /// What a function looks like that cannot be recorded.
    not_recorded: Option<String>,
    /// Whether a function writes its number down each time it is called, which can take long.
    #[serde(default)]
    records_every_call: bool,
}

/// How a change is made to hold for some arguments of its function only.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SomeArgumentsText {
    /// The body of the function, with `{body}`, `{changed}`, `{is_it}`, and in Python `{indent}`.
    twice: String,
    /// An expression that notes the `{arguments}` and is true for the `{nth}`th ones that are others than all before.
    is_it: String,
    /// `@argument`: names of arguments that can be compared. Without it the expression knows them by itself.
    arguments: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AssertionText {
    query: String,
    /// Only in a text where this is found.
    only_with: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageText {
    /// `@list`: what is between commas, of which the last ones are only said when the assertion fails.
    query: String,
    /// How many of them are checked.
    checked: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultText {
    returns: String,
    value: String,
    /// Another one, for functions that return the first one anyway.
    other: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    name: String,
    /// 0 is the most telling.
    weight: u8,
    /// `@edit`: what is changed.
    query: Option<String>,
    to: Option<String>,
    swap: Option<BTreeMap<String, String>>,
    change: Option<Change>,
    begin: Option<String>,
    /// The same for what is outside of functions.
    begin_main: Option<String>,
    /// Not where the node around is changed by one of these rules: both would be the same mutant.
    #[serde(default)]
    not_below: Vec<String>,
}

/// A change that cannot be said as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    /// The next number.
    Number,
    /// Another text.
    Text,
}

/// What a rule does.
#[derive(Debug)]
pub(super) enum Action {
    /// Replaces the node; `{}` is its text, `{default}` the default of the function's return type.
    To(String),
    /// Replaces the text by its other.
    Swap(BTreeMap<String, String>),
    /// Changes it.
    Change(Change),
}

/// A rule of mutation.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) weight: u8,
    pub(super) not_below: Vec<String>,
    pub(super) what: RuleKind,
}

/// Where a rule is applied.
#[derive(Debug)]
pub(super) enum RuleKind {
    /// At what a query finds.
    Found { query: Section, action: Action },
    /// At the beginning of each function, and of what is outside of them.
    Begin { function: String, main: Option<String> },
}

/// How a function is made to begin with something else.
#[derive(Debug)]
pub(super) struct Begin {
    pub(super) before: String,
    pub(super) after: String,
    pub(super) around: [String; 2],
    pub(super) fail: String,
    pub(super) fail_around: String,
    pub(super) record: String,
    pub(super) record_around: String,
    pub(super) import: Option<(String, String)>,
    pub(super) not_recorded: Option<Regex>,
    pub(super) records_every_call: bool,
}

/// What makes a statement an assertion.
#[derive(Debug)]
pub(super) struct Assertion {
    pub(super) query: Section,
    pub(super) only_with: Option<Section>,
}

/// How a change is made to hold for some arguments only.
#[derive(Debug)]
pub(super) struct SomeArguments {
    pub(super) twice: String,
    pub(super) is_it: String,
    pub(super) arguments: Option<Section>,
}

/// What an assertion says only when it fails.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) query: Section,
    pub(super) checked: usize,
}

/// What a function can return without thinking.
#[derive(Debug)]
pub(super) struct Default {
    returns: Regex,
    pub(super) value: String,
    pub(super) other: Option<String>,
}

/// The rules of a language, ready for use.
#[derive(Debug)]
pub(super) struct Rules {
    /// All queries as one: preparing one takes long, however short it is.
    pub(super) query: Query,
    /// The section of each pattern of the query.
    pub(super) sections: Vec<Section>,
    pub(super) separator: String,
    pub(super) functions: Section,
    pub(super) scopes: Section,
    pub(super) wrappers: Vec<String>,
    pub(super) tests: Section,
    pub(super) test_attribute: Option<Regex>,
    pub(super) main: Section,
    pub(super) first: Section,
    pub(super) begin: Begin,
    pub(super) some_arguments: Option<SomeArguments>,
    pub(super) skip: Section,
    pub(super) minor: Section,
    pub(super) statements: Section,
    pub(super) documentation: Section,
    pub(super) texts: Vec<String>,
    pub(super) spaces_count: bool,
    pub(super) continued: String,
    pub(super) assertions: Vec<Assertion>,
    pub(super) messages: Vec<Message>,
    pub(super) defaults: Vec<Default>,
    pub(super) rules: Vec<Rule>,
}

/// The rules for texts of a grammar.
#[expect(clippy::expect_used, reason = "compiled-in data that a test parses")]
pub(super) fn rules(grammar: Grammar) -> &'static Rules {
    static RULES: [OnceLock<Rules>; 7] = [const { OnceLock::new() }; 7];
    RULES[grammar as usize].get_or_init(|| load(grammar).expect("the built-in rules are valid"))
}

fn load(grammar: Grammar) -> Result<Rules, RulesError> {
    let own = match grammar {
        Grammar::Python => include_str!("../../mutations/python.toml"),
        Grammar::Rust => include_str!("../../mutations/rust.toml"),
        Grammar::JavaScript => include_str!("../../mutations/javascript.toml"),
        Grammar::TypeScript | Grammar::Tsx => include_str!("../../mutations/typescript.toml"),
        Grammar::Go => include_str!("../../mutations/go.toml"),
        Grammar::Shell => include_str!("../../mutations/shell.toml"),
    };
    let own: toml::Table = toml::from_str(own)?;
    let said = if own.contains_key(BASED_ON) {
        let base = toml::from_str(include_str!("../../mutations/javascript.toml"))?;
        over(own, base)
    } else {
        own
    };
    Rules::read(grammar, said.try_into()?)
}

/// What one says, and where it says nothing, what the other says. Tables in a list are added.
fn over(above: toml::Table, mut below: toml::Table) -> toml::Table {
    for (key, value) in above {
        match (value, below.get_mut(&key)) {
            _ if key == BASED_ON => {}
            (toml::Value::Array(more), Some(toml::Value::Array(list))) => list.extend(more),
            (toml::Value::Table(own), Some(toml::Value::Table(base))) => {
                *base = over(own, std::mem::take(base))
            }
            (value, _) => {
                below.insert(key, value);
            }
        }
    }
    below
}

impl Rules {
    fn read(grammar: Grammar, said: RulesText) -> Result<Self, RulesError> {
        let mut parts = QueryParts::default();
        let defaults = said.default.into_iter().map(|one| {
            Ok(Default { returns: pattern("default", &one.returns)?, value: one.value, other: one.other })
        });
        let defaults = defaults.collect::<Result<_, RulesError>>()?;
        let mut rules = Vec::new();
        for rule in said.rule {
            rules.push(Rule::read(rule, &mut parts)?);
        }
        let mut assertions = Vec::new();
        for one in &said.assertion {
            let only_with = one.only_with.as_deref().map(|text| parts.add("only_with", text));
            assertions.push(Assertion { query: parts.add("assertion", &one.query), only_with });
        }
        let mut messages = Vec::new();
        for one in &said.message {
            messages.push(Message { query: parts.add("message", &one.query), checked: one.checked });
        }
        let some_arguments = said.some_arguments.map(|said| SomeArguments {
            arguments: said.arguments.map(|text| parts.add("arguments", &text)),
            twice: said.twice,
            is_it: said.is_it,
        });
        let mut optional =
            |what: &str, text: &Option<String>| parts.add(what, text.as_deref().unwrap_or_default());
        let scopes = optional("scopes", &said.scopes);
        let tests = optional("tests", &said.tests);
        let main = optional("main", &said.main);
        let first = optional("first", &said.first);
        let minor = optional("minor", &said.minor);
        let documentation = optional("documentation", &said.documentation);
        let functions = parts.add("functions", &said.functions);
        let skip = parts.add("skip", &said.skip);
        let statements = parts.add("statements", &said.statements);
        let (query, sections) = parts.prepare(grammar)?;
        Ok(Self {
            query,
            sections,
            functions,
            scopes,
            tests,
            test_attribute: optional_pattern("test_attribute", said.test_attribute.as_deref())?,
            main,
            first,
            skip,
            minor,
            statements,
            documentation,
            assertions,
            messages,
            defaults,
            begin: Begin::read(said.begin)?,
            some_arguments,
            rules,
            separator: said.separator,
            wrappers: said.wrappers,
            texts: said.texts,
            spaces_count: said.spaces_count,
            continued: said.continued,
        })
    }

    /// What a function with this return type can return without thinking.
    pub(super) fn default_for(&self, returns: &str) -> Option<&Default> {
        self.defaults.iter().find(|default| default.returns.is_match(returns))
    }
}

impl Rule {
    fn read(said: RuleText, parts: &mut QueryParts) -> Result<Self, RulesError> {
        let action = match (said.to, said.swap, said.change) {
            (Some(to), None, None) => Some(Action::To(to)),
            (None, Some(swap), None) => Some(Action::Swap(swap)),
            (None, None, Some(change)) => Some(Action::Change(change)),
            _ => None,
        };
        let what = match (said.query, action, said.begin) {
            (Some(text), Some(action), None) => {
                RuleKind::Found { query: parts.add(&said.name, &text), action }
            }
            (None, None, Some(function)) => RuleKind::Begin { function, main: said.begin_main },
            _ => return Err(RulesError::Rule { name: said.name }),
        };
        Ok(Self { name: said.name, weight: said.weight, not_below: said.not_below, what })
    }
}

impl Begin {
    fn read(said: BeginText) -> Result<Self, RulesError> {
        Ok(Self {
            before: said.before,
            after: said.after.unwrap_or_default(),
            around: said.around.unwrap_or_default(),
            fail_around: said.fail_around.unwrap_or_default(),
            fail: said.fail,
            record_around: said.record_around.unwrap_or_else(|| said.record.clone()),
            record: said.record,
            import: said.import_after.zip(said.import),
            not_recorded: optional_pattern("not_recorded", said.not_recorded.as_deref())?,
            records_every_call: said.records_every_call,
        })
    }
}

fn pattern(what: &str, text: &str) -> Result<Regex, RulesError> {
    Regex::new(text).map_err(|source| RulesError::Pattern { what: what.to_owned(), source: Box::new(source) })
}

fn optional_pattern(what: &str, text: Option<&str>) -> Result<Option<Regex>, RulesError> {
    text.map(|text| pattern(what, text)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAMMARS: [Grammar; 7] = [
        Grammar::Python,
        Grammar::Rust,
        Grammar::JavaScript,
        Grammar::TypeScript,
        Grammar::Tsx,
        Grammar::Go,
        Grammar::Shell,
    ];

    #[test]
    fn the_rules_of_every_language_can_be_used() {
        for grammar in GRAMMARS {
            let rules = load(grammar).unwrap_or_else(|error| panic!("{grammar:?}: {error:?}"));
            let mut names: Vec<&str> = rules.rules.iter().map(|rule| rule.name.as_str()).collect();
            assert!(names.len() > 5, "{grammar:?}: {names:?}");
            for rule in &rules.rules {
                let is_known = |below: &String| names.contains(&below.as_str());
                assert!(rule.not_below.iter().all(is_known), "{grammar:?}: {}", rule.name);
            }
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), rules.rules.len(), "{grammar:?}: a name is there twice");
        }
    }
}
