//! Copying folders with `rsync`. One process per run; both sides are on the host it runs on, or one of them is on a
//! machine that it reaches.
//!
//! A copy whose destination lies beneath a folder that is trusted ([`Rsync::beneath`]) is made inside that folder as it was
//! opened, see [`crate::beneath`] for what that guarantees.

mod changes;

use std::os::fd::OwnedFd;
use std::time::Duration;

use mngr_model::HostPath;

use crate::beneath::{self, Absent, Beneath};
use crate::files::FilesError;
use crate::host::{Host, Reach};
use crate::proc::{Attachment, Cmd, ExecError, Exit, Output};

pub use changes::{Change, ChangeKind};

/// A copy of a large folder takes its time.
const DEADLINE: Duration = Duration::from_secs(60 * 60);

/// rsync's status for files that disappeared between listing and copying.
const VANISHED: Exit = Exit::Code(24);

/// One side of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// The file or folder itself.
    Itself(HostPath),
    /// What is in the folder, but not the folder.
    Contents(HostPath),
}

impl Endpoint {
    fn spelled(&self) -> String {
        match self {
            // A relative path could be taken for an option or, with a colon, for a remote place.
            Self::Itself(path) if !path.is_absolute() => format!("./{path}"),
            Self::Itself(path) => path.to_string(),
            Self::Contents(path) => {
                let folder = Self::Itself(path.clone()).spelled();
                if folder.ends_with('/') { folder } else { format!("{folder}/") }
            }
        }
    }
}

/// What happens to files that only the destination has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extraneous {
    /// They stay.
    Keep,
    /// They are deleted, so that the destination becomes like the source.
    Delete,
}

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Files are copied.
    Real,
    /// rsync only tells what it would do.
    DryRun,
}

/// A copy was not made.
#[derive(Debug, thiserror::Error)]
pub enum RsyncError {
    /// rsync is not installed there.
    #[error("`rsync` is not installed; the package is called `rsync` with apt, dnf, apk and brew")]
    Missing,
    /// rsync said no; its destination may hold a part of the files.
    #[error("rsync failed with status {}: {stderr}", .exit.to_shell())]
    Failed {
        /// How it ended.
        exit: Exit,
        /// The last lines it printed.
        stderr: String,
    },
    /// Neither side is on the machine mngr runs on.
    #[error("files cannot be copied from one host to another without this machine between them")]
    BothElsewhere,
    /// The folder that it should go to cannot be entered, or only by a link.
    #[error(transparent)]
    Folder(#[from] FilesError),
    /// rsync could not be run.
    #[error("cannot run rsync")]
    Exec(#[source] ExecError),
}

impl From<ExecError> for RsyncError {
    fn from(error: ExecError) -> Self {
        match error {
            ExecError::NotFound { .. } => Self::Missing,
            other => Self::Exec(other),
        }
    }
}

/// A copy being put together.
#[derive(Debug, Clone)]
pub struct Rsync {
    source: Endpoint,
    destination: Endpoint,
    options: Vec<String>,
    excludes: Vec<String>,
    extraneous: Extraneous,
    effect: Effect,
    list: Option<Vec<u8>>,
    way: Way,
    beneath: Option<Beneath>,
}

/// The command, and the folder that it runs in, which has to stay open until it has ended.
struct Pinned {
    cmd: Cmd,
    _folder: Option<OwnedFd>,
}

/// Which side, if any, is on another machine than the one rsync runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    OneHost,
    From(Reach),
    To(Reach),
}

impl Rsync {
    /// Copies recursively with links, permissions and times (`-rlpt`), leaving what only the destination has.
    pub fn new(source: Endpoint, destination: Endpoint) -> Self {
        Self {
            source,
            destination,
            options: vec!["-rlpt".to_owned()],
            excludes: Vec::new(),
            extraneous: Extraneous::Keep,
            effect: Effect::Real,
            list: None,
            way: Way::OneHost,
            beneath: None,
        }
    }

    /// The folder of the destination, or for a single file the one that holds it, which must be there: on this machine
    /// the copy is made in that folder, however its name is spelled, and no link leads to it from the root.
    #[must_use]
    pub fn beneath(mut self, folder: Beneath) -> Self {
        self.beneath = Some(folder);
        self
    }

    /// What happens to files that only the destination has.
    #[must_use]
    pub fn extraneous(mut self, extraneous: Extraneous) -> Self {
        self.extraneous = extraneous;
        self
    }

