//! Checkouts after something went wrong outside of them: a killed orchestrator, a full disk.

use std::time::Duration;

use mngr_host::files::{Access, Durability};
use mngr_host::proc::Cmd;
use mngr_model::HostPath;

use super::*;
use crate::testing::Lab;

const PROJECT: &[(&str, &str)] = &[("src/lib.sh", "echo lib\n"), ("tests/lib.sh", "sh src/lib.sh\n")];

/// Set for the process that may mount what nobody else sees: the test runs itself.
const ITSELF: &str = "MNGR_TEST_OWN_MOUNTS";

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

fn order<'a>(lab: &'a Lab, command: &'a str) -> Order<'a> {
    Order { commit: &lab.base, command, deadline: Duration::from_secs(20), keep: Keep::Tail }
}

#[test]
fn no_checkout_is_where_one_was_left_and_links_in_their_place_lead_nowhere() {
    let lab = Lab::new(PROJECT);
    let (folder, view) = (lab.outside("checkouts"), lab.users_view());
    let files = lab.host.files();
    files.make_folder(&folder.join("3")).unwrap();
    files.write(&folder.join("3/file"), b"left", Access::Shared, Durability::Cached).unwrap();
    files.link(lab.repository().as_str(), &folder.join("7")).unwrap();
    let pool = WorktreePool::open(lab.host.clone(), lab.repository(), folder.clone(), 1).unwrap();
    let report = pool.run(&order(&lab, "ls; pwd")).unwrap();
    assert_eq!(report.tail, format!("src\ntests\n{}", folder.join("8")));
    pool.close().unwrap();
    files.link(lab.repository().as_str(), &folder).unwrap();
    drop(WorktreePool::open(lab.host.clone(), lab.repository(), folder.clone(), 1).unwrap());
    assert!(!files.exists(&folder).unwrap());
    assert_eq!(lab.users_view(), view);
}

#[test]
fn what_tests_wrote_outside_goes_with_the_checkouts() {
    let lab = Lab::new(PROJECT);
    let folder = lab.outside("checkouts");
    let open = || WorktreePool::open(lab.host.clone(), lab.repository(), folder.clone(), 1).unwrap();
    let pool = open();
    let path = pool.outside("notes").unwrap();
    assert!(pool.run(&order(&lab, &format!("mkdir {path} && touch {path}/note"))).unwrap().is_pass());
    // Its orchestrator is killed.
    std::mem::forget(pool);
    let path = HostPath::new(path);
    assert!(lab.host.files().exists(&path).unwrap());
    drop(open());
    assert!(!lab.host.files().exists(&path).unwrap());
}

#[test]
fn on_a_full_disk_no_test_fails() {
    let lab = Lab::new(PROJECT);
    let exec =
        |words: &[&str]| lab.host.exec(&Cmd::from_words(words.iter().copied()).deadline(LIMIT)).unwrap();
    if std::env::var_os(ITSELF).is_none() {
        let (test, itself) = (std::thread::current(), std::env::current_exe().unwrap());
        let (test, itself) = (test.name().unwrap(), itself.to_str().unwrap());
        let mark = format!("{ITSELF}=1");
        let own_mounts = ["env", &mark, "unshare", "--mount", "--propagation", "private"];
        let output = exec(&[&own_mounts[..], &[itself, test, "--exact", "--nocapture"]].concat());
        assert!(output.success(), "{}\n{}", output.stdout_text(), output.stderr_text());
        return;
    }
    let disk = lab.outside("disk");
    lab.host.files().make_folder(&disk).unwrap();
    let mount = exec(&["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.as_str()]);
    assert!(mount.success(), "{}", mount.stderr_text());
    let folder = disk.join("checkouts");
    let pool = WorktreePool::open(lab.host.clone(), lab.repository(), folder, 1).unwrap();
    let fails = |command: &str| pool.run(&order(&lab, command)).map(|report| report.is_pass());
    assert!(!fails("exit 1").unwrap());
    let full = fails("cat /dev/zero >all; exit 1").unwrap_err();
    assert!(matches!(full, RunnerError::NoRoom(_)) && is_room_missing(&full), "{full:?}");
    assert!(!fails("exit 1").unwrap(), "what filled it was in the checkout");
    // Filled from elsewhere, nothing can be said until there is room again.
    let other = disk.join("other");
    exec(&["sh", "-c", &format!("cat /dev/zero >{other}")]);
    let full = fails("exit 1").unwrap_err();
    assert!(is_room_missing(&full), "{full:?}");
    lab.host.files().remove_file(&other).unwrap();
    assert!(fails("sh tests/lib.sh").unwrap());
    drop(pool);
    assert!(exec(&["umount", disk.as_str()]).success());
}
