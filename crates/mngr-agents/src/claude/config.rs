//! The configuration folder of one agent: the user's own, merged with mngr's hooks. The user's files are only read.

use mngr_host::files::{Access, Durability, Files};
use mngr_model::HostPath;
use serde_json::{Map, Value, json};

use super::brand::CONFIG_DIR;
use super::login::{self, KeyAnswer};
use super::permissions;
use crate::brand::{Consent, ProvisionError, Provisioning};
use crate::json::{edit_object, push, read_object};
use crate::login::LoginPlace;
use crate::ordinary::read_ordinary;
use crate::settings::{flag, flag_unless_off, objects, text};
use crate::share::{Way, share};
use crate::user::UserSide;

/// What Claude Code remembers about itself and the folders it was started in.
const MAIN_FILE: &str = ".claude.json";
/// The program's name in messages.
pub(super) const PROGRAM: &str = "Claude Code";
/// The user's login, which every agent shares.
pub(super) const CREDENTIALS: &str = ".credentials.json";

/// Whether agents get the user's [`MAIN_FILE`].
pub(super) const SYNC_MAIN_FILE: &str = "sync_claude_json";
/// Whether agents get the user's settings and what is [`SHARED`].
pub(super) const SYNC_SETTINGS: &str = "sync_home_settings";
/// The tool with which Claude Code asks the user something.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// Events mngr listens to.
const EVENTS: [&str; 10] = [
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
];

/// What of the user's folder every agent shares by link.
const SHARED: [&str; 6] = ["CLAUDE.md", "skills", "agents", "commands", "plugins", "keybindings.json"];
/// Answers that hold for an agent made from another one too, where the user's own file has none.
const INHERITED: [&str; 3] = ["hasCompletedOnboarding", "theme", KEY_ANSWERS];
/// What was said about keys among the variables.
const KEY_ANSWERS: &str = "customApiKeyResponses";

/// Whether auto mode was offered to become the default, in whatever mode the user has chosen.
const AUTO_MODE_OFFERED: &str = "hasSeenAutoDefaultNudge";

/// The user's own configuration.
pub(crate) struct UserConfig {
    folder: HostPath,
    main_file: HostPath,
}

impl UserConfig {
    pub(crate) fn find(user: &UserSide<'_>) -> Option<Self> {
        const VARIABLE: &str = "CLAUDE_CONFIG_DIR";
        let folder = user.folder(VARIABLE, ".claude")?;
        // In a home the file stands beside the folder, elsewhere in it.
        let is_elsewhere = user.vars.get(VARIABLE).is_some_and(|folder| !folder.is_empty());
        let main_file = match user.home.filter(|_| !is_elsewhere) {
            Some(home) => home.join(MAIN_FILE),
            None => folder.join(MAIN_FILE),
        };
        Some(Self { folder, main_file })
    }

    pub(crate) fn folder(&self) -> &HostPath {
        &self.folder
    }

