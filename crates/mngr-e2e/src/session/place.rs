//! Where a test stands in the source, and where its artifacts go.
//!
//! `<output root>/<run>/<file stem>--<test name>`. Making the folder decides who has it, so that two processes never
//! share one; a second try of a test in the same run gets a folder of its own.

use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use mngr_host::files::{Access, Durability, Files};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::lock::LockWait;
use mngr_model::HostPath;
use mngr_model::artifacts::{OUTPUT_ROOT, TEST_FILE, TestRecord};
use sha2::{Digest, Sha256};

use super::error::SessionError;
use super::options::Options;

/// How long the name of a folder may be before it is cut.
const LONGEST_NAME: usize = 100;
/// How long another process may take to write down the name of the run.
const NAMING: LockWait = LockWait::For(Duration::from_secs(10));

/// Which test it is. Made by [`here!`](crate::here).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPlace {
    /// The file, as the compiler spells it.
    pub file: String,
    /// The test's name inside its file.
    pub name: String,
    /// The line.
    pub line: u32,
    /// The folder of the package it belongs to.
    pub package: String,
    /// The `mngr` that the package builds, if it does.
    pub program: Option<String>,
}

impl TestPlace {
    /// Takes what only a macro can know. `inside` is the path of something defined inside the test function.
    pub fn new(file: &str, line: u32, package: &str, program: Option<&str>, inside: &str) -> Self {
        let name = test_name(file, inside);
        let (file, package) = (file.to_owned(), package.to_owned());
        Self { file, name, line, package, program: program.map(str::to_owned) }
    }

    /// The same in every run.
    pub fn id(&self) -> String {
        format!("{}::{}", self.file, self.name)
    }
}

/// The name of the test in its file: without the crate, and without the modules that the file itself stands for.
fn test_name(file: &str, inside: &str) -> String {
    let mut segments: Vec<&str> = inside.split("::").collect();
    segments.pop();
    segments.retain(|segment| *segment != "{{closure}}");
    let own = segments.get(1..).filter(|own| !own.is_empty()).unwrap_or(&segments);
    let modules = &own[..own.len().saturating_sub(1)];
    let after_file = modules.iter().position(|module| *module == stem(file)).map_or(0, |at| at + 1);
    own[after_file..].join("::")
}

fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The name of the folder of a test's first try.
pub(crate) fn folder_name(file: &str, name: &str, id: &str) -> String {
    let plain = plain(&format!("{}--{name}", stem(file)));
    if plain.len() <= LONGEST_NAME {
        return plain;
    }
    let hash: String = Sha256::digest(id).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", &plain[..LONGEST_NAME])
}

/// The text with a `-` for every character that would be awkward in the name of a file.
fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// The folder of one try, and which try it is.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) folder: HostPath,
    pub(crate) attempt: u32,
}

/// Makes the folder of the next try of this test.
pub(crate) fn claim(
    host: &LocalHost,
    place: &TestPlace,
    options: &Options,
    now: Timestamp,
) -> Result<Claim, SessionError> {
    let root = output_root(host.files(), place, options)?;
    let run = root.join(&run_name(host, &root, options, now)?);
    host.files().make_folder(&run)?;
    claim_in(host.files(), &run, &folder_name(&place.file, &place.name, &place.id()), &place.id())
}

fn claim_in(files: &dyn Files, run: &HostPath, name: &str, id: &str) -> Result<Claim, SessionError> {
    let (mut attempt, mut number) = (1, 1);
    loop {
        let folder = if number == 1 { run.join(name) } else { run.join(&format!("{name}--{number}")) };
        match files.make_new_folder(&folder, Access::Shared) {
            Ok(()) => return Ok(Claim { folder, attempt }),
            Err(error) if !error.is_taken() => return Err(error.into()),
            Err(_) => {}
        }
        // Another test may have the same name: one of the same file name in another folder, for instance.
        let record = files.read_if_there(&folder.join(TEST_FILE))?;
        let record = record.and_then(|bytes| serde_json::from_slice::<TestRecord>(&bytes).ok());
        attempt += u32::from(record.is_some_and(|record| record.id == id));
        number += 1;
    }
}

