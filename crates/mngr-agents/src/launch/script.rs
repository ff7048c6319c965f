//! The script a pane runs: it loads the environment, runs the agent under supervision and records how it ended.
//!
//! Plain POSIX `sh` and nothing else, because it runs on hosts that have no mngr. One `date` at the end is all it
//! spawns beside the agent. The fixed parts are `launch_agent.sh` and `launch_end.sh`; what varies is quoted here.

use mngr_model::HostPath;
use mngr_model::agent::AgentServer;
use mngr_model::layout::{AgentLayout, HostLayout};
use mngr_model::quote::{sh_join, sh_quote};

const BODY: &str = include_str!("launch_agent.sh");
const SERVER: &str = include_str!("launch_server.sh");
const END: &str = include_str!("launch_end.sh");

/// The file name of the script that runs further windows, beside the launch script.
pub const SHELL_SCRIPT_NAME: &str = "window.sh";

/// What a launch script must know.
#[derive(Debug, Clone)]
pub struct LaunchSpec<'a> {
    /// The host's paths.
    pub host: &'a HostLayout,
    /// The agent's paths.
    pub agent: &'a AgentLayout,
    /// Where the agent works.
    pub work_dir: &'a HostPath,
    /// The agent's words.
    pub argv: &'a [String],
    /// What it reads and writes.
    pub streams: Streams,
    /// The server that lives with it.
    pub server: Option<&'a AgentServer>,
}

/// What an agent's program reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// The pane's terminal.
    Terminal,
    /// Files of its state folder.
    Files,
}

/// The script of the agent's own pane.
pub fn launch_script(spec: &LaunchSpec<'_>) -> String {
    script_running(spec, &sh_join(spec.argv))
}

/// The same for a host that has booted: before word `at` come those that `find` sets, `sh` text that looks where the
/// conversation was.
pub fn boot_launch_script(spec: &LaunchSpec<'_>, find: &str, at: usize) -> String {
    let (before, after) = spec.argv.split_at(at.min(spec.argv.len()));
    let script = script_running(spec, &format!("{} \"$@\" {}", sh_join(before), sh_join(after)));
    format!("set --\n{find}{script}")
}

fn script_running(spec: &LaunchSpec<'_>, argv: &str) -> String {
    let run = match spec.streams {
        Streams::Terminal => format!("mngr_run {argv}"),
        Streams::Files => {
            let quoted = |path: HostPath| sh_quote(path.as_str()).into_owned();
            let input = quoted(spec.agent.headless_input());
            let (output, errors) =
                (quoted(spec.agent.headless_output()), quoted(spec.agent.headless_errors()));
            // Appended, so that several writers do not overwrite each other. 9 is what the agent gets for its errors.
            format!(
                "printf '[mngr] this agent runs without a terminal; its output goes to %s\\n' {output}\n\
                 mngr_run {argv} <{input} >>{output} 9>>{errors}"
            )
        }
    };
    format!("{head}{BODY}\n{serve}{run}\n{END}", head = head(spec), serve = serve(spec))
}

/// Starts the server, and waits until it answers.
fn serve(spec: &LaunchSpec<'_>) -> String {
    let Some(server) = spec.server else { return String::new() };
    let socket = spec.agent.root().join(&server.socket);
    let output = spec.agent.root().join("events/server.log");
    format!(
        "mngr_socket={socket}\nmngr_server_log={output}\n{SERVER}mngr_serve {argv}\n",
        socket = sh_quote(socket.as_str()),
        output = sh_quote(output.as_str()),
        argv = sh_join(&server.argv),
    )
}

/// The script of every other window and split: the same environment, then the command given, then a shell.
pub fn window_script(spec: &LaunchSpec<'_>) -> String {
    format!(
        "{head}cd \"$mngr_work\" || :\n[ \"$#\" -gt 0 ] && sh -c \"$1\"\nexec \"${{SHELL:-/bin/sh}}\"\n",
        head = head(spec)
    )
}

fn head(spec: &LaunchSpec<'_>) -> String {
    let load = |path: HostPath| {
        let path = sh_quote(path.as_str()).into_owned();
        format!("[ -f {path} ] && . {path}\n")
    };
    format!(
        "#!/bin/sh\n# Written by mngr at every launch; changes are lost.\nmngr_state={state}\nmngr_work={work}\n\
         set -a\n{host_env}{agent_env}set +a\n",
        state = sh_quote(spec.agent.root().as_str()),
        work = sh_quote(spec.work_dir.as_str()),
        host_env = load(spec.host.env_file()),
        agent_env = load(spec.agent.env_file()),
    )
}

#[cfg(test)]
mod tests {
    use mngr_host::files::{Access, Durability};
    use mngr_host::host::Host;
    use mngr_host::local::LocalHost;
    use mngr_host::proc::Cmd;

    use super::*;

    #[test]
    fn hostile_words_reach_the_program_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host = LocalHost::open(root.join("it's $HOME")).unwrap();
        let (layout, id) = (host.layout(), mngr_host::random::agent_id());
        let agent = layout.agent(&id);
        host.files().make_folder(agent.root()).unwrap();
        let hostile = ["$(touch pwned)", "`id`", "a'b\"c", "line\nbreak", "", "-n", "\\", "ü"];
        let mut argv = vec!["printf".to_owned(), "<%s>".to_owned()];
        argv.extend(hostile.map(str::to_owned));
        let script = launch_script(&LaunchSpec {
            host: &layout,
            agent: &agent,
            work_dir: &root,
            argv: &argv,
            streams: Streams::Terminal,
            server: None,
        });
        // No terminal here, so job control is left out; everything else is the real script.
        let script = script.replace("set -m\n", "");
        let output = host.exec(&Cmd::shell(script).env("SHELL", "/bin/true")).unwrap();
        let wanted: String = hostile.iter().map(|word| format!("<{word}>")).collect();
        assert!(output.stdout_text().starts_with(&wanted), "{output:?}");
        let record = host.files().read_text(&agent.process()).unwrap();
        let record = mngr_model::process::ProcessRecord::parse(&record);
        assert!(record.agent.is_some() && record.ending.is_some(), "{record:?}");
        assert!(!host.files().exists(&root.join("pwned")).unwrap());
    }

    #[test]
    fn without_a_terminal_the_streams_are_files_and_the_supervisors_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host = LocalHost::open(root.join("it's")).unwrap();
        let (layout, id) = (host.layout(), mngr_host::random::agent_id());
        let agent = layout.agent(&id);
        let files = host.files();
        files.make_folder(&agent.headless()).unwrap();
        let write = |path: HostPath, text: &str| {
            files.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
        };
        write(agent.headless_input(), "read\n");
        let argv = ["sh", "-c", "cat; echo wrong >&2; exit 3"].map(str::to_owned);
        let streams = Streams::Files;
        let spec =
            LaunchSpec { host: &layout, agent: &agent, work_dir: &root, argv: &argv, streams, server: None };
        let script = launch_script(&spec).replace("set -m\n", "");
        let output = host.exec(&Cmd::shell(script).env("SHELL", "/bin/true")).unwrap();
        assert_eq!(files.read_text(&agent.headless_output()).unwrap(), "read\n");
        assert_eq!(files.read_text(&agent.headless_errors()).unwrap(), "wrong\n");
        assert!(output.stdout_text().contains("the agent ended with status 3"), "{output:?}");
    }
}
