//! The request that `mngr create` would make of some words, for verbs that create agents themselves.

use clap::FromArgMatches;
use mngr_ops::create::CreateRequest;

use super::args::CreateArgs;
use super::request;
use crate::cli::{NAME, defaults, options, usage};
use crate::ctx::Ctx;
use crate::error::CliError;

/// The verb whose words they are.
const VERB: &str = "create";

/// What `mngr create WORDS` with these templates asks for. Words win over templates, and later templates over earlier ones.
pub(crate) fn request_of_words(
    ctx: &mut Ctx,
    words: &[String],
    templates: &[String],
) -> Result<CreateRequest, CliError> {
    let wrong = |error: &clap::Error| usage::from_clap(error, &[VERB]);
    let Some(command) = options::leaf(VERB) else {
        return Err(CliError::failed(format!("there is no command `{NAME} {VERB}`")));
    };
    let parse = |words: &[String]| {
        command.clone().try_get_matches_from(std::iter::once(VERB).chain(words.iter().map(String::as_str)))
    };
    let typed = parse(words).map_err(|error| wrong(&error))?;
    let given = defaults::of_templates(ctx.merged()?, templates, &command, &typed)?;
    if !given.settings.is_empty() {
        let text = "a template that changes settings can only be used by `mngr create` itself";
        return Err(CliError::usage(text).hinted("give the settings to this command, with `-S`"));
    }
    let of_templates = given.given.iter().flat_map(|given| &given.words);
    let all: Vec<String> = of_templates.chain(words).cloned().collect();
    let args = parse(&all).and_then(|matches| CreateArgs::from_arg_matches(&matches));
    let before = std::mem::replace(&mut ctx.type_fields, given.type_fields);
    let request = args.map_err(|error| wrong(&error)).and_then(|args| request::request(ctx, &args));
    ctx.type_fields = before;
    request
}