/// Below the project's root: the nearest folder above the package that is a repository, else the package.
fn output_root(files: &dyn Files, place: &TestPlace, options: &Options) -> Result<HostPath, SessionError> {
    if let Some(output) = &options.output {
        return Ok(output.clone());
    }
    let package = HostPath::new(&place.package);
    let mut folder = Some(package.clone());
    while let Some(candidate) = folder {
        if files.exists(&candidate.join(".git"))? {
            return Ok(candidate.join(OUTPUT_ROOT));
        }
        folder = candidate.parent();
    }
    Ok(package.join(OUTPUT_ROOT))
}

/// The given name, or the time at which the first test of the run started.
fn run_name(
    host: &LocalHost,
    root: &HostPath,
    options: &Options,
    now: Timestamp,
) -> Result<String, SessionError> {
    static OF_THIS_PROCESS: OnceLock<String> = OnceLock::new();
    if let Some(run) = &options.run {
        return Ok(plain(run));
    }
    let fresh = now.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d_%H-%M-%S").to_string();
    let Some(key) = &options.run_key else {
        return Ok(OF_THIS_PROCESS.get_or_init(|| fresh).clone());
    };
    let names = root.join(".runs");
    host.files().make_folder(&names)?;
    let _lock = host.lock(&names.join("lock"), NAMING)?;
    let noted = names.join(key);
    if let Some(name) = host.files().read_if_there(&noted)? {
        return Ok(String::from_utf8_lossy(&name).trim().to_owned());
    }
    host.files().write(&noted, fresh.as_bytes(), Access::Shared, Durability::Cached)?;
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use mngr_host::local::LocalFiles;

    use super::*;

    #[test]
    fn a_test_is_called_as_its_file_calls_it() {
        for (file, inside, name) in [
            ("crates/x/tests/e2e/list.rs", "e2e::list::shows_all::here", "shows_all"),
            ("crates/x/tests/e2e/list.rs", "e2e::list::inner::shows_all::here", "inner::shows_all"),
            ("crates/x/tests/one.rs", "one::works::{{closure}}::here", "works"),
            ("crates/x/src/lib.rs", "x::tests::works::here", "tests::works"),
            ("crates/x/src/works.rs", "x::works::works::here", "works"),
        ] {
            assert_eq!(test_name(file, inside), name, "{inside}");
        }
    }

    /// The same cases are in the tests of the plugin.
    #[test]
    fn folder_names_are_plain_and_short_and_the_same_in_both_languages() {
        let cases: Vec<[String; 3]> =
            serde_json::from_str(include_str!("../../../../python/tests/folder_cases.json")).unwrap();
        assert!(!cases.is_empty());
        for [file, name, folder] in cases {
            assert_eq!(folder_name(&file, &name, &format!("{file}::{name}")), folder);
        }
    }

    #[test]
    fn a_second_try_gets_its_own_folder_and_a_namesake_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let run = HostPath::new(dir.path().to_str().unwrap());
        let claim = |id: &str| {
            let claim = claim_in(&LocalFiles, &run, "a--b", id).unwrap();
            let record = format!(
                r#"{{"schema":1,"id":"{id}","name":"b","file":"a","status":"running","started_at":"2026-01-02T03:04:05Z"}}"#
            );
            let file = claim.folder.join(TEST_FILE);
            LocalFiles.write(&file, record.as_bytes(), Access::Shared, Durability::Cached).unwrap();
            (claim.folder.file_name().unwrap().to_owned(), claim.attempt)
        };
        assert_eq!(claim("x/a::b"), ("a--b".to_owned(), 1));
        assert_eq!(claim("y/a::b"), ("a--b--2".to_owned(), 1));
        assert_eq!(claim("x/a::b"), ("a--b--3".to_owned(), 2));
    }

    #[test]
    fn the_processes_of_one_run_agree_on_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| HostPath::new(dir.path().join(name).to_str().unwrap());
        let host = LocalHost::open(path("host")).unwrap();
        let name = |key: &str, second: i64| {
            let options = Options { run_key: Some(key.to_owned()), ..Options::default() };
            run_name(&host, &path("out"), &options, Timestamp::from_second(second).unwrap()).unwrap()
        };
        assert_eq!(name("one", 0), "1970-01-01_00-00-00");
        assert_eq!(name("one", 5), "1970-01-01_00-00-00");
        assert_eq!(name("two", 5), "1970-01-01_00-00-05");
    }
}
