//! Whether Claude Code has a login or a key: the ways it knows, as far as a file or a variable shows them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::config::{self, PROGRAM, UserConfig};
use crate::brand::ProvisionError;
use crate::json::read_object;
use crate::login::{LoginPlace, MissingLogin};
use crate::settings::flag_unless_off;

/// Any of these is a key of its own, or sends Claude Code to another service with credentials of its own.
const VARIABLES: [&str; 6] = [
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_GATEWAY",
];
/// The variable with a key that Claude Code asks about before it uses it.
pub(super) const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
/// The variable that names the folder of the credentials, where that is not the configuration folder.
pub(super) const STORE_VARIABLE: &str = "CLAUDE_SECURESTORAGE_CONFIG_DIR";
/// Whether agents get the user's login.
pub(super) const SYNC_LOGIN: &str = "sync_claude_credentials";
/// What `.claude.json` says of the user's login.
pub(super) const ACCOUNT: [&str; 2] = ["oauthAccount", "primaryApiKey"];
/// How much of a key Claude Code keeps to recognise it.
const KEY_TAIL: usize = 20;

/// What is said of a key that Claude Code finds among its variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyAnswer {
    Approved,
    Rejected,
    NotAskedYet,
}

/// The end of a key, by which Claude Code recognises it.
pub(super) fn key_tail(key: &str) -> String {
    let skipped = key.chars().count().saturating_sub(KEY_TAIL);
    key.chars().skip(skipped).collect()
}

/// What the user answered when Claude Code asked whether to use this key.
pub(super) fn answer_about(main: &Map<String, Value>, key: &str) -> KeyAnswer {
    let tail = key_tail(key);
    let is_among = |answer: &str| {
        let list = main.get("customApiKeyResponses").and_then(|answers| answers.get(answer)?.as_array());
        list.is_some_and(|keys| keys.iter().any(|known| known.as_str() == Some(&tail)))
    };
    match (is_among("approved"), is_among("rejected")) {
        (true, _) => KeyAnswer::Approved,
        (false, true) => KeyAnswer::Rejected,
        (false, false) => KeyAnswer::NotAskedYet,
    }
}

/// Where the user's own Claude Code keeps its login; nothing means the usual place, in the home or in the keychain.
///
/// An agent on the same machine keeps it there too. A link in its own folder does not do: Claude Code puts a new file in
/// the place of the link when it renews the login, and the old one, which everybody else has, is void from then on.
pub(super) fn users_store(vars: &BTreeMap<String, String>) -> &str {
    let named = vars.get(STORE_VARIABLE).or_else(|| vars.get("CLAUDE_CONFIG_DIR"));
    named.map(String::as_str).unwrap_or_default()
}

/// What is missing, if anything.
pub(super) fn missing(login: &LoginPlace<'_>) -> Result<Option<MissingLogin>, ProvisionError> {
    let missing = MissingLogin {
        program: PROGRAM,
        remedy: format!("start `claude` once and log in, or set `{KEY_VARIABLE}`"),
    };
    if VARIABLES.iter().any(|variable| login.has(variable)) {
        return Ok(None);
    }
    let Some(user) = UserConfig::find(&login.user) else {
        return Ok((!login.has(KEY_VARIABLE)).then_some(missing));
    };
    let files = login.user.files;
    let main = match flag_unless_off(login.settings, config::SYNC_MAIN_FILE)? {
        true => read_object(files, user.main_file())?,
        false => Map::new(),
    };
    if let Some(key) = login.env.get(KEY_VARIABLE).filter(|key| !key.is_empty())
        && answer_about(&main, key) != KeyAnswer::Rejected
    {
        return Ok(None);
    }
    if flag_unless_off(login.settings, SYNC_LOGIN)? {
        // The account stands there also where the credentials are in the system's keychain.
        let has_account = ACCOUNT.iter().any(|key| main.contains_key(*key));
        if has_account || files.exists(&user.folder().join(config::CREDENTIALS))? {
            return Ok(None);
        }
    }
    let settings = match flag_unless_off(login.settings, config::SYNC_SETTINGS)? {
        true => read_object(files, &user.folder().join("settings.json"))?,
        false => Map::new(),
    };
    let names_helper = |value: &Value| value.get("apiKeyHelper").is_some();
    let is_overridden = login.settings.iter().any(|settings| {
        let overrides = settings.extra.get("settings_overrides");
        overrides.is_some_and(|overrides| overrides.get("apiKeyHelper").is_some())
    });
    Ok((!is_overridden && !names_helper(&Value::Object(settings))).then_some(missing))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_recognised_by_its_end() {
        let Value::Object(main) = json!({ "customApiKeyResponses": {
            "approved": ["0123456789abcdefghij"], "rejected": ["x123456789abcdefghij"] } })
        else {
            return;
        };
        assert_eq!(answer_about(&main, "sk-0123456789abcdefghij"), KeyAnswer::Approved);
        assert_eq!(answer_about(&main, "sk-x123456789abcdefghij"), KeyAnswer::Rejected);
        assert_eq!(answer_about(&main, "sk-short"), KeyAnswer::NotAskedYet);
        assert_eq!(key_tail("short"), "short");
    }
}
