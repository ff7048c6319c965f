//! The flags that choose agents, turned into filter expressions.

use clap::Args;
use mngr_host::git::{Git, repo_name_from_url};
use mngr_host::host::Host;
use mngr_query::{Catalog, Filter, FilterKind, FilterSet};

use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};

// Not a doc comment: clap would show it as the description of every verb that has these flags.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArgs {
    /// Show only agents this expression is true for (can be repeated; all must match)
    #[arg(long, value_name = "CEL", allow_hyphen_values = true)]
    include: Vec<String>,

    /// Leave out agents this expression is true for (can be repeated)
    #[arg(long, value_name = "CEL", allow_hyphen_values = true)]
    exclude: Vec<String>,

    /// Only running agents
    #[arg(long)]
    running: bool,

    /// Only agents that wait for you
    #[arg(long)]
    waiting: bool,

    /// Only stopped agents
    #[arg(long)]
    stopped: bool,

    /// Only archived agents
    #[arg(long)]
    archived: bool,

    /// Only agents that are not archived and whose host is in order
    #[arg(long)]
    active: bool,

    /// Only agents on this machine
    #[arg(long)]
    local: bool,

    /// Only agents elsewhere
    #[arg(long)]
    remote: bool,

    /// Only agents of this project, `.` for the one you stand in (can be repeated; any matches)
    #[arg(long, value_name = "PROJECT")]
    project: Vec<String>,

    /// Only agents with this label (can be repeated; any matches)
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<String>,

    /// Only agents on hosts with this label (can be repeated; any matches)
    #[arg(long, value_name = "KEY=VALUE")]
    host_label: Vec<String>,
}

impl FilterArgs {
    /// Whether they say themselves which archived agents are meant.
    pub(crate) fn is_about_archived(&self) -> bool {
        let says = |expressions: &[String]| expressions.iter().any(|text| text.contains("archived"));
        self.archived
            || self.active
            || says(&self.include)
            || says(&self.exclude)
            || self.label.iter().any(|label| label.starts_with("archived"))
    }

    /// The filters they stand for.
    pub(crate) fn compile(&self, ctx: &mut Ctx, catalog: &Catalog) -> Result<FilterSet, CliError> {
        let mut set = FilterSet::compile(&self.include, &self.exclude, catalog)?;
        for expression in self.expressions(ctx)? {
            set.push(Filter::compile(&expression, FilterKind::Include, catalog)?);
        }
        Ok(set)
    }

    fn expressions(&self, ctx: &mut Ctx) -> Result<Vec<String>, CliError> {
        let flags = [
            (self.running, r#"state == "RUNNING""#),
            (self.waiting, r#"state == "WAITING""#),
            (self.stopped, r#"state == "STOPPED""#),
            (self.archived, "has(labels.archived_at)"),
            (
                self.active,
                r#"!has(labels.archived_at) && !(host.state in ["CRASHED", "FAILED", "DESTROYED"])"#,
            ),
            (self.local, r#"host.provider == "local""#),
            (self.remote, r#"host.provider != "local""#),
        ];
        let mut all: Vec<String> = flags
            .into_iter()
            .filter(|(is_on, _)| *is_on)
            .map(|(_, expression)| expression.to_owned())
            .collect();
        let projects: Vec<String> = self
            .project
            .iter()
            .map(|project| if project == "." { current_project(ctx) } else { Ok(project.clone()) })
            .collect::<Result<_, _>>()?;
        all.extend(any(projects.iter().map(|project| format!("project == {}", quoted(project)))));
        all.extend(any(pairs(&self.label, "labels", "--label")?));
        all.extend(any(pairs(&self.host_label, "host.tags", "--host-label")?));
        Ok(all)
    }
}

/// The project of the folder the user stands in: the repository's name at its origin, else the folder's.
fn current_project(ctx: &mut Ctx) -> Result<String, CliError> {
    let world = ctx.world()?;
    let git = Git::new(world.client.as_ref() as &dyn Host, world.cwd.clone());
    let git_error = |error| CliError::new(ErrorKind::Failed, error);
    let Some(location) = git.locate().map_err(git_error)? else {
        return Ok(world.cwd.file_name().unwrap_or_default().to_owned());
    };
    let origin = git.origin_url().map_err(git_error)?;
    let of_origin = origin.as_deref().and_then(repo_name_from_url);
    Ok(of_origin.unwrap_or_else(|| location.root.file_name().unwrap_or_default().to_owned()))
}

fn pairs(texts: &[String], map: &str, option: &str) -> Result<Vec<String>, CliError> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok(format!("{map}[{}] == {}", quoted(key), quoted(value))),
        _ => {
            let text = mngr_query::sanitize(text);
            Err(CliError::usage(format!("Invalid value for `{option}`: `{text}` is not KEY=VALUE")))
        }
    };
    texts.iter().map(pair).collect()
}

/// One expression that is true when any of these is.
pub(crate) fn any(expressions: impl IntoIterator<Item = String>) -> Option<String> {
    let all: Vec<String> = expressions.into_iter().collect();
    (!all.is_empty()).then(|| all.join(" || "))
}

/// A text as a literal: the escapes of JSON are a part of those of the expression language.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keeps(expression: &str, record: &serde_json::Value) -> bool {
        let filter = Filter::compile(expression, FilterKind::Include, &Catalog::agents()).unwrap();
        filter.matches(record) == mngr_query::Match::Yes
    }

    #[test]
    fn labels_with_any_text_in_them_match_exactly() {
        for value in ["plain", "a\"b", "x\\y", "new\nline", "\u{1b}[2J", "日本", "a=b", "\\u0041"] {
            let expression = &pairs(&[format!("k.e-y={value}")], "labels", "--label").unwrap()[0];
            assert!(keeps(expression, &json!({"labels": {"k.e-y": value}})), "{expression}");
            assert!(!keeps(expression, &json!({"labels": {"k.e-y": "other"}})), "{expression}");
            assert!(!keeps(expression, &json!({"labels": {}})), "{expression}");
        }
    }

    #[test]
    fn several_of_one_kind_are_alternatives() {
        let any = any(["a", "b"].map(|project| format!("project == {}", quoted(project)))).unwrap();
        assert!(keeps(&any, &json!({"labels": {"project": "b"}})));
        assert!(!keeps(&any, &json!({"labels": {"project": "c"}})));
    }

    #[test]
    fn a_label_without_a_value_is_refused() {
        let error = pairs(&["x".to_owned()], "labels", "--label").unwrap_err();
        assert_eq!(error.source.to_string(), "Invalid value for `--label`: `x` is not KEY=VALUE");
    }
}
