//! The steps that make an agent, each noted in the journal before it is taken.
//!
//! Budget for a worktree agent on this machine: one look for the branch, `git worktree add`, one checkout, one tmux call.
//! Nothing waits for a fixed time.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_agents::brand::{Consent, Provisioning};
use mngr_agents::deliver::{self, Message, Recipient};
use mngr_host::fault;
use mngr_host::files::{Access, Change, Durability, Presence};
use mngr_host::host::Host;
use mngr_host::tmux::{AgentPane, ServerStart};
use mngr_host::{interrupt, random};
use mngr_model::agent::AdditionalCommand;
use mngr_model::delivery::DeliveryLevel;
use mngr_model::env::EnvPair;
use mngr_model::journal::Step;
use mngr_model::layout::AgentLayout;
use mngr_model::process::ProcessRecord;
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentId, AgentName, AgentRecord};

use super::error::CreateError;
use super::heritage::Heritage;
use super::plan::{self, Plan};
use super::preflight::{self, Login};
use super::program::Program;
use super::request::{CreateRequest, Created, FirstStart};
use super::source::{self, Source};
use super::{carry, provision, workspace};
use crate::boot;
use crate::fleet::memory;
use crate::journal::Journal;
use crate::launch::{self, Occasion, Readiness};
use crate::ssh_reach::SshReach;
use crate::world::World;

/// Everything that was decided before the first step.
pub(super) struct Build<'a> {
    pub(super) world: &'a World,
    pub(super) host: &'a Arc<dyn Host>,
    pub(super) request: &'a CreateRequest,
    pub(super) program: &'a Program,
    pub(super) heritage: &'a Heritage,
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) login: Login,
    pub(super) id: &'a AgentId,
    pub(super) name: &'a AgentName,
    /// Whether starting it may start a tmux server.
    pub(super) server: ServerStart,
}

