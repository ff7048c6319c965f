//! [`Files`] for another machine, through the small programs that every Linux has.
//!
//! Round trips: one for each call.

mod complaint;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mngr_model::HostPath;
use mngr_model::quote::sh_join;

use super::script::path_word;
use super::shells::{MOST_OUTPUT, Outcome, Overdue, Request, Shells};
use crate::beneath::{Absent, Beneath};
use crate::files::{
    Access, Below, Change, Durability, FileKind, FileStat, Files, FilesError, FolderEntry, Presence,
};
use crate::glance::{Inside, MOST_READ, Seen};
use crate::host::AwaitedLine;
use crate::proc::{ExecError, Leftovers, Output};
use crate::random;

pub(super) use complaint::understand;

/// A large file over a slow link takes its time.
const DEADLINE: Duration = Duration::from_secs(10 * 60);
/// An ordinary file is there or not: what takes longer is a trap.
const SMALL_DEADLINE: Duration = Duration::from_secs(60);

/// What making a folder is called in messages.
const MAKE_FOLDER: &str = "create the folder";

/// The files of another machine.
#[derive(Debug, Clone)]
pub struct RemoteFiles {
    shells: Arc<Shells>,
}

/// One call being put together.
struct Call<'a> {
    action: &'static str,
    path: &'a HostPath,
    variables: String,
    input: &'a [u8],
    deadline: Duration,
}

impl<'a> Call<'a> {
    fn new(action: &'static str, path: &'a HostPath) -> Self {
        // A slash at the end would make `rm` and `mv` follow a link.
        let trimmed = match path.as_str().trim_end_matches('/') {
            "" if path.is_absolute() => HostPath::new("/"),
            trimmed => HostPath::new(trimmed),
        };
        let variables = format!("LC_ALL=C; export LC_ALL\np={}\n", path_word(&trimmed));
        Self { action, path, variables, input: &[], deadline: DEADLINE }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables += &format!("{name}={}\n", sh_join([value]));
        self
    }

    /// The call that makes one of several changes, and what it runs.
    fn of(change: &'a Change) -> (Self, &'static str) {
        match change {
            Change::MakeFolder(path) => (Self::new(MAKE_FOLDER, path), text::MAKE_FOLDER),
            Change::MakeFolderBeneath(folder) => {
                (Self::beneath(MAKE_FOLDER, folder.path(), folder, Absent::Make), text::ENTER)
            }
            Change::Require { path, presence } => {
                let script = match presence {
                    Presence::There => text::REQUIRE_SOMETHING,
                    Presence::Missing => text::REQUIRE_NOTHING,
                    Presence::Empty => text::REQUIRE_EMPTY,
                };
                (Self::new("begin with", path), script)
            }
            Change::Touch(path) => (Self::new("touch", path), text::TOUCH),
            Change::MakePrivateFile(path) => (Self::new("create", path), text::MAKE_PRIVATE_FILE),
            Change::RemoveFile(path) => (Self::new("remove", path), text::REMOVE_FILE),
            Change::RemoveTree(path) => (Self::new("remove", path), text::REMOVE_TREE),
            Change::Rename { from, to } => (Self::rename(from, to), text::RENAME),
            Change::Write { path, bytes, access, durability } => {
                let call = Self::write(path, *access, *durability).with("take", &text::take(bytes.len()));
                (call.input(bytes), text::WRITE)
            }
            Change::Append { path, bytes } => {
                let (call, script) = Self::append(path, bytes, Durability::Cached);
                (call.input(bytes), script)
            }
        }
    }

    /// A call that begins by entering a folder beneath its root.
    fn beneath(action: &'static str, path: &'a HostPath, folder: &Beneath, absent: Absent) -> Self {
        let mut call = Self::new(action, path)
            .with("below", folder.below())
            .with("make", if absent == Absent::Make { "yes" } else { "" })
            .with("make_root", if absent == Absent::Make && folder.may_make_root() { "yes" } else { "" });
        call.variables += &format!("root={}\n", path_word(folder.root()));
        call
    }

    fn write(path: &'a HostPath, given: Access, durability: Durability) -> Self {
        let access = match given {
            Access::Shared => "shared",
            Access::Private => "private",
            Access::PrivateExecutable => "private-executable",
            Access::AsBefore => "as-before",
            Access::Exactly(_) => "exactly",
        };
        let bits = if let Access::Exactly(bits) = given { format!("{bits:o}") } else { String::new() };
        Self::new("write", path)
            .with("access", access)
            .with("bits", &bits)
            .with("beneath", "")
            .with("sync", if durability == Durability::Synced { "yes" } else { "" })
            .with("name", &random::hex32())
    }

