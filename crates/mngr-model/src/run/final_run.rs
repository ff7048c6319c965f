//! The last run of all tests, on the result itself.

use serde::{Deserialize, Serialize};

use super::task::TaskId;

/// How many tests a line names.
const NAMED: usize = 3;

/// `final_run`: every test of the result, run at its tip.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalRun {
    /// The branch of the result.
    pub branch: String,
    /// Its tip.
    pub commit: String,
    /// How many tests pass.
    pub passed: usize,
    /// How many do not.
    pub failed: usize,
    /// How many the framework skips.
    #[serde(default)]
    pub skipped: usize,
    /// Those that do not pass.
    #[serde(default)]
    pub tests: Vec<TaskId>,
    /// Tests of the run that are skipped there, or no longer exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<TaskId>,
    /// Why the tests could not be run; then nothing is known about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl FinalRun {
    /// Whether a test of the run passes on the result.
    pub fn passes(&self, test: &TaskId) -> bool {
        self.problem.is_none() && !self.tests.contains(test) && !self.absent.contains(test)
    }
}

impl std::fmt::Display for FinalRun {
    /// `412 of 415 tests pass on tmr/1/integrated; 3 do not: a, b, c`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { branch, passed, failed, skipped, tests, problem, .. } = self;
        if let Some(problem) = problem {
            return write!(f, "the tests could not be run on {branch}: {problem}");
        }
        let all = passed + failed + skipped;
        let (noun, pass) = if all == 1 { ("test", "passes") } else { ("tests", "pass") };
        write!(f, "{passed} of {all} {noun} {pass} on {branch}")?;
        if *skipped > 0 {
            write!(f, "; {skipped} {} skipped", if *skipped == 1 { "is" } else { "are" })?;
        }
        if *failed > 0 {
            let names: Vec<&str> = tests.iter().take(NAMED).map(TaskId::as_str).collect();
            write!(
                f,
                "; {failed} {}: {}",
                if *failed == 1 { "does not" } else { "do not" },
                names.join(", ")
            )?;
            if tests.len() > NAMED {
                write!(f, " and {} more", tests.len() - NAMED)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_comes_first_and_what_does_not_pass_is_named() {
        let id = |text: &str| text.parse::<TaskId>().unwrap();
        let mut run = FinalRun { branch: "tmr/1/integrated".into(), passed: 3, ..FinalRun::default() };
        assert_eq!(run.to_string(), "3 of 3 tests pass on tmr/1/integrated");
        run.tests = ["a", "b", "c", "d"].map(id).to_vec();
        (run.failed, run.skipped) = (4, 1);
        let expected = "3 of 8 tests pass on tmr/1/integrated; 1 is skipped; 4 do not: a, b, c and 1 more";
        assert_eq!(run.to_string(), expected);
        assert!(run.passes(&id("x")) && !run.passes(&id("d")));
        run.problem = Some("no pytest".to_owned());
        assert_eq!(run.to_string(), "the tests could not be run on tmr/1/integrated: no pytest");
        assert!(!run.passes(&id("x")), "nothing is known");
    }
}
