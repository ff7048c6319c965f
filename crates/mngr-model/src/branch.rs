//! Which branch an agent works on: the `--branch` spec `[BASE][:NEW]`, and what git accepts as a ref name.
//!
//! Spelling only: whether a branch exists, is checked out or is free is git's to say. What leaves this module is safe
//! to hand to git as a word: it is never an option, a range or a pattern.

use std::fmt;
use std::str::FromStr;

use crate::name::AgentName;
use crate::quote::excerpt;

/// The new branch when the spec names none; `*` is the agent's name.
pub const DEFAULT_NEW_BRANCH: &str = "mngr/*";

/// The longest ref name: as a file name in `.git/refs` it still gets `.lock` appended.
const MAX_REF_LEN: usize = 250;

/// A parsed `--branch` spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchSpec {
    /// `BASE`: work on this existing branch itself.
    Existing(String),
    /// `[BASE]:[NEW]`: make a new branch.
    New {
        /// Where it starts; without it, where the source is now.
        base: Option<String>,
        /// Its name; a `*` in it stands for the agent's name.
        pattern: String,
    },
}

/// A spec applied to one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchChoice {
    /// The branch or commit to start from; without it, where the source is now.
    pub base: Option<String>,
    /// The branch to make; without it, the base itself is checked out.
    pub new: Option<String>,
}

/// Why a `--branch` spec is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    /// There is no text at all.
    #[error("the branch is empty, expected `[BASE][:NEW]`")]
    Empty,
    /// A `*` where no name can be put.
    #[error("`*` stands for the agent's name in a new branch only: write `:{0}`")]
    StarInBase(String),
    /// More than one `*`.
    #[error("`{0}` holds more than one `*`")]
    ManyStars(String),
    /// Not a name git takes.
    #[error("`{value}` is not a valid {role}: {problem}")]
    BadRef {
        /// What it should have named.
        role: RefRole,
        /// The refused text, shortened, control characters escaped.
        value: String,
        /// The rule it breaks.
        problem: RefProblem,
    },
}

/// What a ref name is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefRole {
    /// A branch, existing or to be made.
    Branch,
    /// The point a new branch starts from.
    Base,
}

impl fmt::Display for RefRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Branch => "branch name",
            Self::Base => "base",
        })
    }
}

/// The rule of `git check-ref-format` that a name breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefProblem {
    /// There is no text at all.
    #[error("it is empty")]
    Empty,
    /// Longer than a file name may be.
    #[error("it is longer than {MAX_REF_LEN} bytes")]
    TooLong,
    /// It would be read as an option.
    #[error("it starts with `-`")]
    LeadingDash,
    /// A character or sequence with a meaning of its own.
    #[error("`{}` is not allowed", excerpt(.0))]
    Forbidden(String),
    /// An empty part between slashes, or one that starts or ends badly.
    #[error("no part between slashes may be empty, start with `.`, or end with `.lock`")]
    BadComponent,
    /// A dot at the very end.
    #[error("it ends with `.`")]
    TrailingDot,
    /// A word that already means something to git.
    #[error("git gives this word another meaning")]
    ReservedWord,
}

impl BranchSpec {
    /// What it starts from, if it says.
    pub fn base(&self) -> Option<&str> {
        match self {
            Self::Existing(base) => Some(base),
            Self::New { base, .. } => base.as_deref(),
        }
    }

    /// What the spec means for the agent `name`.
    ///
    /// # Errors
    /// When the name makes the pattern a branch git refuses, such as `*` for an agent called `HEAD`.
    pub fn resolve(&self, name: &AgentName) -> Result<BranchChoice, BranchError> {
        Ok(match self {
            Self::Existing(branch) => BranchChoice { base: Some(branch.clone()), new: None },
            Self::New { base, pattern } => {
                let branch = pattern.replace('*', name.as_str());
                check_branch_name(&branch).map_err(|problem| bad_ref(RefRole::Branch, &branch, problem))?;
                BranchChoice { base: base.clone(), new: Some(branch) }
            }
        })
    }
}

