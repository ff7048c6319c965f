//! The configuration folder of one agent: the user's own, merged with mngr's hooks. The user's files are only read.

use mngr_config::AgentTypeSettings;
use mngr_host::files::{Access, Durability, Files};
use mngr_model::HostPath;
use serde_json::{Map, Value, json};

use crate::brand::{Consent, ProvisionError, Provisioning};

/// The program's name in messages.
const PROGRAM: &str = "Claude Code";

/// Events mngr listens to.
const EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "SessionEnd",
];

/// What of the user's folder every agent shares by link.
const SHARED: [&str; 7] =
    [".credentials.json", "CLAUDE.md", "skills", "agents", "commands", "plugins", "keybindings.json"];

/// The user's own configuration.
pub(super) struct UserConfig {
    folder: HostPath,
    main_file: HostPath,
}

impl UserConfig {
    pub(super) fn find(request: &Provisioning<'_>) -> Option<Self> {
        if let Some(folder) = request.vars.get("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
            let folder = HostPath::new(folder.clone());
            return Some(Self { main_file: folder.join(".claude.json"), folder });
        }
        let home = request.home?;
        Some(Self { folder: home.join(".claude"), main_file: home.join(".claude.json") })
    }

    pub(super) fn folder(&self) -> &HostPath {
        &self.folder
    }
}

/// Fills the agent's folder.
pub(super) fn write(
    request: &Provisioning<'_>,
    user: Option<&UserConfig>,
    folder: &HostPath,
    hook: &HostPath,
) -> Result<(), ProvisionError> {
    let files = request.host.files();
    files.make_folder(&folder.join("sessions"))?;
    let main = main_file(request, user)?;
    write_json(files, &folder.join(".claude.json"), &Value::Object(main))?;
    let settings = settings(request, user, hook)?;
    write_json(files, &folder.join("settings.json"), &settings)?;
    let Some(user) = user else { return Ok(()) };
    for name in SHARED {
        let theirs = user.folder.join(name);
        // A link: a new login, or a new skill, is there for every agent at once.
        if request.client.files().exists(&theirs)? && !files.exists(&folder.join(name))? {
            files.link(theirs.as_str(), &folder.join(name))?;
        }
    }
    Ok(())
}

fn write_json(files: &dyn Files, path: &HostPath, value: &Value) -> Result<(), ProvisionError> {
    let text = format!("{value:#}\n");
    Ok(files.write(path, text.as_bytes(), Access::Private, Durability::Cached)?)
}

fn read_json(files: &dyn Files, path: &HostPath) -> Result<Map<String, Value>, ProvisionError> {
    let Some(bytes) = files.read_if_there(path)? else { return Ok(Map::new()) };
    serde_json::from_slice(&bytes).map_err(|source| ProvisionError::Damaged { path: path.clone(), source })
}

/// `.claude.json`: the user's, with the work dir as trusted as the folder it comes from.
fn main_file(
    request: &Provisioning<'_>,
    user: Option<&UserConfig>,
) -> Result<Map<String, Value>, ProvisionError> {
    let mut main = match user {
        Some(user) => read_json(request.client.files(), &user.main_file)?,
        None => Map::new(),
    };
    let is_set = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    if !is_set(main.get("hasCompletedOnboarding")) {
        match request.consent {
            Consent::Dialogs => {
                main.insert("hasCompletedOnboarding".into(), true.into());
                main.entry("theme").or_insert_with(|| "dark".into());
            }
            Consent::Refuse => return Err(needs_consent("how it should be set up (it was never started)")),
            Consent::Ask => {}
        }
    }
    let projects = main.entry("projects").or_insert_with(|| json!({}));
    let mut project = projects.get(request.source.as_str()).cloned().unwrap_or_else(|| json!({}));
    if !is_set(project.get("hasTrustDialogAccepted")) {
        match request.consent {
            Consent::Dialogs => project["hasTrustDialogAccepted"] = true.into(),
            Consent::Refuse => {
                return Err(needs_consent(&format!("whether you trust the files in `{}`", request.source)));
            }
            Consent::Ask => {}
        }
    }
    projects[request.record.work_dir.as_str()] = project;
    Ok(main)
}

fn needs_consent(question: &str) -> ProvisionError {
    ProvisionError::NeedsConsent { program: PROGRAM, question: question.to_owned() }
}

/// `settings.json`: the user's, with mngr's hooks beside theirs and the type's overrides on top.
fn settings(
    request: &Provisioning<'_>,
    user: Option<&UserConfig>,
    hook: &HostPath,
) -> Result<Value, ProvisionError> {
    let mut settings = match user {
        Some(user) => Value::Object(read_json(request.client.files(), &user.folder.join("settings.json"))?),
        None => json!({}),
    };
    let allows = flag(request.settings, "auto_allow_permissions")?;
    let hook = mngr_model::quote::sh_quote(hook.as_str());
    for event in EVENTS {
        let answer = if event == "PermissionRequest" && allows { " allow" } else { "" };
        let entry =
            json!({ "hooks": [{ "type": "command", "command": format!("sh {hook} {event}{answer}") }] });
        match &mut settings["hooks"][event] {
            Value::Array(entries) => entries.push(entry),
            slot => *slot = json!([entry]),
        }
    }
    for overrides in
        request.settings.iter().rev().filter_map(|settings| settings.extra.get("settings_overrides"))
    {
        let patch = serde_json::to_value(overrides)
            .map_err(|_| ProvisionError::Setting { key: "settings_overrides", expected: "a table" })?;
        merge(&mut settings, patch);
    }
    Ok(settings)
}

/// Tables are merged, everything else is replaced.
fn merge(into: &mut Value, patch: Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch,
    }
}

/// A yes-or-no field of the type, nearest first.
pub(super) fn flag(settings: &[AgentTypeSettings], key: &'static str) -> Result<bool, ProvisionError> {
    match settings.iter().find_map(|settings| settings.extra.get(key)) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or(ProvisionError::Setting { key, expected: "true or false" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_merged_and_the_rest_is_replaced() {
        let mut value = json!({ "a": { "b": 1, "c": [1] }, "d": 2 });
        merge(&mut value, json!({ "a": { "c": [2], "e": 3 } }));
        assert_eq!(value, json!({ "a": { "b": 1, "c": [2], "e": 3 }, "d": 2 }));
    }
}
