//! `mngr tutorial skill`: `fill` and `sync` as slash commands of Claude Code.

use clap::Args;
use mngr_host::files::{Access, Durability, Files as _, FilesError};
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use mngr_ops::tutorial::{SKILLS, Skill};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Show or write `fill` and `sync` as slash commands of Claude Code
///
/// With --write, Claude Code knows `/tutorial-fill` and `/tutorial-sync` in that project. A file that is there and says
/// something else is left as it is, unless --force is given.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial skill\n  \
                        mngr tutorial skill --write .")]
pub(crate) struct SkillArgs {
    /// Write the files below this folder, the top of a project
    #[arg(long, value_name = "DIR", help_heading = "OPTIONS")]
    write: Option<String>,

    /// Replace files that say something else
    #[arg(long, requires = "write", help_heading = "OPTIONS")]
    force: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows or writes them.
pub(super) fn run(ctx: &mut Ctx, args: &SkillArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let folder = args.write.as_deref().map(|folder| ctx.surroundings.path(folder));
    let mut files = Vec::new();
    for skill in SKILLS {
        let done = match &folder {
            None => Done::Shown,
            Some(folder) => write(&folder.join(skill.path), &skill.text(), args.force)
                .map_err(|error| CliError::new(ErrorKind::Failed, error))?,
        };
        files.push((skill, done));
    }
    let is_refused = files.iter().any(|(_, done)| *done == Done::Differs);
    output.show(&ctx.console, &SkillReport { files })?;
    if is_refused {
        ctx.console.note("`--force` replaces files that say something else");
        return Ok(ExitCode::Failed);
    }
    Ok(ExitCode::Done)
}

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Shown,
    Written,
    Unchanged,
    Differs,
}

impl Done {
    fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Written => "written",
            Self::Unchanged => "unchanged",
            Self::Differs => "differs",
        }
    }
}

fn write(path: &HostPath, text: &str, force: bool) -> Result<Done, FilesError> {
    match LocalFiles.read_if_there(path)? {
        Some(there) if there == text.as_bytes() => return Ok(Done::Unchanged),
        Some(_) if !force => return Ok(Done::Differs),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        LocalFiles.make_folder(&folder)?;
    }
    LocalFiles.write(path, text.as_bytes(), Access::AsBefore, Durability::Cached)?;
    Ok(Done::Written)
}

struct SkillReport {
    files: Vec<(Skill, Done)>,
}

impl Report for SkillReport {
    fn human(&self, _console: &Console) -> String {
        let line = |(skill, done): &(Skill, Done)| match done {
            Done::Shown => format!("{}:\n\n{}\n", skill.path, skill.text()),
            done => format!("{}: {}\n", skill.path, done.as_str()),
        };
        self.files.iter().map(line).collect()
    }

    fn json(&self) -> Value {
        let file = |(skill, done): &(Skill, Done)| json!({ "path": skill.path, "status": done.as_str(), "text": skill.text() });
        json!({ "files": self.files.iter().map(file).collect::<Vec<_>>() })
    }

    fn events(&self) -> Vec<Value> {
        let file = |(skill, done): &(Skill, Done)| {
            event("file", json!({ "path": skill.path, "status": done.as_str() }))
        };
        self.files.iter().map(file).collect()
    }
}