impl Build<'_> {
    /// Makes the agent. What was made before a failure is in the journal.
    pub(super) fn run(
        &self,
        source: Source,
        message: Option<&str>,
        journal: &mut Journal<'_>,
    ) -> Result<Created, CreateError> {
        let (world, host) = (self.world, self.host.as_ref());
        let source = source::fetch(world, host, source, journal)?;
        let source = carry::to_host(world, self.host, source, self.request)?;
        let plan = plan::plan(world, host, &source, self.name, self.request)?;
        workspace::make(world, host, self.id, &source, &plan, self.request, journal)?;
        let agent = host.layout().agent(self.id);
        journal.note(Step::Folder { path: agent.root().clone() })?;
        journal.add(provision::state_folder(&agent));
        let mut record = self.record(&source, &plan);
        let mut pairs = provision::variables(world, host, &record, &self.program.resolved, self.request)?;
        let base = self.program.resolved.base;
        // What these need of the state folder must be there; otherwise it is made with all that follows.
        if base.brand().is_some() || !self.heritage.is_empty() {
            journal.carry_out()?;
        }
        let words = self.prepare_brand(&source, &agent, &mut record, &mut pairs)?;
        self.heritage.hand_over(world, base, host, &agent, &record.work_dir, self.request.proof)?;
        journal.add([provision::env_file(&agent, &pairs)]);
        journal.add(self.program.write_into(&agent, &mut record));
        record.argv.extend(words);
        provision::prepare(world, host, &record, &self.program.resolved, self.request, &pairs, journal)?;
        let message_level = match self.request.first_start {
            FirstStart::Now => self.start(&agent, &record, message, journal)?,
            FirstStart::Later => {
                journal.carry_out()?;
                let line = ProcessRecord::stop_line(world.clock.now());
                host.files().append(&agent.process(), line.as_bytes(), Durability::Cached)?;
                None
            }
        };
        if record.start_on_boot {
            boot::write_scripts(world, host, &record)?;
            boot::settle(world, host)?;
        }
        interrupt::check()?;
        // The record is the commit point: from here on the agent exists, and an interrupt comes too late.
        let _shield = interrupt::shield();
        let bytes = serde_json::to_vec_pretty(&record)?;
        if plan.transfer == TransferMode::GitWorktree
            && let Some(repository) = &plan.repository
        {
            // The agent that it was cloned from may have been destroyed meanwhile, and its repository with it.
            let path = repository.join("HEAD");
            journal.add([Change::Require { path, presence: Presence::There }]);
        }
        let (path, access, durability) = (agent.data(), Access::Shared, Durability::Synced);
        journal.add([Change::Write { path, bytes, access, durability }]);
        journal.add(provision::drop_backups(journal));
        journal.close()?;
        fault::point();
        memory::add(world, host, &record);
        if let Some(note) = plan::left_behind_note(&plan.left_behind) {
            world.reporter.note(&note);
        }
        Ok(Created {
            id: record.id.clone(),
            name: record.name.clone(),
            agent_type: record.agent_type.clone(),
            work_dir: record.work_dir.clone(),
            branch: record.initial_branch().map(str::to_owned),
            host: host.info().clone(),
            ssh: host.reach().and_then(|reach| SshReach::of(&reach)),
            was_reused: false,
            message_level,
            branch_note: plan.note,
        })
    }

    /// Starts it and sends the first message; returns how far that got.
    fn start(
        &self,
        agent: &AgentLayout,
        record: &AgentRecord,
        message: Option<&str>,
        journal: &mut Journal<'_>,
    ) -> Result<Option<DeliveryLevel>, CreateError> {
        let (world, host) = (self.world, self.host.as_ref());
        let session = launch::session_of(world, record).map_err(launch::LaunchError::from)?;
        journal.note(Step::Session { name: session.to_string() })?;
        if record.headless {
            journal.add(provision::streams(agent, self.request.message.as_deref().unwrap_or_default()));
        }
        let readiness = match preflight::consent(self.request, self.program)? {
            // It is not sent messages, and may be done before it could be asked whether it takes some.
            _ if record.headless => Readiness::Runs,
            // The user is about to look at it, and may have to answer something first.
            Consent::Ask if message.is_none() => Readiness::Runs,
            _ if self.login == Login::AwaitsUser => Readiness::Runs,
            _ => Readiness::TakesMessages,
        };
        interrupt::check()?;
        let occasion = Occasion::First { with: journal.take_pending() };
        let pane = launch::launch(world, host, record, readiness, occasion, self.server)?;
        fault::point();
        message.map(|text| self.deliver(record, &pane, text)).transpose()
    }

    fn record(&self, source: &Source, plan: &Plan) -> AgentRecord {
        let branch = plan.checkout.as_ref().map(|checkout| checkout.branch().to_owned());
        let is_created =
            matches!(plan.checkout, Some(plan::Checkout::New { .. } | plan::Checkout::Reused { .. }));
        AgentRecord {
            id: self.id.clone(),
            name: self.name.clone(),
            agent_type: self.program.type_name.clone(),
            work_dir: plan.work_dir.clone(),
            create_time: self.world.clock.now(),
            command: String::new(),
            argv: Vec::new(),
            agent_args: Vec::new(),
            additional_commands: self
                .request
                .windows
                .iter()
                .map(|window| AdditionalCommand {
                    command: window.command.clone(),
                    window_name: Some(window.name.clone()),
                })
                .collect(),
            title: self.request.title.clone(),
            first_line: self.heritage.first_words(self.world),
            initial_message: self.request.message.clone(),
            resume_message: self.request.resume_message.clone(),
            ready_timeout_seconds: None,
            start_on_boot: self.request.start_on_boot,
            labels: plan::labels(source, self.request),
            created_branch_name: branch.clone().filter(|_| is_created),
            checked_out_branch_name: branch.or_else(|| plan.base_branch.clone()),
            tmux: self.request.geometry.clone(),
            brand: None,
            status_file: None,
            ready_folder: None,
            server: None,
            headless: self.program.resolved.headless.is_some(),
            workspace: Some(plan.workspace()),
        }
    }

    /// What only the brand knows about a new agent: its configuration, its variables, further words of its command.
    fn prepare_brand(
        &self,
        source: &Source,
        agent: &AgentLayout,
        record: &mut AgentRecord,
        pairs: &mut Vec<EnvPair>,
    ) -> Result<Vec<String>, CreateError> {
        let base = self.program.resolved.base;
        let Some(brand) = base.brand() else { return Ok(Vec::new()) };
        let prepared = brand.provision(&Provisioning {
            client: self.world.client.as_ref(),
            home: self.world.home.as_ref(),
            vars: &self.world.vars,
            host: self.host.as_ref(),
            agent,
            record,
            argv: &self.program.words,
            // A snapshot stands for the folder the agent had.
            source: self.heritage.ancestor().map_or(source.home().1, |ancestor| &ancestor.record.work_dir),
            parent: source.parent.as_ref().map(|parent| (source.home().0, parent)),
            env: self.env,
            settings: &self.program.resolved.chain,
            consent: preflight::consent(self.request, self.program)?,
            permissions: self.request.permissions.as_ref(),
        })?;
        record.brand = Some(base.name().to_owned());
        record.status_file = prepared.status_file;
        record.ready_folder = prepared.ready_folder;
        record.server = prepared.server;
        for note in &prepared.notes {
            self.world.reporter.note(note);
        }
        // The user's own variables win, as they do over those of the type.
        pairs.splice(0..0, prepared.env);
        Ok(prepared.words)
    }

    fn deliver(
        &self,
        record: &AgentRecord,
        pane: &AgentPane,
        text: &str,
    ) -> Result<DeliveryLevel, CreateError> {
        let host = self.host.as_ref();
        let agent = host.layout().agent(self.id);
        self.world.reporter.progress("Sending initial message");
        let key = random::hex32();
        let message = Message { text, key: &key, patience: self.request.message_patience, behind: None };
        let kind = self.program.resolved.clone().kind();
        let to = Recipient { host, pane, agent: &agent, record, kind: &kind, program: None };
        let delivered = self.world.with_tmux(host, |tmux| deliver::deliver(&to, tmux, message));
        delivered.map(|delivered| delivered.level).map_err(CreateError::Message)
    }
}
