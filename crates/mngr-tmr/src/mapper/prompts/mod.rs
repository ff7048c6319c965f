//! What agents are told. The texts are templates: the packaged ones, or the user's own, which may extend them.

mod template;
#[cfg(test)]
mod tests;
mod texts;

pub use template::{Prompt, PromptError, Variables};
pub use texts::{
    ConflictText, ErrorsBackText, IntegratorText, MapperText, NudgeText, RepeatedText, ResultText,
    errors_back, nudge,
};
