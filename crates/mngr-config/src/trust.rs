//! Which settings a repository may bring along before its owner is trusted.
//!
//! Settings can run programs, so a cloned repository must not decide them. Until the user trusts it, only the
//! keys of [`ALLOWED`] count; all others are withheld. Both files of a repository are treated alike: the one that
//! is "meant to stay uncommitted" can be committed by an attacker as well. A key is withheld unless it is listed
//! here, so a new setting is never trusted by oversight.
//!
//! What passes is text and nothing else: a template or a label must not move the cursor of a terminal, whoever prints it
//! and wherever. Templates that the user typed, or trusts, keep their escapes.

use crate::key::KeyPath;
use crate::layer::Layer;
use crate::origin::Origin;
use crate::problem::Problem;
use crate::tree::{Entry, Item, Tree};

mod plain_text;
mod record;

pub use record::{Fingerprint, Trust, TrustError, TrustStore};

/// What an untrusted repository may set: how things look, and how new agents are named, labelled and branched.
pub const ALLOWED: &[&[&str]] = &[
    &["commands", "create", "branch"],
    &["commands", "create", "label"],
    &["commands", "create", "name_style"],
    &["commands", "create", "project"],
    &["commands", "list", "fields"],
    &["commands", "list", "format"],
    &["commands", "list", "header"],
    &["commands", "list", "sort"],
];

/// Verbs that inspect or repair settings, or only explain: they go on with what is allowed.
const NEVER_STOPPED: &[&str] = &["config", "doctor", "help", "plugin"];

/// What every verb that meets agents uses, besides `commands.<verb>` and `pre_command_scripts.<verb>`.
const USED_BY_ALL: &[&str] = &[
    "default_host_dir",
    "enabled_backends",
    "headless",
    "logging",
    "plugins",
    "prefix",
    "providers",
    "retry",
    "tmux",
];

/// What each verb uses besides. A verb that is not listed is taken to use every setting.
const USED_BY: &[(&str, &[&str])] = &[
    ("archive", &["agent_types", "background_patience"]),
    ("capture", &[]),
    ("cleanup", &["agent_types", "background_patience", "stop", "trash"]),
    ("connect", &["agent_types", "background_patience", "connect_command", "unset_vars"]),
    (
        "create",
        &[
            "agent_ready_timeout",
            "agent_types",
            "connect_command",
            "create_templates",
            "is_remote_agent_installation_allowed",
            "pools",
            "unset_vars",
            "work_dir_extra_paths",
        ],
    ),
    ("destroy", &["agent_types", "background_patience", "stop", "trash"]),
    ("event", &[]),
    ("exec", &["exec", "unset_vars"]),
    ("explain", &[]),
    ("file_get", &[]),
    ("file_list", &[]),
    ("file_put", &[]),
    ("gc", &["trash"]),
    ("git_pull", &[]),
    ("git_push", &[]),
    ("label", &[]),
    ("list", &["host_detail_read_timeout_seconds"]),
    ("message", &["agent_ready_timeout", "agent_types", "background_patience"]),
    ("observe", &[]),
    ("pull", &[]),
    ("push", &[]),
    ("rename", &[]),
    ("rsync", &[]),
    (
        "start",
        &["agent_ready_timeout", "agent_types", "background_patience", "connect_command", "unset_vars"],
    ),
    ("stop", &["agent_types", "background_patience", "stop"]),
    ("transcript", &[]),
    ("unarchive", &["agent_types", "background_patience"]),
    ("undo", &["trash"]),
    ("usage", &["prices"]),
    ("wait", &[]),
];

/// A key an untrusted repository sets and may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldKey {
    /// The key.
    pub key: KeyPath,
    /// Where the repository sets it.
    pub at: Origin,
}

/// What an untrusted repository wanted to set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Untrusted {
    /// The keys that were withheld, in the order of layers and keys.
    pub keys: Vec<WithheldKey>,
}

impl Untrusted {
    /// The withheld keys that `verb` would use (`create`, `config_list`, ...; no aliases). If there are any, the verb
    /// must not run until the repository is trusted.
    pub fn used_by(&self, verb: &str) -> Vec<&WithheldKey> {
        if NEVER_STOPPED.iter().any(|free| verb.split('_').next() == Some(free)) {
            return Vec::new();
        }
        let used = USED_BY.iter().find(|(known, _)| *known == verb).map(|(_, keys)| *keys);
        let is_used = |withheld: &&WithheldKey| match (used, withheld.key.segments()) {
            (None, _) => true,
            (Some(_), [section, name, ..]) if section == "commands" || section == "pre_command_scripts" => {
                name == verb
            }
            (Some(used), [top, ..]) => USED_BY_ALL.contains(&top.as_str()) || used.contains(&top.as_str()),
            (Some(_), []) => false,
        };
        self.keys.iter().filter(is_used).collect()
    }
}

/// Takes out of the layers what an untrusted repository may not set. Layers of the user's own pass untouched.
pub fn withhold(layers: Vec<Layer>) -> (Vec<Layer>, Untrusted) {
    let mut untrusted = Untrusted::default();
    let layers = layers
        .into_iter()
        .map(|layer| if layer.kind.is_from_repository() { split(layer, &mut untrusted) } else { layer })
        .collect();
    (layers, untrusted)
}

