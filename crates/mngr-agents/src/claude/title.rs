//! What the conversation is called, in the status of a running Claude Code. What it makes up by itself is in the record of the
//! conversation, from where its hook brings it.

use mngr_model::facts::ProgramFacts;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    name: Option<String>,
    name_source: Option<String>,
}

/// The name that the user has given it (`/rename`). Every other one is made of the folder.
pub(super) fn title(facts: &ProgramFacts) -> Option<String> {
    let named: Named = serde_json::from_str(facts.status.as_deref()?).ok()?;
    named.name.filter(|_| named.name_source.as_deref() == Some("user"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_somebody_gave_is_a_title() {
        let title = |status: &str| {
            title(&ProgramFacts { status: Some(status.to_owned()), ..ProgramFacts::default() })
        };
        assert_eq!(title(r#"{"name":"login-work","nameSource":"user"}"#), Some("login-work".to_owned()));
        assert_eq!(title(r#"{"name":"repo-7c","nameSource":"derived"}"#), None);
        assert_eq!(title(r#"{"status":"idle"}"#), None);
        assert_eq!(title("not yet"), None);
    }
}
