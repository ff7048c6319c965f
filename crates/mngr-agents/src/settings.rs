//! Fields of an agent type that several brands read the same way.

use mngr_config::AgentTypeSettings;
use serde_json::{Map, Value};

use crate::brand::ProvisionError;

/// A yes-or-no field, nearest first; no where nobody says so.
pub(crate) fn flag(settings: &[AgentTypeSettings], key: &'static str) -> Result<bool, ProvisionError> {
    match settings.iter().find_map(|settings| settings.extra.get(key)) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or(ProvisionError::Setting { key, expected: "true or false" }),
    }
}

/// A yes-or-no field, nearest first; yes where nobody says otherwise.
pub(crate) fn flag_unless_off(
    settings: &[AgentTypeSettings],
    key: &'static str,
) -> Result<bool, ProvisionError> {
    let is_set = settings.iter().any(|settings| settings.extra.contains_key(key));
    Ok(!is_set || flag(settings, key)?)
}

/// A text, nearest first.
pub(crate) fn text<'s>(
    settings: &'s [AgentTypeSettings],
    key: &'static str,
) -> Result<Option<&'s str>, ProvisionError> {
    let value = settings.iter().find_map(|settings| settings.extra.get(key));
    let wrong = ProvisionError::Setting { key, expected: "a text" };
    value.map(|value| value.as_str().ok_or(wrong)).transpose()
}

/// Whether its program stays as it is (`update_policy`), as it does where nobody says otherwise.
pub(crate) fn keeps_its_version(settings: &[AgentTypeSettings]) -> bool {
    let policy = settings.iter().find_map(|settings| settings.extra.get("update_policy"));
    policy.and_then(|policy| policy.as_str()).is_none_or(|policy| policy == "NEVER")
}

/// A list of texts, all of the chain, the parents' first.
pub(crate) fn texts(
    settings: &[AgentTypeSettings],
    key: &'static str,
) -> Result<Vec<String>, ProvisionError> {
    let wrong = || ProvisionError::Setting { key, expected: "a list of texts" };
    let mut texts = Vec::new();
    for value in settings.iter().rev().filter_map(|settings| settings.extra.get(key)) {
        for text in value.as_array().ok_or_else(wrong)? {
            texts.push(text.as_str().ok_or_else(wrong)?.to_owned());
        }
    }
    Ok(texts)
}

/// The tables of this name as JSON, all of the chain, the parents' first.
pub(crate) fn objects(
    settings: &[AgentTypeSettings],
    key: &'static str,
) -> Result<Vec<Map<String, Value>>, ProvisionError> {
    let tables = settings.iter().rev().filter_map(|settings| settings.extra.get(key));
    tables
        .map(|table| match serde_json::to_value(table) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(ProvisionError::Setting { key, expected: "a table" }),
        })
        .collect()
}