fn split(layer: Layer, untrusted: &mut Untrusted) -> Layer {
    let tree = keep_allowed(layer.tree, &KeyPath::default(), untrusted);
    // A mistake in a key that is withheld anyway is no reason to stop.
    let (problems, withheld): (Vec<Problem>, Vec<Problem>) =
        layer.problems.into_iter().partition(|problem| is_allowed(&problem.key));
    untrusted
        .keys
        .extend(withheld.into_iter().map(|problem| WithheldKey { key: problem.key, at: problem.at }));
    Layer { tree, problems, ..layer }
}

fn keep_allowed(tree: Tree, path: &KeyPath, untrusted: &mut Untrusted) -> Tree {
    let mut allowed = Tree::new();
    for (name, entry) in tree {
        let key = path.child(&name);
        if is_allowed(&key) {
            allowed.insert(plain_text::of_key(&name), plain_text::of_entry(entry, is_template(&key)));
            continue;
        }
        match entry {
            Entry { item: Item::Table(below), op, origins } if !below.is_empty() => {
                let below = keep_allowed(below, &key, untrusted);
                if !below.is_empty() {
                    allowed.insert(name, Entry { item: Item::Table(below), op, origins });
                }
            }
            Entry { mut origins, .. } => {
                untrusted.keys.extend(origins.pop().map(|at| WithheldKey { key, at }));
            }
        }
    }
    allowed
}

/// Whether the text between its fields is decoded once more, `\r` included.
fn is_template(key: &KeyPath) -> bool {
    key.segments().last().is_some_and(|name| name == "format")
}

fn is_allowed(key: &KeyPath) -> bool {
    ALLOWED.iter().any(|allowed| {
        key.segments().len() >= allowed.len() && key.segments().iter().zip(*allowed).all(|(a, b)| a == b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::LayerKind;
    use crate::schema;

    const HOSTILE: &str = "\
prefix = 'x-'
nope = 1
[commands.list]
fields = 'name'
sort = 'name'
include = ['true']
[commands.create]
label__extend = ['a=1']
connect-command = 'evil'
[pre_command_scripts]
list = ['evil']
[agent_types.a]
command = 'evil'
[agent_types.empty]
";

    fn withheld(kind: LayerKind) -> (Vec<Layer>, Untrusted) {
        withhold(vec![Layer::from_toml(kind, "f", HOSTILE).unwrap()])
    }

    fn shown(keys: &[WithheldKey]) -> Vec<String> {
        keys.iter().map(|withheld| format!("{}: {}", withheld.at, withheld.key)).collect()
    }

    #[test]
    fn only_listed_keys_of_a_repository_pass() {
        for kind in [LayerKind::Project, LayerKind::Local] {
            let (layers, untrusted) = withheld(kind);
            let kept: Vec<_> = layers[0].leaves().into_iter().map(|leaf| leaf.key.to_string()).collect();
            assert_eq!(kept, ["commands.create.label__extend", "commands.list.fields", "commands.list.sort"]);
            assert_eq!(layers[0].problems(), []);
            assert_eq!(
                shown(&untrusted.keys),
                [
                    "f:13:1: agent_types.a.command",
                    "f:14:14: agent_types.empty",
                    "f:9:1: commands.create.connect_command",
                    "f:6:1: commands.list.include",
                    "f:11:1: pre_command_scripts.list",
                    "f:1:1: prefix",
                    "f:2:1: nope",
                ]
            );
        }
    }

    #[test]
    fn the_users_own_layers_pass_untouched() {
        let (layers, untrusted) = withheld(LayerKind::User);
        assert_eq!(untrusted, Untrusted::default());
        assert_eq!(layers[0], Layer::from_toml(LayerKind::User, "f", HOSTILE).unwrap());
    }

    #[test]
    fn a_verb_stops_only_for_keys_it_would_use() {
        let (_, untrusted) = withheld(LayerKind::Project);
        let used = |verb: &str| -> Vec<String> {
            untrusted.used_by(verb).iter().map(|withheld| withheld.key.to_string()).collect()
        };
        assert_eq!(
            used("create"),
            ["agent_types.a.command", "agent_types.empty", "commands.create.connect_command", "prefix"]
        );
        assert_eq!(used("list"), ["commands.list.include", "pre_command_scripts.list", "prefix"]);
        assert_eq!(used("label"), ["prefix"]);
        assert_eq!(used("config_list"), [""; 0]);
        assert_eq!(used("help"), [""; 0]);
        assert_eq!(used("some_later_verb").len(), untrusted.keys.len());
    }

    #[test]
    fn the_tables_name_only_settings_that_exist() {
        let keys = USED_BY.iter().flat_map(|(_, keys)| keys.iter()).chain(USED_BY_ALL);
        for key in keys {
            assert!(schema::kind_of(&KeyPath::from_segments([*key])).is_some(), "{key}");
        }
        for key in ALLOWED {
            assert!(schema::kind_of(&KeyPath::from_segments(key.iter().copied())).is_some(), "{key:?}");
        }
    }
}
