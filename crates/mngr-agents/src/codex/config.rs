//! The `CODEX_HOME` of one agent: the user's own, merged with mngr's hooks. The user's files are only read.

use mngr_config::AgentTypeSettings;
use mngr_host::files::{Access, Durability, FileKind, Files};
use mngr_model::HostPath;
use serde_json::{Map, Value};
use toml::Table;

use super::hooks::{self, Permissions, Questions};
use super::{places, sandbox};
use crate::brand::{Consent, ProvisionError, Provisioning};
use crate::json::read_object;
use crate::ordinary::read_ordinary;
use crate::settings::{flag, keeps_its_version, texts};
use crate::share::share;
use crate::user::UserSide;

/// The program's name in messages.
pub(super) const PROGRAM: &str = "Codex";
/// The user's login, which every agent shares.
pub(super) const CREDENTIALS: &str = "auth.json";

/// What of the user's folder every agent shares by link.
const SHARED: [&str; 6] = [".env", "AGENTS.md", "AGENTS.override.md", "prompts", "agents", "plugins"];
/// Layers of configuration a user may choose from.
const PROFILE_SUFFIX: &str = ".config.toml";
/// Rules about commands. Copied: "do not ask again", said to an agent, holds for that agent.
const RULES: &str = "rules";
/// Codex keeps some of its own there, so the user's are linked one by one.
const SKILLS: &str = "skills";

/// Settings of the type that are plain settings of Codex.
const PLAIN: [&str; 3] = ["model", "model_reasoning_effort", "sandbox_mode"];
/// Settings of the type that are tables of settings of Codex.
const OVERRIDES: [&str; 2] = ["config_overrides", "settings_overrides"];

/// The user's own `CODEX_HOME`.
pub(crate) fn users_home(user: &UserSide<'_>) -> Option<HostPath> {
    user.folder("CODEX_HOME", ".codex")
}

/// Fills the agent's folder.
pub(super) fn write(
    request: &Provisioning<'_>,
    user: Option<&HostPath>,
    folder: &HostPath,
    script: &HostPath,
) -> Result<(), ProvisionError> {
    let files = request.host.files();
    files.make_folder(folder)?;
    // Codex names its files by the real path.
    let folder = files.canonical(folder)?;
    let mut config = match user {
        Some(user) => read_toml(request.client.files(), &user.join("config.toml"))?,
        None => Table::new(),
    };
    let mut all_hooks = match user {
        Some(user) => read_object(request.client.files(), &user.join("hooks.json"))?,
        None => Map::new(),
    };
    trust_work_dir(request, &mut config)?;
    sandbox::open(request, &mut config)?;
    let granted = request.granted()?;
    if granted.is_some() {
        // Nobody is asked: what the sandbox does not let through comes back to the agent.
        config.insert("approval_policy".to_owned(), "never".into());
        config.insert("sandbox_mode".to_owned(), "workspace-write".into());
    }
    settle(request, &mut config)?;

    let permissions = match (flag(request.settings, "auto_allow_permissions")?, granted) {
        (true, _) => Permissions::Allow,
        (false, Some((_, Some(judge)))) => Permissions::Judged(judge.to_owned()),
        (false, _) => Permissions::Ask,
    };
    let questions = questions(request, &config);
    let hooks_file = folder.join("hooks.json");
    let real_home = user.and_then(|user| request.client.files().canonical(user).ok());
    edit_table(&mut config, "hooks", |hooks| {
        edit_table(hooks, "state", |state| {
            for user in user.into_iter().chain(&real_home) {
                hooks::carry_trust(state, user, &folder);
            }
            hooks::carry_trust(state, request.source, &request.record.work_dir);
            hooks::add(&mut all_hooks, state, &hooks_file, script, &permissions, questions);
        });
    });

    write_private(files, &hooks_file, &format!("{:#}\n", Value::Object(all_hooks)))?;
    write_private(files, &folder.join("config.toml"), &config.to_string())?;
    match user {
        Some(user) => share_all(request, user, &folder),
        None => Ok(()),
    }
}

