//! Reading tar, but only as much of it as a published archive needs: plain files and folders.
//!
//! Deliberately not a general reader. Links, devices, sparse files and sizes beyond the octal field are refused, not
//! interpreted: what is not understood cannot be abused. Long names are read in the two spellings that common `tar`
//! programs write (GNU `L`, POSIX `x` with `path`). Owners, times and modes are never taken over.

use std::io::BufRead;

use mngr_model::quote::excerpt;
use mngr_query::is_unsafe;

use super::gunzip::Gunzip;
use super::{IntakeError, Refusal};
use crate::mapper::Limits;

/// The unit in which tar counts.
const BLOCK: usize = 512;

/// The most padding that may follow the end: 20 blocks are usual, and a few programs write more.
const MAX_PADDING: usize = 1024 * 1024;

/// The largest record that holds a long name.
const MAX_NAME_RECORD: u64 = 16 * 1024;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File { size: u64 },
    Folder,
}

/// One entry, with a path that is safe to use below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Relative, without `.` and `..`, printable.
    pub(super) path: String,
    pub(super) kind: EntryKind,
}

/// The entries of an archive in their order. The contents of one are read before the next is asked for.
pub(super) struct TarReader<R> {
    source: Gunzip<R>,
    limits: Limits,
    entries: u64,
    /// Bytes of the current file that were not read yet.
    left: u64,
    /// The zeros that fill its last block.
    padding: usize,
}

impl<R: BufRead> TarReader<R> {
    pub(super) fn new(source: Gunzip<R>, limits: Limits) -> Self {
        Self { source, limits, entries: 0, left: 0, padding: 0 }
    }

    /// The next entry; at the end, nothing but padding may follow.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, IntakeError> {
        let mut long_name: Option<Vec<u8>> = None;
        loop {
            let Some(header) = self.header()? else {
                return if long_name.is_some() { Err(Refusal::NotTar.into()) } else { Ok(None) };
            };
            self.count_entry()?;
            match header.kind() {
                b'L' => long_name = Some(until_nul(&self.name_record(&header)?).to_vec()),
                b'x' => {
                    let record = self.name_record(&header)?;
                    long_name = pax_path(&record).ok_or(Refusal::NotTar)?.map(<[u8]>::to_vec).or(long_name);
                }
                // Settings for all entries, of which none matters here.
                b'g' => drop(self.name_record(&header)?),
                _ => return self.entry(&header, long_name).map(Some),
            }
        }
    }

    /// The next piece of the current file; empty at its end.
    pub(super) fn read<'b>(&mut self, buffer: &'b mut [u8]) -> Result<&'b [u8], IntakeError> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = &mut buffer[..wanted];
        self.exactly(buffer)?;
        self.left -= wanted as u64;
        if self.left == 0 && self.padding > 0 {
            let mut rest = [0; BLOCK];
            let padding = std::mem::take(&mut self.padding);
            self.exactly(&mut rest[..padding])?;
        }
        Ok(buffer)
    }

    fn entry(&mut self, header: &Header, long_name: Option<Vec<u8>>) -> Result<Entry, IntakeError> {
        let name = long_name.unwrap_or_else(|| header.name());
        let path = self.safe_path(&name)?;
        if let Some(kind) = header.special() {
            return Err(Refusal::Special { path, kind }.into());
        }
        if header.number(100..108).ok_or(Refusal::NotTar)? & 0o6000 != 0 {
            return Err(Refusal::SetId { path }.into());
        }
        let size = header.size()?;
        let is_folder = header.kind() == b'5';
        if is_folder && size > 0 {
            return Err(Refusal::NotTar.into());
        }
        if size > self.limits.file_bytes {
            let what = format!("`{path}`");
            return Err(Refusal::TooBig { what, limit: self.limits.file_bytes, unit: "bytes" }.into());
        }
        self.begin(size);
        Ok(Entry { path, kind: if is_folder { EntryKind::Folder } else { EntryKind::File { size } } })
    }

    fn begin(&mut self, size: u64) {
        self.left = size;
        self.padding = (BLOCK - (size % BLOCK as u64) as usize) % BLOCK;
    }

    /// The next header, or `None` at the end of the archive.
    fn header(&mut self) -> Result<Option<Header>, IntakeError> {
        let mut block = [0; BLOCK];
        self.exactly(&mut block)?;
        if block.iter().all(|byte| *byte == 0) {
            self.require_only_padding()?;
            return Ok(None);
        }
        let header = Header(block);
        if header.has_right_sum() { Ok(Some(header)) } else { Err(Refusal::NotTar.into()) }
    }

    /// Reads to the very end, which also checks the sum over the whole archive.
    fn require_only_padding(&mut self) -> Result<(), IntakeError> {
        let mut seen = 0;
        loop {
            let mut piece = [0; BLOCK];
            match self.source.fill(&mut piece)? {
                // The archive ends with at least two empty blocks; the first was its end.
                0 if seen < BLOCK => return Err(Refusal::Truncated.into()),
                0 => return Ok(()),
                count => seen += count,
            }
            if seen > MAX_PADDING || piece.iter().any(|byte| *byte != 0) {
                return Err(Refusal::TrailingData.into());
            }
        }
    }

    fn name_record(&mut self, header: &Header) -> Result<Vec<u8>, IntakeError> {
        let size = header.size()?;
        if size > MAX_NAME_RECORD {
            let what = "the name of a file".to_owned();
            return Err(Refusal::TooBig { what, limit: MAX_NAME_RECORD, unit: "bytes" }.into());
        }
        self.begin(size);
        let mut record = vec![0; size as usize];
        self.read(&mut record)?;
        Ok(record)
    }

    fn exactly(&mut self, buffer: &mut [u8]) -> Result<(), IntakeError> {
        if self.source.fill(buffer)? == buffer.len() { Ok(()) } else { Err(Refusal::Truncated.into()) }
    }

    fn count_entry(&mut self) -> Result<(), Refusal> {
        self.entries += 1;
        if self.entries <= self.limits.entries {
            return Ok(());
        }
        let what = "the number of entries".to_owned();
        Err(Refusal::TooBig { what, limit: self.limits.entries, unit: "files and folders" })
    }

    fn safe_path(&self, name: &[u8]) -> Result<String, Refusal> {
        let shown = || excerpt(&String::from_utf8_lossy(name));
        let text = std::str::from_utf8(name).map_err(|_| Refusal::Name { name: shown() })?;
        if text.chars().any(is_unsafe) {
            return Err(Refusal::Name { name: shown() });
        }
        if text.len() > self.limits.path_bytes {
            let what = format!("the path `{}`", shown());
            return Err(Refusal::TooBig { what, limit: self.limits.path_bytes as u64, unit: "bytes" });
        }
        // `./a` and `a/` are how some programs spell `a`.
        let plain = text.strip_prefix("./").unwrap_or(text);
        let plain = plain.strip_suffix('/').unwrap_or(plain);
        if plain.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(Refusal::Path { path: shown() });
        }
        if plain.split('/').count() > self.limits.depth {
            let what = format!("the depth of `{}`", shown());
            return Err(Refusal::TooBig { what, limit: self.limits.depth as u64, unit: "folders" });
        }
        Ok(plain.to_owned())
    }
}

