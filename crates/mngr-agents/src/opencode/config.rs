//! The surroundings of one agent's opencode: the user's configuration copied and linked, mngr's part beside it. The
//! user's files are only read.
//!
//! opencode merges several layers of configuration. mngr's own is the one that comes in a variable: it wins over the
//! others and lies in no file of theirs.

use mngr_host::files::{Access, Durability, FileKind, Files};
use mngr_model::HostPath;
use mngr_model::env::EnvPair;
use serde_json::{Map, Value, json};

use super::places;
use crate::brand::{ProvisionError, Provisioning};
use crate::settings::texts;
use crate::user::UserSide;

/// Our layer of configuration, and that of the terminal interface.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";
const TUI: &str = "OPENCODE_TUI_CONFIG";
/// Where conversations are kept.
const DATABASE: &str = "OPENCODE_DB";
const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
const STATE_HOME: &str = "XDG_STATE_HOME";
const NO_UPDATES: &str = "OPENCODE_DISABLE_AUTOUPDATE";

/// Our plugins, which import one another by these names.
const SCRIPTS: [(&str, &str); 3] = [
    ("record.js", include_str!("record.js")),
    ("events.js", include_str!("events.js")),
    ("terminal.js", include_str!("terminal.js")),
];

/// What opencode remembers of the user's choices: the model used last, the theme. Copied, so that an agent begins with
/// them and keeps its own.
const REMEMBERED: [&str; 2] = ["model.json", "kv.json"];

/// The package that opencode installs into every configuration folder, for the plugins in it.
const PLUGIN_PACKAGE: &str = "@opencode-ai/plugin";

/// Fills the agent's folders, and returns the variables that lead opencode to them.
pub(super) fn write(request: &Provisioning<'_>) -> Result<Vec<EnvPair>, ProvisionError> {
    let files = request.host.files();
    let folder = places::folder(request.agent);
    let [config_home, state_home, scripts] = ["config", "state", "scripts"].map(|name| folder.join(name));
    for (name, text) in SCRIPTS {
        files.make_folder(&scripts)?;
        write_private(files, &scripts.join(name), text)?;
    }
    let user = UserSide::of(request);
    copy_config(request, user.folder(CONFIG_HOME, ".config").as_ref(), &config_home)?;
    copy_state(request, user.folder(STATE_HOME, ".local/state").as_ref(), &state_home)?;

    let mut vars = vec![
        (CONFIG_HOME, config_home.to_string()),
        (STATE_HOME, state_home.to_string()),
        (DATABASE, places::database(request.agent).to_string()),
    ];
    let tui = folder.join("tui.json");
    vars.push((TUI, tui.to_string()));
    // What these were before, for everything the agent runs; empty is the same as not set.
    let mut outside: Map<String, Value> = Map::new();
    for name in vars.iter().map(|(name, _)| *name).chain([CONTENT]) {
        outside.insert(name.to_owned(), request.vars.get(name).map_or("", String::as_str).into());
    }
    let options = json!({ "state": request.agent.root().as_str(), "outside": outside });
    let plugin = |name: &str| json!([scripts.join(name).as_str(), options]);
    write_private(files, &tui, &json!({ "plugin": [plugin("terminal.js")] }).to_string())?;
    vars.push((CONTENT, content(request, plugin("events.js"))?.to_string()));
    let policy = request.settings.iter().find_map(|settings| settings.extra.get("update_policy"));
    if policy.and_then(|policy| policy.as_str()).is_none_or(|policy| policy == "NEVER") {
        vars.push((NO_UPDATES, "1".to_owned()));
    }
    vars.into_iter().map(|(name, value)| Ok(EnvPair::new(name.parse()?, &value)?)).collect()
}

fn write_private(files: &dyn Files, path: &HostPath, text: &str) -> Result<(), ProvisionError> {
    Ok(files.write(path, text.as_bytes(), Access::Private, Durability::Cached)?)
}

