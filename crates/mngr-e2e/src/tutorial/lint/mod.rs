//! Each command of a tutorial held against the grammar of the program it calls.
//!
//! A [`Grammar`] knows one program: mngr brings its own, [`HelpGrammar`] learns another's from its `--help`. Commands of
//! programs without a grammar are passed over. Nothing of a tutorial is ever run.

mod grammar;
mod help_grammar;
mod help_page;
mod help_text;
mod run;
mod verbs;

pub use super::shell::{Expansion, Word};
pub use grammar::{Complaint, Grammar, Grammars, Verdict};
pub use help_grammar::{HelpError, HelpGrammar};
pub use help_text::help_text;
pub use run::{Finding, LintReport, lint_script, lint_text};
pub use verbs::verbs;
