//! All that is known of a run as one JSON value, for scripts.

use mngr_model::run::Run;
use serde_json::{Value, json};

use super::integration::Integrated;
use super::section::Section;
use super::summary::{FailureGroup, escalations, sections};
use super::task::branch;

/// The run as its journal has it, with what the report makes of it: sections, merged commits, branches, escalations by
/// what they say, and the failures by cause. Texts are whole and as they were written.
pub fn json(run: &Run, failures: &[FailureGroup]) -> Value {
    let integrated = Integrated::of(run);
    let mut value = json!(run);
    if let Some(tasks) = value["tasks"].as_array_mut() {
        for (task, of) in tasks.iter_mut().zip(&run.tasks) {
            task["section"] = json!(Section::of(of));
            task["stage"] = of.stage().name().into();
            task["branch"] = json!(of.latest().and_then(|attempt| branch(run.started.as_ref(), attempt)));
            task["merged"] = json!(integrated.merged(of));
        }
    }
    value["totals"] = json!(run.totals());
    value["sections"] = sections(run).into();
    value["result"] = json!(integrated.to_json());
    value["escalations"] = escalations(run).into();
    value["failures"] = json!(failures);
    value
}
