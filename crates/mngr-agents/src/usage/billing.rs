//! Who pays for what an agent uses: a subscription, or an account that is charged by the token. Credentials are looked
//! at only to tell which kind they are.

use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;
use serde::Serialize;
use serde_json::Value;

use crate::ordinary::{is_ordinary, read_ordinary};
use crate::transcript::Brand;

const CLAUDE_LOGIN: &str = "plugin/claude/anthropic/.credentials.json";
const CODEX_LOGIN: &str = "plugin/codex/home/auth.json";

/// Who pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// Tokens are charged: money is what they really cost.
    Api,
    /// A subscription: money is only what they would have cost.
    Subscription,
    /// Cannot be told.
    Unknown,
}

impl Billing {
    /// Who pays for the agent with this state folder.
    pub fn of(brand: Brand, files: &dyn Files, state: &HostPath) -> Result<Self, FilesError> {
        match brand {
            Brand::Claude => {
                // A key in the environment wins over a login.
                if has_variable(files, state, "ANTHROPIC_API_KEY")? {
                    return Ok(Self::Api);
                }
                let has_login = is_ordinary(files, &state.join(CLAUDE_LOGIN))?;
                Ok(if has_login { Self::Subscription } else { Self::Unknown })
            }
            Brand::Codex => {
                let login = read_ordinary(files, &state.join(CODEX_LOGIN))?.unwrap_or_default();
                let login: Value = serde_json::from_slice(&login).unwrap_or_default();
                Ok(match (login.get("tokens"), login.get("OPENAI_API_KEY")) {
                    (Some(Value::Object(_)), _) => Self::Subscription,
                    (_, Some(Value::String(_))) => Self::Api,
                    _ if has_variable(files, state, "OPENAI_API_KEY")? => Self::Api,
                    _ => Self::Unknown,
                })
            }
            // It talks to many vendors, each with its own login.
            Brand::Opencode => Ok(Self::Unknown),
        }
    }
}

/// Whether the agent's environment has this variable.
fn has_variable(files: &dyn Files, state: &HostPath, name: &str) -> Result<bool, FilesError> {
    let path = AgentLayout::new(state.clone()).env_file();
    let text = read_ordinary(files, &path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().any(|line| {
        let pair = line.trim_start().trim_start_matches("export ");
        pair.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
    }))
}

#[cfg(test)]
mod tests {
    use mngr_host::files::{Access, Durability};
    use mngr_host::local::LocalFiles;

    use super::*;

    #[test]
    fn the_kind_of_credentials_decides_and_none_is_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let state = HostPath::new(dir.path().to_str().unwrap());
        let put = |path: &str, text: &str| {
            let path = state.join(path);
            LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
            LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
        };
        let billing = |brand| Billing::of(brand, &LocalFiles, &state).unwrap();
        assert_eq!(Brand::ALL.map(billing), [Billing::Unknown; 3]);
        put(CLAUDE_LOGIN, "{}");
        assert_eq!(billing(Brand::Claude), Billing::Subscription);
        put("env", "A='1'\nANTHROPIC_API_KEY='k'\n");
        assert_eq!(billing(Brand::Claude), Billing::Api);
        put(CODEX_LOGIN, r#"{"OPENAI_API_KEY":"k","tokens":null}"#);
        assert_eq!(billing(Brand::Codex), Billing::Api);
        put(CODEX_LOGIN, r#"{"OPENAI_API_KEY":null,"tokens":{"id_token":"t"}}"#);
        assert_eq!(billing(Brand::Codex), Billing::Subscription);
    }
}
