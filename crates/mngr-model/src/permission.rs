//! What an agent of a run may do without anybody being asked. A list, not a sandbox: the tests it may run can do anything.

use serde::{Deserialize, Serialize};

use crate::HostPath;

/// The permission set of one agent of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionSet {
    /// Command lines that are allowed as they are: those it is told to run.
    pub lines: Vec<String>,
    /// What runs the tests: the first words of a command, after which any others may follow.
    pub runners: Vec<Vec<String>>,
    /// The sub-commands of git.
    pub git: Vec<String>,
    /// Patterns of the user's own (`[tmr] allow`).
    pub allow: Vec<String>,
    /// The program that judges command lines. Without it, only what the agent's program can judge by itself is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// The set of an agent that is there, with the places that belong to it: what the judge reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The set.
    #[serde(flatten)]
    pub set: PermissionSet,
    /// The folder it may change files in.
    pub work_dir: String,
    /// Its state folder.
    pub state_dir: String,
}

impl Granted {
    /// The set with its places.
    pub fn new(set: &PermissionSet, work_dir: &HostPath, state_dir: &HostPath) -> Self {
        Self { set: set.clone(), work_dir: work_dir.to_string(), state_dir: state_dir.to_string() }
    }
}

/// What git may be used for by an agent that looks after a test.
pub const GIT_OF_MAPPERS: [&str; 14] = [
    "add",
    "commit",
    "diff",
    "log",
    "show",
    "status",
    "restore",
    "rev-parse",
    "rev-list",
    "ls-files",
    "blame",
    "grep",
    "merge-base",
    "cat-file",
];

/// What it may be used for besides by the agent that puts changes together.
pub const GIT_OF_INTEGRATORS: [&str; 10] =
    ["cherry-pick", "revert", "apply", "am", "checkout", "switch", "reset", "rm", "mv", "range-diff"];

/// Commands that only read, and have no option that does more.
pub const READING: [&str; 40] = [
    "cat",
    "head",
    "tail",
    "ls",
    "grep",
    "egrep",
    "fgrep",
    "wc",
    "cut",
    "tr",
    "diff",
    "cmp",
    "comm",
    "file",
    "stat",
    "pwd",
    "echo",
    "printf",
    "true",
    "false",
    "test",
    "[",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "type",
    "date",
    "nl",
    "tac",
    "od",
    "md5sum",
    "sha256sum",
    "du",
    "printenv",
    "seq",
    "sleep",
    "jq",
    "column",
];

/// Something that was refused to an agent. Untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The tool it wanted to use.
    pub tool: String,
    /// What for: the command line, or the file.
    pub what: String,
    /// Why it was refused.
    #[serde(default)]
    pub why: String,
}