impl Default for BranchSpec {
    fn default() -> Self {
        Self::New { base: None, pattern: DEFAULT_NEW_BRANCH.to_owned() }
    }
}

impl FromStr for BranchSpec {
    type Err = BranchError;

    fn from_str(spec: &str) -> Result<Self, BranchError> {
        if spec.is_empty() {
            return Err(BranchError::Empty);
        }
        let (base, new) = match spec.split_once(':') {
            Some((base, new)) => (base, Some(new)),
            None => (spec, None),
        };
        if base.contains('*') {
            return Err(BranchError::StarInBase(excerpt(base)));
        }
        let Some(new) = new else {
            check_branch_name(base).map_err(|problem| bad_ref(RefRole::Branch, base, problem))?;
            return Ok(Self::Existing(base.to_owned()));
        };
        if !base.is_empty() {
            check_base(base).map_err(|problem| bad_ref(RefRole::Base, base, problem))?;
        }
        let pattern = if new.is_empty() { DEFAULT_NEW_BRANCH } else { new };
        if pattern.matches('*').count() > 1 {
            return Err(BranchError::ManyStars(excerpt(pattern)));
        }
        // Any name in place of the star shows whether the rest of the pattern is sound.
        check_branch_name(&pattern.replace('*', "x"))
            .map_err(|problem| bad_ref(RefRole::Branch, pattern, problem))?;
        Ok(Self::New { base: (!base.is_empty()).then(|| base.to_owned()), pattern: pattern.to_owned() })
    }
}

impl fmt::Display for BranchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Existing(branch) => f.write_str(branch),
            Self::New { base, pattern } => write!(f, "{}:{pattern}", base.as_deref().unwrap_or_default()),
        }
    }
}

/// Checks that git takes `name` for a branch (`git check-ref-format --branch`), without asking it.
///
/// # Errors
/// The first rule it breaks.
pub fn check_branch_name(name: &str) -> Result<(), RefProblem> {
    if matches!(name, "HEAD" | "@") {
        return Err(RefProblem::ReservedWord);
    }
    check_ref_name(name)
}

/// A base may also be `HEAD`, a tag or a commit, and may go back from there: `main~2`, `v1^`.
fn check_base(base: &str) -> Result<(), RefProblem> {
    let end = base.find(['~', '^']).unwrap_or(base.len());
    let (name, steps) = base.split_at(end);
    if let Some(bad) = steps.chars().find(|c| !matches!(c, '~' | '^' | '0'..='9')) {
        return Err(RefProblem::Forbidden(bad.to_string()));
    }
    if base.len() > MAX_REF_LEN {
        return Err(RefProblem::TooLong);
    }
    check_ref_name(name)
}

/// The rules that branches, tags and remote branches share, one level allowed.
fn check_ref_name(name: &str) -> Result<(), RefProblem> {
    let forbidden = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    if name.is_empty() {
        return Err(RefProblem::Empty);
    }
    if name.len() > MAX_REF_LEN {
        return Err(RefProblem::TooLong);
    }
    if name.starts_with('-') {
        return Err(RefProblem::LeadingDash);
    }
    if let Some(bad) = name.chars().find(|&c| forbidden(c)) {
        return Err(RefProblem::Forbidden(bad.to_string()));
    }
    if let Some(bad) = ["..", "@{"].into_iter().find(|sequence| name.contains(sequence)) {
        return Err(RefProblem::Forbidden(bad.to_owned()));
    }
    if name.split('/').any(|part| part.is_empty() || part.starts_with('.') || part.ends_with(".lock")) {
        return Err(RefProblem::BadComponent);
    }
    if name.ends_with('.') {
        return Err(RefProblem::TrailingDot);
    }
    Ok(())
}

fn bad_ref(role: RefRole, value: &str, problem: RefProblem) -> BranchError {
    BranchError::BadRef { role, value: excerpt(value), problem }
}

#[cfg(test)]
mod tests;
