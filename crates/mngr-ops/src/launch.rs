//! Bringing an agent to life in tmux, and seeing that it lives. Used by `create` and `start`.
//!
//! Budget: one tmux process. Readiness is seen by a file event, not by a pause; only a type whose input box is all that
//! tells of it is looked at again and again. Round trips for an agent that is ready when its program runs: its files, its
//! session and its first sign are one; one more when it was launched before.

use std::time::{Duration, Instant};

use mngr_agents::brand::{Brand, Composer};
use mngr_agents::kind::Kind;
use mngr_agents::launch::{
    LaunchSpec, SHELL_SCRIPT_NAME, Streams, boot_launch_script, launch_script, window_script,
};
use mngr_agents::manifest::BuiltIn;
use mngr_agents::ordinary::read_ordinary;
use mngr_agents::usage::SessionTotals;
use mngr_host::beneath::Beneath;
use mngr_host::files::{Access, Change, FileKind, FilesError};
use mngr_host::host::{AwaitedLine, Host, SurveyError, WatchRequest};
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::tmux::{
    AgentPane, CaptureRange, ExtraWindow, NewSession, ServerConfig, ServerStart, SessionName,
    SessionNameError, Socket, TmuxError, render_config,
};
use mngr_host::trace::{self, SpanKind};
use mngr_host::watch::WatchError;
use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::facts::{Detail, Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::process::{Ending, ProcessRecord};
use mngr_model::quote::sh_quote;
use mngr_model::{AgentRecord, HostPath};

use crate::boot::{self, BootError};
use crate::create::agent_type::{self, ResolvedType};
use crate::terminal;
use crate::world::World;

/// Nobody waits longer, whatever the settings say.
const MOST_PATIENCE: Duration = Duration::from_secs(24 * 3600);
/// How often a server that loses its socket gets it back for one launch.
const SERVER_TRIES: u32 = 10;
/// What a shell says of a program that is not there.
const NOT_FOUND: i32 = 127;

/// How much of a screen an error repeats.
const SCREEN_LINES: usize = 12;

/// An agent did not come to life.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Its scripts could not be written, or its record not be read.
    #[error("cannot use the agent's state folder")]
    Files(#[from] FilesError),
    /// What starts it at boot could not be written.
    #[error("cannot prepare the agent to be started when its host boots")]
    Boot(#[from] BootError),
    /// Its session cannot be named.
    #[error("cannot name the agent's session")]
    Name(#[from] SessionNameError),
    /// tmux could not start it.
    #[error("cannot start the agent's session")]
    Tmux(#[from] TmuxError),
    /// Whether other agents live on a server that does not answer cannot be told.
    #[error("cannot tell whether a tmux server with other agents has only lost its socket")]
    Survey(#[from] SurveyError),
    /// Its program cannot be run.
    #[error("the agent's program `{program}` {}", if *.status == NOT_FOUND { "was not found" } else { "could not be run in its work dir" })]
    NotRunnable {
        /// The first word of its command.
        program: String,
        /// 126 or 127.
        status: i32,
        /// The command that installs it, where one is known and it is missing.
        remedy: Option<String>,
    },
    /// It ended before it took messages.
    #[error("the agent's program `{program}` ended with {how} before it was ready{}", it_shows(.screen))]
    EndedEarly {
        /// The first word of its command.
        program: String,
        /// How it ended.
        how: String,
        /// The end of what its terminal shows.
        screen: Option<String>,
    },
    /// It was not ready in time.
    #[error("the agent was not ready within {seconds} s{}", it_shows(.screen))]
    NotReady {
        /// The limit.
        seconds: f64,
        /// The end of what its terminal shows.
        screen: Option<String>,
    },
    /// Its readiness could not be watched.
    #[error("cannot watch the agent become ready")]
    Watch(#[from] WatchError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

fn it_shows(screen: &Option<String>) -> String {
    screen.as_ref().map(|screen| format!("; it shows:\n{screen}")).unwrap_or_default()
}

/// How far an agent must have got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Its program runs; it may ask the user something before it takes messages.
    Runs,
    /// It takes messages, as far as its type can tell.
    TakesMessages,
}

/// Which launch of the agent it is.
#[derive(Debug)]
pub(crate) enum Occasion {
    /// The first: nothing has written to its state folder but us.
    First {
        /// Changes of files that are made together with those of the launch, before them.
        with: Vec<Change>,
    },
    /// It ran before.
    Again,
}

/// Starts the session of an agent, waits until it is ready and says which pane it is in. Its folders exist, or are made with the first launch.
pub(crate) fn launch(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
    readiness: Readiness,
    occasion: Occasion,
    server: ServerStart,
) -> Result<AgentPane, LaunchError> {
    let _span = trace::span(SpanKind::Phase, || format!("launch {}", record.name));
    let layout = host.layout();
    let agent = layout.agent(&record.id);
    let kind = agent_type::resolve(&world.settings, &record.agent_type).ok().map(ResolvedType::kind);
    let (mut changes, seen) = match occasion {
        Occasion::First { with } => (with, 0),
        Occasion::Again => {
            keep_totals(world, host, record, &agent);
            let mark = agent.activity_start();
            let folder = mark.parent().and_then(|path| Beneath::new(agent.root(), &path));
            let folder = folder.map(|folder| Change::MakeFolderBeneath(folder.in_existing_root()));
            (folder.into_iter().chain([Change::Touch(mark)]).collect(), length_of_record(host, &agent)?)
        }
    };
    changes.extend(scripts(host, record, &agent, kind.as_ref())?);
    if matches!(world.socket(host), Socket::Private(_)) {
        changes.push(server_config(world, layout.tmux_conf()));
    }
    if record.start_on_boot {
        // Its scripts lie in a folder that is made with the others.
        host.files().apply(&std::mem::take(&mut changes))?;
        boot::write_scripts(world, host, record)?;
    }
    let mut session = new_session(world, host, record, &agent.launch_script())?;
    session.server = server;
    let declared = kind.as_ref().filter(|kind| kind.is_declared_tui());
    let brand = brand_of(record).or(declared.map(|kind| kind as &dyn Brand));
    let brand = brand.filter(|_| readiness == Readiness::TakesMessages);
    let granted = record.ready_timeout_seconds.unwrap_or(world.settings.agent_ready_timeout);
    let limit = kind.as_ref().map_or(granted, |kind| granted.max(kind.start_seconds()));
    let patience = Duration::try_from_secs_f64(limit).unwrap_or(MOST_PATIENCE).min(MOST_PATIENCE);
    let started = Instant::now();
    let (path, beginnings) = (&agent.process(), &ProcessRecord::FIRST_SIGNS);
    let first_sign = AwaitedLine { path, offset: seen, beginnings, limit: patience };
    let (pane, mut said) = start_session(world, host, session, &changes, first_sign)
        .map_err(|error| interrupt::check().map_or_else(Into::into, |()| error))?;
    let screen = || {
        let shown = world.with_tmux(host, |tmux| tmux.capture(&pane, CaptureRange::Visible));
        last_lines(shown.unwrap_or_default())
    };
    let mut watch = None;
    loop {
        let process = ProcessRecord::parse(&String::from_utf8_lossy(&said));
        let has_begun = is_ready(host, &agent, &process, record, brand).map_err(|error| match error {
            LaunchError::EndedEarly { program, how, .. } => {
                LaunchError::EndedEarly { program, how, screen: screen() }
            }
            error => error,
        })?;
        if has_begun && (readiness == Readiness::Runs || shows_its_box(world, host, &pane, declared)?) {
            return Ok(pane);
        }
        let Some(left) = patience.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) else {
            return Err(LaunchError::NotReady { seconds: limit, screen: screen() });
        };
        match &mut watch {
            // What happened before it began is looked at once more.
            None => {
                let ready = brand.map(|brand| brand.ready_folder(&agent));
                let folders = [agent.root().clone()].into_iter().chain(ready).collect();
                watch = Some(host.watch(&WatchRequest { folders, processes: vec![] })?);
            }
            // A poll beside the events: a status file may be written in place.
            Some(watch) => drop(watch.wait(left.min(Duration::from_millis(200)))?),
        }
        let bytes = read_ordinary(host.files(), &agent.process())?.unwrap_or_default();
        said = usize::try_from(seen).ok().and_then(|seen| bytes.get(seen..)).unwrap_or_default().to_vec();
    }
}

/// What its program wrote of its last session is replaced by that of the next one. Nobody fails to start for it.
fn keep_totals(world: &World, host: &dyn Host, record: &AgentRecord, agent: &AgentLayout) {
    if record.brand.as_deref() != Some(BuiltIn::Claude.name()) {
        return;
    }
    if let Err(error) = SessionTotals::keep(host.files(), agent.root()) {
        let why = crate::error_chain(&error);
        world.reporter.warn(&format!("what the agent used beside its conversation is not noted: {why}"));
    }
}

/// Starts the session. Where no server answers although others live on one, that one gets its socket back first.
fn start_session(
    world: &World,
    host: &dyn Host,
    mut session: NewSession,
    changes: &[Change],
    first_sign: AwaitedLine<'_>,
) -> Result<(AgentPane, Vec<u8>), LaunchError> {
    let start = |session: &NewSession, changes: &[Change]| {
        world.with_tmux(host, |tmux| tmux.new_session(session, changes, first_sign))
    };
    let mut started = start(&session, changes);
    for _ in 0..SERVER_TRIES {
        let is_old = match &started {
            Err(_) if session.server == ServerStart::Allowed => break,
            Err(error) if error.is_silence() => false,
            // A tmux before 3.2 cannot be told not to start a server.
            Err(TmuxError::Failed { message }) if message.contains("usage: tmux") => true,
            _ => break,
        };
        let survey = host.survey(Detail::Basic)?;
        session.server = match terminal::bring_server_back(world, host, &survey.agents)? {
            ServerStart::Forbidden if !is_old => ServerStart::Forbidden,
            _ => ServerStart::Allowed,
        };
        // The changes are made; only the server was missing.
        started = start(&session, &[]);
    }
    Ok(started?)
}

/// How long the record of the agent's processes is: only what is written behind that belongs to this launch.
fn length_of_record(host: &dyn Host, agent: &AgentLayout) -> Result<u64, FilesError> {
    match host.files().stat(&agent.process())? {
        Some(stat) if stat.kind == FileKind::File => Ok(stat.size),
        // A link or a pipe was put there by the agent: the supervisor would write wherever it leads.
        Some(_) => host.files().remove_tree(&agent.process()).map(|()| 0),
        None => Ok(0),
    }
}

/// The session of an agent whose pane runs that script.
pub(crate) fn new_session(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
    script: &HostPath,
) -> Result<NewSession, SessionNameError> {
    let layout = host.layout();
    let window_shell = layout.agent(&record.id).root().join(SHELL_SCRIPT_NAME);
    Ok(NewSession {
        name: world.session_name(&record.name)?,
        window: world.settings.tmux.primary_window_name.as_str().to_owned(),
        size: (record.tmux.width, record.tmux.height),
        window_size: record.tmux.window_size.clone(),
        dir: record.work_dir.clone(),
        env: vec![(MNGR_AGENT_ID.to_owned(), record.id.to_string())],
        words: vec!["sh".to_owned(), script.to_string()],
        default_command: format!("exec sh {}", sh_quote(window_shell.as_str())),
        extra: record
            .additional_commands
            .iter()
            .map(|window| ExtraWindow {
                name: window.window_name.clone(),
                words: vec!["sh".to_owned(), window_shell.to_string(), window.command.clone()],
            })
            .collect(),
        unset: world.settings.unset_vars.clone(),
        config: layout.tmux_conf(),
        server: ServerStart::Allowed,
    })
}

/// What the pane of an agent runs when its host has booted: the same as at any launch, but it finds out by itself which
/// conversation to go on with.
pub(crate) fn boot_script(world: &World, host: &dyn Host, record: &AgentRecord) -> String {
    let (layout, argv) = (host.layout(), argv_of(record));
    let agent = layout.agent(&record.id);
    let kind = agent_type::resolve(&world.settings, &record.agent_type).ok().map(ResolvedType::kind);
    let find = launched_as(record, kind.as_ref()).map(|brand| brand.conversation_at_boot(&agent, record));
    let streams = Streams::Terminal;
    let server = record.server.as_ref();
    let spec =
        LaunchSpec { host: &layout, agent: &agent, work_dir: &record.work_dir, argv: &argv, streams, server };
    boot_launch_script(&spec, &find.unwrap_or_default(), 1 + mode_words(record))
}

/// The brand that knows how the agent goes on with its conversation. A type that is no longer in the settings, or is
/// another one there now, still has its brand.
fn launched_as<'k>(record: &AgentRecord, kind: Option<&'k Kind>) -> Option<&'k dyn Brand> {
    let is_same = |kind: &&Kind| record.brand.as_deref().is_none_or(|brand| brand == kind.base().name());
    kind.filter(is_same).map(|kind| kind as &dyn Brand).or(brand_of(record))
}

/// Whether a type that settings alone describe has got as far as taking messages: its input box is all that tells.
fn shows_its_box(
    world: &World,
    host: &dyn Host,
    pane: &AgentPane,
    declared: Option<&Kind>,
) -> Result<bool, TmuxError> {
    let Some(kind) = declared else { return Ok(true) };
    let screen = world.with_tmux(host, |tmux| tmux.capture_styled(pane))?;
    Ok(kind.composer(&screen) != Composer::NotVisible)
}

fn brand_of(record: &AgentRecord) -> Option<&'static dyn Brand> {
    BuiltIn::named(record.brand.as_deref()?)?.brand()
}

fn is_ready(
    host: &dyn Host,
    agent: &AgentLayout,
    process: &ProcessRecord,
    record: &AgentRecord,
    brand: Option<&dyn Brand>,
) -> Result<bool, LaunchError> {
    let program = || record.argv.first().cloned().unwrap_or_else(|| record.command.clone());
    match (process.agent, &process.ending, brand) {
        (None, Some(Ending::Exited { status, .. }), _) => {
            let (program, status) = (program(), status.to_shell());
            let remedy = if status == NOT_FOUND { installer_of(record, &program) } else { None };
            Err(LaunchError::NotRunnable { program, status, remedy })
        }
        (Some(_), Some(Ending::Exited { status, .. }), Some(_)) => {
            Err(LaunchError::EndedEarly { program: program(), how: status.describe(), screen: None })
        }
        (Some(_), _, None) => Ok(true),
        (Some(id), _, Some(brand)) => {
            let (program, markers) = first_signs(host, agent, record, id.pid)?;
            Ok(brand.is_ready(&program, &markers))
        }
        (None, _, _) => Ok(false),
    }
}

/// The command that installs the program, unless it is one of the user's own.
fn installer_of(record: &AgentRecord, program: &str) -> Option<String> {
    let manifest = BuiltIn::named(record.brand.as_deref()?)?.manifest();
    let installation = manifest.installation.filter(|_| manifest.program.as_deref() == Some(program))?;
    Some(installation.command(None))
}

/// What a new agent shows of itself. Its record is not written yet, so the host cannot be asked for its facts.
fn first_signs(
    host: &dyn Host,
    agent: &AgentLayout,
    record: &AgentRecord,
    pid: i32,
) -> Result<(ProgramFacts, Markers), FilesError> {
    let files = host.files();
    let mut program = ProgramFacts::default();
    if let Some(file) = record.status_file_of(pid) {
        let path = agent.root().join(&file);
        program.status = read_ordinary(files, &path)?.map(|text| String::from_utf8_lossy(&text).into_owned());
    }
    if let Some(folder) = record.ready_folder.as_deref().map(|folder| agent.root().join(folder)) {
        for entry in files.list(&folder)?.into_iter().filter(|entry| !entry.name.starts_with('.')) {
            let appeared = files.stat(&folder.join(&entry.name))?.and_then(|stat| stat.modified);
            program.ready = program.ready.max(appeared);
        }
    }
    let active = files.stat(&agent.root().join("active"))?.and_then(|stat| stat.modified);
    Ok((program, Markers { active, ..Markers::default() }))
}

/// The end of a screen, for an error that nobody else could explain.
fn last_lines(screen: String) -> Option<String> {
    let lines: Vec<&str> = screen.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(SCREEN_LINES)..].join("\n");
    (!tail.is_empty()).then_some(tail)
}

/// What the session runs: the agent's own script and that of further windows.
fn scripts(
    host: &dyn Host,
    record: &AgentRecord,
    agent: &AgentLayout,
    kind: Option<&Kind>,
) -> Result<[Change; 2], FilesError> {
    let layout = host.layout();
    let mut argv = argv_of(record);
    if let Some(brand) = launched_as(record, kind) {
        let words = brand.conversation_words(host, agent, record)?;
        let at = argv.len().min(1 + mode_words(record));
        argv.splice(at..at, words);
    }
    let streams = if record.headless { Streams::Files } else { Streams::Terminal };
    let server = record.server.as_ref();
    let spec = LaunchSpec { host: &layout, agent, work_dir: &record.work_dir, argv: &argv, streams, server };
    let script = |path, text| Change::write(path, text, Access::PrivateExecutable);
    Ok([
        script(agent.launch_script(), launch_script(&spec)),
        script(agent.root().join(SHELL_SCRIPT_NAME), window_script(&spec)),
    ])
}

/// How many words behind the program only take its terminal away.
fn mode_words(record: &AgentRecord) -> usize {
    let built_in = record.brand.as_deref().filter(|_| record.headless).and_then(BuiltIn::named);
    built_in.and_then(|kind| kind.manifest().headless).map_or(0, |headless| headless.before.len())
}

/// The words of an agent. Records of the Python mngr hold only a line of shell.
fn argv_of(record: &AgentRecord) -> Vec<String> {
    if record.argv.is_empty() {
        vec!["sh".to_owned(), "-c".to_owned(), record.command.clone()]
    } else {
        record.argv.clone()
    }
}

/// The configuration of the server. A running one does not read it again.
fn server_config(world: &World, path: HostPath) -> Change {
    let tmux = &world.settings.tmux;
    let text = render_config(&ServerConfig {
        user_config: tmux.user_config,
        additional: tmux.additional_config_path.clone().map(HostPath::new),
        inherits: BuiltIn::ALL.into_iter().flat_map(|kind| kind.manifest().inherits).collect(),
        mngr: world.binary.clone(),
    });
    Change::write(path, text, Access::Shared)
}

/// The session of an agent, for callers that undo a launch.
pub(crate) fn session_of(world: &World, record: &AgentRecord) -> Result<SessionName, SessionNameError> {
    world.session_name(&record.name)
}
