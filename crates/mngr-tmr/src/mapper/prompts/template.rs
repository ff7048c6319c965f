//! Loading and filling a template. Strict: what is not there is an error, and all of it at load time, before an agent is
//! launched.

use std::marker::PhantomData;

use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

/// The name under which the user's own template is known in messages.
const OWN: &str = "own template";

/// What a prompt is filled with.
pub trait Variables {
    /// The packaged template's name, for `extends`.
    const NAME: &'static str;
    /// The packaged template.
    const PACKAGED: &'static str;

    /// The variables and their values.
    fn values(&self) -> Value;

    /// Values for a trial at load time.
    fn sample() -> Value;
}

/// A prompt that is known to work.
#[derive(Debug)]
pub struct Prompt<V> {
    environment: Environment<'static>,
    template: &'static str,
    variables: PhantomData<fn(&V)>,
}

/// A template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// It is not a template, or fails when it is filled.
    #[error("the {template} cannot be used")]
    Template {
        /// Which template.
        template: &'static str,
        /// Why, with the line.
        #[source]
        source: minijinja::Error,
    },
    /// It uses variables that are not there.
    #[error("the {template} uses {}, known are {}", in_ticks(.unknown), in_ticks(.known))]
    Unknown {
        /// Which template.
        template: &'static str,
        /// What it uses.
        unknown: Vec<String>,
        /// What there is.
        known: Vec<String>,
    },
}

impl<V: Variables> Prompt<V> {
    /// The packaged text.
    ///
    /// # Errors
    /// When it is broken, which its tests exclude.
    pub fn packaged() -> Result<Self, PromptError> {
        Self::load(V::NAME, None)
    }

    /// The user's text; it may begin with `{% extends "<packaged name>" %}` and replace single blocks.
    ///
    /// # Errors
    /// When it is not a template, or uses what is not there.
    pub fn own(source: String) -> Result<Self, PromptError> {
        Self::load(OWN, Some(source))
    }

    /// The text for these values.
    ///
    /// # Errors
    /// When the template fails on them.
    pub fn render(&self, values: &V) -> Result<String, PromptError> {
        self.fill(values.values())
    }

    fn load(template: &'static str, own: Option<String>) -> Result<Self, PromptError> {
        let failed = |source| PromptError::Template { template, source };
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A prompt is plain text, whatever the name of its template ends with.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.add_template(V::NAME, V::PACKAGED).map_err(failed)?;
        if let Some(source) = own {
            environment.add_template_owned(OWN, source).map_err(failed)?;
        }
        let prompt = Self { environment, template, variables: PhantomData };
        prompt.refuse_unknown()?;
        prompt.fill(V::sample())?;
        Ok(prompt)
    }

    /// The trial alone would miss what stands behind a condition.
    fn refuse_unknown(&self) -> Result<(), PromptError> {
        let failed = |source| PromptError::Template { template: self.template, source };
        let sample = V::sample();
        let mut known: Vec<String> =
            sample.try_iter().map_err(failed)?.map(|name| name.to_string()).collect();
        known.sort();
        let template = self.environment.get_template(self.template).map_err(failed)?;
        let globals: Vec<String> = self.environment.globals().map(|(name, _)| name.to_owned()).collect();
        let is_known = |name: &String| known.contains(name) || globals.contains(name);
        let used = template.undeclared_variables(false);
        let mut unknown: Vec<String> = used.into_iter().filter(|name| !is_known(name)).collect();
        unknown.sort();
        match unknown.is_empty() {
            true => Ok(()),
            false => Err(PromptError::Unknown { template: self.template, unknown, known }),
        }
    }

    fn fill(&self, values: Value) -> Result<String, PromptError> {
        let failed = |source| PromptError::Template { template: self.template, source };
        let template = self.environment.get_template(self.template).map_err(failed)?;
        template.render(values).map_err(failed)
    }
}

fn in_ticks(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
