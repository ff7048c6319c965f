//! One brand of agent in an environment of its own, and the model it talks to.

use std::time::Duration;

use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer};
use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

/// The name of the one agent most tests need.
pub(super) const NAME: &str = "a";

/// The agent is free for the next message.
pub(super) const IDLE: &str = "WAITING END_OF_TURN";

/// An environment in which one brand is installed and set up.
pub(super) struct Scene {
    pub(super) env: TestEnv,
    pub(super) model: ModelServer,
    pub(super) brand: Brand,
}

impl Scene {
    /// A user who has started the program before.
    pub(super) fn of(brand: Brand) -> Self {
        Self::at(brand, FirstStart::Over)
    }

    /// A user for whom the first start is over or ahead.
    pub(super) fn at(brand: Brand, first_start: FirstStart) -> Self {
        let agents = Agents::installed();
        let model = ModelServer::start();
        let mut env = env_with_repo();
        agents.set_up(brand, first_start, &mut env, &model);
        Self { env, model, brand }
    }

    /// With an agent that has just been created.
    #[track_caller]
    pub(super) fn with_agent(brand: Brand) -> Self {
        let scene = Self::of(brand);
        let _ = scene.create(&[]).success();
        scene
    }

    /// Creates the agent, with further words on the command line.
    pub(super) fn create(&self, more: &[&str]) -> CmdOutput {
        let words = ["create", NAME, self.brand.program(), "--no-connect"];
        self.env.mngr(words.iter().chain(more))
    }

    /// State and reason in one look, so that they belong together.
    #[track_caller]
    pub(super) fn standing(&self) -> String {
        self.standing_of(NAME)
    }

    /// The same of another agent.
    #[track_caller]
    pub(super) fn standing_of(&self, name: &str) -> String {
        let agent = agent(&self.env, name);
        format!("{} {}", text(&agent["state"]), text(&agent["waiting_reason"])).trim().to_owned()
    }

    /// How long a turn may take. The first one of opencode is seconds of work for the machine.
    fn patience(&self) -> Duration {
        match self.brand {
            Brand::Claude | Brand::Codex => PATIENCE,
            Brand::Opencode => 2 * PATIENCE,
        }
    }

    /// Waits until the agent stands so.
    #[track_caller]
    pub(super) fn wait_for(&self, wanted: &str) {
        self.wait_for_all(&[NAME], wanted);
    }

    /// Waits until these agents stand so.
    #[track_caller]
    pub(super) fn wait_for_all(&self, names: &[&str], wanted: &str) {
        for name in names {
            let mut last = String::new();
            let came = mngr_testkit::wait_until(self.patience(), || {
                last = self.standing_of(name);
                last == wanted
            });
            assert!(came, "`{name}` is {last}, not {wanted}\n{}", self.screen());
        }
    }

    /// Sends a message.
    pub(super) fn send(&self, words: &str) -> CmdOutput {
        self.env.mngr_stdin(["message", NAME], words.as_bytes())
    }

    /// Sends a message that has to be accepted.
    #[track_caller]
    pub(super) fn say(&self, words: &str) {
        let sent = self.send(words);
        assert!(sent.status.success(), "{words:?} was refused: {sent}\n{}", self.drawn());
    }

    /// Sends a message that makes the agent open a dialog, which may be there before the command returns.
    #[track_caller]
    pub(super) fn provoke(&self, words: &str) {
        let sent = self.send(words);
        assert!(matches!(sent.status.code(), Some(0 | 7)), "{sent}");
    }

    /// Presses a key in the agent's terminal, as somebody who looks at it would.
    #[track_caller]
    pub(super) fn press(&self, key: &str) {
        let _ = self.env.tmux(["send-keys", "-t", "=mngr-a:", key]).success();
    }

    /// Types a text in the agent's terminal and waits until it is shown.
    #[track_caller]
    pub(super) fn type_text(&self, words: &str) {
        let _ = self.env.tmux(["send-keys", "-t", "=mngr-a:", "-l", words]).success();
        wait_until(self.patience(), || self.screen().contains(words));
    }

    /// Deletes the line in the agent's input box.
    #[track_caller]
    pub(super) fn clear_box(&self) {
        self.press("C-e");
        self.press("C-u");
    }

    /// Dismisses a dialog. One that has only just appeared may not listen yet.
    #[track_caller]
    pub(super) fn escape_the_dialog(&self) {
        wait_until(self.patience(), || {
            self.press("Escape");
            mngr_testkit::wait_until(Duration::from_millis(500), || self.standing() == IDLE)
        });
    }

    /// Where the agent's cursor is, whether it is shown, and its terminal with its colours.
    #[track_caller]
    pub(super) fn drawn(&self) -> String {
        let cursor = "cursor #{cursor_x},#{cursor_y} shown #{cursor_flag} of #{pane_width}x#{pane_height}";
        let cursor = self.env.tmux(["display-message", "-p", "-t", "=mngr-a:", cursor]).success().stdout;
        cursor + &self.env.tmux(["capture-pane", "-p", "-e", "-t", "=mngr-a:"]).success().stdout
    }

    /// What the agent's terminal shows.
    #[track_caller]
    pub(super) fn screen(&self) -> String {
        self.env.mngr(["capture", NAME]).success().stdout
    }

    /// What stands in Claude Code's input box: between the last two of its lines.
    #[track_caller]
    pub(super) fn input_box(&self) -> String {
        let screen = self.screen();
        let lines: Vec<&str> = screen.lines().collect();
        let rules = lines.iter().enumerate().rev().filter(|(_, line)| line.starts_with("───"));
        let mut rules = rules.map(|(at, _)| at);
        match (rules.next(), rules.next()) {
            (Some(below), Some(above)) => lines[above + 1..below].join("\n"),
            _ => String::new(),
        }
    }

    /// Whether the model was ever asked something that holds this text.
    pub(super) fn was_asked(&self, words: &str) -> bool {
        self.model.requests().iter().any(|request| request.user_text.contains(words))
    }

    /// What the user had said in the conversation, each message once, when the model was asked this.
    #[track_caller]
    pub(super) fn history_with(&self, words: &str) -> Vec<String> {
        let mut history = None;
        wait_until(self.patience(), || {
            let requests = self.model.requests();
            let mut conversation = requests.iter().filter(|request| request.scenario.is_some());
            history = conversation.rfind(|request| request.user_text.contains(words)).map(|r| r.history());
            history.is_some()
        });
        history.unwrap_or_default()
    }

    /// Waits until the model was asked something that holds this text.
    #[track_caller]
    pub(super) fn wait_until_asked(&self, words: &str) {
        wait_until(self.patience(), || self.was_asked(words));
    }
}
