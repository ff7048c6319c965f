//! From what was typed to what it means. Everything wrong with it is said here, before anything happens.

use std::time::Duration;

use mngr_agents::brand::Consent;
use mngr_config::AgentTypeSettings;
use mngr_host::files::Files as _;
use mngr_host::git::is_git_url;
use mngr_host::local::{LOCAL_HOST_NAME, LocalFiles};
use mngr_host::provider::SnapshotId;
use mngr_model::address::{HostAddress, HostRef, LOCAL_PROVIDER, NewHost, NewLocation};
use mngr_model::agent::TmuxGeometry;
use mngr_model::env::{EnvName, EnvPair};
use mngr_model::title::title_of;
use mngr_model::transfer::TransferMode;
use mngr_model::window::ExtraWindow;
use mngr_model::{AgentTypeName, HostPath, ProviderName};
use mngr_ops::create::{
    Attendance, Audience, CreateRequest, FirstStart, HostSpec, PROVISION_PATIENCE, Project, Proof,
    SourceSpec, StoppedHost, UncleanFiles, Upload,
};

use super::args::{CreateArgs, FileArgs};
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::ui::input;
use crate::wiring;

/// How long a first message may take to be accepted.
const MESSAGE_PATIENCE: Duration = Duration::from_secs(30);

/// What the options ask for.
pub(crate) fn request(ctx: &mut Ctx, args: &CreateArgs) -> Result<CreateRequest, CliError> {
    let location = location(ctx, args)?;
    let pool = pool(ctx, args, &location)?;
    let surroundings = ctx.surroundings.clone();
    let path = |text: &str| surroundings.path(text);
    if args.behaviour.foreground
        && let Some(option) = args.behaviour.refused_in_the_foreground()
    {
        return Err(CliError::usage(format!(
            "`{option}` cannot be used with `--foreground`: such an agent has no terminal and ends with this command"
        )));
    }
    if args.behaviour.update && !args.behaviour.reuse {
        return Err(CliError::usage("`--update` needs `--reuse`"));
    }
    let uploads = args.environment.upload_file.iter().map(|spec| {
        let (local, remote) = spec.split_once(':').ok_or_else(|| {
            CliError::usage(format!("Invalid value for `--upload-file`: `{spec}` is not LOCAL:REMOTE"))
        })?;
        Ok(Upload { local: path(local), remote: remote.to_owned() })
    });
    Ok(CreateRequest {
        name: location.name.clone(),
        name_style: parse("--name-style", &args.agent.name_style)?,
        id: args.agent.id.as_deref().map(|id| parse("--id", id)).transpose()?,
        host: location.host.clone(),
        host_spec: host_spec(ctx, args, &location, pool)?,
        target_path: target_path(ctx, args, &location)?,
        agent_type: agent_type(args)?,
        attendance: if args.behaviour.foreground { Attendance::Foreground } else { Attendance::Background },
        type_fields: type_fields(ctx)?,
        agent_args: args.agent_args.clone(),
        title: args.agent.title.as_deref().map(title).transpose()?,
        labels: args.agent.label.iter().map(|label| key_value("--label", label)).collect::<Result<_, _>>()?,
        project: match args.agent.project.as_str() {
            "." => Project::OfSource,
            name => Project::Named(name.to_owned()),
        },
        windows: ExtraWindow::parse_all(&args.agent.extra_window)
            .map_err(|e| CliError::usage(e.to_string()))?,
        geometry: TmuxGeometry {
            width: args.agent.tmux_width,
            height: args.agent.tmux_height,
            window_size: args.agent.tmux_window_size.map(|size| size.as_str().to_owned()),
        },
        source: source(args)?,
        adopt: args.files.adopt.clone(),
        transfer: transfer(&args.files)?,
        branch: parse("--branch", &args.files.branch)?,
        unclean: unclean(&args.files),
        worktree_base: args
            .files
            .worktree_base_folder
            .as_deref()
            .map(|base| path_there(ctx, base, &location)),
        rsync_args: rsync_words(args.files.rsync_args.as_deref()),
        env_files: args
            .environment
            .env_file
            .iter()
            .map(|file| there("--env-file", path(file)))
            .collect::<Result<_, _>>()?,
        env: pairs(ctx, ("--pass-env", &args.environment.pass_env), ("--env", &args.environment.env))?,
        state_folders: Vec::new(),
        permissions: None,
        provision_commands: args.environment.extra_provision_command.clone(),
        provision_patience: PROVISION_PATIENCE,
        uploads: uploads.collect::<Result<_, CliError>>()?,
        message: message(ctx, args)?,
        resume_message: args.behaviour.resume_message.clone(),
        message_patience: MESSAGE_PATIENCE,
        start_on_boot: args.behaviour.start_on_boot,
        proof: Proof::NotAsked,
        first_start: FirstStart::Now,
        audience: audience(ctx, args)?,
        consent: consent(ctx, args)?,
        reuse: args.behaviour.reuse,
        update: args.behaviour.update,
    })
}

