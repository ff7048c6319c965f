//! Looking through a git bundle before git sees it: what it says it holds, and how large that becomes unpacked.
//!
//! Git unpacks an object into memory at the size its header names, and a few bytes can name gigabytes. So every object is
//! inflated here once, piece by piece, and the first one that is larger than allowed ends the matter. Whether the
//! objects make sense is left to git.
//!
//! Formats: `gitformat-bundle(5)` and `gitformat-pack(5)`.

use std::io::{self, BufRead, Read};

use flate2::bufread::ZlibDecoder;

use super::{IntakeError, Refusal};
use crate::mapper::Limits;

/// The longest line of the header.
const MAX_LINE: u64 = 1024;

/// The most lines of the header; one branch needs four.
const MAX_LINES: usize = 32;

/// What the header of a bundle says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BundleHeader {
    /// The commits one must have already.
    pub(super) prerequisites: Vec<String>,
    /// Full names of refs, and the commits they point at.
    pub(super) refs: Vec<(String, String)>,
    /// The bytes of an object's name.
    oid_bytes: usize,
}

/// Reads the header and looks through the pack behind it.
pub(super) fn look_through(bundle: &mut impl BufRead, limits: &Limits) -> Result<BundleHeader, IntakeError> {
    let header = read_header(bundle)?;
    Scan { bundle, limits, unpacked: 0 }.pack(header.oid_bytes)?;
    Ok(header)
}

fn read_header(bundle: &mut impl BufRead) -> Result<BundleHeader, IntakeError> {
    let first = line(bundle)?;
    if first != "# v2 git bundle" && first != "# v3 git bundle" {
        return Err(bad("it does not begin like one").into());
    }
    let mut header = BundleHeader { prerequisites: Vec::new(), refs: Vec::new(), oid_bytes: 20 };
    for _ in 0..MAX_LINES {
        let line = line(bundle)?;
        match line.as_bytes().first() {
            None => return Ok(header),
            Some(b'@') => match line.as_str() {
                "@object-format=sha1" => {}
                "@object-format=sha256" => header.oid_bytes = 32,
                _ => return Err(bad("it asks for something that is not supported").into()),
            },
            Some(b'-') => {
                header.prerequisites.push(line[1..].split(' ').next().unwrap_or_default().to_owned())
            }
            Some(_) => match line.split_once(' ') {
                Some((oid, name)) => header.refs.push((name.to_owned(), oid.to_owned())),
                None => return Err(bad("its header cannot be read").into()),
            },
        }
    }
    Err(bad("its header is too long").into())
}

fn line(bundle: &mut impl BufRead) -> Result<String, IntakeError> {
    let mut bytes = Vec::new();
    bundle.take(MAX_LINE).read_until(b'\n', &mut bytes).map_err(read_failed)?;
    let text = bytes.strip_suffix(b"\n").ok_or_else(|| bad("its header is cut off"))?;
    let text = std::str::from_utf8(text).map_err(|_| bad("its header is not text"))?;
    Ok(text.to_owned())
}

struct Scan<'a, R> {
    bundle: &'a mut R,
    limits: &'a Limits,
    /// What all objects so far become.
    unpacked: u64,
}

impl<R: BufRead> Scan<'_, R> {
    fn pack(&mut self, oid_bytes: usize) -> Result<(), IntakeError> {
        let magic = self.bytes::<4>()?;
        let version = u32::from_be_bytes(self.bytes()?);
        if &magic != b"PACK" || !matches!(version, 2 | 3) {
            return Err(bad("it holds no pack").into());
        }
        let objects = u64::from(u32::from_be_bytes(self.bytes()?));
        if objects > self.limits.bundle_objects {
            let what = "the number of objects in the bundle".to_owned();
            return Err(Refusal::TooBig { what, limit: self.limits.bundle_objects, unit: "objects" }.into());
        }
        for _ in 0..objects {
            self.object(oid_bytes)?;
        }
        let mut rest = Vec::new();
        (&mut *self.bundle).take(64).read_to_end(&mut rest).map_err(read_failed)?;
        if rest.len() == oid_bytes {
            Ok(())
        } else {
            Err(bad("its pack does not end where it should").into())
        }
    }

    fn object(&mut self, oid_bytes: usize) -> Result<(), IntakeError> {
        let (kind, size) = self.object_header()?;
        self.admit(size)?;
        let is_delta = matches!(kind, 6 | 7);
        match kind {
            1..=4 => {}
            // The distance to the object it builds on.
            6 => while self.byte()? & 0x80 != 0 {},
            // The name of the object it builds on.
            7 => {
                for _ in 0..oid_bytes {
                    self.byte()?;
                }
            }
            _ => return Err(bad("it holds an object of an unknown kind").into()),
        }
        let beginning = self.inflate(size)?;
        if is_delta {
            let mut numbers = beginning.as_slice();
            let result = delta_size(&mut numbers).and_then(|_base| delta_size(&mut numbers));
            self.admit(result.ok_or_else(|| bad("it holds a broken delta"))?)?;
        }
        Ok(())
    }

    /// Kind and unpacked size: three bits of the first byte, and the rest of it with seven bits of each further one.
    fn object_header(&mut self) -> Result<(u8, u64), IntakeError> {
        let mut byte = self.byte()?;
        let kind = byte >> 4 & 7;
        let mut size = u64::from(byte & 15);
        let mut shift = 4;
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            if shift > 56 {
                return Err(bad("it holds an object of an impossible size").into());
            }
            size |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        Ok((kind, size))
    }

    fn admit(&mut self, size: u64) -> Result<(), Refusal> {
        if size > self.limits.object_bytes {
            let what = "a file in the commits".to_owned();
            return Err(Refusal::TooBig { what, limit: self.limits.object_bytes, unit: "bytes" });
        }
        self.unpacked += size;
        if self.unpacked > self.limits.unpacked_bytes {
            let what = "all files in the commits together".to_owned();
            return Err(Refusal::TooBig { what, limit: self.limits.unpacked_bytes, unit: "bytes" });
        }
        Ok(())
    }

    /// Inflates one object, which must have exactly that size, and returns its first bytes.
    fn inflate(&mut self, size: u64) -> Result<Vec<u8>, IntakeError> {
        let mut inflated = ZlibDecoder::new(&mut *self.bundle);
        let mut beginning = Vec::new();
        let mut piece = [0; 16 * 1024];
        let mut seen = 0;
        loop {
            let count = inflated.read(&mut piece).map_err(read_failed)?;
            if count == 0 {
                break;
            }
            if seen == 0 {
                beginning = piece[..count.min(32)].to_vec();
            }
            seen += count as u64;
            if seen > size {
                break;
            }
        }
        if seen == size {
            Ok(beginning)
        } else {
            Err(bad("it holds an object of another size than it says").into())
        }
    }

    fn byte(&mut self) -> Result<u8, IntakeError> {
        Ok(self.bytes::<1>()?[0])
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], IntakeError> {
        let mut bytes = [0; N];
        self.bundle.read_exact(&mut bytes).map_err(read_failed)?;
        Ok(bytes)
    }
}

/// A number of a delta: seven bits a byte, the lowest first.
fn delta_size(bytes: &mut &[u8]) -> Option<u64> {
    let mut size = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        size |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}

fn bad(message: &str) -> Refusal {
    Refusal::Bundle { message: message.to_owned() }
}

/// What the decoder does not understand is the bundle's fault; anything else is ours.
fn read_failed(source: io::Error) -> IntakeError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => bad("it is cut off").into(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => bad("it is damaged").into(),
        _ => IntakeError::Read { source },
    }
}
