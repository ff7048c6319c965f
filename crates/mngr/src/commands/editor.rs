//! The user's editor, for files and for texts. Spawns one process: the editor.

use mngr_host::files::{Access, Durability, Files};
use mngr_host::host::Host;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::proc::{Attachment, Cmd};
use mngr_host::random;
use mngr_model::HostPath;

use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};

/// Opens a file and returns when the editor has ended. Uses `$EDITOR`, then `$VISUAL`, then `vi`.
pub(crate) fn open(ctx: &Ctx, path: &HostPath) -> Result<(), CliError> {
    let is_set = |name| ctx.surroundings.var(name).filter(|value| !value.is_empty());
    let editor = is_set("EDITOR").or_else(|| is_set("VISUAL")).unwrap_or("vi");
    // The variable may hold options, so a shell reads it; the path stays one word.
    let command = Cmd::shell(format!("{editor} \"$1\"")).arg("sh").arg(path.as_str());
    let host = LocalHost::open(ctx.scopes.host_dir().clone())?;
    let exit = host.exec_attached(&command, Attachment::Foreground, None)?;
    if !exit.success() {
        let text = format!("the editor `{editor}` ended with exit code {}", exit.to_shell());
        return Err(CliError::failed(text));
    }
    Ok(())
}

/// Lets the user write a text that begins with `draft`. It is kept nowhere.
pub(crate) fn compose(ctx: &Ctx, draft: &str) -> Result<String, CliError> {
    let path = ctx.scopes.host_dir().join(&format!(".mngr-message-{}.txt", random::hex32()));
    let failed = |error| CliError::new(ErrorKind::Failed, error);
    LocalFiles.write(&path, draft.as_bytes(), Access::Private, Durability::Cached).map_err(failed)?;
    let text = open(ctx, &path).and_then(|()| LocalFiles.read_text(&path).map_err(failed));
    LocalFiles.remove_file(&path).map_err(failed)?;
    text
}
