//! Applying a bound expression to one record.
//!
//! Budget: no copy of a record's text, one small context per record.

use std::collections::HashMap;
use std::sync::Arc;

use cel::common::types::{CelBool, CelDouble, CelInt, CelString, CelUInt};
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use cel::objects::Key;
use cel::{Context, Env, ExecutionError, IdedExpr};
use serde_json::Value;

use super::Match;
use super::bind::{Read, Slot};

/// How much of a function's own message is shown; it may quote the record.
const LONGEST_REASON: usize = 120;

/// Whether the expression is true for the record.
pub(super) fn evaluate(expression: &IdedExpr, slots: &[Slot], language: &Arc<Env>, record: &Value) -> Match {
    let view = RecordView { slots, record };
    let mut context = Context::with_env(Arc::clone(language));
    context.set_variable_resolver(&view);
    match cel::Value::resolve_val(expression, &context) {
        Ok(value) => match value.downcast_ref::<CelBool>() {
            Some(truth) if *truth.inner() => Match::Yes,
            Some(_) => Match::No,
            None => {
                let kind = value.get_type().name().to_owned();
                Match::Failed { reason: format!("it gives a {kind}, not true or false") }
            }
        },
        Err(error) if is_about_a_missing_value(&error) => Match::No,
        Err(error) => Match::Failed { reason: reason(&error) },
    }
}

/// The slots of one record.
struct RecordView<'r> {
    slots: &'r [Slot],
    record: &'r Value,
}

impl VariableResolver for RecordView<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let slot = self.slots.iter().find(|slot| slot.name == variable)?;
        let value = slot.path.get_ref(self.record);
        match slot.read {
            Read::Presence => Some(CowVal::owned(CelBool::from(value.is_some()))),
            Read::Value => cel_value(value?),
        }
    }
}

fn cel_value(value: &Value) -> Option<CowVal<'_, '_>> {
    Some(match value {
        Value::String(text) => CowVal::owned(CelString::from(text.as_str())),
        Value::Bool(truth) => CowVal::owned(CelBool::from(*truth)),
        Value::Number(number) => {
            if let Some(int) = number.as_i64() {
                CowVal::owned(CelInt::from(int))
            } else if let Some(uint) = number.as_u64() {
                CowVal::owned(CelUInt::from(uint))
            } else {
                CowVal::owned(CelDouble::from(number.as_f64()?))
            }
        }
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let boxed: Box<dyn Val> = owned_value(value).try_into().ok()?;
            CowVal::Owned(boxed)
        }
    })
}

/// Lists and maps are copied: an expression names them whole only to search them.
fn owned_value(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(truth) => cel::Value::Bool(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => cel::Value::Int(int),
            (None, Some(uint)) => cel::Value::UInt(uint),
            (None, None) => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel::Value::from(text.as_str()),
        Value::Array(items) => cel::Value::from(items.iter().map(owned_value).collect::<Vec<_>>()),
        Value::Object(map) => {
            let pairs: HashMap<Key, cel::Value> =
                map.iter().map(|(key, value)| (Key::from(key.as_str()), owned_value(value))).collect();
            cel::Value::from(pairs)
        }
    }
}

/// Absent fields, keys and list items, and operations on null, are the normal case of sparse records.
fn is_about_a_missing_value(error: &ExecutionError) -> bool {
    match error {
        // Names of fields and functions were checked: what is undeclared now has no value in this record.
        ExecutionError::UndeclaredReference(_)
        | ExecutionError::NoSuchKey(_)
        | ExecutionError::IndexOutOfBounds(_) => true,
        ExecutionError::NoSuchOverload(call) => call.argument_types().iter().any(|kind| kind == "null_type"),
        _ => false,
    }
}

fn reason(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchOverload(call) => {
            let operator = call.function().trim_matches(|c| matches!(c, '_' | '@'));
            format!("`{operator}` does not work on {}", call.argument_types().join(" and "))
        }
        ExecutionError::FunctionError { function, message } => {
            let line = message.lines().next().unwrap_or_default();
            let shown: String = line.chars().take(LONGEST_REASON).collect();
            format!("`{function}` failed: {}", crate::sanitize(&shown))
        }
        ExecutionError::UnexpectedType { got, want } => format!("a {got} stands where a {want} is needed"),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "division by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number grows too large".to_owned(),
        // The other messages print whole values, which may be large and are not ours.
        _ => "it does not fit the values".to_owned(),
    }
}
