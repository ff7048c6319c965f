//! What a brand may look at on the user's own machine. It is only read: nothing of the user's is ever changed.

use std::collections::BTreeMap;

use mngr_host::files::Files;
use mngr_model::HostPath;

use crate::brand::Provisioning;

/// The user's machine, home and variables.
#[derive(Clone, Copy)]
pub struct UserSide<'a> {
    /// Files of that machine.
    pub files: &'a dyn Files,
    /// The user's home.
    pub home: Option<&'a HostPath>,
    /// The user's variables.
    pub vars: &'a BTreeMap<String, String>,
}

impl<'a> UserSide<'a> {
    /// The side of the user a new agent is made for.
    pub(crate) fn of(request: &Provisioning<'a>) -> Self {
        Self { files: request.client.files(), home: request.home, vars: request.vars }
    }

    /// The folder a variable names, or the one of that name in the home.
    pub(crate) fn folder(&self, variable: &str, in_home: &str) -> Option<HostPath> {
        let named = self.vars.get(variable).filter(|folder| !folder.is_empty());
        named.map(HostPath::new).or_else(|| Some(self.home?.join(in_home)))
    }
}
