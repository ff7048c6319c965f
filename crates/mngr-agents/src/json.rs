//! JSON that somebody else wrote, read and changed. What is not of the shape it should have gives way to what is put there:
//! indexing into it would panic, and no file of an agent or its user may end mngr.

use mngr_host::files::Files;
use mngr_model::HostPath;
use serde_json::{Map, Value};

use crate::brand::ProvisionError;

/// The object in this file; an empty one where there is no file.
pub(crate) fn read_object(files: &dyn Files, path: &HostPath) -> Result<Map<String, Value>, ProvisionError> {
    let Some(bytes) = files.read_if_there(path)? else { return Ok(Map::new()) };
    serde_json::from_slice(&bytes).map_err(|source| ProvisionError::Damaged { path: path.clone(), source })
}

/// Edits the object of that name, made where there is none.
pub(crate) fn edit_object(
    parent: &mut Map<String, Value>,
    key: &str,
    edit: impl FnOnce(&mut Map<String, Value>),
) {
    let slot = parent.entry(key).or_insert(Value::Null);
    let mut object = match slot.take() {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    edit(&mut object);
    *slot = Value::Object(object);
}

/// Adds to the list of that name, made where there is none.
pub(crate) fn push(parent: &mut Map<String, Value>, key: &str, value: Value) {
    match parent.entry(key).or_insert(Value::Null) {
        Value::Array(list) => list.push(value),
        slot => *slot = Value::Array(vec![value]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_the_right_shape_stays_and_the_rest_gives_way() {
        for (before, after) in [
            (json!({}), json!({ "a": { "list": [1] } })),
            (json!({ "a": 3 }), json!({ "a": { "list": [1] } })),
            (json!({ "a": ["x"] }), json!({ "a": { "list": [1] } })),
            (json!({ "a": { "list": "x", "b": 2 } }), json!({ "a": { "list": [1], "b": 2 } })),
            (json!({ "a": { "list": [0] } }), json!({ "a": { "list": [0, 1] } })),
        ] {
            let Value::Object(mut object) = before else { panic!("{before}") };
            edit_object(&mut object, "a", |a| push(a, "list", 1.into()));
            assert_eq!(Value::Object(object), after);
        }
    }
}
