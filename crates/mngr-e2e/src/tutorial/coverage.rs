//! How much of a tutorial is cited, section by section.

use serde::Serialize;

use super::check::Report;

/// How much is cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Blocks in all.
    pub blocks: usize,
    /// Blocks that a test cites as they are.
    pub cited: usize,
    /// Tests that cite something.
    pub tests: usize,
    /// In the order of the tutorial. Blocks above the first heading have no section.
    pub sections: Vec<SectionCoverage>,
}

/// How much of one section is cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SectionCoverage {
    /// Its heading.
    pub section: Option<String>,
    /// Its blocks.
    pub blocks: usize,
    /// Those that a test cites as they are.
    pub cited: usize,
}

impl Coverage {
    /// Counts what a report says.
    pub fn of(report: &Report) -> Self {
        let mut sections: Vec<SectionCoverage> = Vec::new();
        for cited in &report.blocks {
            let section = &cited.block.section;
            if sections.last().is_none_or(|last| last.section != *section) {
                sections.push(SectionCoverage { section: section.clone(), blocks: 0, cited: 0 });
            }
            if let Some(last) = sections.last_mut() {
                last.blocks += 1;
                last.cited += usize::from(!cited.tests.is_empty());
            }
        }
        Self { blocks: report.blocks.len(), cited: report.cited(), tests: report.citing_tests, sections }
    }

    /// Of 100 blocks, how many are cited.
    pub fn percent(&self) -> f64 {
        percent(self.cited, self.blocks)
    }
}

impl SectionCoverage {
    /// Of 100 blocks, how many are cited.
    pub fn percent(&self) -> f64 {
        percent(self.cited, self.blocks)
    }
}

/// Nothing is fully covered by nothing.
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}
