//! The process as it was started. The only file that reads the environment.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use mngr_model::HostPath;
use mngr_model::env as names;

/// Which streams are terminals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Terminals {
    /// Standard input is one.
    pub(crate) stdin: bool,
    /// Standard output is one.
    pub(crate) stdout: bool,
    /// Standard error is one.
    pub(crate) stderr: bool,
    /// How wide the one on standard output is.
    pub(crate) width: Option<usize>,
}

/// Variables, folders and terminals of this process.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    vars: BTreeMap<String, String>,
    /// Where the user stands.
    pub(crate) cwd: HostPath,
    /// Which streams are terminals.
    pub(crate) terminals: Terminals,
    /// The mngr binary.
    pub(crate) binary: String,
    /// The words it was called with.
    pub(crate) argv: Vec<String>,
}

impl Surroundings {
    /// Reads them. Variables that are not UTF-8 mean nothing to mngr and are left to the programs it starts.
    pub(crate) fn read() -> Self {
        let vars: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let cwd = std::env::current_dir()
            .map(|path| path.to_string_lossy().into_owned())
            // The folder may have been removed under us; the shell still knows its name.
            .unwrap_or_else(|_| vars.get("PWD").cloned().unwrap_or_else(|| "/".to_owned()));
        let binary = std::env::current_exe()
            .map_or_else(|_| "mngr".to_owned(), |path| path.to_string_lossy().into_owned());
        let argv = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        Self { vars, cwd: HostPath::new(cwd), terminals: terminals(), binary, argv }
    }

    /// A variable's value.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// Whether a variable says yes.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.var(name).is_some_and(|value| !matches!(value, "" | "0" | "false" | "no" | "off"))
    }

    /// All variables.
    pub(crate) fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The user's home.
    pub(crate) fn home(&self) -> Option<HostPath> {
        self.var("HOME").filter(|home| !home.is_empty()).map(HostPath::new)
    }

    /// The word everything is called by.
    pub(crate) fn root_name(&self) -> &str {
        self.var(names::MNGR_ROOT_NAME).filter(|name| !name.is_empty()).unwrap_or("mngr")
    }

    /// A path as the user wrote it: `~` is the home, and what is relative starts where the user stands.
    pub(crate) fn path(&self, text: &str) -> HostPath {
        match (text.strip_prefix("~/"), self.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            (None, Some(home)) if text == "~" => home,
            _ => self.cwd.join(text),
        }
    }
}

fn terminals() -> Terminals {
    let stdout = std::io::stdout().is_terminal();
    let width = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    Terminals {
        stdin: std::io::stdin().is_terminal(),
        stdout,
        stderr: std::io::stderr().is_terminal(),
        width: if stdout { width().filter(|columns| *columns > 0) } else { None },
    }
}

#[cfg(test)]
impl Surroundings {
    /// Surroundings made up for a test.
    pub(crate) fn of(vars: &[(&str, &str)], cwd: &str) -> Self {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self {
            vars,
            cwd: HostPath::new(cwd),
            terminals: Terminals::default(),
            binary: "mngr".to_owned(),
            argv: vec!["mngr".to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_home_or_where_the_user_stands() {
        let surroundings = Surroundings::of(&[("HOME", "/h")], "/w");
        assert_eq!(surroundings.path("~/a").as_str(), "/h/a");
        assert_eq!(surroundings.path("~").as_str(), "/h");
        assert_eq!(surroundings.path("b").as_str(), "/w/b");
        assert_eq!(surroundings.path("/c").as_str(), "/c");
    }
}
