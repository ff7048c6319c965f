//! Tying an expression's names to record fields.
//!
//! Every path that starts at a record field becomes a numbered slot, so that evaluation looks up exactly those
//! values and builds no map it does not need. Names that no record has are found here, before the first record.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, SourceInfo, operators};

use super::error::FilterFault;
use super::language::{FUNCTIONS, MACROS, QUALIFIED_FUNCTIONS, TYPES};
use super::scan::PRIVATE_HAS;
use crate::catalog::{Catalog, closest};
use crate::path::FieldPath;

/// A value an expression reads from each record.
#[derive(Debug)]
pub(super) struct Slot {
    /// What the expression calls it now; `@` cannot begin a name a user writes.
    pub(super) name: String,
    pub(super) path: FieldPath,
    pub(super) read: Read,
}

/// What is read of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// Its value.
    Value,
    /// Whether it has one.
    Presence,
}

type Fault = (FilterFault, usize);

/// Replaces the record fields of an expression by slots.
pub(super) fn bind(
    mut expression: IdedExpr,
    places: &SourceInfo,
    catalog: &Catalog,
) -> Result<(IdedExpr, Vec<Slot>), Fault> {
    let mut binder = Binder { catalog, places, variables: Vec::new(), slots: Vec::new() };
    binder.visit(&mut expression)?;
    Ok((expression, binder.slots))
}

struct Binder<'a> {
    catalog: &'a Catalog,
    places: &'a SourceInfo,
    /// The variables of the `exists`, `map` and so on that are being visited.
    variables: Vec<String>,
    slots: Vec<Slot>,
}