    /// Whether anything is changed.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Leaves out what matches an rsync pattern; a leading `/` anchors it at the top of the source.
    #[must_use]
    pub fn exclude(mut self, pattern: impl Into<String>) -> Self {
        self.excludes.push(pattern.into());
        self
    }

    /// Further rsync options, each one word.
    #[must_use]
    pub fn options<S: Into<String>>(mut self, options: impl IntoIterator<Item = S>) -> Self {
        self.options.extend(options.into_iter().map(Into::into));
        self
    }

    /// Copies only these paths, relative to the source. Names are bytes and may hold anything but NUL.
    #[must_use]
    pub fn only<'a>(mut self, paths: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut list = Vec::new();
        for path in paths {
            // Without the `./` a name that starts with `#` or `;` would be a comment to rsync.
            list.extend_from_slice(b"./");
            list.extend_from_slice(path);
            list.push(0);
        }
        self.list = Some(list);
        self
    }

    /// The command line, in the folder of its destination where that is on this machine.
    fn pinned(&self, host: &dyn Host) -> Result<Pinned, RsyncError> {
        let is_here = host.reach().is_none() && !matches!(self.way, Way::To(_));
        let folder = self.beneath.as_ref().filter(|_| is_here && self.effect == Effect::Real);
        let Some(folder) = folder else { return Ok(Pinned { cmd: self.command(), _folder: None }) };
        let opened = beneath::open_folder(folder, Absent::Fail).map_err(|source| FilesError {
            action: "write to",
            path: folder.path().clone(),
            source,
        })?;
        let name = match &self.destination {
            Endpoint::Itself(path) => path.file_name().unwrap_or_default(),
            Endpoint::Contents(_) => "",
        };
        let cmd = self.ends(self.options_only(), format!("./{name}"));
        Ok(Pinned { cmd: cmd.cwd(&beneath::way_into(&opened)), _folder: Some(opened) })
    }

    /// The command line.
    pub fn command(&self) -> Cmd {
        self.ends(self.options_only(), self.destination.spelled())
    }

    fn options_only(&self) -> Cmd {
        let mut cmd = Cmd::new("rsync").env("LC_ALL", "C").deadline(DEADLINE).args(self.options.clone());
        cmd = cmd.known_by_its_command();
        if self.extraneous == Extraneous::Delete {
            cmd = cmd.arg("--delete");
        }
        if self.effect == Effect::DryRun {
            cmd = cmd.arg("--dry-run");
        }
        cmd = cmd.args(self.excludes.iter().map(|pattern| format!("--exclude={pattern}")));
        if let Some(list) = &self.list {
            cmd = cmd.args(["--from0", "--files-from=-"]).stdin(list.clone());
        }
        cmd
    }

    fn ends(&self, mut cmd: Cmd, mut destination: String) -> Cmd {
        let mut source = self.source.spelled();
        if self.beneath.is_some() && self.effect == Effect::Real && destination.ends_with('/') {
            // rsync makes a missing `folder/`; it cannot make `folder/.` without the folder.
            destination.push('.');
        }
        if let Way::From(reach) | Way::To(reach) = &self.way {
            // Without `-s` the shell there would read the paths.
            cmd = cmd.args(["-s", "-e", &remote_shell(reach)]).copying_with(&reach.name);
            let side = if matches!(self.way, Way::From(_)) { &mut source } else { &mut destination };
            if matches!(self.way, Way::From(_)) {
                // A file of somebody else must not run with the rights of whoever copied it.
                cmd = cmd.arg("--chmod=ug-s");
            }
            *side = format!("{}:{side}", reach.name);
        }
        cmd.args(["--".to_owned(), source, destination])
    }