/// Our layer: the user's own of that kind, our plugin, what the type says.
fn content(request: &Provisioning<'_>, plugin: Value) -> Result<Value, ProvisionError> {
    let theirs = request.vars.get(CONTENT).filter(|text| !text.trim().is_empty());
    let mut content = match theirs {
        Some(text) => serde_json::from_str(text)
            .map_err(|source| ProvisionError::Damaged { path: HostPath::new(CONTENT), source })?,
        None => json!({}),
    };
    push(&mut content, "plugin", plugin);
    let prompt = texts(request.settings, "append_system_prompt")?;
    if !prompt.is_empty() {
        let path = places::folder(request.agent).join("instructions.md");
        write_private(request.host.files(), &path, &prompt.join("\n\n"))?;
        push(&mut content, "instructions", path.as_str().into());
    }
    for settings in request.settings.iter().rev() {
        const KEY: &str = "settings_overrides";
        let Some(overrides) = settings.extra.get(KEY) else { continue };
        match serde_json::to_value(overrides) {
            Ok(patch @ Value::Object(_)) => merge(&mut content, patch),
            _ => return Err(ProvisionError::Setting { key: KEY, expected: "a table" }),
        }
    }
    Ok(content)
}

/// Adds to a list, made where there is none.
fn push(content: &mut Value, key: &str, value: Value) {
    match &mut content[key] {
        Value::Array(list) => list.push(value),
        slot => *slot = json!([value]),
    }
}

/// Tables are merged, lists grow, everything else is replaced: as opencode merges its layers.
fn merge(into: &mut Value, patch: Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(patch)) => into.extend(patch),
        (into, patch) => *into = patch,
    }
}

/// The agent's configuration home. opencode writes into its folder, so what it would rewrite there is copied and the
/// rest linked; the folders of all other programs are linked, since its tool servers look for them there.
fn copy_config(
    request: &Provisioning<'_>,
    user: Option<&HostPath>,
    home: &HostPath,
) -> Result<(), ProvisionError> {
    const NAME: &str = "opencode";
    let (theirs, ours) = (request.client.files(), request.host.files());
    let folder = home.join(NAME);
    ours.make_folder(&folder)?;
    let mut has_packages = false;
    if let Some(user) = user {
        for entry in theirs.list(user)?.into_iter().filter(|entry| entry.name != NAME) {
            ours.link(user.join(&entry.name).as_str(), &home.join(&entry.name))?;
        }
        let user = user.join(NAME);
        for entry in theirs.list(&user)? {
            let (from, to) = (user.join(&entry.name), folder.join(&entry.name));
            has_packages |= ["node_modules", "package.json", "plugin", "plugins", "tool", "tools"]
                .contains(&entry.name.as_str());
            let is_settings = entry.name.ends_with(".json") || entry.name.ends_with(".jsonc");
            if is_settings && entry.kind == FileKind::File {
                ours.write(&to, &theirs.read(&from)?, Access::Private, Durability::Cached)?;
            } else {
                ours.link(from.as_str(), &to)?;
            }
        }
    }
    if has_packages {
        return Ok(());
    }
    // Nothing there needs the package, 33 MB from the network: to opencode it looks installed.
    let lock = json!({ "packages": { "": { "dependencies": { PLUGIN_PACKAGE: "*" } } } });
    ours.make_folder(&folder.join("node_modules"))?;
    write_private(ours, &folder.join("package-lock.json"), &lock.to_string())
}

fn copy_state(
    request: &Provisioning<'_>,
    user: Option<&HostPath>,
    home: &HostPath,
) -> Result<(), ProvisionError> {
    let (theirs, ours) = (request.client.files(), request.host.files());
    let folder = home.join("opencode");
    ours.make_folder(&folder)?;
    for name in REMEMBERED {
        let Some(user) = user else { continue };
        if let Some(bytes) = theirs.read_if_there(&user.join("opencode").join(name))? {
            ours.write(&folder.join(name), &bytes, Access::Private, Durability::Cached)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_merged_as_opencode_merges_them() {
        let mut value = json!({ "a": { "b": 1, "c": 2 }, "plugin": ["x"], "model": "m" });
        merge(&mut value, json!({ "a": { "c": 3 }, "plugin": ["y"], "model": "n" }));
        assert_eq!(value, json!({ "a": { "b": 1, "c": 3 }, "plugin": ["x", "y"], "model": "n" }));
    }
}
