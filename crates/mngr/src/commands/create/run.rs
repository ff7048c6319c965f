//! Doing it, and saying what was done.

use mngr_agents::brand::ProvisionError;
use mngr_agents::conversation::AdoptError;
use mngr_agents::installation::InstallationError;
use mngr_host::git::GitError;
use mngr_host::interrupt;
use mngr_model::address::{AgentAddress, AgentRef, HostAddress, HostRef, LOCAL_PROVIDER};
use mngr_model::facts::Detail;
use mngr_ops::create::{self, BranchNote, CreateError, Created};
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::pool::PoolError;
use mngr_ops::ssh_reach::SshReach;
use mngr_ops::world::World;
use mngr_query::sanitize;
use serde_json::{Value, json};

use super::args::CreateArgs;
use super::{edit_message, foreground, request};
use crate::commands::connect;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Console;
use crate::ui::output::{Output, Report, TemplateFields, event};

/// Runs the verb.
pub(crate) fn run(ctx: &mut Ctx, args: CreateArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let mut request = request::request(ctx, &args)?;
    let mut world = ctx.world()?;
    let created = if args.behaviour.edit_message {
        let draft = request.message.take().unwrap_or_default();
        edit_message::create(ctx, &mut world, &request, &draft)?
    } else {
        create::create(&world, &request).map_err(failure)?
    };
    let report = CreateReport { created: &created };
    if args.behaviour.foreground {
        return foreground::run(ctx, &world, &output, &created, &report);
    }
    let name = &created.name;
    output.show(&ctx.console, &report).map_err(|error| {
        // The code speaks of the result; what is there is another matter.
        error.hinted(format!("agent `{name}` exists all the same: `mngr destroy {name}` removes it"))
    })?;
    connect_afterwards(ctx, &world, &output, &args, &created)
}

/// Shows the agent's terminal, where the user wants that.
pub(crate) fn connect_afterwards(
    ctx: &mut Ctx,
    world: &World,
    output: &Output,
    args: &CreateArgs,
    created: &Created,
) -> Result<ExitCode, CliError> {
    // Whoever pressed Ctrl-C did not want it any more; but it exists.
    if interrupt::is_pending() {
        return Ok(ExitCode::Done);
    }
    let substitute = args.behaviour.connect_command.clone();
    let is_wanted = !args.behaviour.no_connect && output.is_human();
    let has_substitute = substitute.is_some() || connect::substitute(ctx, None)?.is_some();
    if !is_wanted || !(has_substitute || ctx.is_interactive()?) {
        return Ok(ExitCode::Done);
    }
    let agent = agent_of(world, created)?;
    connect::connect_to(ctx, world, &agent, substitute)
}

/// The agent that was just created.
pub(super) fn agent_of(world: &World, created: &Created) -> Result<Agent, CliError> {
    let host = HostAddress {
        host: HostRef::Name(created.host.name.clone()),
        provider: Some(created.host.provider.clone()),
    };
    let address = AgentAddress { agent: AgentRef::Id(created.id.clone()), host: Some(host) };
    let fleet = Fleet::look_for(world, std::slice::from_ref(&address), Detail::Full);
    Ok(fleet.one(&address)?.clone())
}

/// What was created.
pub(crate) struct CreateReport<'a> {
    created: &'a Created,
}

impl<'a> CreateReport<'a> {
    /// Of this agent.
    pub(crate) fn new(created: &'a Created) -> Self {
        Self { created }
    }
}