    /// The same copy with its source on one host and its destination on another, and the host that rsync runs on.
    fn between<'h>(&self, from: &'h dyn Host, to: &'h dyn Host) -> Result<(Self, &'h dyn Host), RsyncError> {
        let (way, runs_on) = match (from.reach(), to.reach()) {
            // A host that is not honest may call itself by the id of another one: it is the way there that tells.
            (one, other) if from.info().id == to.info().id && one == other => (Way::OneHost, from),
            (None, None) => (Way::OneHost, from),
            (Some(reach), None) => (Way::From(reach), to),
            (None, Some(reach)) => (Way::To(reach), from),
            (Some(_), Some(_)) => return Err(RsyncError::BothElsewhere),
        };
        Ok((Self { way, ..self.clone() }, runs_on))
    }

    /// What [`run_between`](Self::run_between) would change, found out without changing anything.
    pub fn changes_between(&self, from: &dyn Host, to: &dyn Host) -> Result<Vec<Change>, RsyncError> {
        let (copy, runs_on) = self.between(from, to)?;
        copy.changes(runs_on)
    }

    /// Runs it with its source on one host and its destination on another; one of them is the machine mngr runs on.
    pub fn run_between(&self, from: &dyn Host, to: &dyn Host) -> Result<Output, RsyncError> {
        let (copy, runs_on) = self.between(from, to)?;
        copy.run(runs_on)
    }

    /// The same with our own terminal or pipes, for somebody who wants to see what rsync says.
    pub fn show_between(&self, from: &dyn Host, to: &dyn Host) -> Result<(), RsyncError> {
        let (copy, runs_on) = self.between(from, to)?;
        let pinned = copy.pinned(runs_on)?;
        let exit = runs_on.exec_attached(&pinned.cmd, Attachment::Foreground, None)?;
        if exit.success() || exit == VANISHED {
            return Ok(());
        }
        Err(RsyncError::Failed { exit, stderr: "see above".to_owned() })
    }

    /// What running it would change, found out without changing anything.
    pub fn changes(&self, host: &dyn Host) -> Result<Vec<Change>, RsyncError> {
        let listing = self.clone().effect(Effect::DryRun).options(["--8-bit-output", changes::OUT_FORMAT]);
        Ok(changes::parse(&listing.run(host)?.stdout))
    }

    /// Runs it. Files that vanish meanwhile are no failure: they are gone from the source too.
    pub fn run(&self, host: &dyn Host) -> Result<Output, RsyncError> {
        let pinned = self.pinned(host)?;
        let output = host.exec(&pinned.cmd)?;
        if output.success() || output.exit == VANISHED {
            return Ok(output);
        }
        let text = output.stderr_text();
        let lines: Vec<&str> = text.lines().collect();
        let stderr = lines[lines.len().saturating_sub(4)..].join("; ");
        Err(RsyncError::Failed { exit: output.exit, stderr })
    }
}