    fn rename(from: &'a HostPath, to: &HostPath) -> Self {
        let mut call = Self::new("move", from);
        call.variables += &format!("to={}\n", path_word(to));
        call
    }

    fn append(path: &'a HostPath, bytes: &[u8], durability: Durability) -> (Self, &'static str) {
        let call = Self::new("append to", path)
            .with("size", &bytes.len().to_string())
            .with("sync", if durability == Durability::Synced { ",fsync" } else { "" });
        (call, if bytes.is_empty() { text::TOUCH_NEW } else { text::APPEND })
    }

    fn awaiting(awaited: &AwaitedLine<'a>) -> Self {
        Self::new("watch", awaited.path)
            .with("from", &awaited.offset.saturating_add(1).to_string())
            .with("most", &AwaitedLine::MOST.to_string())
            .with("lines", &format!("^({})", awaited.beginnings.join("|")))
            .with("left", &awaited.limit.as_millis().to_string())
    }

    fn input(self, input: &'a [u8]) -> Self {
        Self { input, ..self }
    }

    fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    fn failed(&self, source: io::Error) -> FilesError {
        FilesError { action: self.action, path: self.path.clone(), source }
    }

    /// Runs it, whatever it returns.
    fn run(&self, files: &RemoteFiles, script: &str) -> Result<Output, FilesError> {
        if self.variables.contains('\0') {
            return Err(self.failed(io::ErrorKind::InvalidInput.into()));
        }
        let request = Request {
            program: self.action,
            script: format!("{}{script}", self.variables),
            input: self.input,
            deadline: self.deadline,
            kept_output: None,
            leftovers: Leftovers::Spare,
            overdue: Overdue::Ended,
            repository: None,
        };
        match files.shells.run(&request) {
            Ok(Outcome { output, obstacle: None }) => Ok(output),
            Ok(Outcome { obstacle: Some(obstacle), .. }) => Err(self.failed(obstacle.into())),
            Err(error) => Err(self.failed(link_error(error))),
        }
    }

    /// Enters a folder, and runs a script that reads these names there.
    fn about(&self, files: &RemoteFiles, names: &BTreeSet<Vec<u8>>, script: &str) -> Result<(), FilesError> {
        let is_below = |name: &Vec<u8>| {
            !name.starts_with(b"/") && !name.split(|byte| *byte == b'/').any(|part| part == b"..")
        };
        if !names.iter().all(is_below) {
            return Err(self.failed(io::ErrorKind::InvalidInput.into()));
        }
        let list: Vec<u8> = names.iter().flat_map(|name| name.iter().copied().chain([0])).collect();
        let script = if list.is_empty() { text::ENTER.to_owned() } else { [text::ENTER, script].concat() };
        let whole = Call { variables: self.variables.clone(), input: &list, ..*self };
        whole.succeed(files, &script).map(drop)
    }

    /// Runs it; anything but 0 is a failure.
    fn succeed(&self, files: &RemoteFiles, script: &str) -> Result<Vec<u8>, FilesError> {
        let output = self.run(files, script)?;
        if output.success() { Ok(output.stdout) } else { Err(self.failed(understand(&output.stderr_text()))) }
    }
}

/// The script that makes changes, and what it reads: each runs in a subshell, which it may leave, and takes its own part.
/// The first that fails is named by its number.
pub(super) fn making(changes: &[Change]) -> (String, Vec<u8>) {
    let (mut script, mut input) = (String::new(), Vec::new());
    for (number, (call, body)) in changes.iter().map(Call::of).enumerate() {
        script += &format!("(\n{}{body}\n) || {{ echo {number}; exit 1; }}\n", call.variables);
        input.extend_from_slice(call.input);
    }
    (script, input)
}

/// Which of the changes failed, by what [`making`] printed, and why.
pub(super) fn failed_change(changes: &[Change], printed: &[u8], complaints: &[u8]) -> FilesError {
    let number = String::from_utf8_lossy(printed).trim().parse::<usize>().ok();
    let source = understand(&String::from_utf8_lossy(complaints));
    match number.and_then(|number| changes.get(number)) {
        Some(change) => Call::of(change).0.failed(source),
        None => FilesError { action: "change", path: HostPath::new(""), source },
    }
}

/// The script that waits for a line of a file and prints what there is.
pub(super) fn awaiting(awaited: &AwaitedLine<'_>) -> String {
    Call::awaiting(awaited).variables + text::AWAIT_LINE
}

