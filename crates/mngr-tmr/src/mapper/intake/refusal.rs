//! Why something an agent published is not taken in, in words the agent can act on.

use mngr_model::run::FailureKind;
use mngr_model::run::outcome::Problem;

/// What is wrong with what was published. File names in it are already fit for one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A link, a pipe or a folder stands where the archive should be.
    #[error("the published archive is not a plain file")]
    NotAFile,
    /// More than a limit allows.
    #[error("{what} is too large: at most {limit} {unit} are allowed")]
    TooBig {
        /// What is too large.
        what: String,
        /// How much of it is allowed.
        limit: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// Hardly anything packed, a lot unpacked.
    #[error("the archive unpacks to more than {limit} times its size")]
    Bomb {
        /// How many times its size is allowed.
        limit: u64,
    },
    /// Not packed by gzip.
    #[error("the archive is not a gzip file, or is damaged")]
    NotGzip,
    /// It ends in the middle.
    #[error("the archive is cut off")]
    Truncated,
    /// Not a tar archive.
    #[error("the archive holds no valid tar header where one must be")]
    NotTar,
    /// Something follows the end of the archive.
    #[error("the archive goes on after its end")]
    TrailingData,
    /// A name that is not UTF-8 or would not fit into one line.
    #[error("the name `{name}` is not printable text")]
    Name {
        /// The name, as far as it can be shown.
        name: String,
    },
    /// A path that leaves the folder, or is spelled so that it might.
    #[error("`{path}` is not a plain relative path")]
    Path {
        /// The path.
        path: String,
    },
    /// A link, a device or something else that is neither file nor folder.
    #[error("`{path}` is {kind}: only plain files and folders can be published")]
    Special {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A file that would run as someone else.
    #[error("`{path}` has a set-user-id or set-group-id bit")]
    SetId {
        /// The path.
        path: String,
    },
    /// Two entries for one path, or a file that is also a folder.
    #[error("`{path}` is in the archive twice")]
    Duplicate {
        /// The path.
        path: String,
    },
    /// Neither the outcome nor the bundle nor an artifact.
    #[error("`{path}` does not belong into the archive")]
    Stray {
        /// The path.
        path: String,
    },
    /// There is no outcome.
    #[error("the archive holds no `outcome.json`")]
    NoOutcome,
    /// The outcome is not JSON.
    #[error("`outcome.json` is not valid JSON: {message}")]
    NotJson {
        /// What the reader said, with line and column.
        message: String,
    },
    /// The outcome breaks its contract.
    #[error("the outcome is not valid")]
    Outcome {
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
    /// The bundle is not one, or git does not accept it.
    #[error("the bundle of commits cannot be read: {message}")]
    Bundle {
        /// What was wrong.
        message: String,
    },
    /// Other branches than the agent's own.
    #[error("the bundle must hold the branch `{expected}` and nothing else, it holds {found}")]
    Refs {
        /// The agent's branch.
        expected: String,
        /// What it holds.
        found: String,
    },
    /// It builds on something else than the base commit.
    #[error("the commits must build on the base commit `{base}` alone")]
    Base {
        /// The base commit.
        base: String,
    },
    /// History that is not a line.
    #[error("commit `{commit}` must have exactly one parent, and the first commit's must be the base")]
    NotLinear {
        /// The commit.
        commit: String,
    },
    /// A commit that does not say what it is for.
    #[error("the subject of commit `{commit}` must begin with its kind in brackets, found `{subject}`")]
    Untagged {
        /// The commit.
        commit: String,
        /// Its subject.
        subject: String,
    },
    /// A commit of a kind the outcome does not name.
    #[error("commit `{commit}` is a {kind}, but `changes` has no entry for that kind")]
    Undeclared {
        /// The commit.
        commit: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The commits change what no agent may change.
    #[error("{}", problems.join("; "))]
    Contract {
        /// Each thing that was changed: file, rule and line.
        problems: Vec<String>,
    },
    /// A change in the outcome that no commit makes.
    #[error("`changes` names {kind}, but no published commit has that kind")]
    Uncommitted {
        /// The kind.
        kind: &'static str,
    },
}

impl Refusal {
    /// How a task fails that cannot do better than this.
    pub fn failure(&self) -> FailureKind {
        match self {
            Self::TooBig { .. } | Self::Bomb { .. } => FailureKind::TooBig,
            Self::NotAFile
            | Self::Name { .. }
            | Self::Path { .. }
            | Self::Special { .. }
            | Self::SetId { .. }
            | Self::Duplicate { .. }
            | Self::Stray { .. }
            | Self::TrailingData
            | Self::Refs { .. }
            | Self::Base { .. }
            | Self::NotLinear { .. } => FailureKind::HostileArchive,
            Self::Contract { .. } => FailureKind::Contract,
            Self::NotGzip
            | Self::Truncated
            | Self::NotTar
            | Self::NoOutcome
            | Self::NotJson { .. }
            | Self::Outcome { .. }
            | Self::Bundle { .. }
            | Self::Untagged { .. }
            | Self::Undeclared { .. }
            | Self::Uncommitted { .. } => FailureKind::BadOutcome,
        }
    }

    /// What the agent is told, one line for each thing to repair.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Outcome { problems } => problems.iter().map(ToString::to_string).collect(),
            Self::Contract { problems } => problems.clone(),
            other => vec![other.to_string()],
        }
    }
}
