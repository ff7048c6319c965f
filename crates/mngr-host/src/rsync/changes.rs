//! What a copy would change, as `rsync --dry-run --out-format` lists it. Pure parsing; [`super::Rsync::changes`] runs
//! it.

/// How a copy changes a path of the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is created.
    New,
    /// Its contents or its mode change.
    Changed,
    /// It is deleted.
    Deleted,
}

/// One path that a copy changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// How.
    pub kind: ChangeKind,
    /// Relative to the destination, as bytes; a folder ends in `/`.
    pub path: Vec<u8>,
}

impl Change {
    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.path.ends_with(b"/")
    }
}

/// One path per line: eleven characters that say what changes, a space, the name.
pub(super) const OUT_FORMAT: &str = "--out-format=%i %n";

const ITEM_WIDTH: usize = 11;

/// Reads what rsync printed with [`OUT_FORMAT`]. Lines of another form are remarks and left out.
pub(super) fn parse(output: &[u8]) -> Vec<Change> {
    output.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Change> {
    let (item, rest) = line.split_at_checked(ITEM_WIDTH)?;
    let kind = match item {
        b"*deleting  " => ChangeKind::Deleted,
        // Update type, then file type.
        [b'<' | b'>' | b'c' | b'h' | b'.', b'f' | b'd' | b'L' | b'D' | b'S', attributes @ ..] => {
            if attributes.starts_with(b"+") { ChangeKind::New } else { ChangeKind::Changed }
        }
        _ => return None,
    };
    Some(Change { kind, path: unescaped(rest.strip_prefix(b" ")?) })
}

/// rsync writes a byte that could disturb a terminal as `\#ooo`, and a backslash before `#` likewise.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, tail)) = rest.split_first() {
        match rest {
            [b'\\', b'#', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read_and_remarks_are_left_out() {
        let text = b"created directory x\ncd+++++++++ dir/\n>f+++++++++ a b\n>fcsT...... c\n.f...p..... d\n*deleting   old\ncL+++++++++ l\n";
        let read: Vec<(ChangeKind, String)> =
            parse(text).into_iter().map(|c| (c.kind, String::from_utf8(c.path).unwrap())).collect();
        let expected = [
            (ChangeKind::New, "dir/"),
            (ChangeKind::New, "a b"),
            (ChangeKind::Changed, "c"),
            (ChangeKind::Changed, "d"),
            (ChangeKind::Deleted, "old"),
            (ChangeKind::New, "l"),
        ];
        assert_eq!(read, expected.map(|(kind, path)| (kind, path.to_owned())));
    }

    #[test]
    fn escaped_bytes_come_back() {
        assert_eq!(unescaped(b"new\\#012line"), b"new\nline");
        assert_eq!(unescaped(b"\\#134#012"), b"\\#012");
        assert_eq!(unescaped(b"back\\slash \\#9"), b"back\\slash \\#9");
        assert_eq!(unescaped(b"\\#377"), b"\xff");
    }
}
