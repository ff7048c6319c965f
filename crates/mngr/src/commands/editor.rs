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
    let editor = is_set("EDITOR").or_else(|| is_set("VISUAL"));
    let editor = match editor {
        Some(editor) => editor,
        None if ctx.surroundings.terminals.stdin && ctx.surroundings.terminals.stdout => "vi",
        None => {
            let text = format!("there is no terminal to edit `{path}` in, and `$EDITOR` is not set");
            return Err(CliError::failed(text).hinted("`mngr config set KEY VALUE` changes a setting"));
        }
    };
    // The variable may hold options, so a shell reads it; the path stays one word.
    let command = Cmd::shell(format!("{editor} \"$1\"")).arg("sh").arg(path.as_str());
    let host = LocalHost::open(ctx.scopes.host_dir().clone())?;
    let exit = host.exec_attached(&command, Attachment::Foreground, None)?;
    match exit.to_shell() {
        0 => Ok(()),
        // What a shell says of a program that is not there.
        127 => Err(CliError::failed(format!("Editor not found: {editor}"))
            .hinted("set `$EDITOR` (or `$VISUAL`) to the editor you use, as in `EDITOR=nano`")),
        code => {
            Err(CliError::failed(format!("Editor exited with error: `{editor}` ended with exit code {code}")))
        }
    }
}

/// Where a text is kept that did not reach its agent.
const RECOVERED: &str = "recovered-message.txt";

/// Lets the user write a text that begins with `draft`. It is kept nowhere. Editors show the name of the file, and it is
/// all that says what the text is for: `title` is a word or two of letters, digits and hyphens.
pub(crate) fn compose(ctx: &Ctx, title: &str, draft: &str) -> Result<String, CliError> {
    let random = random::hex32();
    let path = ctx.scopes.host_dir().join(&format!(".{}-{title}.txt", &random[..8]));
    let failed = |error| CliError::new(ErrorKind::Failed, error);
    LocalFiles.write(&path, draft.as_bytes(), Access::Private, Durability::Cached).map_err(failed)?;
    let text = open(ctx, &path).and_then(|()| LocalFiles.read_text(&path).map_err(failed));
    LocalFiles.remove_file(&path).map_err(failed)?;
    text
}

/// Keeps a text that would be lost, and says where.
pub(crate) fn keep(ctx: &Ctx, error: CliError, text: &str) -> CliError {
    if text.trim().is_empty() {
        return error;
    }
    let path: HostPath = ctx.scopes.host_dir().join(RECOVERED);
    match LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Synced) {
        Ok(()) => error.hinted(format!("your message is kept in `{path}`; `--message-file {path}` sends it")),
        Err(lost) => {
            error.hinted(format!("your message could not be kept either: {}", mngr_ops::error_chain(&lost)))
        }
    }
}
