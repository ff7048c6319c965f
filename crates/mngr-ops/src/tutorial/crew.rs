//! Agents that each do one job and go: created, waited for by events, asked for what they made, and dismissed.
//!
//! An agent finds its task as files in a folder of its work dir that git does not see; the message only points there, so it
//! stays one line for every type. Whatever happens, an interrupt included, no agent is left that was not asked to stay.

use std::sync::RwLock;
use std::time::{Duration, Instant};

use mngr_agents::brand::Consent;
use mngr_host::files::{Access, Durability};
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::random;
use mngr_model::address::{AgentAddress, AgentRef, NewHost};
use mngr_model::agent::TmuxGeometry;
use mngr_model::branch::BranchSpec;
use mngr_model::facts::Detail;
use mngr_model::name_style::NameStyle;
use mngr_model::process::ExitStatus;
use mngr_model::state::WaitingReason;
use mngr_model::{AgentName, AgentState, AgentTypeName, HostPath};
use serde::Serialize;

use crate::create::{
    self, Attendance, Audience, CreateError, CreateRequest, Created, FirstStart, HostSpec,
    PROVISION_PATIENCE, Project, Proof, SourceSpec, UncleanFiles, Upload, agent_type,
};
use crate::destroy::{self, DestroyOptions};
use crate::fanout::fan_out_within;
use crate::fleet::{Agent, Fleet};
use crate::wait::{self, Quantity, WaitError, WaitRequest};
use crate::world::World;

/// Where an agent finds its task and leaves what is not to be committed, in its work dir.
pub(super) const FOLDER: &str = ".tutorial-task";
/// The task itself.
const TASK: &str = "task.md";
/// How long the message may take to be accepted.
const MESSAGE_PATIENCE: Duration = Duration::from_secs(60);
/// How often to look although nothing seems to change.
const INTERVAL: Duration = Duration::from_secs(5);

/// What happens to agents when their job is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dismissal {
    /// They are destroyed, which `undo` can take back.
    Destroy,
    /// They stay.
    Keep,
}

/// Which agents, and for how long.
#[derive(Debug, Clone)]
pub struct CrewOptions {
    /// Their type, if given.
    pub agent_type: Option<AgentTypeName>,
    /// Their arguments.
    pub agent_args: Vec<String>,
    /// How many work at once.
    pub at_once: usize,
    /// How long each may take.
    pub deadline: Duration,
    /// What happens to them afterwards.
    pub dismissal: Dismissal,
    /// What may be agreed to in the user's name when they start.
    pub consent: Consent,
}

/// How an agent came to the end of its job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "ending", content = "detail", rename_all = "snake_case")]
pub enum Ending {
    /// It ended its turn, or its program with 0.
    Finished,
    /// The time was over.
    TimedOut,
    /// It ended otherwise.
    Failed(String),
    /// It could not be created.
    NotStarted(String),
    /// The user gave up.
    Interrupted,
}

/// What is to be done by one agent.
pub(super) struct Job {
    /// Its name.
    pub(super) name: AgentName,
    /// What its label `tutorial` says.
    pub(super) label: &'static str,
    /// What it is asked to do.
    pub(super) task: String,
    /// Further files of its task.
    pub(super) files: Vec<(&'static str, Vec<u8>)>,
    /// What happens to uncommitted files of the user.
    pub(super) unclean: UncleanFiles,
    /// Whether its branch goes with it.
    pub(super) branch: BranchFate,
}

/// What happens to an agent's branch when it is dismissed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchFate {
    /// It holds the result.
    Keep,
    /// Nothing is on it.
    Remove,
}

/// What became of a job.
pub(super) struct Done<R> {
    pub(super) agent: AgentName,
    pub(super) branch: Option<String>,
    pub(super) ending: Ending,
    /// What the agent made, if it came so far.
    pub(super) made: Option<R>,
}

/// A made-up name: `tutorial-fill-1f2e-1`. The middle is the same for agents of one command.
pub(super) fn names(verb: &str) -> impl Fn(usize) -> Option<AgentName> {
    let run: String = random::hex32().chars().take(4).collect();
    let verb = verb.to_owned();
    move |number| format!("tutorial-{verb}-{run}-{}", number + 1).parse().ok()
}

