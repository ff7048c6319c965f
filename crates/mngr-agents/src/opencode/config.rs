//! The surroundings of one agent's opencode: the user's configuration copied and linked, mngr's part beside it. The
//! user's files are only read.
//!
//! opencode merges several layers of configuration. mngr's own is the one that comes in a variable: it wins over the
//! others and lies in no file of theirs.

use mngr_host::files::{Access, Durability, Files};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::env::EnvPair;
use serde_json::{Map, Value, json};

use super::{permissions, places};
use crate::brand::{ProvisionError, Provisioning};
use crate::json::push;
use crate::ordinary::read_ordinary;
use crate::settings::{keeps_its_version, objects, texts};
use crate::share::{is_same, share};
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

/// The name of its folder in a home of configurations, or of states.
const NAME: &str = "opencode";
/// The package that opencode installs into every configuration folder, for the plugins in it.
const PLUGIN_PACKAGE: &str = "@opencode-ai/plugin";
/// What in a configuration folder may need packages.
const NEEDS_PACKAGES: [&str; 6] = ["node_modules", "package.json", "plugin", "plugins", "tool", "tools"];

/// Fills the agent's folders, and returns the variables that lead opencode to them.
pub(super) fn write(request: &Provisioning<'_>) -> Result<Vec<EnvPair>, ProvisionError> {
    let files = request.host.files();
    let folder = places::folder(request.agent);
    let [config_home, state_home, scripts] = ["config", "state", "scripts"].map(|name| folder.join(name));
    files.make_folder(&scripts)?;
    for (name, text) in SCRIPTS {
        write_private(files, &scripts.join(name), text)?;
    }
    let user = UserSide::of(request);
    let users_config = user.folder(CONFIG_HOME, ".config");
    copy_config(request.client, users_config.as_ref(), request.host, &config_home)?;
    copy_state(user.files, user.folder(STATE_HOME, ".local/state").as_ref(), files, &state_home)?;

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
    if keeps_its_version(request.settings) {
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
    let mut content: Map<String, Value> = match theirs {
        Some(text) => serde_json::from_str(text)
            .map_err(|source| ProvisionError::Damaged { path: HostPath::new(CONTENT), source })?,
        None => Map::new(),
    };
    push(&mut content, "plugin", plugin);
    let prompt = texts(request.settings, "append_system_prompt")?;
    if !prompt.is_empty() {
        let path = places::folder(request.agent).join("instructions.md");
        write_private(request.host.files(), &path, &prompt.join("\n\n"))?;
        push(&mut content, "instructions", path.as_str().into());
    }
    if let Some((set, _)) = request.granted()? {
        content.insert("permission".to_owned(), permissions::rules(set));
    }
    let mut content = Value::Object(content);
    for patch in objects(request.settings, "settings_overrides")? {
        merge(&mut content, Value::Object(patch));
    }
    Ok(content)
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
/// rest linked; the folders of all other programs are linked, since its tool servers look for them there. To another
/// machine only its own folder comes.
fn copy_config(
    client: &dyn Host,
    user: Option<&HostPath>,
    host: &dyn Host,
    home: &HostPath,
) -> Result<(), ProvisionError> {
    let (theirs, ours) = (client.files(), host.files());
    let folder = home.join(NAME);
    ours.make_folder(&folder)?;
    let mut has_packages = false;
    if let Some(user) = user {
        let others = if is_same(client, host) { theirs.list(user)? } else { Vec::new() };
        for entry in others.into_iter().filter(|entry| entry.name != NAME) {
            ours.link(user.join(&entry.name).as_str(), &home.join(&entry.name))?;
        }
        let user = user.join(NAME);
        for name in theirs.list(&user)?.into_iter().map(|entry| entry.name) {
            let (from, to) = (user.join(&name), folder.join(&name));
            has_packages |= NEEDS_PACKAGES.contains(&name.as_str());
            let is_settings = name.ends_with(".json") || name.ends_with(".jsonc");
            match is_settings.then(|| read_ordinary(theirs, &from)).transpose()?.flatten() {
                Some(text) => ours.write(&to, &text, Access::Private, Durability::Cached)?,
                None => share(client, &from, host, &to)?,
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
    theirs: &dyn Files,
    user: Option<&HostPath>,
    ours: &dyn Files,
    home: &HostPath,
) -> Result<(), ProvisionError> {
    ours.make_folder(&home.join(NAME))?;
    let Some(user) = user else { return Ok(()) };
    for name in REMEMBERED {
        if let Some(bytes) = read_ordinary(theirs, &user.join(NAME).join(name))? {
            ours.write(&home.join(NAME).join(name), &bytes, Access::Private, Durability::Cached)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mngr_host::files::FileKind;
    use mngr_host::local::LocalFiles;

    use super::*;

    #[test]
    fn layers_are_merged_as_opencode_merges_them() {
        let mut value = json!({ "a": { "b": 1, "c": 2 }, "plugin": ["x"], "model": "m" });
        merge(&mut value, json!({ "a": { "c": 3 }, "plugin": ["y"], "model": "n" }));
        assert_eq!(value, json!({ "a": { "b": 1, "c": 3 }, "plugin": ["x", "y"], "model": "n" }));
    }

    #[test]
    fn what_opencode_would_rewrite_is_copied_even_behind_a_link_and_the_rest_is_linked() {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let (user, home) = (root.join("user"), root.join("agent"));
        for folder in ["user/opencode/agents", "user/git"] {
            LocalFiles.make_folder(&root.join(folder)).unwrap();
        }
        write_private(&LocalFiles, &root.join("dotfile"), "{}").unwrap();
        LocalFiles.link("../../dotfile", &user.join("opencode/opencode.json")).unwrap();
        let host = mngr_host::local::LocalHost::open(root.join("host")).unwrap();
        copy_config(&host, Some(&user), &host, &home).unwrap();
        let kind = |path: &str| LocalFiles.stat(&home.join(path)).unwrap().unwrap().kind;
        assert_eq!(kind("opencode/opencode.json"), FileKind::File);
        assert_eq!((kind("opencode/agents"), kind("git")), (FileKind::Link, FileKind::Link));
        assert_eq!(kind("opencode/node_modules"), FileKind::Folder, "the package is not asked for");
        LocalFiles.make_folder(&user.join("opencode/plugin")).unwrap();
        let other = root.join("other");
        copy_config(&host, Some(&user), &host, &other).unwrap();
        assert!(
            !LocalFiles.exists(&other.join("opencode/node_modules")).unwrap(),
            "plugins need the package"
        );
    }
}
