//! The name of every variable that means something to mngr, so that no other file spells one.

/// A variable and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it means, for users.
    pub doc: &'static str,
}

/// Declares constants, and the list of all of them with their comments.
macro_rules! variables {
    ($($(#[doc = $doc:literal])+ pub const $name:ident: &str = $text:literal;)*) => {
        $($(#[doc = $doc])+ pub const $name: &str = $text;)*

        /// Every variable that means something to mngr.
        pub const ALL: &[Variable] = &[$(Variable { name: $text, doc: concat!($($doc),+) }),*];
    };
}

variables! {
    /// Where the state of this host lives. Read as the setting `default_host_dir`, set inside every agent.
    pub const MNGR_HOST_DIR: &str = "MNGR_HOST_DIR";
    /// What names of tmux sessions start with. Read as the setting `prefix`.
    pub const MNGR_PREFIX: &str = "MNGR_PREFIX";
    /// Never prompt, open an editor or attach. Read as the setting `headless`.
    pub const MNGR_HEADLESS: &str = "MNGR_HEADLESS";
    /// The word that state dir, project dir and prefix are derived from; `mngr` when unset.
    pub const MNGR_ROOT_NAME: &str = "MNGR_ROOT_NAME";
    /// Replaces the project's settings folder.
    pub const MNGR_PROJECT_CONFIG_DIR: &str = "MNGR_PROJECT_CONFIG_DIR";
    /// Replaces the user id that names this user's resources at a provider.
    pub const MNGR_USER_ID: &str = "MNGR_USER_ID";
    /// Makes an unknown settings key a warning instead of an error.
    pub const MNGR_ALLOW_UNKNOWN_CONFIG: &str = "MNGR_ALLOW_UNKNOWN_CONFIG";
    /// Trusts the settings of the repository at hand, for CI.
    pub const MNGR_TRUST_PROJECT: &str = "MNGR_TRUST_PROJECT";
    /// A file that takes a trace of the command, as Perfetto and `chrome://tracing` read it: what it spent its time on.
    pub const MNGR_TRACE: &str = "MNGR_TRACE";
    /// What the name of a variable that sets a settings key starts with: `MNGR__SECTION__KEY`.
    pub const MNGR_SETTING_PREFIX: &str = "MNGR__";

    /// Set for a program that is run in place of a verb (`mngr-VERB`): the mngr that runs it.
    pub const MNGR_BINARY: &str = "MNGR_BINARY";

    /// Set for the git and rsync that a command runs: which command that is, so that the next one finds what a killed one
    /// has left running.
    pub const MNGR_COMMAND_ID: &str = "MNGR_COMMAND_ID";

    /// Set for a substitute connect command: the tmux session to attach to.
    pub const MNGR_SESSION_NAME: &str = "MNGR_SESSION_NAME";
    /// Set for a substitute connect command: whether the agent is on this machine.
    pub const MNGR_HOST_IS_LOCAL: &str = "MNGR_HOST_IS_LOCAL";
    /// Set while a substitute connect command runs, so that a `connect` inside it does not start it again.
    pub const MNGR_CONNECT_COMMAND_ACTIVE: &str = "MNGR_CONNECT_COMMAND_ACTIVE";

    /// Set inside every agent: its id. Also marks the processes that belong to it.
    pub const MNGR_AGENT_ID: &str = "MNGR_AGENT_ID";
    /// Set for what `exec` runs: the id of the agent it runs beside. Tells it from the agent's own processes.
    pub const MNGR_EXEC: &str = "MNGR_EXEC";
    /// Set inside every agent and for a substitute connect command: the agent's name.
    pub const MNGR_AGENT_NAME: &str = "MNGR_AGENT_NAME";
    /// Set inside every agent: the folder of its record, markers and events.
    pub const MNGR_AGENT_STATE_DIR: &str = "MNGR_AGENT_STATE_DIR";
    /// Set inside every agent: where it works.
    pub const MNGR_AGENT_WORK_DIR: &str = "MNGR_AGENT_WORK_DIR";
    /// Set inside every agent: the tmux window it runs in.
    pub const MNGR_PRIMARY_WINDOW_NAME: &str = "MNGR_PRIMARY_WINDOW_NAME";
    /// Set inside every agent that works on git: what its branch started from.
    pub const MNGR_GIT_BASE_BRANCH: &str = "MNGR_GIT_BASE_BRANCH";
    /// Set inside every agent: where the `llm` tool keeps its data.
    pub const LLM_USER_PATH: &str = "LLM_USER_PATH";
    /// Set like `MNGR_GIT_BASE_BRANCH`, for stop hooks that know only this name.
    pub const CODE_GUARDIAN_STOP_HOOK_BASE_BRANCH: &str = "CODE_GUARDIAN_STOP_HOOK__BASE_BRANCH";

    /// Set inside every agent of a test map-reduce: the name of the run.
    pub const MNGR_TMR_RUN: &str = "MNGR_TMR_RUN";
    /// Set inside every agent that looks after a test: the id of the test.
    pub const MNGR_TMR_TASK: &str = "MNGR_TMR_TASK";
    /// Set inside every agent that looks after a test: which try it is.
    pub const MNGR_TMR_ATTEMPT: &str = "MNGR_TMR_ATTEMPT";

    /// Read by end-to-end sessions: where the folders of their runs are.
    pub const MNGR_E2E_OUTPUT: &str = "MNGR_E2E_OUTPUT";
    /// Read by end-to-end sessions: the name of the run.
    pub const MNGR_E2E_RUN: &str = "MNGR_E2E_RUN";
    /// Read by end-to-end sessions: when a test's environment stays (`no`, `on-failure`, `yes`).
    pub const MNGR_E2E_KEEP_ENV: &str = "MNGR_E2E_KEEP_ENV";
    /// Read by end-to-end sessions: when a test's artifacts stay (`no`, `on-failure`, `yes`).
    pub const MNGR_E2E_ARTIFACTS: &str = "MNGR_E2E_ARTIFACTS";
    /// Read by end-to-end sessions: folders that come first on `PATH`.
    pub const MNGR_E2E_BIN: &str = "MNGR_E2E_BIN";
    /// Set inside end-to-end sessions: the folder of the test's artifacts, where recordings go.
    pub const MNGR_E2E_OUTPUT_DIR: &str = "MNGR_E2E_OUTPUT_DIR";

    // Names that have a meaning in the Python mngr and none here. They are listed so that they are not given another one.

    /// Reserved: there, loads disabled plugins too.
    pub const MNGR_LOAD_ALL_PLUGINS: &str = "MNGR_LOAD_ALL_PLUGINS";
    /// Reserved: there, keeps a host whose creation failed.
    pub const MNGR_DEBUG_RETAIN_LOCK_FOR_FAILED_HOSTS_DURING_CREATE: &str =
        "MNGR_DEBUG_RETAIN_LOCK_FOR_FAILED_HOSTS_DURING_CREATE";
    /// Reserved: there, the version of the completion script that asks.
    pub const MNGR_COMPLETION_SHIM_VERSION: &str = "MNGR_COMPLETION_SHIM_VERSION";
    /// Reserved: there, seconds to wait before an agent's terminal is repainted.
    pub const MNGR_SIGWINCH_DELAY_SECONDS: &str = "MNGR_SIGWINCH_DELAY_SECONDS";
    /// Reserved: there, says that no person is watching.
    pub const IS_AUTONOMOUS: &str = "IS_AUTONOMOUS";
}
