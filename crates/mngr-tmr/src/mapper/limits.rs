//! How much an agent may publish. The tool on the agent's side and the intake on ours keep to the same numbers.

/// One kibibyte.
const KIB: u64 = 1024;
/// One mebibyte.
const MIB: u64 = 1024 * KIB;

/// The most an archive may be and hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The archive as it is transferred.
    pub archive_bytes: u64,
    /// Everything in it, unpacked.
    pub unpacked_bytes: u64,
    /// Unpacked bytes for each packed one, once more than [`Limits::RATIO_FROM`] came out.
    pub ratio: u64,
    /// Files and folders.
    pub entries: u64,
    /// One file.
    pub file_bytes: u64,
    /// The path of an entry.
    pub path_bytes: usize,
    /// Folders above an entry.
    pub depth: usize,
    /// The git bundle.
    pub bundle_bytes: u64,
    /// Commits, trees and files in the bundle.
    pub bundle_objects: u64,
    /// One of them, unpacked.
    pub object_bytes: u64,
    /// Commits of the branch.
    pub commits: usize,
}

impl Limits {
    /// Small archives may be as repetitive as they like.
    pub const RATIO_FROM: u64 = 8 * MIB;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            archive_bytes: 32 * MIB,
            unpacked_bytes: 256 * MIB,
            ratio: 200,
            entries: 5_000,
            file_bytes: 64 * MIB,
            path_bytes: 500,
            depth: 20,
            bundle_bytes: 16 * MIB,
            bundle_objects: 20_000,
            object_bytes: 32 * MIB,
            commits: 50,
        }
    }
}
