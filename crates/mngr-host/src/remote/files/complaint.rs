//! What the small programs complain about, as the error that the system gave them.

use std::io;

use rustix::io::Errno;

use crate::beneath::LinkInTheWay;
use crate::remote::shells::Obstacle;

/// How a complaint ends, in the C locale, with GNU, busybox and dash. What does not end like this is said as it is.
const ENDINGS: [(&str, Errno); 18] = [
    ("no such file or directory", Errno::NOENT),
    ("no such file", Errno::NOENT),
    ("directory nonexistent", Errno::NOENT),
    ("nonexistent directory", Errno::NOENT),
    ("not a directory", Errno::NOTDIR),
    ("file exists", Errno::EXIST),
    ("directory not empty", Errno::NOTEMPTY),
    ("permission denied", Errno::ACCESS),
    ("operation not permitted", Errno::PERM),
    ("no space left on device", Errno::NOSPC),
    ("disk quota exceeded", Errno::DQUOT),
    ("is a directory", Errno::ISDIR),
    ("read-only file system", Errno::ROFS),
    ("invalid cross-device link", Errno::XDEV),
    ("too many levels of symbolic links", Errno::LOOP),
    ("file name too long", Errno::NAMETOOLONG),
    ("no such device or address", Errno::NXIO),
    ("input/output error", Errno::IO),
];

/// The error behind what a program printed.
pub(in crate::remote) fn understand(printed: &str) -> io::Error {
    if let Some(refused) = printed.lines().find_map(refusal) {
        return refused.into_io();
    }
    let lines: Vec<String> = printed.lines().map(|line| line.trim_end().to_ascii_lowercase()).collect();
    let known = lines.iter().find_map(|line| errno_of(line));
    match known {
        Some(errno) => errno.into(),
        None if printed.ends_with("it is not an ordinary file") => {
            io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file")
        }
        None => io::Error::other(super::super::line::detail_of(printed)),
    }
}

/// What our own scripts say of a link that is in the way.
fn refusal(line: &str) -> Option<LinkInTheWay> {
    let (link, target) = line.strip_prefix("mngr: link ")?.split_once(" -> ")?;
    Some(LinkInTheWay { link: link.to_owned(), target: target.to_owned() })
}

fn errno_of(line: &str) -> Option<Errno> {
    // GNU names the thing in the middle here: a folder cannot be replaced by a file, nor the other way round.
    if line.contains("cannot overwrite directory") {
        return Some(Errno::ISDIR);
    }
    if line.contains("cannot overwrite non-directory") {
        return Some(Errno::NOTDIR);
    }
    ENDINGS.iter().find(|(ending, _)| line.ends_with(ending)).map(|(_, errno)| *errno)
}

impl From<Obstacle> for io::Error {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Full => Errno::NOSPC.into(),
            Obstacle::Nowhere => {
                Self::new(io::ErrorKind::StorageFull, "the host has no folder for temporary files")
            }
            Obstacle::Unlocked => io::ErrorKind::HostUnreachable.into(),
            Obstacle::Short => io::ErrorKind::UnexpectedEof.into(),
            Obstacle::Denied => Errno::ACCESS.into(),
            Obstacle::NoProgram | Obstacle::NoFolder => Errno::NOENT.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_gnu_busybox_and_dash_become_the_errors_behind_them() {
        for (printed, kind) in [
            ("stat: cannot statx '/x': No such file or directory", io::ErrorKind::NotFound),
            ("sh: 3: cannot create /x/y: Directory nonexistent", io::ErrorKind::NotFound),
            ("sh: can't create /x/y: nonexistent directory", io::ErrorKind::NotFound),
            ("mkdir: can't create directory 'x': File exists", io::ErrorKind::AlreadyExists),
            ("mv: cannot overwrite directory 'a' with non-directory", io::ErrorKind::IsADirectory),
            ("cat: write error: No space left on device", io::ErrorKind::StorageFull),
            ("rm: cannot remove 'a: File exists': Permission denied", io::ErrorKind::PermissionDenied),
            ("strange", io::ErrorKind::Other),
        ] {
            assert_eq!(understand(printed).kind(), kind, "{printed}");
        }
    }
}