    pub(super) fn main_file(&self) -> &HostPath {
        &self.main_file
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
    write_json(files, &folder.join(MAIN_FILE), &Value::Object(main))?;
    let settings = settings(request, user, hook)?;
    write_json(files, &folder.join("settings.json"), &settings)?;
    let Some(user) = user else { return Ok(()) };
    // A link: a new login, or a new skill, is there for every agent at once.
    let give = |name: &str, way: Way| -> Result<(), ProvisionError> {
        if files.stat(&folder.join(name))?.is_none() {
            share(request.client, &user.folder.join(name), request.host, &folder.join(name), way)?;
        }
        Ok(())
    };
    let way = match flag_unless_off(request.settings, "symlink_user_resources")? {
        true => Way::Link,
        false => Way::Copy,
    };
    let shared: &[&str] = if flag_unless_off(request.settings, SYNC_SETTINGS)? { &SHARED } else { &[] };
    for name in shared {
        if request.client.files().exists(&user.folder.join(name))? {
            give(name, way)?;
        }
    }
    if !flag_unless_off(request.settings, login::SYNC_LOGIN)? {
        return Ok(());
    }
    // For versions that know no other place for it. Also where there is none yet: whoever logs in at an agent's terminal
    // has logged in for all.
    if request.client.files().exists(&user.folder)? { give(CREDENTIALS, Way::Link) } else { Ok(()) }
}

fn write_json(files: &dyn Files, path: &HostPath, value: &Value) -> Result<(), ProvisionError> {
    let text = format!("{value:#}\n");
    Ok(files.write(path, text.as_bytes(), Access::Private, Durability::Cached)?)
}

/// `.claude.json`: the user's, with the work dir as trusted as the folder it comes from.
fn main_file(
    request: &Provisioning<'_>,
    user: Option<&UserConfig>,
) -> Result<Map<String, Value>, ProvisionError> {
    let mut main = match user {
        Some(user) if flag_unless_off(request.settings, SYNC_MAIN_FILE)? => {
            read_object(request.client.files(), &user.main_file)?
        }
        _ => Map::new(),
    };
    if !flag_unless_off(request.settings, login::SYNC_LOGIN)? {
        main.retain(|key, _| !login::ACCOUNT.contains(&key.as_str()));
    }
    let parent = parents_main_file(request)?;
    for key in INHERITED {
        if let Some(value) = parent.get(key).filter(|_| !main.contains_key(key)) {
            main.insert(key.to_owned(), value.clone());
        }
    }
    let is_set = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    if !is_set(main.get("hasCompletedOnboarding")) {
        match request.consent {
            Consent::Dialogs => {
                main.insert("hasCompletedOnboarding".into(), true.into());
                main.entry("theme").or_insert_with(|| "dark".into());
            }
            Consent::Refuse => return Err(needs_consent(NEVER_STARTED)),
            Consent::Ask => {}
        }
    }
    let of_source =
        |main: &Map<String, Value>| main.get("projects")?.get(request.source.as_str())?.as_object().cloned();
    let mut project = of_source(&main).or_else(|| of_source(&parent)).unwrap_or_default();
    if !is_set(project.get("hasTrustDialogAccepted")) {
        match request.consent {
            Consent::Dialogs => {
                project.insert("hasTrustDialogAccepted".into(), true.into());
            }
            Consent::Refuse => {
                return Err(needs_consent(&trust_question(request.source)));
            }
            Consent::Ask => {}
        }
    }
    edit_object(&mut main, "projects", |projects| {
        projects.insert(request.record.work_dir.to_string(), project.into());
        forget_sessions(projects);
    });
    settle_key(request, &mut main)?;
    // An offer, made right after the input box is there: it would take the first message for an answer.
    main.insert(AUTO_MODE_OFFERED.into(), true.into());
    Ok(main)
}

/// Takes out what the user's own last sessions have used: an agent that goes on with one would count that as its own.
fn forget_sessions(projects: &mut Map<String, Value>) {
    for project in projects.values_mut().filter_map(Value::as_object_mut) {
        project.retain(|key, _| !key.starts_with("last"));
    }
}

/// `.claude.json` of the agent this one is made from. That agent can write it, so nothing in it is an error.
fn parents_main_file(request: &Provisioning<'_>) -> Result<Map<String, Value>, ProvisionError> {
    let Some((host, parent)) = request.parent else { return Ok(Map::new()) };
    let path = parent.root().join(CONFIG_DIR).join(MAIN_FILE);
    let bytes = read_ordinary(host.files(), &path)?.unwrap_or_default();
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

/// Claude Code asks whether to use a key it finds among its variables.
fn settle_key(request: &Provisioning<'_>, main: &mut Map<String, Value>) -> Result<(), ProvisionError> {
    let Some(key) = request.env.get(login::KEY_VARIABLE).filter(|key| !key.is_empty()) else {
        return Ok(());
    };
    if login::answer_about(main, key) != KeyAnswer::NotAskedYet {
        return Ok(());
    }
    match request.consent {
        Consent::Ask => Ok(()),
        Consent::Refuse => Err(needs_consent(&key_question())),
        Consent::Dialogs => {
            edit_object(main, KEY_ANSWERS, |answers| push(answers, "approved", login::key_tail(key).into()));
            Ok(())
        }
    }
}

/// What it would ask an agent whose files come from this folder: how it should be set up, whether the folder is trusted,
/// whether a key may be used.
pub(super) fn first_question(
    place: &LoginPlace<'_>,
    source: &HostPath,
) -> Result<Option<ProvisionError>, ProvisionError> {
    let main = match UserConfig::find(&place.user) {
        Some(config) => read_object(place.user.files, &config.main_file)?,
        None => Map::new(),
    };
    let is_set = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    let project = main.get("projects").and_then(|projects| projects.get(source.as_str()));
    let key = place.env.get(login::KEY_VARIABLE).filter(|key| !key.is_empty());
    let question = if !is_set(main.get("hasCompletedOnboarding")) {
        Some(NEVER_STARTED.to_owned())
    } else if !is_set(project.and_then(|project| project.get("hasTrustDialogAccepted"))) {
        Some(trust_question(source))
    } else {
        key.filter(|key| login::answer_about(&main, key) == KeyAnswer::NotAskedYet).map(|_| key_question())
    };
    Ok(question.map(|question| needs_consent(&question)))
}

fn trust_question(source: &HostPath) -> String {
    format!("whether you trust the files in `{source}`")
}

fn key_question() -> String {
    format!("whether to use the key in `{}`", login::KEY_VARIABLE)
}

/// What it would ask where it was never started.
const NEVER_STARTED: &str = "how it should be set up (it was never started)";

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
        Some(user) if flag_unless_off(request.settings, SYNC_SETTINGS)? => {
            read_object(request.client.files(), &user.folder.join("settings.json"))?
        }
        _ => Map::new(),
    };
    for (key, name) in [("model", "model"), ("output_style", "outputStyle")] {
        if let Some(text) = text(request.settings, key)? {
            settings.insert(name.into(), text.into());
        }
    }
    if flag(request.settings, "auto_disable_questions")? {
        edit_object(&mut settings, "permissions", |permissions| {
            push(permissions, "deny", QUESTION_TOOL.into());
        });
    }
    // It would make itself the user's program for links of its own, in the user's own settings of the desktop.
    settings.insert("disableDeepLinkRegistration".into(), "disable".into());
    let allows = flag(request.settings, "auto_allow_permissions")?;
    let hook = mngr_model::quote::sh_quote(hook.as_str());
    if allows {
        // Where its server cannot be asked, auto mode stops in dialogs that no hook hears of.
        edit_object(&mut settings, "permissions", |permissions| {
            permissions.insert("disableAutoMode".into(), "disable".into());
        });
    }
    let granted = request.granted()?;
    if let Some((set, judge)) = granted {
        let rules = permissions::rules(set, judge.is_some(), request);
        edit_object(&mut settings, "permissions", |permissions| {
            permissions.insert("disableAutoMode".into(), "disable".into());
            permissions.insert("defaultMode".into(), "default".into());
            for rule in rules {
                push(permissions, "allow", rule.into());
            }
        });
    }
    let judged = match granted {
        Some((_, Some(judge))) => format!(" permit {}", mngr_model::quote::sh_quote(judge)),
        Some((_, None)) => " permit".to_owned(),
        None => String::new(),
    };
    edit_object(&mut settings, "hooks", |hooks| {
        for event in EVENTS {
            let answer = match event {
                "PermissionRequest" if allows => " allow",
                "PermissionRequest" => &judged,
                _ => "",
            };
            let command = format!("sh {hook} {event}{answer}");
            push(hooks, event, json!({ "hooks": [{ "type": "command", "command": command }] }));
        }
    });
    let mut settings = Value::Object(settings);
    for patch in objects(request.settings, "settings_overrides")? {
        merge(&mut settings, Value::Object(patch));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_users_sessions_used_is_not_brought_along() {
        let mut projects =
            json!({ "/w": { "lastCost": 1, "lastModelUsage": {}, "hasTrustDialogAccepted": true }, "/x": 1 });
        forget_sessions(projects.as_object_mut().unwrap());
        assert_eq!(projects, json!({ "/w": { "hasTrustDialogAccepted": true }, "/x": 1 }));
    }

    #[test]
    fn tables_are_merged_and_the_rest_is_replaced() {
        let mut value = json!({ "a": { "b": 1, "c": [1] }, "d": 2 });
        merge(&mut value, json!({ "a": { "c": [2], "e": 3 } }));
        assert_eq!(value, json!({ "a": { "b": 1, "c": [2], "e": 3 }, "d": 2 }));
    }
}
