//! The tool an agent hands its result over with, and where the result appears.
//!
//! The tool checks only what an agent can repair at once with the usual programs of a shell; everything is checked again
//! by the [intake](super::intake).

use mngr_host::files::{Access, Durability, FileKind, FilesError};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_quote;
use mngr_model::run::IntegratorOutcome;
use mngr_model::run::outcome::{MAX_OUTCOME_BYTES, Outcome};
use serde_json::Value;

use super::Limits;

/// The tool without the values of one task.
const TOOL: &str = include_str!("publish.sh");

/// How much of what the tool says is read.
const LONGEST_REFUSAL: usize = 500;

/// How an agent calls it, whatever its host.
pub const COMMAND: &str = "\"$MNGR_AGENT_STATE_DIR/commands/publish\"";

/// The folder below an agent's state folder in which tests leave transcripts and recordings. The tool takes it along.
pub const TEST_ARTIFACTS: &str = "plugin/tmr/e2e";

/// What an agent is there for: it decides what it says in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Looks after a test.
    Mapper,
    /// Puts the changes of others together.
    Integrator,
}

impl Role {
    fn schema(self) -> Value {
        match self {
            Self::Mapper => Outcome::json_schema(),
            Self::Integrator => IntegratorOutcome::json_schema(),
        }
    }
}

/// What the tool must know of a task.
#[derive(Debug, Clone, Copy)]
pub struct Publishing<'a> {
    /// The commit the agent's branch starts from.
    pub base_commit: &'a str,
    /// The agent's branch.
    pub branch: &'a str,
    /// How much may be published.
    pub limits: &'a Limits,
    /// What the agent is there for.
    pub role: Role,
}

/// Where the archive appears.
pub fn archive(agent: &AgentLayout) -> HostPath {
    agent.handed_over().join("outputs.tar.gz")
}

/// Where the tool says why it published nothing, the last time it was called.
fn refusal(agent: &AgentLayout) -> HostPath {
    agent.plugin().join("tmr/refused")
}

/// Why the tool published nothing, the last time it was called; nothing if it was not, or did publish. Untrusted text in
/// one line: an agent can write the file as well.
pub fn refused(host: &dyn Host, agent: &AgentLayout) -> Option<String> {
    let (files, path) = (host.files(), refusal(agent));
    files.stat(&path).ok().flatten().filter(|stat| stat.kind == FileKind::File)?;
    let bytes = files.read_part(&path, 0, LONGEST_REFUSAL).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // One file stands for all, so that the same cause reads the same however many there are.
    let more = if lines.len() > 2 { ",..." } else { "" };
    let told = lines.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let text = mngr_query::sanitize(&told).into_owned();
    (!text.is_empty()).then(|| format!("{text}{more}"))
}

/// The tool's own path.
pub fn tool(agent: &AgentLayout) -> HostPath {
    agent.commands().join("publish")
}

/// The JSON schema of the outcome, for agents that would rather check than read.
pub const SCHEMA: &str = "$MNGR_AGENT_STATE_DIR/commands/outcome.schema.json";

/// Puts the tool and the schema of the outcome into the agent's state folder.
///
/// # Errors
/// When they cannot be written there.
pub fn install(host: &dyn Host, agent: &AgentLayout, publishing: &Publishing<'_>) -> Result<(), FilesError> {
    let files = host.files();
    files.make_folder(&agent.commands())?;
    // It is watched for the archive, and what is not there yet cannot be.
    if let Some(folder) = archive(agent).parent() {
        files.make_folder(&folder)?;
    }
    let script = script(publishing);
    files.write(&tool(agent), script.as_bytes(), Access::PrivateExecutable, Durability::Cached)?;
    let schema = format!("{:#}\n", publishing.role.schema());
    let at = agent.commands().join("outcome.schema.json");
    files.write(&at, schema.as_bytes(), Access::Private, Durability::Cached)
}

fn script(publishing: &Publishing<'_>) -> String {
    let Publishing { base_commit, branch, limits, role: _ } = publishing;
    let numbers = [
        ("max_outcome_bytes", MAX_OUTCOME_BYTES),
        ("max_commits", limits.commits as u64),
        ("max_bundle_bytes", limits.bundle_bytes),
        ("max_file_bytes", limits.file_bytes),
        // The outcome, the bundle and the folders above the artifacts are entries as well.
        ("max_entries", limits.entries / 2),
        ("max_unpacked_bytes", limits.unpacked_bytes),
        ("max_archive_bytes", limits.archive_bytes),
    ];
    let mut script = String::from("#!/bin/sh\n");
    let texts = [("base_commit", *base_commit), ("branch", *branch), ("test_artifacts", TEST_ARTIFACTS)];
    for (name, text) in texts {
        script.push_str(&format!("{name}={}\n", sh_quote(text)));
    }
    for (name, number) in numbers {
        script.push_str(&format!("{name}={number}\n"));
    }
    script.push_str(TOOL);
    script
}

#[cfg(test)]
mod tests;