impl Binder<'_> {
    /// Where a node stands, in characters; the parser counts bytes here, though not in its own errors.
    fn place(&self, id: u64) -> usize {
        let bytes = self.places.offset_for(id).map_or(0, |(start, _)| start as usize);
        self.places.source.get(..bytes).map_or(0, |before| before.chars().count())
    }

    fn visit(&mut self, node: &mut IdedExpr) -> Result<(), Fault> {
        if let Some(path) = self.record_path(node)? {
            node.expr = Expr::Ident(self.slot(path, Read::Value));
            return Ok(());
        }
        let id = node.id;
        match &mut node.expr {
            Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => Ok(()),
            Expr::Select(select) => self.visit(&mut select.operand),
            Expr::List(list) => self.visit_all(&mut list.elements),
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|entry| match &mut entry.expr {
                EntryExpr::MapEntry(pair) => {
                    self.visit(&mut pair.key).and_then(|()| self.visit(&mut pair.value))
                }
                EntryExpr::StructField(field) => self.visit(&mut field.value),
            }),
            Expr::Struct(message) => {
                let type_name = message.type_name.clone();
                Err((FilterFault::MessageLiteral { type_name }, self.place(id)))
            }
            Expr::Comprehension(loop_) => {
                self.visit(&mut loop_.iter_range)?;
                self.visit(&mut loop_.accu_init)?;
                let outer = self.variables.len();
                let own = [Some(&loop_.iter_var), loop_.iter_var2.as_ref(), Some(&loop_.accu_var)];
                self.variables.extend(own.into_iter().flatten().cloned());
                self.visit(&mut loop_.loop_cond)?;
                self.visit(&mut loop_.loop_step)?;
                self.visit(&mut loop_.result)?;
                self.variables.truncate(outer);
                Ok(())
            }
            Expr::Call(_) => self.visit_call(node),
        }
    }

    fn visit_all(&mut self, nodes: &mut [IdedExpr]) -> Result<(), Fault> {
        nodes.iter_mut().try_for_each(|node| self.visit(node))
    }

    fn visit_call(&mut self, node: &mut IdedExpr) -> Result<(), Fault> {
        let id = node.id;
        let Expr::Call(call) = &mut node.expr else { return Ok(()) };
        if call.func_name == PRIVATE_HAS && call.target.is_none() {
            node.expr = self.presence(call, id)?;
            return Ok(());
        }
        if let Some(presence) = self.null_test(call)? {
            node.expr = presence;
            return Ok(());
        }
        if is_qualified_function(call) {
            return self.visit_all(&mut call.args);
        }
        self.check_function(&call.func_name, id)?;
        if let Some(target) = &mut call.target {
            self.visit(target)?;
        }
        self.visit_all(&mut call.args)
    }

    /// `has(x)`: a slot for a record field, the standard test for a part of anything else.
    fn presence(&mut self, call: &mut CallExpr, id: u64) -> Result<Expr, Fault> {
        let bad_argument = (FilterFault::HasArgument, self.place(id).saturating_sub(PRIVATE_HAS.len()));
        let [argument] = call.args.as_mut_slice() else { return Err(bad_argument) };
        if let Some(path) = self.record_path(argument)? {
            return Ok(Expr::Ident(self.slot(path, Read::Presence)));
        }
        let Expr::Select(mut select) = std::mem::take(&mut argument.expr) else { return Err(bad_argument) };
        self.visit(&mut select.operand)?;
        select.test = true;
        Ok(Expr::Select(select))
    }

    /// `x == null` and `x != null` ask whether a record field has a value.
    fn null_test(&mut self, call: &CallExpr) -> Result<Option<Expr>, Fault> {
        let is_equal = match call.func_name.as_str() {
            operators::EQUALS => true,
            operators::NOT_EQUALS => false,
            _ => return Ok(None),
        };
        let is_null = |node: &IdedExpr| matches!(node.expr, Expr::Literal(LiteralValue::Null));
        let field = match call.args.as_slice() {
            [field, null] if is_null(null) => field,
            [null, field] if is_null(null) => field,
            _ => return Ok(None),
        };
        let Some(path) = self.record_path(field)? else { return Ok(None) };
        let has = Expr::Ident(self.slot(path, Read::Presence));
        Ok(Some(if is_equal {
            let args = vec![IdedExpr { id: field.id, expr: has }];
            Expr::Call(CallExpr { func_name: operators::LOGICAL_NOT.to_owned(), target: None, args })
        } else {
            has
        }))
    }

    fn check_function(&self, name: &str, id: u64) -> Result<(), Fault> {
        let is_operator = name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if is_operator || FUNCTIONS.contains(&name) {
            return Ok(());
        }
        // The parser places a call at its opening bracket.
        let place = self.place(id).saturating_sub(name.chars().count());
        if MACROS.contains(&name) {
            return Err((FilterFault::MacroArguments { name: name.to_owned() }, place));
        }
        let suggestion = closest(name, FUNCTIONS.iter().chain(MACROS).copied()).map(str::to_owned);
        Err((FilterFault::Function { name: name.to_owned(), suggestion }, place))
    }

    /// The path a name or a chain of selections spells, if it starts at a record field.
    fn record_path(&self, node: &IdedExpr) -> Result<Option<FieldPath>, Fault> {
        let mut keys = Vec::new();
        let mut part = node;
        let root = loop {
            match &part.expr {
                Expr::Ident(name) => break name.trim_start_matches('.'),
                Expr::Select(select) if !select.test => {
                    keys.push(select.field.as_str());
                    part = &select.operand;
                }
                _ => return Ok(None),
            }
        };
        let is_type = keys.is_empty() && TYPES.contains(&root) && !self.catalog.has_root(root);
        if is_type || self.variables.iter().any(|variable| variable == root) {
            return Ok(None);
        }
        keys.push(root);
        keys.reverse();
        FieldPath::from_keys(&keys, self.catalog)
            .map(Some)
            .map_err(|error| (FilterFault::Field(error), self.place(part.id)))
    }

    fn slot(&mut self, path: FieldPath, read: Read) -> String {
        if let Some(slot) = self.slots.iter().find(|slot| slot.path == path && slot.read == read) {
            return slot.name.clone();
        }
        let name = format!("@{}", self.slots.len());
        self.slots.push(Slot { name: name.clone(), path, read });
        name
    }
}

fn is_qualified_function(call: &CallExpr) -> bool {
    match call.target.as_deref() {
        Some(IdedExpr { expr: Expr::Ident(space), .. }) => {
            QUALIFIED_FUNCTIONS.contains(&format!("{space}.{}", call.func_name).as_str())
        }
        _ => false,
    }
}
