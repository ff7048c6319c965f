//! `mngr completion`: the script that makes a shell complete mngr's words, and putting it in its place. What is completed is
//! found out by `complete.rs`, at every TAB.

mod install;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::{Ctx, Surroundings};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// A shell that can complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// The GNU shell.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly one.
    Fish,
}

/// Complete commands, agents and settings with TAB
///
/// Prints the script for a shell; without a word, for the one that SHELL names. The script is small: at every TAB it asks
/// mngr itself, which knows commands, options and their values, agents and where they are, hosts, providers, types,
/// templates, settings and branches, without asking another machine.
///
/// `mngr completion install` puts it where the shell finds it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    after_help = "  mngr completion install bash\n  \
                        source <(mngr completion zsh)\n  \
                        mngr completion fish >~/.config/fish/completions/mngr.fish"
)]
pub(crate) struct CompletionArgs {
    #[command(subcommand)]
    verb: Option<CompletionVerb>,

    /// The shell
    #[arg(value_enum, value_name = "SHELL", help_heading = "ARGUMENTS")]
    shell: Option<Shell>,

    #[command(flatten)]
    common: CommonArgs,
}

/// What can be done besides printing it.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum CompletionVerb {
    /// Put the script where the shell finds it
    Install(install::InstallArgs),
}

impl CompletionArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            Some(CompletionVerb::Install(args)) => &args.common,
            None => &self.common,
        }
    }
}

impl Shell {
    /// The shell's own name.
    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// The script.
    fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("completion/mngr.bash"),
            Self::Zsh => include_str!("completion/mngr.zsh"),
            Self::Fish => include_str!("completion/mngr.fish"),
        }
    }

    /// The one that was named, or the user's own.
    fn wanted(named: Option<Self>, surroundings: &Surroundings) -> Result<Self, CliError> {
        let own = surroundings.var("SHELL").and_then(|path| path.rsplit('/').next());
        let own = own.and_then(|name| Self::value_variants().iter().find(|shell| shell.name() == name));
        named
            .or(own.copied())
            .ok_or_else(|| CliError::usage("Missing argument: SHELL").hinted("it is one of bash, zsh, fish"))
    }
}

/// Prints it.
pub(crate) fn run(ctx: &mut Ctx, args: CompletionArgs) -> Result<ExitCode, CliError> {
    if let Some(CompletionVerb::Install(args)) = args.verb {
        return install::run(ctx, &args);
    }
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let shell = Shell::wanted(args.shell, &ctx.surroundings)?;
    output.show(&ctx.console, &ScriptReport { shell })?;
    Ok(ExitCode::Done)
}

struct ScriptReport {
    shell: Shell,
}

impl Report for ScriptReport {
    fn human(&self, _console: &Console) -> String {
        self.shell.script().to_owned()
    }

    fn json(&self) -> Value {
        json!({ "shell": self.shell.name(), "script": self.shell.script() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("completion_script", self.json())]
    }
}
