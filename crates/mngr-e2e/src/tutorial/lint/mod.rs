//! Each command of a tutorial held against the grammar of the program it calls.
//!
//! A [`Grammar`] knows one program: mngr brings its own, [`HelpGrammar`] learns another's from its `--help`. Commands of
//! programs without a grammar are passed over. Nothing of a tutorial is ever run.

mod grammar;
mod help_grammar;
mod help_page;
mod run;

pub use super::shell::{Expansion, Word};
pub use grammar::{Complaint, Grammar, Grammars};
pub use help_grammar::{HelpError, HelpGrammar};
pub use run::{Finding, LintReport, lint_script, lint_text};
