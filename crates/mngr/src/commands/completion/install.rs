//! `mngr completion install`: writes the script where the shell looks for it, and says what else the shell needs. The file
//! with which a shell starts is the user's: it is changed only with `--rc`.

use clap::Args;
use mngr_host::files::{Access, Durability, Files as _};
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use mngr_query::sanitize;
use serde_json::{Value, json};

use super::Shell;
use crate::cli::common::CommonArgs;
use crate::ctx::{Ctx, Surroundings};
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Put the script where the shell finds it
///
/// Writes one file, and says where. fish finds it by itself, and so does bash with the package bash-completion. For zsh a line
/// in ~/.zshrc is needed: it is shown, and added with --rc. Doing it twice changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "  mngr completion install bash\n  \
                        mngr completion install zsh --rc")]
pub(crate) struct InstallArgs {
    /// The shell; without it the one that SHELL names
    #[arg(value_enum, value_name = "SHELL", help_heading = "ARGUMENTS")]
    shell: Option<Shell>,

    /// Also add the line that loads it to the file with which the shell starts
    #[arg(long, help_heading = "OPTIONS")]
    rc: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Writes it.
pub(super) fn run(ctx: &mut Ctx, args: &InstallArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let shell = Shell::wanted(args.shell, &ctx.surroundings)?;
    let place = Place::of(shell, &ctx.surroundings)?;
    let script = write(&place.script, shell.script())?;
    let rc = match &place.start_file {
        Some(start) if is_in(&start.path, &start.line)? => Loading::ByLine,
        Some(start) if args.rc => {
            append(&start.path, &start.line)?;
            Loading::LineAdded
        }
        Some(_) => Loading::NeedsLine,
        None => Loading::ByItself,
    };
    output.show(&ctx.console, &InstallReport { shell, place, script, rc })?;
    Ok(ExitCode::Done)
}

/// Where things go.
struct Place {
    /// The script.
    script: HostPath,
    /// The file with which the shell starts, where the shell does not find the script by itself.
    start_file: Option<StartFile>,
}

struct StartFile {
    path: HostPath,
    line: String,
}

/// Whether a file had to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Written,
    AsItWas,
}

/// How the shell comes to load the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loading {
    /// It looks there.
    ByItself,
    /// The line is there already.
    ByLine,
    /// The line was added just now.
    LineAdded,
    /// The user has to add the line.
    NeedsLine,
}

impl Place {
    fn of(shell: Shell, surroundings: &Surroundings) -> Result<Self, CliError> {
        let home = surroundings.home().ok_or_else(|| {
            CliError::message(ErrorKind::Failed, "there is no home folder: HOME is not set")
        })?;
        let folder = |variable: &str, in_home: &str| match surroundings.var(variable) {
            // What is not absolute counts for nothing, says the standard behind these variables.
            Some(path) if path.starts_with('/') => HostPath::new(path),
            _ => home.join(in_home),
        };
        let data = folder("XDG_DATA_HOME", ".local/share");
        Ok(match shell {
            Shell::Bash => Self {
                script: folder("BASH_COMPLETION_USER_DIR", data.join("bash-completion").as_str())
                    .join("completions/mngr"),
                start_file: None,
            },
            Shell::Fish => {
                let script = folder("XDG_CONFIG_HOME", ".config").join("fish/completions/mngr.fish");
                Self { script, start_file: None }
            }
            Shell::Zsh => {
                let script = data.join("mngr/completions/_mngr");
                let start = match surroundings.var("ZDOTDIR") {
                    Some(folder) if folder.starts_with('/') => HostPath::new(folder),
                    _ => home,
                };
                let line = format!("source {}", mngr_model::quote::sh_quote(script.as_str()));
                Self { script, start_file: Some(StartFile { path: start.join(".zshrc"), line }) }
            }
        })
    }
}

fn write(path: &HostPath, text: &str) -> Result<Change, CliError> {
    let failed = |error| CliError::new(ErrorKind::Failed, error);
    if LocalFiles.read_if_there(path).map_err(failed)?.as_deref() == Some(text.as_bytes()) {
        return Ok(Change::AsItWas);
    }
    if let Some(folder) = path.parent() {
        LocalFiles.make_folder(&folder).map_err(failed)?;
    }
    LocalFiles.write(path, text.as_bytes(), Access::Shared, Durability::Cached).map_err(failed)?;
    Ok(Change::Written)
}

fn is_in(path: &HostPath, line: &str) -> Result<bool, CliError> {
    let text = LocalFiles.read_if_there(path).map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    Ok(String::from_utf8_lossy(&text.unwrap_or_default()).lines().any(|known| known.trim() == line))
}

/// Adds a line at the end. The file may be a link into a folder of dotfiles, so it is not replaced.
fn append(path: &HostPath, line: &str) -> Result<(), CliError> {
    let failed = |error| CliError::new(ErrorKind::Failed, error);
    let text = LocalFiles.read_if_there(path).map_err(failed)?.unwrap_or_default();
    let gap = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
    let added = format!("{gap}{line}\n");
    LocalFiles.append(path, added.as_bytes(), Durability::Cached).map_err(failed)
}

struct InstallReport {
    shell: Shell,
    place: Place,
    script: Change,
    rc: Loading,
}

impl Report for InstallReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let script = sanitize(self.place.script.as_str()).into_owned();
        let mut shown = vec![match self.script {
            Change::Written => format!("Wrote {script}"),
            Change::AsItWas => format!("{script} is up to date"),
        }];
        if let Some(start) = &self.place.start_file {
            let (path, line) = (sanitize(start.path.as_str()), sanitize(&start.line));
            match self.rc {
                Loading::LineAdded => shown.push(format!("Added to {path}:\n  {line}")),
                Loading::NeedsLine => shown.push(format!(
                    "To load it, add this line to {path}, after `compinit` (--rc adds it):\n  {line}"
                )),
                Loading::ByLine | Loading::ByItself => {}
            }
        }
        if self.rc == Loading::NeedsLine {
            return lines(shown);
        }
        shown.push(match self.shell {
            Shell::Bash => "New shells have it if the package bash-completion is installed; otherwise add \
                            `source <(mngr completion bash)` to ~/.bashrc"
                .to_owned(),
            shell => format!("New {} shells have it", shell.name()),
        });
        lines(shown)
    }

    fn json(&self) -> Value {
        let line = self.place.start_file.as_ref().map(|start| start.line.as_str());
        let path = self.place.start_file.as_ref().map(|start| start.path.as_str());
        json!({
            "shell": self.shell.name(),
            "path": self.place.script.as_str(),
            "changed": self.script == Change::Written,
            "rc_path": path,
            "rc_line": line,
            "rc_changed": self.rc == Loading::LineAdded,
            "loaded": self.rc != Loading::NeedsLine,
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("completion_installed", self.json())]
    }
}
