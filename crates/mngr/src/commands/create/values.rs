//! The request that `mngr create` would make of some options, for verbs that create agents themselves.

use clap::FromArgMatches;
use mngr_ops::create::CreateRequest;

use super::args::CreateArgs;
use super::request;
use crate::cli::values::Values;
use crate::cli::{NAME, defaults, merge, options, usage};
use crate::ctx::Ctx;
use crate::error::CliError;

/// The verb whose options they are.
const VERB: &str = "create";

/// What `mngr create` with these options and templates asks for. Options win over templates, and later templates over
/// earlier ones.
pub(crate) fn request_of_values(
    ctx: &mut Ctx,
    values: &Values,
    templates: &[String],
) -> Result<CreateRequest, CliError> {
    let Some(command) = options::leaf(VERB) else {
        return Err(CliError::failed(format!("there is no command `{NAME} {VERB}`")));
    };
    let found = defaults::of_templates(ctx.merged()?, templates, &command, values)?;
    if !found.settings.is_empty() {
        let text = "a template that changes settings can only be used by `mngr create` itself";
        return Err(CliError::usage(text).hinted("give the settings to this command, with `-S`"));
    }
    let together = merge::merge(VERB, &command, values, found.given)?;
    let matches = together.read(&command, &[], values)?;
    let args = CreateArgs::from_arg_matches(&matches).map_err(|error| usage::from_clap(&error, &[VERB]))?;
    let before = std::mem::replace(&mut ctx.type_fields, found.type_fields);
    let request = request::request(ctx, &args);
    ctx.type_fields = before;
    request
}
