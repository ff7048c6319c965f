//! The settings in force: all layers merged, typed, each value with its origin.

use toml::Value;

use crate::check::check_options;
use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::keys::agent_type::AgentTypeSettings;
use crate::keys::brand::{Refusal, refusals};
use crate::keys::command::{AnyOption, KnownOptions};
use crate::keys::top::Settings;
use crate::layer::{self, Layer};
use crate::merge::{Narrowing, merge};
use crate::origin::Origin;
use crate::problem::{Fault, Problem, Problems};
use crate::tree::{self, Entry, Item, Leaf, Tree};

/// The name everything is called by unless `MNGR_ROOT_NAME` says otherwise.
const ROOT_NAME: &str = "mngr";

/// What to do about keys nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Refuse to go on.
    Error,
    /// Ignore them and say so.
    Warn,
}

/// How layers are put together.
pub struct BuildOptions<'o> {
    /// What to do about unknown keys.
    pub unknown: Unknown,
    /// [`Narrowing::Allow`] for the `config` verbs, so that they can repair what the guard refuses.
    pub narrowing: Narrowing,
    /// Which options verbs have.
    pub options: &'o dyn KnownOptions,
    /// The root name, from which the default prefix and host directory follow.
    pub root_name: &'o str,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            unknown: Unknown::Error,
            narrowing: Narrowing::Refuse,
            options: &AnyOption,
            root_name: ROOT_NAME,
        }
    }
}

/// All layers merged.
#[derive(Debug, Clone)]
pub struct Merged {
    tree: Tree,
    settings: Settings,
    warnings: Vec<Problem>,
}

impl Merged {
    /// Merges the layers over the built-in defaults. They may come in any order: precedence is that of their kinds,
    /// and those of one kind act in the order given.
    pub fn build(layers: &[Layer], options: &BuildOptions<'_>) -> Result<Self, ConfigError> {
        let mut ordered: Vec<&Layer> = layers.iter().collect();
        ordered.sort_by_key(|layer| layer.kind);

        let warnings = forgivable_problems(&ordered, options)?;
        let narrowing = match options.narrowing {
            Narrowing::Refuse if allows_narrowing(&ordered) => Narrowing::Allow,
            asked => asked,
        };

        let mut tree = layer::defaults().tree;
        rename_root(&mut tree, options.root_name);
        for layer in ordered {
            merge(&mut tree, layer.tree.clone(), narrowing)?;
        }
        for warning in &warnings {
            remove(&mut tree, warning.key.segments());
        }
        let settings = tree::to_table(&tree).try_into().map_err(|source| ConfigError::Typed { source })?;
        Ok(Self { tree, settings, warnings })
    }

    /// The settings, typed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Unknown keys that were ignored because [`Unknown::Warn`] was asked for.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Settings of agent types and templates that are refused when an agent is created with them.
    pub fn refused(&self) -> Vec<Problem> {
        let types = self.settings.agent_types.iter();
        let types =
            types.map(|(name, settings)| (["agent_types", name], refusals(std::slice::from_ref(settings))));
        let templates = self.settings.create_templates.iter().map(|(name, template)| {
            let fields = AgentTypeSettings { extra: template.extra.clone(), ..AgentTypeSettings::default() };
            (["create_templates", name], refusals(&[fields]))
        });
        let mut refused = Vec::new();
        for (path, refusals) in types.chain(templates) {
            let path = KeyPath::from_segments(path);
            for Refusal { key, reason } in refusals {
                let key = path.child(key);
                let at = self.get(&key).map(|(_, origin)| origin);
                refused.extend(at.map(|at| Problem { at, key, fault: Fault::Refused { reason } }));
            }
        }
        refused
    }

    /// All settings as one plain table.
    pub fn table(&self) -> toml::Table {
        tree::to_table(&self.tree)
    }

    /// Every setting that is not a table, with its origin, in key order.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut found = Vec::new();
        tree::leaves(&self.tree, &KeyPath::default(), &mut found);
        found
    }

    /// One setting: its value, and where it was set last.
    pub fn get(&self, key: &KeyPath) -> Option<(Value, Origin)> {
        let (_, entry) = tree::find(&self.tree, key)?;
        Some((entry.item.to_value(), entry.origins.last()?.clone()))
    }
}

/// Sorts out what is wrong with the layers: an error, or warnings when only unknown keys are and that is forgiven.
fn forgivable_problems(layers: &[&Layer], options: &BuildOptions<'_>) -> Result<Vec<Problem>, ConfigError> {
    let mut problems = Vec::new();
    for layer in layers {
        problems.extend(layer.problems.iter().cloned());
        problems.extend(check_options(&layer.tree, options.options));
    }
    let is_fatal = |problem: &Problem| options.unknown == Unknown::Error || !problem.is_unknown_key();
    if problems.iter().any(is_fatal) {
        problems.retain(is_fatal);
        return Err(Problems(problems).into());
    }
    Ok(problems)
}

/// Whether the highest layer that speaks of the narrowing guard lifts it.
fn allows_narrowing(layers: &[&Layer]) -> bool {
    let guard = KeyPath::from_segments(["allow_settings_key_assignment_narrowing"]);
    layers
        .iter()
        .rev()
        .find_map(|layer| layer.get(&guard))
        .is_some_and(|leaf| leaf.value == Value::Boolean(true))
}

/// Another root name gives other defaults, so that two installations do not meet.
fn rename_root(defaults: &mut Tree, root_name: &str) {
    if root_name == ROOT_NAME {
        return;
    }
    for (key, value) in [("prefix", format!("{root_name}-")), ("default_host_dir", format!("~/.{root_name}"))]
    {
        if let Some(entry) = defaults.get_mut(key) {
            entry.item = Item::Leaf(Value::String(value));
        }
    }
}

/// Takes out an option that was let through until the verbs were asked.
fn remove(tree: &mut Tree, key: &[String]) {
    match key {
        [] => {}
        [name] => {
            tree.remove(name);
        }
        [name, rest @ ..] => {
            if let Some(Entry { item: Item::Table(below), .. }) = tree.get_mut(name) {
                remove(below, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests;
