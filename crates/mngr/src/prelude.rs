//! What happens before any verb runs: trust in the repository's settings, and the user's own scripts.
//!
//! Spawns one process per script of `pre_command_scripts.<verb>`, all at once; none otherwise.

use mngr_host::proc::Cmd;
use mngr_ops::fanout::fan_out;

use crate::cli::parse;
use crate::ctx::{Ctx, Scope};
use crate::error::CliError;

/// Checks what must hold before the verb `path` (`create`, `config_list`) runs.
pub(crate) fn prepare(ctx: &mut Ctx, path: &str) -> Result<(), CliError> {
    check_trust(ctx, path)?;
    if parse::is_forgiving(path) {
        return Ok(());
    }
    name_settings(ctx)?;
    for warning in ctx.merged()?.warnings().to_vec() {
        ctx.console.warn(&format!("Unknown configuration fields: {warning}"));
    }
    run_scripts(ctx, path)
}

/// Which files the settings come from, for whoever wonders why something happened.
fn name_settings(ctx: &Ctx) -> Result<(), CliError> {
    if !ctx.console.is_verbose() {
        return Ok(());
    }
    for scope in Scope::ALL {
        if let Some(file) = ctx.scopes.file(scope)?.filter(|file| file.text.is_some()) {
            ctx.console.debug(&format!("{} settings: {}", scope.as_str(), file.path));
        }
    }
    Ok(())
}

/// Stops a verb that would use what an untrusted repository sets; any other hears of it once.
fn check_trust(ctx: &Ctx, path: &str) -> Result<(), CliError> {
    let Ok(loaded) = &ctx.loaded else { return Ok(()) };
    let Some(first) = loaded.untrusted.keys.first() else { return Ok(()) };
    loaded.require_trust(path)?;
    // Who is about to trust them needs no telling.
    if path == "config_trust" {
        return Ok(());
    }
    let why = loaded.trust.complaint();
    let ignored = match loaded.untrusted.keys.len() {
        1 => "is ignored".to_owned(),
        count => format!("and {} more are ignored", count - 1),
    };
    let text = format!("this repository's settings {why}; `{}` {ignored}", first.key);
    ctx.console.warn(&format!("{text} (`mngr config trust` trusts them)"));
    Ok(())
}

fn run_scripts(ctx: &mut Ctx, path: &str) -> Result<(), CliError> {
    let Some(scripts) = ctx.settings()?.pre_command_scripts.get(path).cloned() else { return Ok(()) };
    let world = ctx.world()?;
    let cwd = ctx.surroundings.cwd.clone();
    let results = fan_out(scripts, |script| {
        let output = world.client.exec(&Cmd::shell(&script).cwd(&cwd));
        (script, output)
    });
    for (script, output) in results {
        let output = output?;
        if !output.success() {
            ctx.console.print_error_bytes(&output.stderr);
            let code = output.exit.to_shell();
            let text =
                format!("the script `{script}` of `pre_command_scripts.{path}` failed with exit code {code}");
            return Err(CliError::failed(text));
        }
    }
    Ok(())
}
