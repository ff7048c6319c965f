//! The two procedures as slash commands of Claude Code, for those who would rather work with an agent themselves.

use super::prompts;

/// A slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skill {
    /// Its file, below the top of a project.
    pub path: &'static str,
    /// What the file begins with.
    head: &'static str,
    /// The rules it shares with the task of an agent.
    rules: &'static str,
}

impl Skill {
    /// What its file says.
    pub fn text(&self) -> String {
        format!("{}{}", self.head, self.rules)
    }
}

/// All of them.
pub const SKILLS: [Skill; 2] = [
    Skill {
        path: ".claude/commands/tutorial-fill.md",
        head: prompts::FILL_COMMAND,
        rules: prompts::FILL_RULES,
    },
    Skill {
        path: ".claude/commands/tutorial-sync.md",
        head: prompts::SYNC_COMMAND,
        rules: prompts::SYNC_RULES,
    },
];
