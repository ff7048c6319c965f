//! Remembering why a test failed, for its record: a dropped session can see that its test panics, but not why.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

/// How much of a message is kept.
const LONGEST: usize = 64 * 1024;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes the message of every panic before it is shown as usual.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown_as_usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let mut text = info.to_string();
            text.truncate(text.floor_char_boundary(LONGEST));
            // A panic while the thread's own data is torn down has nobody to tell it to.
            let _ = LAST.try_with(|last| last.replace(Some(text)));
            shown_as_usual(info);
        }));
    });
}

/// The message of this thread's panic.
pub(crate) fn take() -> Option<String> {
    LAST.try_with(|last| last.take()).ok().flatten()
}
