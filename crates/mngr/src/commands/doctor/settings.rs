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
            Finding::fail(CHECK, without_excerpt(&error.one_line()))
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

/// The text in one line: without the lines of a file that a parser shows beneath its message.
fn without_excerpt(text: &str) -> String {
    let is_excerpt =
        |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    let told: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_excerpt(line)).collect();
    told.join(": ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_parser_says_is_one_line_without_the_lines_of_the_file() {
        let text = "cannot read `x`: TOML parse error at line 1, column 5\n  |\n1 | a = \n  |     ^\nstring values must be quoted\n";
        let told = without_excerpt(text);
        assert_eq!(
            told,
            "cannot read `x`: TOML parse error at line 1, column 5: string values must be quoted"
        );
    }
}