/// A block that describes an entry.
struct Header([u8; BLOCK]);

impl Header {
    fn kind(&self) -> u8 {
        self.0[156]
    }

    /// What it is, if it is neither file nor folder.
    fn special(&self) -> Option<&'static str> {
        match self.kind() {
            b'0' | b'\0' | b'5' => None,
            b'1' => Some("a hard link"),
            b'2' => Some("a symbolic link"),
            b'3' | b'4' => Some("a device"),
            b'6' => Some("a pipe"),
            b'S' => Some("a sparse file"),
            _ => Some("of an unknown kind"),
        }
    }

    /// The name in the header itself: at most 100 bytes, or 155 more in front of a slash.
    fn name(&self) -> Vec<u8> {
        let name = until_nul(&self.0[0..100]);
        let prefix = until_nul(&self.0[345..500]);
        if &self.0[257..263] != b"ustar\0" || prefix.is_empty() {
            return name.to_vec();
        }
        [prefix, b"/", name].concat()
    }

    fn size(&self) -> Result<u64, Refusal> {
        self.number(124..136).ok_or(Refusal::NotTar)
    }

    /// An octal number between spaces and NULs. The binary form, which allows for more, is refused.
    fn number(&self, field: std::ops::Range<usize>) -> Option<u64> {
        let text = std::str::from_utf8(&self.0[field]).ok()?;
        let digits = text.trim_matches(['\0', ' ']);
        if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
    }

    fn has_right_sum(&self) -> bool {
        let is_sum = |index: &usize| (148..156).contains(index);
        let byte = |index: usize| if is_sum(&index) { u64::from(b' ') } else { u64::from(self.0[index]) };
        self.number(148..156) == Some((0..BLOCK).map(byte).sum())
    }
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

/// The path in a record of lines like `30 path=a/b`; `None` when it is no such record. A size or a link is refused as
/// well: neither is needed, and both could contradict the header.
fn pax_path(mut record: &[u8]) -> Option<Option<&[u8]>> {
    let mut path = None;
    while !record.is_empty() {
        let space = record.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(&record[..space]).ok()?.parse().ok()?;
        let line = record.get(space + 1..length)?.strip_suffix(b"\n")?;
        let equals = line.iter().position(|byte| *byte == b'=')?;
        match &line[..equals] {
            b"path" => path = Some(&line[equals + 1..]),
            b"size" | b"linkpath" => return None,
            _ => {}
        }
        record = &record[length..];
    }
    Some(path)
}
