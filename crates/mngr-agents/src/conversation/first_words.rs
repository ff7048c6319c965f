//! What a conversation began with: its title, where it has no other one.

use mngr_host::files::Files;
use mngr_model::title::title_of;

use super::Conversation;
use crate::transcript::{Body, Entry, Reader};

/// The first message of the user is not further from the beginning than this, or is not looked for.
const BEGINNING: usize = 1024 * 1024;

/// The first thing the user said in a conversation, in one line. What cannot be read has no title.
pub fn first_words(files: &dyn Files, conversation: &Conversation) -> Option<String> {
    let bytes = files.read_part(&conversation.path, 0, BEGINNING).ok()?;
    let entries = Reader::new(conversation.brand).feed(&bytes);
    entries.iter().find_map(|entry| match entry {
        Entry::Said(record) if !record.is_sidechain => match &record.body {
            Body::UserMessage { content, .. } => title_of(content),
            _ => None,
        },
        _ => None,
    })
}
