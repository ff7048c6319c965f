//! The script for real, without tmux.

use mngr_host::files::Files;
use mngr_host::host::Host;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::proc::Cmd;
use proptest::prelude::*;

use super::*;

struct Fixture {
    dir: tempfile::TempDir,
    host: LocalHost,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().join("host").to_str().unwrap())).unwrap();
        Self { dir, host }
    }

    fn spool(&self, limits: SpoolLimits) -> Spool<'static> {
        let folder = HostPath::new(self.dir.path().join("it's #{a} %Y").to_str().unwrap());
        Spool::make(&LocalFiles, &folder, limits).unwrap()
    }

    fn fill(&self, spool: &Spool<'_>, bytes: &[u8]) {
        assert!(self.host.exec(&Cmd::shell(spool.shell_line()).stdin(bytes)).unwrap().success());
    }
}

fn take_all(spool: &mut Spool<'_>) -> (Vec<u8>, Why) {
    let mut all = Vec::new();
    loop {
        match spool.take().unwrap() {
            Taken::Bytes(bytes) => all.extend(bytes),
            Taken::Nothing => panic!("the script has ended"),
            Taken::End(why) => return (all, why),
        }
    }
}

#[test]
fn several_files_give_the_bytes_in_order_and_are_removed() {
    let fixture = Fixture::new();
    let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_be_bytes).collect();
    // A read takes at most 16 KiB: at least ten files.
    let mut spool = fixture.spool(SpoolLimits { files: 1000, reads: 8 });
    fixture.fill(&spool, &bytes);
    assert!(take_all(&mut spool) == (bytes, Why::Closed));
    let left: Vec<String> =
        LocalFiles.list(spool.folder()).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(left, ["drain.sh", "end"]);
}

#[test]
fn unread_files_end_the_script_and_what_is_in_them_is_whole() {
    let fixture = Fixture::new();
    let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_be_bytes).collect();
    let mut spool = fixture.spool(SpoolLimits { files: 2, reads: 4 });
    fixture.fill(&spool, &bytes);
    let (taken, why) = take_all(&mut spool);
    assert_eq!(why, Why::Full);
    assert!(!taken.is_empty() && taken.len() <= 2 * 4 * 16 * 1024, "{}", taken.len());
    assert_eq!(taken, bytes[..taken.len()]);
}

#[test]
fn files_that_are_just_full_when_the_pane_ends_have_lost_nothing() {
    let fixture = Fixture::new();
    let mut spool = fixture.spool(SpoolLimits { files: 1, reads: 4 });
    fixture.fill(&spool, b"all of it");
    assert!(take_all(&mut spool) == (b"all of it".to_vec(), Why::Closed));
}

#[test]
fn files_that_cannot_be_written_are_told() {
    let fixture = Fixture::new();
    let mut spool = fixture.spool(SpoolLimits::default());
    std::os::unix::fs::symlink("/nonexistent/file", spool.folder().join("0").as_str()).unwrap();
    fixture.fill(&spool, b"lost");
    assert!(matches!(spool.take().unwrap(), Taken::End(Why::Failed)));
}

#[test]
fn a_folder_that_is_gone_is_an_end() {
    let fixture = Fixture::new();
    let mut spool = fixture.spool(SpoolLimits::default());
    assert!(matches!(spool.take().unwrap(), Taken::Nothing));
    LocalFiles.remove_tree(spool.folder()).unwrap();
    assert!(matches!(spool.take().unwrap(), Taken::End(Why::Closed)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn nothing_is_lost_whatever_the_length(length in 0usize..200_000) {
        let fixture = Fixture::new();
        let bytes: Vec<u8> = (0..length).map(|index| (index % 253) as u8).collect();
        let mut spool = fixture.spool(SpoolLimits { files: 1000, reads: 2 });
        fixture.fill(&spool, &bytes);
        prop_assert!(take_all(&mut spool) == (bytes, Why::Closed));
    }
}

#[test]
fn a_script_that_starts_late_finds_nobody_elses_folder() {
    let fixture = Fixture::new();
    let killed = fixture.spool(SpoolLimits::default());
    let late = killed.shell_line();
    killed.remove().unwrap();
    let mut next = fixture.spool(SpoolLimits::default());
    fixture.host.exec(&Cmd::shell(late).stdin(&b"of the killed one"[..])).unwrap();
    assert!(matches!(next.take().unwrap(), Taken::Nothing));
    next.remove().unwrap();
}