/// Whether Codex asks questions outside of plan mode: its settings say so, or its command line.
fn questions(request: &Provisioning<'_>, config: &Table) -> Questions {
    const FEATURE: &str = "default_mode_request_user_input";
    let features = config.get("features");
    let is_set = features.and_then(|features| features.get(FEATURE)?.as_bool()) == Some(true);
    match is_set || request.argv.iter().any(|word| word.contains(FEATURE)) {
        true => Questions::Always,
        false => Questions::InPlanMode,
    }
}

fn write_private(files: &dyn Files, path: &HostPath, text: &str) -> Result<(), ProvisionError> {
    Ok(files.write(path, text.as_bytes(), Access::Private, Durability::Cached)?)
}

pub(super) fn read_toml(files: &dyn Files, path: &HostPath) -> Result<Table, ProvisionError> {
    let Some(bytes) = files.read_if_there(path)? else { return Ok(Table::new()) };
    let text = String::from_utf8_lossy(&bytes);
    toml::from_str(&text).map_err(|source| ProvisionError::DamagedToml { path: path.clone(), source })
}

/// Edits the table of that name, made where there is none.
pub(super) fn edit_table<R>(parent: &mut Table, key: &str, edit: impl FnOnce(&mut Table) -> R) -> R {
    let mut table = match parent.remove(key) {
        Some(toml::Value::Table(table)) => table,
        _ => Table::new(),
    };
    let result = edit(&mut table);
    parent.insert(key.to_owned(), table.into());
    result
}

/// The work dir is as trusted as the folder it comes from.
fn trust_work_dir(request: &Provisioning<'_>, config: &mut Table) -> Result<(), ProvisionError> {
    let level = |config: &Table| {
        let project = config.get("projects")?.get(request.source.as_str())?;
        project.get("trust_level").cloned()
    };
    let of_parent = || -> Result<Option<toml::Value>, ProvisionError> {
        let Some((host, parent)) = request.parent else { return Ok(None) };
        let path = parent.root().join(places::HOME).join("config.toml");
        // That agent can write it, so nothing in it is an error.
        let bytes = read_ordinary(host.files(), &path)?.unwrap_or_default();
        Ok(level(&toml::from_str(&String::from_utf8_lossy(&bytes)).unwrap_or_default()))
    };
    let known = match level(config) {
        Some(level) => Some(level),
        None => of_parent()?,
    };
    let level = match (known, request.consent) {
        (Some(level), _) => level,
        (None, Consent::Dialogs) => "trusted".into(),
        (None, Consent::Refuse) => {
            let question = format!("whether you trust the files in `{}`", request.source);
            return Err(ProvisionError::NeedsConsent { program: PROGRAM, question });
        }
        (None, Consent::Ask) => return Ok(()),
    };
    edit_table(config, "projects", |projects| {
        edit_table(projects, request.record.work_dir.as_str(), |project| {
            project.insert("trust_level".to_owned(), level);
        });
    });
    Ok(())
}

/// What mngr needs to be so, and what the type says.
fn settle(request: &Provisioning<'_>, config: &mut Table) -> Result<(), ProvisionError> {
    if keeps_its_version(request.settings) {
        config.insert("check_for_update_on_startup".to_owned(), false.into());
    }
    edit_table(config, "features", |features| {
        // A server shared by all agents of a home would outlive this one, and copy the whole program into the home.
        features.insert("daemon_auto_start".to_owned(), false.into());
        features.insert("hooks".to_owned(), true.into());
    });
    edit_table(config, "tui", |tui| {
        // A conversation that was begun elsewhere, as an adopted one was, goes on in the agent's own work dir.
        tui.insert("resume_cwd".to_owned(), "current".into());
    });
    edit_table(config, "history", |history| {
        // What was submitted is proved by the history; cutting it from the front would move what is looked at.
        history.insert("persistence".to_owned(), "save-all".into());
        history.remove("max_bytes");
    });
    for settings in request.settings.iter().rev() {
        for key in PLAIN {
            if let Some(value) = settings.extra.get(key) {
                let text =
                    value.as_str().ok_or(ProvisionError::Setting { key, expected: "a text" })?.to_owned();
                config.insert(key.to_owned(), text.into());
            }
        }
    }
    add_instructions(request.settings, config)?;
    apply_overrides(request.settings, config)
}

