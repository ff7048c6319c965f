//! The expression language: CEL's standard library with its string functions, and readable syntax errors.

use std::sync::{Arc, LazyLock};

use cel::common::ast::SourceInfo;
use cel::{DeclarationError, Env, IdedExpr, ParseErrors, extensions};

use super::error::FilterFault;
use super::scan::PRIVATE_HAS;

/// Functions an expression may call. A test calls each of them, so none is listed in vain.
pub(super) const FUNCTIONS: &[&str] = &[
    "bool",
    "bytes",
    "charAt",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "format",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "hasValue",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "or",
    "orValue",
    "replace",
    "reverse",
    "size",
    "split",
    "startsWith",
    "string",
    "substring",
    "timestamp",
    "trim",
    "type",
    "uint",
    "upperAscii",
    "value",
];

/// Functions whose name has two parts; the first part is no field.
pub(super) const QUALIFIED_FUNCTIONS: &[&str] =
    &["optional.none", "optional.of", "optional.ofNonZeroValue", "strings.quote"];

/// Functions that take a variable and an expression. Called rightly, the parser has already expanded them.
pub(super) const MACROS: &[&str] = &["all", "exists", "exists_one", "existsOne", "filter", "map"];

/// Names of types, for `type(x) == string`.
pub(super) const TYPES: &[&str] =
    &["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// The language, set up once per process: it costs more than evaluating a hundred records.
pub(super) fn language() -> Result<Arc<Env>, DeclarationError> {
    static LANGUAGE: LazyLock<Result<Arc<Env>, DeclarationError>> = LazyLock::new(|| {
        let mut env = Env::stdlib();
        env.add_extension(extensions::strings)?;
        Ok(Arc::new(env))
    });
    LANGUAGE.clone()
}

/// Parses an expression; an error has its place, in characters from the start.
pub(super) fn parse(language: &Env, source: &str) -> Result<(IdedExpr, SourceInfo), (FilterFault, usize)> {
    language
        .parser()
        .enable_ident_escape_syntax(true)
        .parse_with_source_info(source)
        .map_err(|errors| first_fault(source, &errors))
}

/// The parser reports every stumble after the first mistake; only the first is the user's.
fn first_fault(source: &str, errors: &ParseErrors) -> (FilterFault, usize) {
    let is_grammar = |error: &&cel::ParseError| error.msg.starts_with(GRAMMAR_PREFIX);
    match errors.errors.iter().find(is_grammar).or(errors.errors.first()) {
        Some(error) => {
            let message = readable(&error.msg);
            (FilterFault::Syntax { message }, offset(source, error.pos))
        }
        None => (FilterFault::Syntax { message: "it cannot be parsed".to_owned() }, 0),
    }
}

const GRAMMAR_PREFIX: &str = "Syntax error: ";

/// The parser counts lines and columns from one; a place it could not name is the start.
fn offset(source: &str, (line, column): (isize, isize)) -> usize {
    let line = usize::try_from(line - 1).unwrap_or(0);
    let column = usize::try_from(column - 1).unwrap_or(0);
    let lines_before: usize = source.split('\n').take(line).map(|line| line.chars().count() + 1).sum();
    (lines_before + column).min(source.chars().count())
}

/// The parser lists every token it would have taken; the one that stands there says more.
fn readable(message: &str) -> String {
    let grammar = message.strip_prefix(GRAMMAR_PREFIX).unwrap_or(message);
    let Some((_, quoted)) = grammar.split_once("input '").or_else(|| grammar.split_once("at: '")) else {
        return lower_first(grammar).replace(PRIVATE_HAS, "has");
    };
    let token = quoted.split_once("' expecting").map_or(quoted, |(token, _)| token);
    let token = token.strip_suffix('\'').unwrap_or(token).trim().replace(PRIVATE_HAS, "has");
    let hint = match token.as_str() {
        "<EOF>" => return "it ends too early".to_owned(),
        "and" => ", did you mean `&&`?",
        "or" => ", did you mean `||`?",
        "=" => ", did you mean `==`?",
        "&" => ", did you mean `&&`?",
        "|" => ", did you mean `||`?",
        _ => "",
    };
    let shown: String = token.chars().take(LONGEST_TOKEN_SHOWN).collect();
    format!("unexpected `{}`{hint}", crate::sanitize(&shown))
}

const LONGEST_TOKEN_SHOWN: usize = 40;

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
