//! What is wrong with the settings, and those to go on with when they cannot be used.

use mngr_config::{BuildOptions, Layer, Merged, Settings};
use mngr_ops::doctor::Finding;

use crate::ctx::{Ctx, Scope};

const CHECK: &str = "settings";

/// Checks the settings files and whether they are trusted.
pub(super) fn check(ctx: &mut Ctx) -> Vec<Finding> {
    let mut found = Vec::new();
    match &ctx.loaded {
        Err(error) => found.push(
            Finding::fail(CHECK, error.one_line())
                .because("no command that meets agents works; the rest was examined without settings files")
                .advise("`mngr config edit` opens the file; `--scope` says which one"),
        ),
        Ok(loaded) => {
            found.extend(loaded.merged.warnings().iter().map(|problem| {
                Finding::warn(CHECK, format!("unknown key: {problem}"))
                    .because("it has no effect")
                    .advise("correct or delete it with `mngr config edit`")
            }));
            found.extend(loaded.untrusted.keys.first().map(|first| {
                let (count, complaint) = (loaded.untrusted.keys.len(), loaded.trust.complaint());
                Finding::warn(
                    CHECK,
                    format!(
                        "this repository's settings {complaint}: {count} key(s), such as `{}`",
                        first.key
                    ),
                )
                .because("they have no effect, and verbs that would use them stop")
                .advise("read them, then `mngr config trust`")
            }));
        }
    }
    if found.is_empty() {
        let named = |scope: Scope| ctx.scopes.file(scope).ok().flatten().filter(|file| file.text.is_some());
        let files: Vec<String> = Scope::ALL
            .into_iter()
            .filter_map(|scope| named(scope).map(|file| file.path.to_string()))
            .collect();
        let text = if files.is_empty() {
            "there are none; defaults are in force".to_owned()
        } else {
            files.join(", ")
        };
        found.push(Finding::ok(CHECK, text));
    }
    found
}

/// The settings to go on with: without files where those cannot be used.
pub(super) fn in_force(ctx: &mut Ctx) -> Option<Settings> {
    if let Ok(loaded) = &ctx.loaded {
        return Some(loaded.merged.settings().clone());
    }
    let build = BuildOptions { root_name: ctx.scopes.root_name(), ..BuildOptions::default() };
    let from_env: Vec<Layer> = Layer::from_env(ctx.surroundings.vars()).ok().into_iter().flatten().collect();
    let merged = Merged::build(&from_env, &build).or_else(|_| Merged::build(&[], &build)).ok()?;
    Some(merged.settings().clone())
}