/// Has every job done; `look` is called while the agent is still there, and while no other is being created or looked at:
/// it may merge into the checkout that others are created from.
pub(super) fn work<R: Send>(
    world: &World,
    jobs: Vec<Job>,
    options: &CrewOptions,
    look: impl Fn(&Agent, &Ending) -> R + Sync,
) -> Result<Vec<Done<R>>, Interrupted> {
    let quiet = RwLock::new(());
    let work = |job| Worker { world, job: &job, options, quiet: &quiet }.run(&look);
    let done = fan_out_within(options.at_once, jobs, work);
    interrupt::check()?;
    Ok(done)
}

struct Worker<'w> {
    world: &'w World,
    job: &'w Job,
    options: &'w CrewOptions,
    /// Read while something is created from the user's checkout, written while that may change.
    quiet: &'w RwLock<()>,
}

impl Worker<'_> {
    fn run<R>(&self, look: &(impl Fn(&Agent, &Ending) -> R + Sync)) -> Done<R> {
        let name = &self.job.name;
        let end = |ending| Done { agent: name.clone(), branch: None, ending, made: None };
        if interrupt::is_pending() {
            return end(Ending::Interrupted);
        }
        self.world.reporter.progress(&format!("Starting agent {name}"));
        let created = match self.create() {
            Ok(created) => created,
            Err(error) => return end(Ending::NotStarted(crate::error_chain(&error))),
        };
        let Some(agent) = self.see(&created) else {
            return end(Ending::Failed("it is gone".to_owned()));
        };
        self.world.reporter.progress(&format!("Agent {name} works"));
        let ending = self.wait(&created, &agent);
        let made = (ending != Ending::Interrupted).then(|| {
            let _quiet = self.quiet.write();
            look(&agent, &ending)
        });
        self.dismiss(&agent, &ending);
        Done { branch: created.branch, made, ..end(ending) }
    }

    fn create(&self) -> Result<Created, CreateError> {
        let files = self.world.client.files();
        let staging = self.world.client.layout().root().join(&format!(".task-{}", random::hex32()));
        files.make_folder(&staging)?;
        let created = self.uploads(&staging).and_then(|uploads| {
            let request = self.request(uploads)?;
            let _quiet = self.quiet.read();
            create::create(self.world, &request)
        });
        files.remove_tree(&staging)?;
        created
    }

    fn uploads(&self, staging: &HostPath) -> Result<Vec<Upload>, CreateError> {
        let job = self.job;
        let own = [(TASK, job.task.as_bytes()), (".gitignore", b"*\n".as_slice())];
        let others = job.files.iter().map(|(name, bytes)| (*name, bytes.as_slice()));
        let mut uploads = Vec::new();
        for (name, bytes) in own.into_iter().chain(others) {
            let local = staging.join(name);
            self.world.client.files().write(&local, bytes, Access::Shared, Durability::Cached)?;
            uploads.push(Upload { local, remote: format!("{FOLDER}/{name}") });
        }
        Ok(uploads)
    }

    fn request(&self, uploads: Vec<Upload>) -> Result<CreateRequest, CreateError> {
        let (job, options) = (self.job, self.options);
        let is_headless = match &options.agent_type {
            Some(name) => agent_type::resolve(&self.world.settings, name)?.headless.is_some(),
            None => false,
        };
        Ok(CreateRequest {
            name: Some(job.name.clone()),
            name_style: NameStyle::default(),
            id: None,
            host: NewHost::Local,
            host_spec: HostSpec::default(),
            target_path: None,
            agent_type: options.agent_type.clone(),
            attendance: if is_headless { Attendance::Foreground } else { Attendance::Background },
            type_fields: None,
            agent_args: options.agent_args.clone(),
            title: None,
            labels: vec![("tutorial".to_owned(), job.label.to_owned())],
            project: Project::OfSource,
            windows: Vec::new(),
            geometry: TmuxGeometry::default(),
            source: SourceSpec::Here,
            transfer: None,
            adopt: Vec::new(),
            branch: BranchSpec::New { base: None, pattern: "mngr/*".to_owned() },
            unclean: job.unclean,
            worktree_base: None,
            rsync_args: Vec::new(),
            env_files: Vec::new(),
            env: Vec::new(),
            state_folders: Vec::new(),
            permissions: None,
            provision_commands: Vec::new(),
            provision_patience: PROVISION_PATIENCE,
            uploads,
            message: Some(format!("Read {FOLDER}/{TASK} and do what it says.")),
            resume_message: None,
            message_patience: MESSAGE_PATIENCE,
            start_on_boot: false,
            proof: Proof::NotAsked,
            first_start: FirstStart::Now,
            audience: Audience::Nobody,
            consent: options.consent,
            reuse: false,
            update: false,
        })
    }

    fn see(&self, created: &Created) -> Option<Agent> {
        let address = AgentAddress { agent: AgentRef::Id(created.id.clone()), host: None };
        Fleet::look(self.world, Detail::Full).one(&address).ok().cloned()
    }

    /// Waits until the agent is at rest. One that needs an answer is waited for: the user may give it.
    fn wait(&self, created: &Created, agent: &Agent) -> Ending {
        use AgentState::{Done, Replaced, Running, RunningUnknownAgentType, Stopped, Waiting};
        let started = Instant::now();
        let mut has_warned = false;
        let mut seen = agent.clone();
        loop {
            match self.wait_for(&seen, &[Waiting, Done, Stopped], started) {
                Ok(true) => {}
                Ok(false) => return Ending::TimedOut,
                Err(ending) => return ending,
            }
            match self.see(created) {
                Some(now) => seen = now,
                None => return Ending::Failed("it was destroyed".to_owned()),
            }
            match (seen.state.state, seen.state.waiting_reason, seen.state.exit) {
                (Waiting, None | Some(WaitingReason::EndOfTurn), _) => return Ending::Finished,
                (Done, _, None | Some(ExitStatus::Code(0))) => return Ending::Finished,
                (Done, _, Some(exit)) => return Ending::Failed(format!("it ended with {}", in_words(exit))),
                (Stopped, ..) => return Ending::Failed("it was stopped".to_owned()),
                (Waiting, Some(reason), _) => {
                    if !std::mem::replace(&mut has_warned, true) {
                        let name = seen.name();
                        let why = reason.as_str();
                        let text = format!("agent `{name}` waits ({why}): `mngr connect {name}` shows it");
                        self.world.reporter.warn(&text);
                    }
                    let busy = [Running, Done, Stopped, Replaced, RunningUnknownAgentType];
                    match self.wait_for(&seen, &busy, started) {
                        Ok(true) => {}
                        Ok(false) => return Ending::TimedOut,
                        Err(ending) => return ending,
                    }
                }
                // It went on working between the two looks.
                _ => {}
            }
        }
    }

    /// Whether the agent got to one of the states in time.
    fn wait_for(&self, agent: &Agent, states: &[AgentState], since: Instant) -> Result<bool, Ending> {
        let request = WaitRequest {
            states: states.to_vec(),
            quantity: Quantity::All,
            timeout: Some(self.options.deadline.saturating_sub(since.elapsed())),
            interval: INTERVAL,
        };
        match wait::wait(self.world, std::slice::from_ref(agent), &request, |_, _| {}) {
            Ok(waited) => Ok(!waited.is_timed_out),
            Err(WaitError::Interrupted(_)) => Err(Ending::Interrupted),
            Err(error) => Err(Ending::Failed(crate::error_chain(&error))),
        }
    }

    fn dismiss(&self, agent: &Agent, ending: &Ending) {
        let is_kept = self.options.dismissal == Dismissal::Keep && *ending != Ending::Interrupted;
        if is_kept {
            return;
        }
        // An agent of ours must not outlive a Ctrl-C.
        let _shield = interrupt::shield();
        let options = DestroyOptions {
            force: true,
            remove_created_branch: self.job.branch == BranchFate::Remove,
            ..DestroyOptions::from_settings(&self.world.settings)
        };
        if let Err(error) = destroy::destroy(self.world, agent, &options) {
            let text = format!("agent `{}` is still there: {}", agent.name(), crate::error_chain(&error));
            self.world.reporter.warn(&text);
        }
    }
}

fn in_words(exit: ExitStatus) -> String {
    match exit {
        ExitStatus::Code(code) => format!("exit code {code}"),
        ExitStatus::Signal(signal) => format!("signal {signal}"),
    }
}