/// The words of a command as `rsync -e` reads them: it knows quotes, doubled inside themselves, and no backslash.
fn remote_shell(reach: &Reach) -> String {
    let quoted = reach.shell.iter().map(|word| format!("'{}'", word.replace('\'', "''")));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::local::LocalHost;

    struct Folders {
        dir: tempfile::TempDir,
        host: LocalHost,
    }

    impl Folders {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            for name in ["from", "to"] {
                fs::create_dir(dir.path().join(name)).unwrap();
            }
            let host = LocalHost::open(HostPath::new(dir.path().join("host").to_str().unwrap())).unwrap();
            Self { dir, host }
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.dir.path().join(name)
        }

        fn copy(&self) -> Rsync {
            let side = |name: &str| Endpoint::Contents(HostPath::new(self.path(name).to_str().unwrap()));
            Rsync::new(side("from"), side("to"))
        }
    }

    #[test]
    fn a_missing_folder_is_made_unless_it_must_be_there() {
        let folders = Folders::new();
        fs::write(folders.path("from/a"), "a").unwrap();
        fs::remove_dir(folders.path("to")).unwrap();
        let folder = Beneath::root_itself(HostPath::new(folders.path("to").to_str().unwrap()));
        let pinned = || folders.copy().beneath(folder.clone());
        assert!(pinned().run(&folders.host).is_err());
        // On another machine it is rsync itself that must not make the folder.
        assert!(folders.host.exec(&pinned().command()).unwrap().exit != Exit::Code(0));
        assert!(!folders.path("to").exists());
        folders.copy().run(&folders.host).unwrap();
        fs::remove_file(folders.path("to/a")).unwrap();
        pinned().run(&folders.host).unwrap();
        assert!(folders.path("to/a").exists());
    }

    #[test]
    fn contents_links_and_modes_are_copied_and_excludes_left_out() {
        let folders = Folders::new();
        fs::write(folders.path("from/tool"), "x").unwrap();
        fs::set_permissions(folders.path("from/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("tool", folders.path("from/link")).unwrap();
        fs::create_dir(folders.path("from/.git")).unwrap();
        folders.copy().exclude("/.git").run(&folders.host).unwrap();
        assert_eq!(fs::metadata(folders.path("to/tool")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_link(folders.path("to/link")).unwrap().to_str(), Some("tool"));
        assert!(!folders.path("to/.git").exists());
    }

    #[test]
    fn a_dry_run_changes_nothing_and_deletion_is_only_on_request() {
        let folders = Folders::new();
        fs::write(folders.path("from/new"), "x").unwrap();
        fs::write(folders.path("to/old"), "x").unwrap();
        folders.copy().extraneous(Extraneous::Delete).effect(Effect::DryRun).run(&folders.host).unwrap();
        assert!(folders.path("to/old").exists() && !folders.path("to/new").exists());
        folders.copy().run(&folders.host).unwrap();
        assert!(folders.path("to/old").exists() && folders.path("to/new").exists());
        folders.copy().extraneous(Extraneous::Delete).run(&folders.host).unwrap();
        assert!(!folders.path("to/old").exists());
    }

    #[test]
    fn only_listed_names_are_copied_however_odd_they_are() {
        let folders = Folders::new();
        let odd = ["-dash", "#hash", ";semi", "new\nline", "quo\"te's", "tab\there", "star*", "é"];
        for name in odd.iter().chain(&["other"]) {
            fs::write(folders.path("from").join(name), name).unwrap();
        }
        folders.copy().only(odd.iter().map(|name| name.as_bytes())).run(&folders.host).unwrap();
        for name in odd {
            assert_eq!(fs::read_to_string(folders.path("to").join(name)).unwrap(), name);
        }
        assert!(!folders.path("to/other").exists());
    }

    #[test]
    fn changes_are_told_without_being_made_however_odd_the_names() {
        let folders = Folders::new();
        for name in ["same", "changed", "new\nline", "\\#012", "é", "-dash"] {
            fs::write(folders.path("from").join(name), name).unwrap();
        }
        fs::write(folders.path("to/same"), "same").unwrap();
        fs::write(folders.path("to/changed"), "CHANGED").unwrap();
        fs::write(folders.path("to/old"), "old").unwrap();
        let copy = folders.copy().options(["--checksum", "--no-times"]).extraneous(Extraneous::Delete);
        let mut told: Vec<(String, ChangeKind)> = copy
            .changes(&folders.host)
            .unwrap()
            .into_iter()
            .map(|change| (String::from_utf8(change.path).unwrap(), change.kind))
            .collect();
        told.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [
            ("-dash", ChangeKind::New),
            ("\\#012", ChangeKind::New),
            ("changed", ChangeKind::Changed),
            ("new\nline", ChangeKind::New),
            ("old", ChangeKind::Deleted),
            ("é", ChangeKind::New),
        ];
        assert_eq!(told, expected.map(|(path, kind)| (path.to_owned(), kind)));
        assert!(folders.path("to/old").exists() && !folders.path("to/é").exists());
    }

    #[test]
    fn a_failure_tells_what_rsync_said() {
        let folders = Folders::new();
        let missing = Endpoint::Contents(HostPath::new(folders.path("nowhere").to_str().unwrap()));
        let to = Endpoint::Contents(HostPath::new(folders.path("to").to_str().unwrap()));
        let error = Rsync::new(missing, to).run(&folders.host).unwrap_err();
        assert!(matches!(&error, RsyncError::Failed { stderr, .. } if stderr.contains("nowhere")), "{error}");
    }

    #[test]
    fn a_missing_rsync_names_the_package() {
        let error = RsyncError::from(ExecError::NotFound { program: "rsync".to_owned() });
        assert!(error.to_string().contains("package is called `rsync`"));
    }

    #[test]
    fn the_shell_of_another_machine_is_spelled_as_rsync_reads_it() {
        let folders = Folders::new();
        fs::write(folders.path("from/x"), "x").unwrap();
        // In place of ssh: drops the machine's name and runs the line here.
        let script = folders.path("it's a \"shell\"");
        fs::write(&script, "#!/bin/sh\nshift 2\nexec sh -c \"$*\"\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let shell = vec![script.to_str().unwrap().to_owned(), "-o x=\"a 'b\"".to_owned()];
        let reach = Reach { shell, name: "box".to_owned() };
        Rsync { way: Way::To(reach), ..folders.copy() }.run(&folders.host).unwrap();
        assert_eq!(fs::read_to_string(folders.path("to/x")).unwrap(), "x");
    }

    #[test]
    fn relative_paths_cannot_be_taken_for_options_or_hosts() {
        assert_eq!(Endpoint::Itself(HostPath::new("-x:y")).spelled(), "./-x:y");
        assert_eq!(Endpoint::Contents(HostPath::new("/a/")).spelled(), "/a/");
    }
}