/// The tables of settings that the type has for Codex, on top of what is there.
pub(super) fn apply_overrides(
    settings: &[AgentTypeSettings],
    config: &mut Table,
) -> Result<(), ProvisionError> {
    for settings in settings.iter().rev() {
        for key in OVERRIDES {
            let Some(value) = settings.extra.get(key) else { continue };
            let wrong = ProvisionError::Setting { key, expected: "a table" };
            match toml::Value::try_from(value) {
                Ok(toml::Value::Table(patch)) => merge(config, patch),
                _ => return Err(wrong),
            }
        }
    }
    Ok(())
}

/// `append_system_prompt`, all of the chain behind what the user's own configuration says, the parents' first.
fn add_instructions(settings: &[AgentTypeSettings], config: &mut Table) -> Result<(), ProvisionError> {
    const INSTRUCTIONS: &str = "developer_instructions";
    let theirs = config.get(INSTRUCTIONS).and_then(|text| text.as_str()).map(str::to_owned);
    let texts: Vec<String> = theirs.into_iter().chain(texts(settings, "append_system_prompt")?).collect();
    if !texts.is_empty() {
        config.insert(INSTRUCTIONS.to_owned(), texts.join("\n\n").into());
    }
    Ok(())
}

/// Tables are merged, everything else is replaced.
fn merge(into: &mut Table, patch: Table) {
    for (key, value) in patch {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(patch)) => merge(into, patch),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

/// What else of the user's folder the agent sees.
fn share_all(request: &Provisioning<'_>, user: &HostPath, folder: &HostPath) -> Result<(), ProvisionError> {
    let (theirs, ours) = (request.client.files(), request.host.files());
    // A link: a new login, or a new prompt, is there for every agent at once.
    let link = |from: &HostPath, name: &str| -> Result<(), ProvisionError> {
        share(request.client, &from.join(name), request.host, &folder.join(name))
    };
    // Also where there is none yet: whoever logs in at an agent's terminal has logged in for all.
    if theirs.exists(user)? {
        link(user, CREDENTIALS)?;
    }
    for entry in theirs.list(user)? {
        if SHARED.contains(&entry.name.as_str()) || entry.name.ends_with(PROFILE_SUFFIX) {
            link(user, &entry.name)?;
        }
    }
    let skills = theirs.list(&user.join(SKILLS))?;
    ours.make_folder(&folder.join(SKILLS))?;
    for entry in skills.into_iter().filter(|entry| !entry.name.starts_with('.')) {
        let (from, to) = (user.join(SKILLS).join(&entry.name), folder.join(SKILLS).join(&entry.name));
        share(request.client, &from, request.host, &to)?;
    }
    let rules = theirs.list(&user.join(RULES))?;
    ours.make_folder(&folder.join(RULES))?;
    for entry in rules.into_iter().filter(|entry| entry.kind == FileKind::File) {
        let text = theirs.read(&user.join(RULES).join(&entry.name))?;
        ours.write(&folder.join(RULES).join(&entry.name), &text, Access::Private, Durability::Cached)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_merged_and_the_rest_is_replaced() {
        let mut config: Table = toml::from_str("a = 1\nb = [1]\n[t]\nx = 1\ny = 2\n").unwrap();
        merge(&mut config, toml::from_str("b = [2]\n[t]\ny = 3\nz = 4\n").unwrap());
        assert_eq!(config, toml::from_str("a = 1\nb = [2]\n[t]\nx = 1\ny = 3\nz = 4\n").unwrap());
    }

    #[test]
    fn a_table_is_made_where_something_else_stood() {
        let mut config: Table = toml::from_str("hooks = 1\n").unwrap();
        edit_table(&mut config, "hooks", |hooks| hooks.insert("state".to_owned(), 1.into()));
        assert_eq!(config, toml::from_str("[hooks]\nstate = 1\n").unwrap());
    }
}
