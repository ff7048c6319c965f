//! `--edit-message`: the user writes the first message while the agent is made. Neither waits for the other, and a text that
//! does not reach the agent is kept. Spawns one process besides: the editor.

use mngr_model::delivery::DeliveryLevel;
use mngr_ops::create::{self, CreateRequest, Created};
use mngr_ops::message::{self, MessageRequest};
use mngr_ops::world::World;

use super::run::{agent_of, failure};
use crate::commands::editor;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::ui::progress::HeldReporter;

/// Creates the agent and sends it what the user writes meanwhile; `draft` is what the text begins with.
pub(super) fn create(
    ctx: &mut Ctx,
    world: &mut World,
    request: &CreateRequest,
    draft: &str,
) -> Result<Created, CliError> {
    if !ctx.is_interactive()? {
        let text = "`--edit-message` opens an editor, and this is not a terminal or the command is headless";
        return Err(CliError::failed(text).hinted("give the message with `-m TEXT` or `--message-file PATH`"));
    }
    // A word about the creation would end up in the middle of the editor.
    let reporter = HeldReporter::new(ctx.console.clone());
    world.reporter = Box::new(reporter.clone());
    let world: &World = world;
    let (created, text) = std::thread::scope(|scope| {
        let creation = scope.spawn(|| create::create(world, request));
        let text = editor::compose(ctx, "first-message", draft);
        reporter.release();
        (creation.join(), text)
    });
    let created = match created {
        Ok(created) => created.map_err(failure),
        Err(panic) => std::panic::resume_unwind(panic),
    };
    match (created, text) {
        (Ok(mut created), Ok(text)) => {
            created.message_level =
                deliver(world, request, &created, &text).map_err(|error| editor::keep(ctx, error, &text))?;
            Ok(created)
        }
        (Err(error), Ok(text)) => Err(editor::keep(ctx, error, &text)),
        (Ok(created), Err(error)) => {
            Err(error.hinted(format!("agent `{}` was created without a message", created.name)))
        }
        (Err(error), Err(_)) => Err(error),
    }
}

/// Sends the text; an empty one is no message.
fn deliver(
    world: &World,
    request: &CreateRequest,
    created: &Created,
    text: &str,
) -> Result<Option<DeliveryLevel>, CliError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let agent = agent_of(world, created)?;
    let request = MessageRequest {
        text: text.trim_end().to_owned(),
        idempotency_key: None,
        patience: request.message_patience,
        start: false,
    };
    Ok(Some(message::send(world, &agent, &request)?.level))
}