/// An error of the link as one of files: its kind tells what became of the call.
fn link_error(error: ExecError) -> io::Error {
    let kind = match &error {
        ExecError::Unreachable { .. } => io::ErrorKind::HostUnreachable,
        ExecError::Lost { .. } => io::ErrorKind::ConnectionAborted,
        ExecError::TimedOut { .. } => io::ErrorKind::TimedOut,
        ExecError::Interrupted => io::ErrorKind::Interrupted,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

impl RemoteFiles {
    /// The files of the machine with these shells.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }

    /// Runs a script for each path, in one round trip: what it prints, or what it complains about.
    fn ask_all(
        &self,
        action: &'static str,
        paths: &[HostPath],
        script: &str,
    ) -> Result<Vec<Result<Vec<u8>, FilesError>>, FilesError> {
        let calls: Vec<Call<'_>> = paths.iter().map(|path| Call::new(action, path)).collect();
        let Some(first) = calls.first() else { return Ok(Vec::new()) };
        let each = calls.iter().map(|call| text::one_of_all(&format!("{}look", call.variables)));
        let asked: String = std::iter::once(format!("look() {{\n{script}\n}}\n")).chain(each).collect();
        let whole = Call { variables: asked, ..Call::new(action, first.path) }.deadline(SMALL_DEADLINE);
        let printed = whole.run(self, "")?.stdout;
        let answers: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        // Behind the last end there is one more, which is empty.
        if answers.len() != calls.len() + 1 {
            return Err(whole.failed(io::ErrorKind::InvalidData.into()));
        }
        let answer = |(call, bytes): (&Call<'_>, &[u8])| match bytes.split_last() {
            Some((b'y', told)) => Ok(told.to_vec()),
            Some((_, said)) => Err(call.failed(understand(&String::from_utf8_lossy(said)))),
            None => Err(call.failed(io::ErrorKind::InvalidData.into())),
        };
        Ok(calls.iter().zip(answers).map(answer).collect())
    }

    /// Waits there for a line of a file.
    pub(super) fn await_line(&self, awaited: &AwaitedLine<'_>) -> Result<Vec<u8>, FilesError> {
        let call = Call::awaiting(awaited).deadline(awaited.limit.saturating_add(SMALL_DEADLINE));
        call.succeed(self, text::AWAIT_LINE)
    }
}

impl Files for RemoteFiles {
    fn read(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        let call = Call::new("read", path).with("most", &MOST_OUTPUT.to_string()).deadline(SMALL_DEADLINE);
        call.succeed(self, text::READ)
    }

    fn read_file(&self, path: &HostPath) -> Result<Vec<u8>, FilesError> {
        self.read_from(path, 0)
    }

    fn read_from(&self, path: &HostPath, offset: u64) -> Result<Vec<u8>, FilesError> {
        let call = Call::new("read", path).with("from", &offset.saturating_add(1).to_string());
        call.succeed(self, &[text::ORDINARY, text::READ_FROM].concat())
    }

    fn read_part(&self, path: &HostPath, offset: u64, limit: usize) -> Result<Vec<u8>, FilesError> {
        if limit == usize::MAX {
            return self.read_from(path, offset);
        }
        let call = Call::new("read", path)
            .with("from", &offset.saturating_add(1).to_string())
            .with("limit", &limit.to_string())
            .deadline(SMALL_DEADLINE);
        call.succeed(self, &[text::ORDINARY, text::READ_PART].concat())
    }

    fn write(
        &self,
        path: &HostPath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError> {
        let call = Call::write(path, access, durability).with("take", "cat").input(bytes);
        call.succeed(self, text::WRITE).map(drop)
    }

    fn append(&self, path: &HostPath, bytes: &[u8], durability: Durability) -> Result<(), FilesError> {
        let (call, script) = Call::append(path, bytes, durability);
        call.input(bytes).succeed(self, script).map(drop)
    }

    fn make_folder(&self, path: &HostPath) -> Result<(), FilesError> {
        Call::new(MAKE_FOLDER, path).succeed(self, text::MAKE_FOLDER).map(drop)
    }

    fn make_folder_beneath(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        let call = Call::beneath(MAKE_FOLDER, folder.path(), folder, Absent::Make);
        call.about(self, names, text::REFUSE_LINKS)
    }

    fn refuse_links(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        let call = Call::beneath("write to", folder.path(), folder, Absent::Fail);
        call.about(self, names, text::REFUSE_LINKS)
    }

    fn write_beneath(
        &self,
        file: &Beneath,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> Result<(), FilesError> {
        let path = file.path();
        let Some((folder, name)) = file.split() else {
            return Err(Call::new("write", path).failed(io::ErrorKind::IsADirectory.into()));
        };
        let mut call =
            Call::write(path, access, durability).with("take", "cat").with("file", name).input(bytes);
        call.variables += &Call::beneath("write", path, &folder, Absent::Make).variables;
        call.succeed(self, &[text::ENTER, text::NAME_FILE, text::WRITE].concat()).map(drop)
    }

    fn remove_files_beneath(&self, folder: &Beneath, names: &BTreeSet<Vec<u8>>) -> Result<(), FilesError> {
        let call = Call::beneath("remove files in", folder.path(), folder, Absent::Fail);
        call.about(self, names, text::REMOVE_FILES)
    }

    fn make_new_folder(&self, path: &HostPath, access: Access) -> Result<(), FilesError> {
        let is_private = matches!(access, Access::Private | Access::PrivateExecutable);
        let script = if is_private { text::MAKE_PRIVATE_FOLDER } else { text::MAKE_NEW_FOLDER };
        Call::new(MAKE_FOLDER, path).succeed(self, script).map(drop)
    }

    fn touch(&self, path: &HostPath) -> Result<(), FilesError> {
        Call::new("touch", path).succeed(self, text::TOUCH).map(drop)
    }

    fn rename(&self, from: &HostPath, to: &HostPath) -> Result<(), FilesError> {
        Call::rename(from, to).succeed(self, text::RENAME).map(drop)
    }

    fn link(&self, target: &str, at: &HostPath) -> Result<(), FilesError> {
        Call::new("create the link", at).with("target", target).succeed(self, text::LINK).map(drop)
    }

    fn remove_file(&self, path: &HostPath) -> Result<(), FilesError> {
        unless_missing(Call::new("remove", path).succeed(self, text::REMOVE_FILE))
    }

    fn remove_tree(&self, path: &HostPath) -> Result<(), FilesError> {
        unless_missing(Call::new("remove", path).succeed(self, text::REMOVE_TREE))
    }

    fn stat(&self, path: &HostPath) -> Result<Option<FileStat>, FilesError> {
        stat_of(path, Call::new("examine", path).deadline(SMALL_DEADLINE).succeed(self, text::STAT))
    }

    fn stat_all(&self, paths: &[HostPath]) -> Result<Vec<Option<FileStat>>, FilesError> {
        let told = self.ask_all("examine", paths, text::STAT)?;
        paths.iter().zip(told).map(|(path, told)| stat_of(path, told)).collect()
    }

    fn list(&self, path: &HostPath) -> Result<Vec<FolderEntry>, FilesError> {
        let printed = match Call::new("list", path).succeed(self, text::LIST) {
            Ok(printed) => printed,
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found: Vec<FolderEntry> = printed.split(|byte| *byte == 0).filter_map(read_entry).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn list_below(&self, path: &HostPath, depth: usize) -> Result<Vec<Below>, FilesError> {
        let call = Call::new("list", path).with("deep", &depth.to_string());
        let printed = match call.succeed(self, text::LIST_BELOW) {
            Ok(printed) => printed,
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let below = |entry: &[u8]| read_below(path, entry);
        let mut found: Vec<Below> = printed.split(|byte| *byte == 0).filter_map(below).collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn canonical(&self, path: &HostPath) -> Result<HostPath, FilesError> {
        read_path(path, Call::new("find", path).succeed(self, text::CANONICAL)?)
    }

    fn canonical_all(&self, paths: &[HostPath]) -> Result<Vec<Option<HostPath>>, FilesError> {
        let told = self.ask_all("find", paths, text::CANONICAL)?;
        Ok(paths.iter().zip(told).map(|(path, told)| read_path(path, told.ok()?).ok()).collect())
    }

    fn foresee(&self, paths: &[HostPath]) -> Result<BTreeMap<HostPath, Option<Seen>>, FilesError> {
        let script = format!("most={MOST_READ}\n{}", text::GLANCE);
        let told = self.ask_all("examine", paths, &script)?;
        let seen = |told: Result<Vec<u8>, FilesError>| match told {
            Ok(told) => read_seen(&told).map(Some),
            Err(error) => error.is_missing().then_some(None),
        };
        let known = paths.iter().zip(told).filter_map(|(path, told)| Some((path.clone(), seen(told)?)));
        Ok(known.collect())
    }

    fn apply(&self, changes: &[Change]) -> Result<(), FilesError> {
        let Some((first, _)) = changes.first().map(Call::of) else { return Ok(()) };
        let (script, input) = making(changes);
        let whole = Call { variables: script, input: &input, ..Call::new("change", first.path) };
        let output = whole.run(self, "")?;
        if output.success() {
            return Ok(());
        }
        Err(failed_change(changes, &output.stdout, &output.stderr))
    }

    fn tree_size(&self, path: &HostPath) -> Result<u64, FilesError> {
        let call = Call::new("measure", path);
        let output = call.run(self, text::TREE_SIZE)?;
        // What disappeared between the look and the measure does not count.
        let complaint = understand(&output.stderr_text());
        if complaint.kind() == io::ErrorKind::PermissionDenied {
            return Err(call.failed(complaint));
        }
        output.stdout_text().parse().map_err(|_| call.failed(complaint))
    }
}

/// The path that `readlink` printed.
fn read_path(asked: &HostPath, mut printed: Vec<u8>) -> Result<HostPath, FilesError> {
    if printed.last() == Some(&b'\n') {
        printed.pop();
    }
    match String::from_utf8(printed) {
        Ok(text) => Ok(HostPath::new(text)),
        Err(_) => Err(Call::new("use the non-UTF-8 path", asked).failed(io::ErrorKind::InvalidData.into())),
    }
}

/// What `stat` told of a path; nothing where nothing is.
fn stat_of(path: &HostPath, told: Result<Vec<u8>, FilesError>) -> Result<Option<FileStat>, FilesError> {
    match told {
        Ok(line) => match read_stat(&String::from_utf8_lossy(&line)) {
            Some(stat) => Ok(Some(stat)),
            None => Err(Call::new("examine", path).failed(io::ErrorKind::InvalidData.into())),
        },
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a glance told of a path.
fn read_seen(told: &[u8]) -> Option<Seen> {
    let mut parts = told.splitn(3, |byte| *byte == b'\n');
    let stat = read_stat(&String::from_utf8_lossy(parts.next()?))?;
    let length: usize = String::from_utf8_lossy(parts.next()?).parse().ok()?;
    let (real, rest) = parts.next()?.split_at_checked(length)?;
    let real =
        if real.is_empty() { None } else { Some(HostPath::new(String::from_utf8(real.to_vec()).ok()?)) };
    let inside = match rest.split_first()? {
        (b't', text) => Inside::Text(text.to_vec()),
        (b'e', _) => Inside::Entries,
        (b'n', _) => Inside::Nothing,
        _ => Inside::NotRead,
    };
    Some(Seen { stat, real, inside })
}

/// Nothing there is no error.
fn unless_missing(removed: Result<Vec<u8>, FilesError>) -> Result<(), FilesError> {
    match removed {
        Err(error) if error.is_missing() => Ok(()),
        other => other.map(drop),
    }
}

/// `%f %s %Y %y`: raw mode in hex, bytes, seconds, and a date whose fraction holds the nanoseconds.
fn read_stat(line: &str) -> Option<FileStat> {
    let mut words = line.split_whitespace();
    let raw = u32::from_str_radix(words.next()?, 16).ok()?;
    let size = words.next()?.parse().ok()?;
    let seconds: i64 = words.next()?.parse().ok()?;
    let fraction =
        words.nth(1).and_then(|clock| clock.split_once('.')).and_then(|(_, digits)| digits.parse().ok());
    let kind = match raw & 0o170_000 {
        0o100_000 => FileKind::File,
        0o040_000 => FileKind::Folder,
        0o120_000 => FileKind::Link,
        _ => FileKind::Other,
    };
    let modified = Timestamp::new(seconds, fraction.unwrap_or(0)).ok();
    Some(FileStat { kind, size, modified, mode: raw & 0o7777 })
}

/// One entry of what is below a folder. A host that is not honest may name what is elsewhere.
fn read_below(folder: &HostPath, entry: &[u8]) -> Option<Below> {
    let at = entry.iter().position(|byte| *byte == b'\n')?;
    let stat = read_stat(&String::from_utf8_lossy(&entry[..at]))?;
    let name = std::str::from_utf8(&entry[at + 1..]).ok()?;
    let is_below = name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    is_below.then(|| Below { path: folder.join(name), stat })
}

/// A name that is not UTF-8 cannot be one of ours; it is left alone. A host that is not honest may send a name that is
/// none.
fn read_entry(entry: &[u8]) -> Option<FolderEntry> {
    let (kind, name) = entry.split_first()?;
    let kind = match kind {
        b'f' => FileKind::File,
        b'd' => FileKind::Folder,
        b'l' => FileKind::Link,
        b'o' => FileKind::Other,
        _ => return None,
    };
    let name = String::from_utf8(name.to_vec()).ok()?;
    let is_name = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    is_name.then_some(FolderEntry { name, kind })
}

#[cfg(test)]
mod tests;
