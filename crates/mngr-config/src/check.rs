//! Checks what a layer says against the kinds of [`crate::keys`], and brings its keys into their one spelling.
//!
//! Every key that has a meaning leaves here without hyphens and operators; names chosen by the user (agent types,
//! environment variables, paths) are left as they are. Nothing stops at the first mistake: problems are collected.

use crate::key::KeyPath;
use crate::keys::command::KnownOptions;
use crate::keys::{provider, template};
use crate::kind::{Kind, Rest, TableShape};
use crate::origin::Origin;
use crate::problem::{Fault, Problem, closest};
use crate::schema;
use crate::tree::{Entry, Item, Op, Tree};
use crate::value::type_name;

/// A tree in normal form, and what had to be left out of it.
pub(crate) fn check(raw: Tree) -> (Tree, Vec<Problem>) {
    let mut checker = Checker { problems: Vec::new() };
    let tree = checker.table(raw, schema::root_shape(), &KeyPath::default());
    (tree, checker.problems)
}

/// The verbs under `commands` and `pre_command_scripts` that nobody has, and the options under `commands` and
/// `create_templates` that no verb has.
pub(crate) fn check_options(tree: &Tree, known: &dyn KnownOptions) -> Vec<Problem> {
    let mut problems = unknown_verbs(tree, known);
    for (verb, section) in sections(tree, "commands") {
        if let Some(options) = known.options(verb) {
            let path = KeyPath::from_segments(["commands", verb]);
            problems.extend(unknown_options(section, &path, &options, |_| false));
        }
    }
    for (name, section) in sections(tree, "create_templates") {
        if let Some(options) = known.options("create") {
            let path = KeyPath::from_segments(["create_templates", name]);
            problems.extend(unknown_options(section, &path, &options, template::is_agent_type_field));
        }
    }
    problems
}

fn unknown_verbs(tree: &Tree, known: &dyn KnownOptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    for registry in ["commands", "pre_command_scripts"] {
        let Some(Entry { item: Item::Table(sections), .. }) = tree.get(registry) else { continue };
        // Most settings speak of no verb, and then nobody has to list them.
        let Some(verbs) = (!sections.is_empty()).then(|| known.verbs()).flatten() else { continue };
        let path = KeyPath::from_segments([registry]);
        for (verb, entry) in sections.iter().filter(|(verb, _)| !verbs.contains(verb)) {
            let near = closest(verb, verbs.iter().map(String::as_str));
            let fault = Fault::Unknown { suggestion: near.map(|near| path.child(near)) };
            let at = entry.origins.last().cloned();
            problems.extend(at.map(|at| Problem { at, key: path.child(verb), fault }));
        }
    }
    problems
}

fn sections<'t>(tree: &'t Tree, registry: &str) -> impl Iterator<Item = (&'t str, &'t Tree)> {
    let below = |entry: &'t Entry| match &entry.item {
        Item::Table(tree) => Some(tree),
        Item::Leaf(_) => None,
    };
    let registry = tree.get(registry).and_then(below);
    registry.into_iter().flatten().filter_map(move |(name, entry)| Some((name.as_str(), below(entry)?)))
}

fn unknown_options(
    section: &Tree,
    path: &KeyPath,
    options: &[String],
    is_also_known: fn(&str) -> bool,
) -> Vec<Problem> {
    let has_field =
        |name: &str| matches!(schema::kind_of(path), Some(Kind::Table(shape)) if shape.field(name).is_some());
    let is_known =
        |name: &str| options.iter().any(|option| option == name) || has_field(name) || is_also_known(name);
    section
        .iter()
        .filter(|(name, _)| !is_known(name))
        .filter_map(|(name, entry)| {
            let near = closest(name, options.iter().map(String::as_str));
            let fault = Fault::Unknown { suggestion: near.map(|near| path.child(near)) };
            Some(Problem { at: entry.origins.last()?.clone(), key: path.child(name), fault })
        })
        .collect()
}

struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    fn report(&mut self, at: &[Origin], key: KeyPath, fault: Fault) {
        self.problems.extend(at.last().map(|at| Problem { at: at.clone(), key, fault }));
    }

    /// A table with named fields.
    fn table(&mut self, raw: Tree, shape: &TableShape, path: &KeyPath) -> Tree {
        let keeps_rest = match shape.rest {
            Rest::Refused => false,
            Rest::Kept | Rest::CommandOptions | Rest::CreateOptions => true,
            Rest::RefusedUnlessForeignBackend => is_foreign_provider(&raw, path),
        };
        let mut checked = Tree::new();
        for (raw_key, entry) in raw {
            let normal = raw_key.replace('-', "_");
            let (name, op) = match shape.field(&normal) {
                Some(_) => (normal.as_str(), None),
                None => Op::split(&normal),
            };
            let kind = match shape.field(name) {
                Some(field) => field.kind,
                None if keeps_rest => Kind::Any,
                None => {
                    let near = closest(name, shape.fields().map(|field| field.name));
                    let suggestion = near.map(|near| path.child(near));
                    self.report(&entry.origins, path.child(name), Fault::Unknown { suggestion });
                    continue;
                }
            };
            self.place(&mut checked, name, op, entry, kind, path);
        }
        checked
    }

    /// Names chosen by the user, all of one kind.
    fn map(&mut self, raw: Tree, kind: Kind, path: &KeyPath) -> Tree {
        let names_verbs = matches!(kind, Kind::Table(shape) if shape.rest == Rest::CommandOptions);
        let mut checked = Tree::new();
        for (raw_key, entry) in raw {
            // In a map of plain values (`env`) a name may well end in `__extend`; in a map of lists it is an operator.
            let (name, op) = match kind {
                Kind::List(_) => Op::split(&raw_key),
                _ => (raw_key.as_str(), None),
            };
            let name = if names_verbs { name.replace('-', "_") } else { name.to_owned() };
            self.place(&mut checked, &name, op, entry, kind, path);
        }
        checked
    }

    fn place(
        &mut self,
        checked: &mut Tree,
        name: &str,
        op: Option<Op>,
        entry: Entry,
        kind: Kind,
        path: &KeyPath,
    ) {
        let key = path.child(name);
        let Entry { op: written, origins, item } = entry;
        let op = op.unwrap_or(written);
        let is_wrong = match op {
            Op::Extend => !kind.is_extendable() || is_scalar_option(kind, &item),
            Op::Replace => kind.is_structure(),
            Op::Assign | Op::Descend => false,
        };
        if is_wrong {
            self.report(&origins, key, Fault::BadOperator { operator: op.suffix(), holds: kind.describe() });
            return;
        }
        let Some(item) = self.item(item, kind, &key, &origins) else { return };
        if checked.contains_key(name) {
            self.report(&origins, key, Fault::Twice);
            return;
        }
        checked.insert(name.to_owned(), Entry { op, origins, item });
    }

    fn item(&mut self, item: Item, kind: Kind, key: &KeyPath, at: &[Origin]) -> Option<Item> {
        let fault = match (kind, item) {
            (Kind::Table(shape), Item::Table(raw)) => return Some(Item::Table(self.table(raw, shape, key))),
            (Kind::Map(inner), Item::Table(raw)) => return Some(Item::Table(self.map(raw, *inner, key))),
            (Kind::Patch, Item::Table(raw)) => {
                self.refuse_operators(&raw, key);
                return Some(Item::Table(raw));
            }
            (Kind::Any, item) => return Some(item),
            (kind, Item::Table(_)) => {
                Fault::WrongType { expected: kind.describe(), found: "a table".to_owned() }
            }
            (Kind::Table(_) | Kind::Map(_) | Kind::Patch, Item::Leaf(value)) => {
                Fault::WrongType { expected: kind.describe(), found: type_name(&value).to_owned() }
            }
            (kind, Item::Leaf(value)) => match kind.check_leaf(&value) {
                Ok(()) => return Some(Item::Leaf(value)),
                Err(mismatch) => mismatch.into(),
            },
        };
        self.report(at, key.clone(), fault);
        None
    }

    /// Another program's settings have no operators of ours: a key that looks like one is a mistake.
    fn refuse_operators(&mut self, raw: &Tree, path: &KeyPath) {
        for (name, entry) in raw {
            let key = path.child(name);
            if let (_, Some(op)) = Op::split(name) {
                let holds = "the inside of a patch".to_owned();
                self.report(&entry.origins, key.clone(), Fault::BadOperator { operator: op.suffix(), holds });
            }
            if let Item::Table(below) = &entry.item {
                self.refuse_operators(below, &key);
            }
        }
    }
}

/// `__extend` needs something that can grow. For options of verbs only the value shows whether it can.
fn is_scalar_option(kind: Kind, item: &Item) -> bool {
    matches!(kind, Kind::Any)
        && matches!(item, Item::Leaf(value) if !matches!(value, toml::Value::Array(_) | toml::Value::String(_)))
}

fn is_foreign_provider(raw: &Tree, path: &KeyPath) -> bool {
    let name = path.segments().last().map_or("", String::as_str);
    let backend = raw.get("backend").and_then(|entry| match &entry.item {
        Item::Leaf(value) => value.as_str(),
        Item::Table(_) => None,
    });
    provider::is_foreign(name, backend)
}
