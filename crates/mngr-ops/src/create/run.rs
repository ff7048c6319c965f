//! The order of steps.
//!
//! Budget for a worktree agent on this machine: `git status` and `git config` side by side, one look for the branch,
//! `git worktree add`, one checkout, one tmux call. Nothing waits for a fixed time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mngr_agents::brand::{Consent, Provisioning};
use mngr_agents::deliver::{self, Message, Recipient};
use mngr_agents::manifest::BuiltIn;
use mngr_agents::scripted::script::Step as ScriptStep;
use mngr_host::fault;
use mngr_host::files::{Access, Change, Durability};
use mngr_host::host::Host;
use mngr_host::lock::LockWait;
use mngr_host::tmux::PaneId;
use mngr_host::{interrupt, random};
use mngr_model::agent::AdditionalCommand;
use mngr_model::delivery::DeliveryLevel;
use mngr_model::env::EnvPair;
use mngr_model::facts::Detail;
use mngr_model::journal::{Header, Operation, Step};
use mngr_model::layout::AgentLayout;
use mngr_model::process::ProcessRecord;
use mngr_model::quote::sh_join;
use mngr_model::{AgentId, AgentName, AgentRecord, AgentTypeName};

use super::agent_type::{self, ResolvedType};
use super::error::CreateError;
use super::heritage::{self, Heritage};
use super::plan::{self, Plan};
use super::preflight::{self, Login};
use super::request::{Attendance, CreateRequest, Created, FirstStart};
use super::source::{self, Source};
use super::{carry, provision, reuse, workspace};
use crate::boot;
use crate::fleet::memory;
use crate::journal::{self, Journal};
use crate::launch::{self, Occasion, Readiness};
use crate::recover;
use crate::world::World;

/// How long another command may hold the host while it chooses a name.
const HOST_LOCK_WAIT: Duration = Duration::from_secs(60);
/// How many made-up names are tried.
const NAME_TRIES: u32 = 64;

/// What an agent runs, as far as it is known before its folders exist.
pub(super) struct Program {
    pub(super) type_name: AgentTypeName,
    pub(super) resolved: ResolvedType,
    words: Vec<String>,
    steps: Vec<ScriptStep>,
    /// What was given after `--`, or after that of the agent it is made from.
    args: Vec<String>,
}

