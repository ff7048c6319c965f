//! Agents that their host starts when it boots, through the user's crontab. In most tests that is a stand-in, which keeps
//! its text in a file; its line is run as cron would run it. In one, Debian's own cron boots with another machine.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mngr_testkit::{Sshd, TestEnv};

use super::ground::{Ground, Kind};
use crate::support::{self, PATIENCE, state, wait_until};

const USERS: &str = "0 5 * * * backup\n";
/// An agent that notes each of its starts in its work dir.
const NOTING: [&str; 8] =
    ["--start-on-boot", "--type", "command", "--", "sh", "-c", "echo x >>starts; exec sleep 1000", "sh"];

/// Puts the stand-in into a folder, with a crontab that holds a line of the user's.
fn install_crontab(folder: &Path) -> PathBuf {
    let table = folder.join("table");
    fs::create_dir_all(folder).unwrap();
    fs::write(&table, USERS).unwrap();
    let script = format!(
        "#!/bin/sh\ncase $1 in\n-l) cat '{0}' ;;\n-) cat >'{0}' ;;\n*) exit 2 ;;\nesac\n",
        table.display()
    );
    fs::write(folder.join("crontab"), script).unwrap();
    fs::set_permissions(folder.join("crontab"), fs::Permissions::from_mode(0o755)).unwrap();
    table
}

fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// What cron would run at boot: the command of the only line that is not the user's.
#[track_caller]
fn boot_command(table: &Path) -> String {
    let text = fs::read_to_string(table).unwrap();
    let ours: Vec<&str> = text.strip_prefix(USERS).expect("the user's line").lines().collect();
    let [line] = ours.as_slice() else { panic!("not one line: {text}") };
    line.strip_prefix("@reboot ").expect("a line for the boot").to_owned()
}

/// Runs it with as little around it as cron gives.
#[track_caller]
fn run_as_cron(env: &TestEnv, command: &str) {
    let mut cron = Command::new("sh");
    cron.args(["-c", command]).env_clear().current_dir("/");
    cron.env("HOME", env.home()).env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh");
    assert!(cron.status().unwrap().success(), "{command}");
}

fn starts(env: &TestEnv, name: &str) -> usize {
    env.mngr(["exec", name, "cat starts"]).success().stdout.lines().count()
}

#[test]
fn an_agent_of_this_machine_runs_again_after_a_boot_and_once() {
    let mut env = support::env_with_repo();
    let bin = env.root().join("bin");
    let table = install_crontab(&bin);
    env.set_var("PATH", path_with(&bin));
    let _ = env.mngr(["create", "early", "--no-connect"].iter().chain(&NOTING)).success();
    let command = boot_command(&table);
    run_as_cron(&env, &command);
    assert_eq!((state(&env, "early").as_str(), starts(&env, "early")), ("RUNNING", 1), "it was no boot");

    let boot = || {
        let _ = env.tmux(["kill-server"]);
        wait_until(PATIENCE, || state(&env, "early") != "RUNNING");
        fs::write(env.host_dir().join("activity/booted"), "another boot\n").unwrap();
        run_as_cron(&env, &command);
        wait_until(PATIENCE, || state(&env, "early") == "RUNNING");
    };
    boot();
    wait_until(PATIENCE, || starts(&env, "early") == 2);
    fs::write(env.host_dir().join("activity/booted"), "yet another boot\n").unwrap();
    run_as_cron(&env, &command);
    assert_eq!(starts(&env, "early"), 2, "an agent that ran was started again");

    let _ = env.mngr(["rename", "early", "later"]).success();
    let _ = env.mngr(["rename", "later", "early"]).success();
    boot();
    wait_until(PATIENCE, || starts(&env, "early") == 3);
    assert_eq!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout, "mngr-early\n");
    let _ = env.mngr(["destroy", "early", "--force"]).success();
    assert_eq!(fs::read_to_string(&table).unwrap(), USERS);
    let _ = env.mngr(["undo", "early"]).success();
    assert_eq!(boot_command(&table), command);
    let _ = env.mngr(["limit", "early", "--no-start-on-boot"]).success();
    assert_eq!(fs::read_to_string(&table).unwrap(), USERS);
}

#[test]
fn the_line_stays_for_as_long_as_an_agent_needs_it() {
    let mut env = support::env_with_repo();
    let bin = env.root().join("bin");
    let table = install_crontab(&bin);
    env.set_var("PATH", path_with(&bin));
    for name in ["one", "two"] {
        let _ = env.mngr(["create", name, "--no-connect"].iter().chain(&NOTING)).success();
    }
    let command = boot_command(&table);
    let _ = env.mngr(["destroy", "one", "--force"]).success();
    assert_eq!(boot_command(&table), command);
    let changed = env.mngr(["limit", "two", "--no-start-on-boot", "--format", "json"]).success().json();
    assert_eq!(changed["changes"][0]["type"], "agent_start_on_boot");
    assert_eq!(changed["changes"][0]["start_on_boot"], false);
    assert_eq!(fs::read_to_string(&table).unwrap(), USERS);
}

