//! Codex as a brand.

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_model::env::EnvPair;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::state::{AgentState, StateReport};
use mngr_model::{AgentRecord, HostPath};

use super::{composer, config, evidence, places, rollout, status};
use crate::brand::{Brand, Composer, ProofRequest, ProvisionError, Provisioned, Provisioning};

const HOOK: &str = include_str!("hook.sh");

/// Codex.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codex;