impl Program {
    /// The word that runs it.
    pub(super) fn word(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    /// Puts what will run into the record. Gives the player's script where the type has one.
    pub(super) fn write_into(&self, agent: &AgentLayout, record: &mut AgentRecord) -> Option<Change> {
        let (script, words) = match self.resolved.base {
            BuiltIn::Command | BuiltIn::Claude | BuiltIn::Codex | BuiltIn::Opencode => {
                (None, self.words.clone())
            }
            BuiltIn::Scripted => {
                let (script, words) = provision::player(agent, &record.name, &self.steps);
                (Some(script), words)
            }
        };
        record.command = match words.as_slice() {
            [shell, flag, line] if shell == "sh" && flag == "-c" => line.clone(),
            words => sh_join(words),
        };
        record.argv = words;
        record.agent_args.clone_from(&self.args);
        script
    }
}

/// Creates an agent on a host, or takes an existing one if the request allows it. The source may have been found before.
pub(super) fn create_on(
    world: &World,
    request: &CreateRequest,
    host: Arc<dyn Host>,
    source: Option<Result<Source, CreateError>>,
) -> Result<Created, CreateError> {
    if request.reuse
        && let Some(created) = reuse::reuse(world, request)?
    {
        return Ok(created);
    }
    let Ready { heritage, program, env, login } = ready(world, host.as_ref(), request)?;
    // What is typed into a terminal must not hold keys; what is read from a file may be anything.
    let typed = request.message.as_deref().filter(|_| program.resolved.headless.is_none());
    let message = typed.map(deliver::normalize).transpose()?;
    let source = source.unwrap_or_else(|| source::find(world, request, &heritage))?;
    let (mut journal, id, name) = reserve(world, host.as_ref(), request)?;
    let build = Build {
        world,
        host: &host,
        request,
        program: &program,
        heritage: &heritage,
        env: &env,
        login,
        id: &id,
        name: &name,
    };
    let built = build.run(source, message.as_deref(), &mut journal);
    match built {
        Ok(created) => Ok(created),
        Err(error) => {
            let _shield = interrupt::shield();
            match recover::take_back(world, host.as_ref(), &id, journal.steps()) {
                Ok(()) => {
                    journal.finish()?;
                    if request.start_on_boot {
                        boot::settle_or_warn(world, host.as_ref());
                    }
                    Err(error)
                }
                // The journal stays, so that the next command tries again.
                Err(left) => Err(CreateError::LeftOver { failure: crate::error_chain(&error), left }),
            }
        }
    }
}

/// Whether such an agent could be created, as far as that is known before anything is made: its type exists, its program
/// is installed and logged in, its files are there. Gives the type it would have.
///
/// # Errors
/// What creating it would fail with.
pub(super) fn check_on(
    world: &World,
    request: &CreateRequest,
    host: &dyn Host,
) -> Result<AgentTypeName, CreateError> {
    Ok(ready(world, host, request)?.program.type_name)
}

/// The same for a host that is yet to be made: only what does not depend on it.
pub(super) fn check_anywhere(world: &World, request: &CreateRequest) -> Result<AgentTypeName, CreateError> {
    let heritage = heritage::find(world, request)?;
    provision::check_uploads(world, request)?;
    Ok(program(world, request, &heritage)?.type_name)
}

/// What is known before anything is made.
struct Ready {
    heritage: Heritage,
    program: Program,
    env: BTreeMap<String, String>,
    login: Login,
}

fn ready(world: &World, host: &dyn Host, request: &CreateRequest) -> Result<Ready, CreateError> {
    let heritage = heritage::find(world, request)?;
    let program = program(world, request, &heritage)?;
    provision::check_uploads(world, request)?;
    if request.start_on_boot {
        boot::check(world, host)?;
    }
    preflight::tmux(world, host)?;
    let mut env = preflight::surrounding_of(world, host, program.resolved.base)?;
    for pair in provision::given_variables(world, &program.resolved, request)? {
        env.insert(pair.name().to_string(), pair.value().to_owned());
    }
    preflight::installation(world, host, &program, &env)?;
    let login = preflight::login(world, request, &program, &env)?;
    Ok(Ready { heritage, program, env, login })
}

/// What will run. Everything that can be wrong about it is found here, before anything is made.
pub(super) fn program(
    world: &World,
    request: &CreateRequest,
    heritage: &Heritage,
) -> Result<Program, CreateError> {
    let is_adopting = !request.adopt.is_empty();
    let inherited = match &request.agent_type {
        // Words after `--` are a program of their own, unless they can only be arguments.
        None if request.agent_args.is_empty() || is_adopting => heritage.agent_type(world),
        _ => None,
    };
    let type_name = match (&request.agent_type, &inherited) {
        (Some(name), _) | (None, Some(name)) => name.clone(),
        (None, None) if !request.agent_args.is_empty() => built_in_name(BuiltIn::Command)?,
        (None, None) => built_in_name(agent_type::guess(world)?)?,
    };
    let mut resolved = agent_type::resolve(&world.settings, &type_name)?;
    agent_type::require_on(&world.settings, &type_name, &resolved)?;
    check_attendance(&resolved, &type_name, request)?;
    let declared = resolved.clone().kind().check();
    declared.map_err(|source| CreateError::Declared { name: type_name.to_string(), source })?;
    // Nearest first: what a template says wins over what the type says.
    resolved.chain.splice(0..0, request.type_fields.clone());
    heritage.check(resolved.base, &type_name)?;
    let is_of_parent = inherited.is_some() && request.agent_args.is_empty();
    let mut args = if is_of_parent { heritage.args() } else { request.agent_args.clone() };
    let (mut words, mut steps) = (Vec::new(), Vec::new());
    match resolved.base {
        BuiltIn::Command => {
            words = match agent_type::command_words(&resolved, &type_name, &args) {
                Err(CreateError::NoCommand { .. }) if inherited.is_some() => {
                    heritage.words().ok_or_else(|| CreateError::NoCommand { name: type_name.to_string() })?
                }
                words => words?,
            };
        }
        BuiltIn::Claude | BuiltIn::Codex | BuiltIn::Opencode => {
            words = agent_type::brand_words(&resolved, &type_name, &args)?
        }
        BuiltIn::Scripted => {
            let (files, cwd) = (world.client.files(), &world.cwd);
            // Those of another agent are spelled out; what it says must not have files of this machine read.
            if !is_of_parent {
                args = agent_type::script_words(files, cwd, &args)?;
            }
            steps = agent_type::script_steps(files, cwd, &resolved, &type_name, &args)?;
        }
    }
    if let Some(headless) = &resolved.headless {
        words = headless.around(words, &resolved.chain);
    }
    Ok(Program { type_name, resolved, words, steps, args })
}

/// Agents without a terminal are attended to their end, and only they are.
fn check_attendance(
    resolved: &ResolvedType,
    type_name: &AgentTypeName,
    request: &CreateRequest,
) -> Result<(), CreateError> {
    let name = type_name.to_string();
    match (&resolved.headless, request.attendance) {
        (Some(_), Attendance::Background) => Err(CreateError::NeedsForeground { name }),
        (None, Attendance::Foreground) => Err(CreateError::HasTerminal { name }),
        (Some(headless), Attendance::Foreground)
            if headless.needs_message && request.message.as_deref().is_none_or(|m| m.trim().is_empty()) =>
        {
            Err(CreateError::NeedsMessage { name })
        }
        _ => Ok(()),
    }
}

fn built_in_name(built_in: BuiltIn) -> Result<AgentTypeName, CreateError> {
    built_in.name().parse().map_err(|_| CreateError::NoType)
}

/// Chooses name and id and writes the journal's head, under the host lock: nobody else can choose the same.
fn reserve<'h>(
    world: &World,
    host: &'h dyn Host,
    request: &CreateRequest,
) -> Result<(Journal<'h>, AgentId, AgentName), CreateError> {
    let layout = host.layout();
    let take = || host.lock(&layout.host_lock(), LockWait::For(HOST_LOCK_WAIT));
    let mut lock = take()?;
    let mut survey = host.survey(Detail::Basic)?;
    if !survey.journals.is_empty() && recover::has_leftovers(host, &survey.journals)? {
        drop(lock);
        recover::recover(world, host);
        lock = take()?;
        survey = host.survey(Detail::Basic)?;
    }
    let _lock = lock;
    let id = request.id.clone().unwrap_or_else(random::agent_id);
    if survey.agents.iter().any(|facts| facts.record.id == id)
        || survey.broken.iter().any(|b| b.folder == id.as_str())
    {
        return Err(CreateError::IdTaken { id });
    }
    let mut taken: Vec<AgentName> = survey.agents.into_iter().map(|facts| facts.record.name).collect();
    for entry in &survey.journals {
        let text = host.files().read_if_there(&layout.journals().join(entry))?.unwrap_or_default();
        let reserved = journal::read(&String::from_utf8_lossy(&text)).map(|(header, _)| header);
        // An agent of another host does not take a name here.
        taken.extend(
            reserved.filter(|header| header.operation != Operation::MakeHost).map(|header| header.name),
        );
    }
    let name = match &request.name {
        Some(name) if taken.contains(name) => return Err(CreateError::NameTaken { name: name.clone() }),
        Some(name) => name.clone(),
        None => free_name(request, &taken)?,
    };
    let header = Header {
        operation: Operation::Create,
        agent_id: id.clone(),
        name: name.clone(),
        started: world.clock.now(),
    };
    Ok((Journal::begin(host, &header)?, id, name))
}