#[test]
fn an_agent_that_cannot_be_made_leaves_no_line() {
    let mut env = support::env_with_repo();
    let bin = env.root().join("bin");
    let table = install_crontab(&bin);
    env.set_var("PATH", path_with(&bin));
    let create =
        ["create", "x", "--no-connect", "--start-on-boot", "--type", "command", "--", "no-such-program"];
    let _ = env.mngr(create).code(1);
    assert_eq!(fs::read_to_string(&table).unwrap(), USERS);
}

#[test]
fn without_a_crontab_nothing_is_promised() {
    let mut env = support::env_with_repo();
    // Every program of this machine but that one.
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for folder in ["/usr/bin", "/bin", "/usr/local/bin"] {
        let programs = fs::read_dir(folder).into_iter().flatten().flatten();
        for program in programs.filter(|program| program.file_name() != "crontab") {
            let _ = symlink(program.path(), bin.join(program.file_name()));
        }
    }
    env.set_var("PATH", bin.to_str().unwrap());
    let output = env.mngr(["create", "x", "--no-connect"].iter().chain(&NOTING)).code(1);
    assert!(output.stderr.contains("there is no `crontab` on it"), "{}", output.stderr);
    assert!(support::names(&env).is_empty());
    let _ = env.mngr(["create", "x", "--no-connect"].iter().chain(&NOTING[1..])).success();
    let output = env.mngr(["limit", "x", "--start-on-boot"]).code(1);
    assert!(output.stderr.contains("there is no `crontab` on it"), "{}", output.stderr);
    assert_eq!(support::agent(&env, "x")["start_on_boot"], false);
}

#[test]
fn an_agent_of_another_machine_runs_again_after_that_one_boots() {
    let mut ground = Ground::new(Kind::Ssh);
    let bin = ground.sshd().home().join("bin");
    let table = install_crontab(&bin);
    // The stand-in is reached by the path that it has there.
    let text = fs::read_to_string(bin.join("crontab")).unwrap();
    let home = ground.sshd().home().display().to_string();
    fs::write(bin.join("crontab"), text.replace(&home, "/root")).unwrap();
    fs::write(ground.sshd().home().join(".bashrc"), "PATH=/root/bin:$PATH\n").unwrap();
    let _ = ground.create("far", &NOTING);
    let command = boot_command(&table);
    let sshd = ground.sshd.as_mut().expect("another machine");
    sshd.stop();
    sshd.run();
    wait_until(PATIENCE, || state(&ground.env, "far") == "STOPPED");
    fs::write(ground.sshd().home().join(".mngr/activity/booted"), "another boot\n").unwrap();
    let mut ssh = Command::new("ssh");
    ssh.arg("-F").arg(ground.sshd().config_file()).arg("box");
    ssh.arg(format!("env -i HOME=/root PATH=/usr/bin:/bin SHELL=/bin/sh {command}"));
    assert!(ssh.status().unwrap().success());
    wait_until(PATIENCE, || state(&ground.env, "far") == "RUNNING");
    wait_until(PATIENCE, || starts(&ground.env, "far") == 2);
    let _ = ground.env.mngr(["destroy", "far", "--force"]).success();
    assert_eq!(fs::read_to_string(&table).unwrap(), USERS);
}

/// Where Debian's cron keeps the crontabs of users.
const SPOOL: &str = "/var/spool/cron/crontabs";

/// Gives a machine crontabs of its own, which outlive its boots.
fn mount_spool(sshd: &Sshd) {
    let spool = sshd.root().join("spool");
    fs::create_dir_all(&spool).unwrap();
    sshd.at_its_console(&["mount", "--bind", spool.to_str().unwrap(), SPOOL]);
}

#[test]
fn tool_cron_starts_an_agent_of_another_machine_once_when_that_one_boots() {
    let mut ground = Ground::new(Kind::Ssh);
    mount_spool(ground.sshd());
    let users = "@reboot echo booted >>/root/users\n";
    ground.sshd().at_its_console(&["sh", "-c", &format!("printf '{users}' | crontab -")]);
    let _ = ground.create("far", &NOTING);
    assert_eq!(starts(&ground.env, "far"), 1);
    ground.sshd.as_mut().expect("another machine").reboot();
    mount_spool(ground.sshd());
    wait_until(PATIENCE, || state(&ground.env, "far") == "STOPPED");
    // Whether it is the first since the boot, cron tells by a file of `/run`, which is empty then.
    ground.sshd().at_its_console(&[
        "unshare",
        "--mount",
        "sh",
        "-c",
        "mount -t tmpfs none /run && exec cron",
    ]);
    wait_until(PATIENCE, || state(&ground.env, "far") == "RUNNING");
    wait_until(PATIENCE, || ground.sshd().home().join("users").exists());
    wait_until(PATIENCE, || starts(&ground.env, "far") == 2);
    let _ = ground.env.mngr(["destroy", "far", "--force"]).success();
    let kept = fs::read_to_string(ground.sshd().root().join("spool/root")).unwrap();
    assert!(kept.contains(users) && !kept.contains("start-on-boot"), "{kept}");
}
