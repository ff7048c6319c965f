//! The configuration file of our own tmux server. Never used for the user's own server.

use mngr_model::HostPath;
use mngr_model::quote::sh_quote;

/// What goes into the file.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Whether the user's own tmux.conf is read first.
    pub user_config: bool,
    /// A further file read last.
    pub additional: Option<HostPath>,
    /// Variables of whoever creates an agent that reach it beside `PATH`, as patterns.
    pub inherits: Vec<String>,
    /// The mngr binary that key bindings call.
    pub mngr: String,
}

/// The text of the file.
pub fn render_config(config: &ServerConfig) -> String {
    let mut text = String::from(
        "# Written by mngr at every launch; changes are lost. See `tmux.additional_config_path`.\n",
    );
    if config.user_config {
        text.push_str("source-file -q ~/.tmux.conf\nsource-file -q ~/.config/tmux/tmux.conf\n");
    }
    // An agent lives exactly as long as its pane says: neither kept dead nor ended with the last viewer.
    text.push_str("set -g remain-on-exit off\nset -g destroy-unattached off\nset -s exit-empty on\n");
    text.push_str("set -g status-left-length 40\nset -g set-titles on\nset -g set-titles-string '#S  #T'\n");
    // A window keeps the agent's name whatever the program does, and sees the PATH of whoever created the agent.
    text.push_str("set -g allow-rename off\nset -g automatic-rename off\nset -ga update-environment PATH\n");
    for pattern in &config.inherits {
        text.push_str(&format!("set -ga update-environment {}\n", tmux_quote(pattern)));
    }
    let mngr = sh_quote(&config.mngr);
    for (key, verb) in [("C-q", "destroy --force"), ("C-t", "stop")] {
        let command = format!("{mngr} {verb} --session '#{{session_name}}'");
        let action = format!("run-shell -b {}", tmux_quote(&command));
        let prompt = format!("mngr {verb} #{{session_name}}? (y/n)");
        text.push_str(&format!(
            "bind -n {key} confirm-before -p {} {}\n",
            tmux_quote(&prompt),
            tmux_quote(&action)
        ));
    }
    if let Some(path) = &config.additional {
        text.push_str(&format!("source-file -q {}\n", tmux_quote(path.as_str())));
    }
    text
}

/// A word in double quotes for tmux's own parser, where `$`, `"` and `\` mean something.
fn tmux_quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_binary_path_stays_one_word() {
        let config = ServerConfig {
            user_config: false,
            additional: None,
            inherits: vec![],
            mngr: "/a b/$(id)\"m".into(),
        };
        let text = render_config(&config);
        assert!(text.contains(r#"'/a b/\\\$(id)\\\"m'"#), "{text}");
    }
}