fn free_name(request: &CreateRequest, taken: &[AgentName]) -> Result<AgentName, CreateError> {
    for attempt in 0..NAME_TRIES {
        let mut text = request.name_style.generate(random::seed());
        // Lists of single words run out; a number makes room.
        if attempt > NAME_TRIES / 2 {
            text = format!("{text}-{attempt}");
        }
        if let Ok(name) = text.parse::<AgentName>()
            && !taken.contains(&name)
        {
            return Ok(name);
        }
    }
    Err(CreateError::NoFreeName)
}

struct Build<'a> {
    world: &'a World,
    host: &'a Arc<dyn Host>,
    request: &'a CreateRequest,
    program: &'a Program,
    heritage: &'a Heritage,
    env: &'a BTreeMap<String, String>,
    login: Login,
    id: &'a AgentId,
    name: &'a AgentName,
}

impl Build<'_> {
    fn run(
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
        // The record is the commit point: from here on the agent exists.
        let bytes = serde_json::to_vec_pretty(&record)?;
        let (path, access, durability) = (agent.data(), Access::Shared, Durability::Synced);
        journal.add([Change::Write { path, bytes, access, durability }]);
        journal.add(provision::drop_backups(journal));
        journal.close()?;
        memory::add(world, host, &record);
        Ok(Created {
            id: record.id.clone(),
            name: record.name.clone(),
            agent_type: record.agent_type.clone(),
            work_dir: record.work_dir.clone(),
            branch: record.initial_branch().map(str::to_owned),
            host: host.info().clone(),
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
        let readiness = match self.request.consent {
            // It is not sent messages, and may be done before it could be asked whether it takes some.
            _ if record.headless => Readiness::Runs,
            // The user is about to look at it, and may have to answer something first.
            Consent::Ask if message.is_none() => Readiness::Runs,
            _ if self.login == Login::AwaitsUser => Readiness::Runs,
            _ => Readiness::TakesMessages,
        };
        interrupt::check()?;
        launch::launch(world, host, record, readiness, Occasion::First { with: journal.take_pending() })?;
        fault::point();
        message.map(|text| self.deliver(record, text)).transpose()
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
            // A snapshot stands for the folder the agent had.
            source: self.heritage.ancestor().map_or(source.home().1, |ancestor| &ancestor.record.work_dir),
            parent: source.parent.as_ref().map(|parent| (source.home().0, parent)),
            env: self.env,
            settings: &self.program.resolved.chain,
            consent: self.request.consent,
        })?;
        record.brand = Some(base.name().to_owned());
        record.status_file = prepared.status_file;
        record.ready_folder = prepared.ready_folder;
        // The user's own variables win, as they do over those of the type.
        pairs.splice(0..0, prepared.env);
        Ok(prepared.words)
    }

    fn deliver(&self, record: &AgentRecord, text: &str) -> Result<DeliveryLevel, CreateError> {
        let host = self.host.as_ref();
        let agent = host.layout().agent(self.id);
        let process = ProcessRecord::parse(&host.files().read_text(&agent.process())?);
        let pane = process.pane.as_deref().and_then(PaneId::parse).ok_or(launch::LaunchError::NotReady {
            seconds: self.world.settings.agent_ready_timeout,
            screen: None,
        })?;
        self.world.reporter.progress("Sending initial message");
        let key = random::hex32();
        let message = Message { text, key: &key, patience: self.request.message_patience };
        let kind = self.program.resolved.clone().kind();
        let to = Recipient { host, pane: &pane, agent: &agent, record, kind: &kind, program: None };
        let delivered = self.world.with_tmux(host, |tmux| deliver::deliver(&to, tmux, message));
        delivered.map(|delivered| delivered.level).map_err(CreateError::Message)
    }
}
