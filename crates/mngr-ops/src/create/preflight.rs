//! What can be known before anything is made: whether a coding agent is installed, in which version, and logged in.
//!
//! Spawns nothing, but for a program that neither its package nor its path gives a version: that is asked once.

use std::collections::BTreeMap;

use mngr_agents::brand::{Consent, ProvisionError};
use mngr_agents::installation::{self, InstallationError, Memory, Program as Installable};
use mngr_agents::login::LoginPlace;
use mngr_agents::manifest::BuiltIn;
use mngr_agents::user::UserSide;
use mngr_config::AgentTypeSettings;
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError};

use super::error::CreateError;
use super::heritage::Heritage;
use super::program::Program;
use super::request::{Audience, CreateRequest};
use super::source;
use crate::world::World;

/// Whether the agent can work as soon as it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Login {
    /// Nothing is known to be missing.
    There,
    /// The user will log in at its terminal.
    AwaitsUser,
}

/// What an agent of that type is prepared by: only a coding agent asks for its surroundings, so nobody else's host is asked.
pub(super) fn surrounding_of(
    world: &World,
    host: &dyn Host,
    base: BuiltIn,
) -> Result<BTreeMap<String, String>, ExecError> {
    match base.brand() {
        None if !world.is_client(host) => Ok(BTreeMap::new()),
        _ => surrounding(world, host),
    }
}

/// The variables an agent on that host finds besides its own: the user's here, and elsewhere those of a login.
pub(crate) fn surrounding(world: &World, host: &dyn Host) -> Result<BTreeMap<String, String>, ExecError> {
    if world.is_client(host) {
        return Ok(world.vars.clone());
    }
    let output = host.exec(&Cmd::new("env").arg("-0"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Fails when this machine has no tmux. Another one is looked at, and told what it lacks, when it is first reached.
pub(super) fn tmux(world: &World, host: &dyn Host) -> Result<(), CreateError> {
    if !world.is_client(host) {
        return Ok(());
    }
    let search = world.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let found = installation::find(host.files(), search, "tmux").map_err(InstallationError::from)?;
    found.map(drop).ok_or(CreateError::NoTmux)
}

/// Fails when the program of a coding agent is missing or of another version than its type wants.
pub(super) fn installation(
    world: &World,
    host: &dyn Host,
    program: &Program,
    env: &BTreeMap<String, String>,
) -> Result<(), CreateError> {
    let chain = &program.resolved.chain;
    if setting(chain, "check_installation", "true or false", |value| value.as_bool())? == Some(false) {
        return Ok(());
    }
    let manifest = program.resolved.base.manifest();
    let (Some(installation), Some(word)) = (manifest.installation, program.word()) else { return Ok(()) };
    let wanted = setting(chain, "version", "a text", |value| value.as_str().map(str::to_owned))?;
    let search = env.get("PATH").map(String::as_str).unwrap_or_default();
    let about = Box::new(Installable { name: word.to_owned(), summary: manifest.summary, installation });
    let found = installation::find(host.files(), search, word).map_err(InstallationError::from)?;
    let Some(path) = found else { return Err(InstallationError::Missing(about).into()) };
    // A wrapper of the user's own is only run when somebody wants to know its version.
    if manifest.program.as_deref() != Some(word) && wanted.is_none() {
        return Ok(());
    }
    let cache = host.layout().programs_seen();
    let mut memory = Memory::read(host.files(), &cache);
    let version = installation::version_of(host, &path, &about.installation, &mut memory)?;
    let verdict = match (version, wanted) {
        (Some(found), Some(wanted)) if !found.is(&wanted) => {
            Err(InstallationError::OtherVersion { program: about, found, wanted })
        }
        (None, Some(wanted)) => Err(InstallationError::NoVersion { program: about, wanted }),
        (Some(found), _) => {
            if let Some(unproved) = about.installation.unproved(&about.summary, &found)
                && memory.is_news(&format!("{word} {found}"))
            {
                world.reporter.note(&unproved);
            }
            Ok(())
        }
        (None, None) => Ok(()),
    };
    memory.write(host.files(), &cache).map_err(InstallationError::from)?;
    Ok(verdict?)
}

/// The value of a brand's setting, nearest first.
pub(super) fn setting<T>(
    chain: &[AgentTypeSettings],
    key: &'static str,
    expected: &'static str,
    read: impl Fn(&toml::Value) -> Option<T>,
) -> Result<Option<T>, ProvisionError> {
    let value = chain.iter().find_map(|settings| settings.extra.get(key));
    value.map(|value| read(value).ok_or(ProvisionError::Setting { key, expected })).transpose()
}

/// What may be agreed to in the user's name: the type may allow more than the command line.
pub(super) fn consent(request: &CreateRequest, program: &Program) -> Result<Consent, CreateError> {
    let dismisses =
        setting(&program.resolved.chain, "auto_dismiss_dialogs", "true or false", toml::Value::as_bool)?;
    Ok(if dismisses == Some(true) { Consent::Dialogs } else { request.consent })
}

/// Fails when a program would ask something before it begins, and may not be answered for.
pub(super) fn first_start(
    world: &World,
    request: &CreateRequest,
    program: &Program,
    heritage: &Heritage,
) -> Result<(), CreateError> {
    // An agent's own answers hold for those it makes.
    let is_agent = world.vars.contains_key(mngr_model::env::MNGR_AGENT_STATE_DIR);
    let Some(brand) = program.resolved.base.brand() else { return Ok(()) };
    if is_agent || consent(request, program)? != Consent::Refuse || heritage.ancestor().is_some() {
        return Ok(());
    }
    let source = source::find(world, request, heritage)?;
    let user = UserSide { files: world.client.files(), home: world.home.as_ref(), vars: &world.vars };
    let is_headless = program.resolved.headless.is_some();
    let place = LoginPlace { user, env: &world.vars, settings: &program.resolved.chain, is_headless };
    brand.first_question(&place, source.home().1)?.map_or(Ok(()), |question| Err(question.into()))
}

/// Fails when a coding agent has neither a login nor a key and nobody is there to log in.
pub(super) fn login(
    world: &World,
    request: &CreateRequest,
    program: &Program,
    env: &BTreeMap<String, String>,
) -> Result<Login, CreateError> {
    let Some(brand) = program.resolved.base.brand() else { return Ok(Login::There) };
    let user = UserSide { files: world.client.files(), home: world.home.as_ref(), vars: &world.vars };
    let is_headless = program.resolved.headless.is_some();
    let place = LoginPlace { user, env, settings: &program.resolved.chain, is_headless };
    let Some(missing) = brand.missing_login(&place)? else { return Ok(Login::There) };
    // A first message would have to wait for the login, and nobody sees the terminal before it was sent.
    if request.audience == Audience::Nobody || request.message.is_some() {
        return Err(ProvisionError::NotLoggedIn(missing).into());
    }
    world.reporter.note(&format!("{} is not logged in: its terminal shows you how", missing.program));
    Ok(Login::AwaitsUser)
}
