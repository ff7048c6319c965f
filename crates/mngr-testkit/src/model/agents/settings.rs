//! What each agent has to be told so that it talks to the model server alone: as data, nothing is written here.
//!
//! All else is as a user has it who has changed nothing: Claude Code in auto mode, Codex in its sandbox and with login shells.
//! What differs from that, and why:
//!
//! | Agent | What | Why |
//! |---|---|---|
//! | Claude Code | `CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC`, `DISABLE_AUTOUPDATER`, `DISABLE_ERROR_REPORTING`, `DISABLE_TELEMETRY` | offline |
//! | | `hasCompletedOnboarding`, `theme` | the very first page wants to see the vendor's own server |
//! | | the key and the folder are agreed to | somebody has started it before; not where [`FirstStart::Ahead`] |
//! | | `permissions.ask` for `touch` | in auto mode no dialog would ever be seen; the rule of a user opens one |
//! | Codex | `check_for_update_on_startup`, `analytics` | offline |
//! | | `model_providers.test` | the model server |
//! | | the folder is trusted | as above |
//! | | `features.daemon_auto_start` off | the daemon would copy the whole program into the home and outlive the agent |
//! | | `features.default_mode_request_user_input` on | Codex has its tool for questions only while it plans; no test could see its dialog |
//! | | `sandbox_workspace_write.exclude_slash_tmp` on | the sandbox leaves empty folders (`.git` among them) in each folder that it opens, and `/tmp` is everybody's |
//! | opencode | `autoupdate`, `share`, `OPENCODE_DISABLE_*`, the npm registry | offline |
//! | | `model`, `small_model`, `enabled_providers`, `provider.test` | a model of any other provider would be asked for over the network |
//! | | `permission.bash` | by default it asks about nothing, and no dialog would ever be seen |
//! | all | a home without rc files, `SHELL=/bin/sh` | what a test sees must not depend on the machine |

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Brand, FirstStart};

/// A key that opens nothing, in the form that the agents accept.
const KEY: &str = "sk-ant-test-0123456789abcdef0123456789";
/// The variable in which Codex finds the key of a provider of ours.
const CODEX_KEY_VARIABLE: &str = "MNGR_TEST_MODEL_KEY";

/// Where an agent will run.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The model server.
    pub(super) url: String,
    pub(super) work_dir: PathBuf,
    pub(super) first_start: FirstStart,
}

/// The variables an agent needs.
pub(super) fn variables(brand: Brand, place: &Place) -> Vec<(&'static str, String)> {
    let on = || "1".to_owned();
    match brand {
        Brand::Claude => vec![
            ("ANTHROPIC_BASE_URL", place.url.clone()),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
            ("DISABLE_AUTOUPDATER", on()),
            ("DISABLE_ERROR_REPORTING", on()),
            ("DISABLE_TELEMETRY", on()),
        ],
        Brand::Codex => vec![(CODEX_KEY_VARIABLE, KEY.to_owned())],
        Brand::Opencode => vec![
            ("OPENCODE_DISABLE_AUTOUPDATE", on()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", on()),
            ("OPENCODE_DISABLE_MODELS_FETCH", on()),
            // At every first start it installs the package for plugins. It does without when there is none,
            // and the server has none.
            ("npm_config_registry", place.url.clone()),
        ],
    }
}

/// The files an agent needs, by their path in the home.
pub(super) fn files(brand: Brand, place: &Place) -> Vec<(&'static str, String)> {
    match brand {
        Brand::Claude => vec![
            (".claude/settings.json", claude_settings().to_string()),
            (".claude.json", claude_state(place).to_string()),
        ],
        Brand::Codex => vec![(".codex/config.toml", codex_config(place))],
        Brand::Opencode => vec![(".config/opencode/opencode.json", opencode_config(place).to_string())],
    }
}

/// In auto mode only a rule of the user opens a dialog; the command is the one that the model runs unless told.
fn claude_settings() -> Value {
    json!({"permissions": {"ask": ["Bash(touch *)"]}})
}

/// The very first page is never left to come: it wants to see the vendor's own server.
fn claude_state(place: &Place) -> Value {
    let mut state = json!({"hasCompletedOnboarding": true, "theme": "dark"});
    if place.first_start == FirstStart::Over {
        let work_dir = place.work_dir.to_string_lossy();
        let approved = &KEY[KEY.len() - 20..];
        state["customApiKeyResponses"] = json!({"approved": [approved], "rejected": []});
        state["projects"] = json!({work_dir: {"hasTrustDialogAccepted": true}});
    }
    state
}

/// The daemon would copy the whole program into the home and outlive the agent.
fn codex_config(place: &Place) -> String {
    let url = &place.url;
    let mut config = format!(
        r#"model = "gpt-5.1-codex"
model_provider = "test"
check_for_update_on_startup = false

[model_providers.test]
name = "test"
base_url = "{url}/v1"
env_key = "{CODEX_KEY_VARIABLE}"
wire_api = "responses"

[analytics]
enabled = false

[features]
daemon_auto_start = false
default_mode_request_user_input = true

[sandbox_workspace_write]
exclude_slash_tmp = true
"#
    );
    if place.first_start == FirstStart::Over {
        let work_dir = Value::from(place.work_dir.to_string_lossy());
        config.push_str(&format!("\n[projects.{work_dir}]\ntrust_level = \"trusted\"\n"));
    }
    config
}

/// A model of any other provider would be asked for over the network. Commands are asked about, as elsewhere.
fn opencode_config(place: &Place) -> Value {
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "test/model",
        "small_model": "test/model",
        "enabled_providers": ["test"],
        "permission": {"bash": {"*": "ask", "echo *": "allow", "sleep *": "allow"}},
        "provider": {"test": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Test",
            "options": {"baseURL": format!("{}/v1", place.url), "apiKey": KEY},
            "models": {"model": {
                "name": "Test model",
                "reasoning": true,
                "tool_call": true,
                "cost": {"input": 1.0, "output": 2.0, "cache_read": 0.1},
                "limit": {"context": 200_000, "output": 8_000},
            }},
        }},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRANDS: [Brand; 3] = [Brand::Claude, Brand::Codex, Brand::Opencode];

    fn place(first_start: FirstStart) -> Place {
        Place { url: "http://127.0.0.1:9".into(), work_dir: "/w/my \"repo\"".into(), first_start }
    }

    #[test]
    fn every_agent_is_pointed_at_the_server() {
        for brand in BRANDS {
            for first_start in [FirstStart::Over, FirstStart::Ahead] {
                let place = place(first_start);
                let told = format!("{:?}{:?}", variables(brand, &place), files(brand, &place));
                assert!(told.contains("http://127.0.0.1:9"), "{brand:?}: {told}");
            }
        }
    }

    #[test]
    fn trust_is_given_only_when_the_first_start_is_over() {
        for brand in [Brand::Claude, Brand::Codex] {
            let trusts = |first_start| format!("{:?}", files(brand, &place(first_start))).contains("repo");
            assert!(trusts(FirstStart::Over), "{brand:?}");
            assert!(!trusts(FirstStart::Ahead), "{brand:?}");
        }
    }

    #[test]
    fn a_folder_with_quotes_keeps_its_name_in_toml() {
        let config = codex_config(&place(FirstStart::Over));
        assert!(config.contains(r#"[projects."/w/my \"repo\""]"#), "{config}");
    }
}