impl Report for CreateReport<'_> {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let created = self.created;
        let verb = if created.was_reused { "Reused agent" } else { "Created agent" };
        let mut text = format!("{verb}: {} ({})\n", created.name, created.agent_type);
        let dir = sanitize(created.work_dir.as_str());
        text.push_str(&match &created.branch {
            Some(branch) => format!("  branch {} in {dir}\n", sanitize(branch)),
            None => format!("  in {dir}\n"),
        });
        if created.host.provider.as_str() != LOCAL_PROVIDER {
            text.push_str(&format!("  on host {}\n", sanitize(&created.host.address())));
        }
        match &created.branch_note {
            Some(BranchNote::Reused { branch }) => {
                text.push_str(&format!(
                    "  the branch `{branch}` was there already and held nothing of its own\n"
                ));
            }
            Some(BranchNote::Suffixed { wanted, used }) => text.push_str(&format!(
                "  the branch `{wanted}` holds other work, so this agent works on `{used}`\n"
            )),
            None => {}
        }
        if let Some(level) = created.message_level {
            text.push_str(&format!("  first message {}\n", level.as_str()));
        }
        text
    }

    fn json(&self) -> Value {
        let created = self.created;
        let ssh = created.ssh.as_ref();
        json!({
            "agent_id": created.id,
            "agent_name": created.name,
            "host_id": created.host.id,
            "host_name": created.host.name,
            "type": created.agent_type,
            "work_dir": created.work_dir,
            "branch": created.branch,
            "was_reused": created.was_reused,
            "message_level": created.message_level,
            "ssh_user": ssh.and_then(|ssh| ssh.user.clone()),
            "ssh_host": ssh.map(|ssh| ssh.host.clone()),
            "ssh_port": ssh.and_then(|ssh| ssh.port),
            "ssh_key_path": ssh.and_then(|ssh| ssh.key_path.clone()),
            "ssh_known_hosts_path": ssh.and_then(|ssh| ssh.known_hosts_path.clone()),
            "host_public_keys": ssh.map(SshReach::host_public_keys).unwrap_or_default(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("created", self.json())]
    }
}

/// Kind and advice for every way a creation fails.
pub(crate) fn failure(error: CreateError) -> CliError {
    let (kind, hint) = match &error {
        CreateError::NameTaken { name } => (
            ErrorKind::Failed,
            Some(format!("`mngr create {name} --reuse` takes the existing one; `mngr destroy {name}` removes it")),
        ),
        CreateError::NoType => (
            ErrorKind::Usage,
            Some(
                "name a program after `--` (`mngr create NAME -- PROGRAM`), a type with `--type`, or set one for good \
                 with `mngr config set commands.create.type TYPE --scope user`"
                    .to_owned(),
            ),
        ),
        CreateError::UnknownType { .. } => {
            (ErrorKind::Failed, Some("to run a program: `mngr create NAME --type command -- PROGRAM`".to_owned()))
        }
        CreateError::DisabledType { plugin, .. } => (
            ErrorKind::Failed,
            Some(format!("`mngr plugin enable {plugin}` enables it; `--plugin {plugin}` for this once")),
        ),
        CreateError::Brand(ProvisionError::NeedsConsent { .. }) => (
            ErrorKind::Failed,
            Some("`--yes` answers such questions with yes; or start the program once yourself in that folder".to_owned()),
        ),
        CreateError::NeedsForeground { .. } => (ErrorKind::Usage, Some("add `--foreground`".to_owned())),
        CreateError::HasTerminal { .. } => (
            ErrorKind::Usage,
            Some("use `--type headless_claude`, `headless_codex` or `headless_command`".to_owned()),
        ),
        CreateError::NeedsMessage { .. } => (
            ErrorKind::Usage,
            Some("give it with `-m TEXT`, `--message-file PATH` or on standard input".to_owned()),
        ),
        CreateError::Brand(ProvisionError::NotLoggedIn(missing)) => (ErrorKind::Failed, Some(missing.remedy.clone())),
        CreateError::Installation(error) => (ErrorKind::Failed, installation_hint(error)),
        CreateError::Adopt(error) => adopt_hint(error),
        CreateError::NoCommand { .. } => (ErrorKind::Usage, Some("`mngr create NAME -- PROGRAM ARGS`".to_owned())),
        CreateError::NoSource { .. } => (
            ErrorKind::Failed,
            Some("stand in a repository, name one with `--from PATH`, or work right here with `--transfer none`".into()),
        ),
        CreateError::Unclean { .. } => (
            ErrorKind::Failed,
            Some(
                "commit them, or use `--no-ensure-clean` to carry them along, `--exclude-unclean` to leave them behind"
                    .to_owned(),
            ),
        ),
        CreateError::RefusedSetting { .. }
        | CreateError::Transfer { .. }
        | CreateError::Branch(_) | CreateError::MessageText(_) | CreateError::Script(_) => {
            (ErrorKind::Usage, None)
        }
        CreateError::NoHost { .. } => (
            ErrorKind::NotFound,
            Some(
                "`mngr list --hosts` shows all hosts; to use a machine over ssh, give it a `Host` in your ssh config"
                    .to_owned(),
            ),
        ),
        CreateError::NoTmux => {
            (ErrorKind::Failed, Some("the package is called `tmux` with apt, dnf, apk and brew".to_owned()))
        }
        CreateError::Git(GitError::NoCommits { .. }) => (
            ErrorKind::Failed,
            Some("a branch needs a commit to start from: `git commit --allow-empty -m start` makes one".to_owned()),
        ),
        CreateError::Pool(PoolError::Unknown { .. }) => {
            (ErrorKind::NotFound, Some("`mngr config get pools` shows the pools of the settings".to_owned()))
        }
        CreateError::Pool(PoolError::Full { .. }) => (
            ErrorKind::Failed,
            Some("stop or destroy agents there, or raise `agents_per_host` or `size` of the pool".to_owned()),
        ),
        CreateError::Select(_) => (ErrorKind::NotFound, Some("`mngr list` shows all agents".to_owned())),
        CreateError::LeftOver { .. } => {
            (ErrorKind::LocalStateRemains, Some("the next mngr command tries again to take it back".to_owned()))
        }
        _ => (ErrorKind::Failed, None),
    };
    let failure = CliError::new(kind, error);
    hint.into_iter().fold(failure, CliError::hinted)
}

fn installation_hint(error: &InstallationError) -> Option<String> {
    let skip = "`check_installation = false` of the agent type skips the check";
    match error {
        InstallationError::Missing(program) => {
            Some(format!("`{}` installs it; {skip}", program.installation.command(None)))
        }
        InstallationError::OtherVersion { program, wanted, .. } => Some(format!(
            "`{}` installs the wanted one, or change the setting `version` of the agent type; {skip}",
            program.installation.command(Some(wanted))
        )),
        InstallationError::NoVersion { .. } => Some(skip.to_owned()),
        InstallationError::Files(_) | InstallationError::Exec(_) => None,
    }
}

fn adopt_hint(error: &AdoptError) -> (ErrorKind, Option<String>) {
    match error {
        AdoptError::NotFound { .. } => (
            ErrorKind::NotFound,
            Some(
                "give the id that the program shows when it ends or lists conversations, or the file"
                    .to_owned(),
            ),
        ),
        AdoptError::NoFile { .. } => (ErrorKind::NotFound, None),
        AdoptError::Ambiguous { .. } => {
            (ErrorKind::Usage, Some("give the whole id, or the file you mean".to_owned()))
        }
        AdoptError::OtherBrand { brand, .. } => {
            (ErrorKind::Usage, Some(format!("leave the type out, or use `--type {}`", brand.name())))
        }
        AdoptError::NotOne { .. } | AdoptError::NotCopyable { .. } => (ErrorKind::Usage, None),
        AdoptError::Files(_) => (ErrorKind::Failed, None),
    }
}
