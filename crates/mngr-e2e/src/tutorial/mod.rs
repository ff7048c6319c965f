//! Tutorials: a shell script made of blocks, the tests that cite them, and whether the two agree.
//!
//! [`Script`] is what the tutorial says, [`Suite`] what the tests cite, [`Report`] both compared; [`lint`] holds the
//! commands of a script against the grammar of the program they call; [`fill`] is about what a script lacks, [`work`] about
//! what its tests lack. Never in here: running a block, or an agent.

mod block;
mod change;
mod check;
mod citation;
mod coverage;
mod docstring;
pub mod fill;
mod heading;
pub mod lint;
mod literal;
mod matcher;
mod problem;
mod python;
mod rust;
mod script;
mod shell;
mod suite;
mod syntax;
pub mod work;

pub use block::{Block, BlockId};
pub use check::{Changed, CitedBlock, CitingTest, Report, Stale, Strictness, check};
pub use citation::{Citation, CitationForm, Test, TestId};
pub use coverage::{Coverage, SectionCoverage};
pub use problem::{Problem, ProblemKind, Severity};
pub use script::{Note, NoteKind, Script};
pub use suite::{CITING, Suite, SuiteError, TestPath};
