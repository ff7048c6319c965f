//! Whether Codex has a login or a key, for the model's service that its configuration names.

use toml::Value;

use super::config::{self, PROGRAM};
use crate::brand::ProvisionError;
use crate::login::{LoginPlace, MissingLogin};

/// The service Codex uses when nothing else is said.
const DEFAULT_SERVICE: &str = "openai";
/// The variable with a key that Codex looks at only where it has no terminal.
const HEADLESS_KEY: &str = "CODEX_API_KEY";

/// What is missing, if anything.
pub(super) fn missing(login: &LoginPlace<'_>) -> Result<Option<MissingLogin>, ProvisionError> {
    let Some(home) = config::users_home(&login.user) else { return Ok(None) };
    let files = login.user.files;
    let mut settings = config::read_toml(files, &home.join("config.toml"))?;
    config::apply_overrides(login.settings, &mut settings)?;
    let service = settings.get("model_provider").and_then(Value::as_str).unwrap_or(DEFAULT_SERVICE);
    let described = settings.get("model_providers").and_then(|services| services.get(service));
    let text = |key: &str| described.and_then(|service| service.get(key)).and_then(Value::as_str);
    let needs_openai = service == DEFAULT_SERVICE
        || described.and_then(|service| service.get("requires_openai_auth")).and_then(Value::as_bool)
            == Some(true);
    if !needs_openai {
        // Any other service has a variable of its own for its key, or wants none.
        let variable = text("env_key").filter(|variable| !login.has(variable));
        return Ok(variable.map(|variable| MissingLogin {
            program: PROGRAM,
            remedy: format!("set `{variable}`: the model's service `{service}` wants its key there"),
        }));
    }
    if login.is_headless && login.has(HEADLESS_KEY) {
        return Ok(None);
    }
    // Credentials in the system's keychain cannot be seen from here.
    let store = settings.get("cli_auth_credentials_store").and_then(Value::as_str).unwrap_or("file");
    if store != "file" || files.exists(&home.join(config::CREDENTIALS))? {
        return Ok(None);
    }
    let remedy =
        "log in with `codex login`, or with a key: `printenv OPENAI_API_KEY | codex login --with-api-key`";
    Ok(Some(MissingLogin { program: PROGRAM, remedy: remedy.to_owned() }))
}