/// A title as it is kept: one line, without what a terminal would act upon.
fn title(text: &str) -> Result<String, CliError> {
    title_of(text).ok_or_else(|| CliError::usage("Invalid value for `--title`: there is no text in it"))
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(option: &str, text: &str) -> Result<T, CliError> {
    text.parse().map_err(|error| CliError::usage(format!("Invalid value for `{option}`: {error}")))
}

/// Whether first-start dialogs may be answered for the user, or are left to them.
fn consent(ctx: &mut Ctx, args: &CreateArgs) -> Result<Consent, CliError> {
    if args.behaviour.yes {
        return Ok(Consent::Dialogs);
    }
    Ok(match audience(ctx, args)? {
        Audience::User => Consent::Ask,
        Audience::Nobody => Consent::Refuse,
    })
}

/// Whether the user is about to be shown the agent's terminal.
fn audience(ctx: &mut Ctx, args: &CreateArgs) -> Result<Audience, CliError> {
    let is_shown = !args.behaviour.no_connect && !args.behaviour.foreground;
    let is_there = is_shown && ctx.is_interactive()?;
    Ok(if is_there { Audience::User } else { Audience::Nobody })
}

/// Fields of the agent's type that templates set.
fn type_fields(ctx: &Ctx) -> Result<Option<AgentTypeSettings>, CliError> {
    if ctx.type_fields.is_empty() {
        return Ok(None);
    }
    let fields: Result<AgentTypeSettings, _> = toml::Value::Table(ctx.type_fields.clone()).try_into();
    fields.map(Some).map_err(|error| CliError::new(ErrorKind::Config, error))
}

/// What a host that has to be made is asked to be.
fn host_spec(
    ctx: &Ctx,
    args: &CreateArgs,
    location: &NewLocation,
    pool: Option<String>,
) -> Result<HostSpec, CliError> {
    let elsewhere = &args.elsewhere;
    if let (Some(pool), Some(option)) = (&pool, elsewhere.about_other_hosts()) {
        return Err(CliError::usage(format!("`{option}` cannot be given for hosts of pool `{pool}`"))
            .hinted(format!("its hosts are what `[pools.{pool}]` of the settings says")));
    }
    if matches!(location.host, NewHost::Named(_))
        && !elsewhere.new_host
        && is_elsewhere(&location.host)
        && let Some(option) = elsewhere.about_other_hosts()
    {
        return Err(CliError::usage(format!("`{option}` is for a new host; add `--new-host`")));
    }
    let tags = elsewhere.host_label.iter().map(|label| {
        let (key, value) = label.split_once('=').ok_or_else(|| {
            CliError::usage(format!("Invalid value for `--host-label`: `{label}` is not KEY=VALUE"))
        })?;
        Ok((key.to_owned(), value.to_owned()))
    });
    Ok(HostSpec {
        pool,
        agents_per_host: elsewhere.agents_per_host.map(|number| number as usize),
        must_be_new: elsewhere.new_host,
        stopped: if args.behaviour.no_auto_start { StoppedHost::Refuse } else { StoppedHost::Start },
        snapshot: elsewhere.snapshot.clone().map(SnapshotId::new),
        build_args: elsewhere.build_arg.clone(),
        start_args: elsewhere.start_arg.clone(),
        cpus: elsewhere.cpu.clone(),
        memory: elsewhere.memory.clone(),
        tags: tags.collect::<Result<_, CliError>>()?,
        name_style: elsewhere.host_name_style.unwrap_or_default(),
        env_files: elsewhere
            .host_env_file
            .iter()
            .map(|file| there("--host-env-file", ctx.surroundings.path(file)))
            .collect::<Result<_, _>>()?,
        env: pairs(ctx, ("--pass-host-env", &elsewhere.pass_host_env), ("--host-env", &elsewhere.host_env))?,
        post_create_commands: elsewhere.post_host_create_command.clone(),
        activity: elsewhere.idle.changes()?,
    })
}

/// The pool that is meant: by `--pool`, or by an address whose host is one. A host of the same name is `HOST.PROVIDER`.
fn pool(ctx: &mut Ctx, args: &CreateArgs, location: &NewLocation) -> Result<Option<String>, CliError> {
    if let Some(pool) = &args.elsewhere.pool {
        return Ok(Some(pool.clone()));
    }
    let NewHost::Named(HostAddress { host: HostRef::Name(name), provider: None }) = &location.host else {
        return Ok(None);
    };
    Ok(Some(name.to_string())
        .filter(|name| ctx.settings().is_ok_and(|settings| settings.pools.contains_key(name))))
}

fn location(ctx: &mut Ctx, args: &CreateArgs) -> Result<NewLocation, CliError> {
    let text = args.address.as_deref().or(args.agent.name.as_deref()).unwrap_or_default();
    let mut location: NewLocation = text.parse()?;
    if let Some(pool) = &args.elsewhere.pool {
        let address = HostAddress { host: HostRef::Name(parse("--pool", pool)?), provider: None };
        match &location.host {
            NewHost::Local => location.host = NewHost::Named(address),
            NewHost::Named(given) if *given == address => {}
            NewHost::Named(_) | NewHost::New(_) => {
                return Err(CliError::usage("the address and `--pool` name different places"));
            }
        }
    }
    if let Some(provider) = &args.elsewhere.provider {
        let provider: ProviderName = parse("--provider", provider)?;
        match &mut location.host {
            NewHost::Local => location.host = NewHost::New(provider),
            NewHost::New(given) if *given == provider => {}
            NewHost::Named(address) if address.provider.as_ref().is_none_or(|given| *given == provider) => {
                address.provider = Some(provider);
            }
            NewHost::New(_) | NewHost::Named(_) => {
                return Err(CliError::usage("the address and `--provider` name different providers"));
            }
        }
    }
    let provider = match &location.host {
        NewHost::Local => None,
        NewHost::New(provider) => Some(provider.as_ref()),
        NewHost::Named(address) => address.provider.as_ref().map(AsRef::as_ref),
    };
    if is_elsewhere(&location.host) {
        if let Some(provider) = provider
            && !wiring::is_provider(ctx.settings()?, provider)
        {
            return Err(wiring::no_such_provider(ctx.settings()?, provider));
        }
    } else if let Some(option) = args.elsewhere.about_new_hosts()
        && pool(ctx, args, &location)?.is_none()
    {
        return Err(CliError::usage(format!(
            "`{option}` concerns hosts made by mngr; this machine is not one"
        ))
        .hinted("leave it out, or name another provider"));
    }
    Ok(location)
}

fn target_path(ctx: &Ctx, args: &CreateArgs, location: &NewLocation) -> Result<Option<String>, CliError> {
    let given = args.files.target_path.as_ref();
    match (given, &location.path) {
        (Some(option), Some(address)) if option != address => {
            Err(CliError::usage("the address and `--target-path` name different paths"))
        }
        (Some(path), _) | (None, Some(path)) => Ok(Some(path_there(ctx, path, location))),
        (None, None) => Ok(None),
    }
}

/// A path of the agent's host. On another one it means what it means there.
fn path_there(ctx: &Ctx, path: &str, location: &NewLocation) -> String {
    if is_elsewhere(&location.host) { path.to_owned() } else { ctx.surroundings.path(path).to_string() }
}

/// Whether it is certainly another machine than this one.
fn is_elsewhere(host: &NewHost) -> bool {
    match host {
        NewHost::Local => false,
        NewHost::New(provider) => provider.as_ref() != LOCAL_PROVIDER,
        NewHost::Named(address) => match (&address.provider, &address.host) {
            (Some(provider), _) => provider.as_ref() != LOCAL_PROVIDER,
            (None, HostRef::Name(name)) => name.as_ref() != LOCAL_HOST_NAME,
            (None, HostRef::Id(_)) => true,
        },
    }
}

fn agent_type(args: &CreateArgs) -> Result<Option<AgentTypeName>, CliError> {
    match (&args.agent.agent_type, &args.positional_type) {
        (Some(option), Some(word)) if option != word => {
            Err(CliError::usage(format!("`--type {option}` and `{word}` name different agent types")))
        }
        (Some(name), _) | (None, Some(name)) => Ok(Some(parse("--type", name)?)),
        (None, None) => Ok(None),
    }
}

fn source(args: &CreateArgs) -> Result<SourceSpec, CliError> {
    match args.files.from.as_deref() {
        None => Ok(SourceSpec::Here),
        // `git@host:path` is also a valid address of an agent, so URLs are looked for first.
        Some(url) if is_git_url(url) => Ok(SourceSpec::GitUrl(url.to_owned())),
        Some(text) => Ok(SourceSpec::Location(text.parse()?)),
    }
}

fn transfer(files: &FileArgs) -> Result<Option<TransferMode>, CliError> {
    match &files.transfer {
        Some(mode) => Ok(Some(parse("--transfer", mode)?)),
        None if files.rsync => Ok(Some(TransferMode::Rsync)),
        None => Ok(None),
    }
}

fn unclean(files: &FileArgs) -> UncleanFiles {
    let carries = files.include_unclean || files.include_gitignored || files.no_ensure_clean;
    match (files.exclude_unclean, carries, files.ensure_clean) {
        (true, _, _) => UncleanFiles::LeaveBehind,
        (false, true, _) => UncleanFiles::Carry { ignored: files.include_gitignored },
        (false, false, true) => UncleanFiles::Refuse,
        (false, false, false) => UncleanFiles::AsUsual,
    }
}

fn rsync_words(words: Option<&str>) -> Vec<String> {
    words.map(|words| words.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

/// Variables that are passed on, and then those that are given.
fn pairs(
    ctx: &Ctx,
    (option, passed): (&str, &[String]),
    (given_by, given): (&str, &[String]),
) -> Result<Vec<EnvPair>, CliError> {
    let mut pairs = Vec::new();
    for name in passed {
        let name: EnvName = parse(option, name)?;
        if let Some(value) = ctx.surroundings.var(name.as_str()) {
            pairs.push(EnvPair::new(name, value).map_err(|error| CliError::usage(error.to_string()))?);
        }
    }
    for pair in given {
        let wrong = |error| CliError::usage(format!("Invalid value for `{given_by}`: {error}"));
        pairs.push(EnvPair::parse(pair).map_err(wrong)?);
    }
    Ok(pairs)
}

/// The file an option names, if there is one.
pub(crate) fn there(option: &str, path: HostPath) -> Result<HostPath, CliError> {
    // What else is wrong with it is told by whoever reads it.
    if LocalFiles.exists(&path).unwrap_or(true) {
        return Ok(path);
    }
    let shown = mngr_query::sanitize(path.as_str());
    Err(CliError::usage(format!("Invalid value for `{option}`: file `{shown}` does not exist (not found)")))
}

fn message(ctx: &Ctx, args: &CreateArgs) -> Result<Option<String>, CliError> {
    match (&args.behaviour.message, &args.behaviour.message_file) {
        (Some(text), _) => Ok(Some(text.clone())),
        (None, Some(file)) => {
            let path: HostPath = there("--message-file", ctx.surroundings.path(file))?;
            LocalFiles.read_text(&path).map(Some).map_err(|error| CliError::new(ErrorKind::Failed, error))
        }
        // Its program has nothing else to read.
        (None, None) if args.behaviour.foreground && !ctx.surroundings.terminals.stdin => {
            input::all().map(Some)
        }
        (None, None) => Ok(None),
    }
}

fn key_value(option: &str, text: &str) -> Result<(String, String), CliError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => {
            let text = mngr_query::sanitize(text);
            Err(CliError::usage(format!("Invalid value for `{option}`: `{text}` is not KEY=VALUE")))
        }
    }
}
