//! Whether there is room on a disk. One that is full makes every test fail and every measurement worthless.

use std::error::Error;

use mngr_ops::error_chain;

/// How many bytes there have to be at least.
pub(super) const NEEDED: usize = 64 * 1024;

/// How the system says it: a full disk, a quota, a limit on the size of files.
const WORDS: [&str; 4] =
    ["No space left on device", "no storage space", "Disk quota exceeded", "File too large"];

/// Whether an error, or what caused it, is a full disk. Git tells of one only in the words of the system.
pub fn is_missing(error: &(dyn Error + 'static)) -> bool {
    is_missed_in(&error_chain(error))
}

/// The same for an error that was put into words.
pub(crate) fn is_missed_in(text: &str) -> bool {
    WORDS.iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_full_disk_is_known_by_what_the_system_calls_it() {
        for code in [27, 28, 122] {
            assert!(is_missing(&io::Error::from_raw_os_error(code)), "{code}");
        }
        assert!(is_missing(&io::Error::from(io::ErrorKind::StorageFull)));
        assert!(is_missed_in(
            "cannot make a mutant: git: error: unable to write file: No space left on device"
        ));
        assert!(!is_missing(&io::Error::from_raw_os_error(2)));
    }
}
