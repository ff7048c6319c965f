//! From files, variables and `-S` options to the settings in force. What an untrusted repository may not set is
//! taken out on the way.

use mngr_config::trust::{self, Fingerprint, Trust, TrustStore, Untrusted};
use mngr_config::{BuildOptions, KnownOptions, Layer, Merged, Narrowing, Unknown};
use mngr_model::env as names;

use super::scopes::{Scope, ScopeFile, Scopes};
use super::surroundings::Surroundings;
use crate::error::{CliError, ErrorKind};

/// Whether a layer may silently drop what a lower one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It may not.
    On,
    /// The `config` verbs can repair what the guard refuses.
    Off,
}

/// Whether the repository's settings may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// There are none, or they are the user's own.
    NothingToTrust,
    /// Exactly these contents were trusted.
    Trusted,
    /// They were trusted with other contents.
    Changed,
    /// Nobody trusted them.
    Untrusted,
}

impl TrustState {
    /// What is wrong with the settings of an untrusted repository.
    pub(crate) fn complaint(self) -> &'static str {
        match self {
            Self::Changed => "have changed since you trusted them",
            _ => "are not trusted",
        }
    }
}

impl TrustState {
    /// Whether they may be used as they are.
    pub(crate) fn is_trusted(self) -> bool {
        matches!(self, Self::NothingToTrust | Self::Trusted)
    }
}

/// The settings of this command.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Merged, with origins.
    pub(crate) merged: Merged,
    /// What was withheld from an untrusted repository.
    pub(crate) untrusted: Untrusted,
    /// Whether it is trusted.
    pub(crate) trust: TrustState,
}

impl Loaded {
    /// Fails if the verb would use what an untrusted repository sets, and says how to trust it.
    pub(crate) fn require_trust(&self, verb: &str) -> Result<(), CliError> {
        let used = self.untrusted.used_by(verb);
        if used.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = used.iter().map(|key| format!("\n  {}: `{}`", key.at, key.key)).collect();
        let text = format!(
            "this repository's settings {}, and this command would use:{}",
            self.trust.complaint(),
            lines.concat()
        );
        Err(CliError::message(ErrorKind::Untrusted, text)
            .hinted("read them, then run `mngr config trust`")
            .hinted("`MNGR_TRUST_PROJECT=1` trusts them for one command"))
    }
}

/// Loads everything. `extra` are `-S` options, in order.
pub(crate) fn load(
    surroundings: &Surroundings,
    scopes: &Scopes,
    extra: &[String],
    options: &dyn KnownOptions,
    guard: Guard,
) -> Result<Loaded, CliError> {
    let files = Files::read(scopes)?;
    let mut layers = Vec::new();
    for (scope, file) in
        [(Scope::User, &files.user), (Scope::Project, &files.project), (Scope::Local, &files.local)]
    {
        if let Some(ScopeFile { path, text: Some(text) }) = file {
            layers.push(Layer::from_toml(scope.layer(), path.as_str(), text)?);
        }
    }
    let trust = trust_state(surroundings, scopes, &files)?;
    let (mut layers, untrusted) =
        if trust.is_trusted() { (layers, Untrusted::default()) } else { trust::withhold(layers) };
    layers.extend(Layer::from_env(surroundings.vars())?);
    layers.extend(Layer::from_settings(extra)?);

    let unknown =
        if surroundings.is_set(names::MNGR_ALLOW_UNKNOWN_CONFIG) { Unknown::Warn } else { Unknown::Error };
    let narrowing = match guard {
        Guard::On => Narrowing::Refuse,
        Guard::Off => Narrowing::Allow,
    };
    let build = BuildOptions { unknown, narrowing, options, root_name: scopes.root_name() };
    Ok(Loaded { merged: Merged::build(&layers, &build)?, untrusted, trust })
}

/// All settings files, each read once: what is trusted is what is used.
struct Files {
    user: Option<ScopeFile>,
    project: Option<ScopeFile>,
    local: Option<ScopeFile>,
}

impl Files {
    fn read(scopes: &Scopes) -> Result<Self, CliError> {
        Ok(Self {
            user: scopes.file(Scope::User)?,
            project: scopes.file(Scope::Project)?,
            local: scopes.file(Scope::Local)?,
        })
    }

    /// The repository and what its files hold; `None` when there is nothing to trust.
    fn fingerprint(&self, scopes: &Scopes) -> Option<(String, Fingerprint)> {
        let text = |file: &Option<ScopeFile>| file.as_ref().and_then(|file| file.text.clone());
        let (project, local) = (text(&self.project), text(&self.local));
        if project.is_none() && local.is_none() {
            return None;
        }
        let repository = scopes.repository()?;
        let fingerprint = Fingerprint::of(&repository, project.as_deref(), local.as_deref());
        Some((repository, fingerprint))
    }
}

fn trust_state(surroundings: &Surroundings, scopes: &Scopes, files: &Files) -> Result<TrustState, CliError> {
    let Some((repository, fingerprint)) = files.fingerprint(scopes) else {
        return Ok(TrustState::NothingToTrust);
    };
    if surroundings.is_set(names::MNGR_TRUST_PROJECT) {
        return Ok(TrustState::Trusted);
    }
    Ok(match trust_store(scopes)?.check(&repository, &fingerprint) {
        Trust::Trusted => TrustState::Trusted,
        Trust::Changed => TrustState::Changed,
        Trust::Unknown => TrustState::Untrusted,
    })
}

/// Whether the repository's settings may be used, whatever else is wrong with the settings.
pub(crate) fn current_trust(surroundings: &Surroundings, scopes: &Scopes) -> Result<TrustState, CliError> {
    trust_state(surroundings, scopes, &Files::read(scopes)?)
}

/// Trusts what the repository's settings hold now. `false` when there is nothing to trust.
pub(crate) fn trust_repository(scopes: &Scopes) -> Result<bool, CliError> {
    let Some((repository, fingerprint)) = Files::read(scopes)?.fingerprint(scopes) else { return Ok(false) };
    scopes.make_profile()?;
    let mut store = trust_store(scopes)?;
    store.add(&repository, fingerprint);
    if let Some(file) = scopes.trust_file()? {
        scopes.write(&file.path, &store.to_toml()?)?;
    }
    Ok(true)
}

fn trust_store(scopes: &Scopes) -> Result<TrustStore, CliError> {
    let text = scopes.trust_file()?.and_then(|file| file.text).unwrap_or_default();
    Ok(TrustStore::parse(&text)?)
}
