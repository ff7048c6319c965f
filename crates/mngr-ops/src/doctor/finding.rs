//! What a check says.

use super::Repair;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing is wrong.
    Ok,
    /// mngr works, but somebody should look.
    Warn,
    /// Something does not work, or will not.
    Fail,
}

impl Status {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What came of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mended {
    /// Nobody asked for it, or there is nothing that would be safe to do.
    No,
    /// It was put right; what was done, as a fragment.
    Done(String),
    /// It could not be put right; why, as a fragment.
    Failed(String),
}

/// What one check found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The check, in snake case.
    pub check: &'static str,
    /// `name.provider` of the host it is about.
    pub host: Option<String>,
    /// How bad it is.
    pub status: Status,
    /// What was seen, as a fragment.
    pub what: String,
    /// Why it matters; empty where nothing is wrong.
    pub why: String,
    /// What to do about it; empty where nothing is wrong.
    pub advice: String,
    /// What came of the repair.
    pub mended: Mended,
    /// What would put it right, where that is safe.
    pub(super) repair: Option<Repair>,
}

impl Finding {
    /// Nothing is wrong.
    pub fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self::new(check, Status::Ok, what.into())
    }

    /// Somebody should look.
    pub fn warn(check: &'static str, what: impl Into<String>) -> Self {
        Self::new(check, Status::Warn, what.into())
    }

    /// Something does not work.
    pub fn fail(check: &'static str, what: impl Into<String>) -> Self {
        Self::new(check, Status::Fail, what.into())
    }

    fn new(check: &'static str, status: Status, what: String) -> Self {
        let (why, advice) = (String::new(), String::new());
        Self { check, host: None, status, what, why, advice, mended: Mended::No, repair: None }
    }

    /// With the reason why it matters.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// With what puts it right.
    #[must_use]
    pub(super) fn mended_by(mut self, repair: Repair) -> Self {
        self.advice = "`mngr doctor --fix` puts it right".to_owned();
        self.repair = Some(repair);
        self
    }

    /// About a host.
    #[must_use]
    pub(super) fn at(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Whether `--fix` could put it right.
    pub fn is_fixable(&self) -> bool {
        self.repair.is_some()
    }

    /// How bad it is after what was done about it.
    pub fn remaining(&self) -> Status {
        if matches!(self.mended, Mended::Done(_)) { Status::Ok } else { self.status }
    }
}

/// A check that failed to find out. What is not known may be wrong.
pub(super) fn unknown(check: &'static str, error: &dyn std::error::Error) -> Finding {
    Finding::warn(check, format!("it is not known: {}", crate::error_chain(error)))
        .because("the check could not look")
        .advise("mend that first, then run `mngr doctor` again")
}
