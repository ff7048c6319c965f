//! Whether a program will be able to ask its model anything. What counts as a login is each brand's own business.
//!
//! Only the presence of a key or a login is looked at. Whether it is still good is known to the vendor alone, and
//! shows up as the state of the agent.

use std::collections::BTreeMap;

use mngr_config::AgentTypeSettings;

use crate::user::UserSide;

/// Where a brand looks for a login.
pub struct LoginPlace<'a> {
    /// The user's own configuration.
    pub user: UserSide<'a>,
    /// The variables the program will see.
    pub env: &'a BTreeMap<String, String>,
    /// The settings of the type, nearest first.
    pub settings: &'a [AgentTypeSettings],
    /// Whether the program will run without a terminal. Some take a key only then.
    pub is_headless: bool,
}

impl LoginPlace<'_> {
    /// Whether a variable is there and not empty.
    pub(crate) fn has(&self, variable: &str) -> bool {
        self.env.get(variable).is_some_and(|value| !value.is_empty())
    }
}

/// There is neither a login nor a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingLogin {
    /// The program, as people call it.
    pub program: &'static str,
    /// What the user can do.
    pub remedy: String,
}
