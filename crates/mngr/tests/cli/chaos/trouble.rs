//! Lets something happen to a machine. Ends only processes of the episode's own environment, each by its number.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use mngr_testkit::{Signal, processes_with_variable};
use rustix::process::{Pid, kill_process};

use super::fault::Fault;
use super::world::{Machine, World};

/// Kills a tmux server by its number, as found by its title.
const KILL_TMUX: &str = r#"for entry in /proc/[0-9]*; do
    read -r name <"$entry/comm" 2>/dev/null || continue
    [ "$name" = 'tmux: server' ] && kill -9 "${entry##*/}" && echo killed
done"#;
/// Removes the sockets of tmux servers.
const REMOVE_SOCKETS: &str =
    r#"for socket in /tmp/tmux-*/*; do [ -S "$socket" ] && rm -f "$socket" && echo removed; done"#;
/// Kills a process of an agent: `supervisor` or `pid` in its record.
const KILL_RECORDED: &str = r#"for record in "$1"/agents/*/process; do
    pid=$(tr ' ' '\n' <"$record" | sed -n "s/^$2=\([0-9]*\).*/\1/p" | tail -n 1)
    [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null && echo killed && exit
done"#;

/// How long the last of what was killed may take to be gone, in milliseconds.
const AFTERMATH: u64 = 2_000;

/// Whether nothing has happened to a machine since then, nor shortly before.
pub(super) fn is_calm_since(world: &World, began: u64) -> bool {
    let last = world.last_trouble.load(Ordering::SeqCst);
    last == 0 || last + AFTERMATH < began
}

/// Something happens now.
fn note(world: &World) {
    world.last_trouble.fetch_max(world.now().max(1), Ordering::SeqCst);
}

/// Lets it happen, if there is something it can happen to.
pub(super) fn happen(world: &World, fault: Fault, dice: u64) {
    if !world.part.faults.contains(&fault) {
        return;
    }
    let began = world.now();
    note(world);
    let happened = match fault {
        Fault::KilledTmux | Fault::RemovedSocket | Fault::KilledProgram | Fault::KilledSupervisor => {
            let number = usize::try_from(dice).unwrap_or_default() % world.machines.len();
            on_machine(world, &world.machines[number], fault, dice)
        }
        Fault::KilledSession | Fault::KilledMaster | Fault::CutLink => on_link(world, fault, dice),
        Fault::StoppedContainer | Fault::KilledContainer | Fault::PausedEngine => {
            world.trouble_containers(fault, Duration::from_millis(200 + dice % 2500))
        }
        _ => false,
    };
    note(world);
    if happened {
        world.log(&format!("{began:>6} {:>6} {}\n", world.now() - began, fault.word()));
        let mut book = world.book();
        book.count(fault);
        book.troubles.push((fault, began, world.now()));
    }
}

fn on_machine(world: &World, machine: &Machine, fault: Fault, dice: u64) -> bool {
    if !matches!(machine, Machine::Local) {
        let dir = if matches!(machine, Machine::Ssh(_)) { "/root/.mngr" } else { "/mngr" };
        let said = match fault {
            Fault::KilledTmux => world.shell(machine, KILL_TMUX, &[]),
            Fault::RemovedSocket => world.shell(machine, REMOVE_SOCKETS, &[]),
            Fault::KilledSupervisor => world.shell(machine, KILL_RECORDED, &[dir, "supervisor"]),
            _ => world.shell(machine, KILL_RECORDED, &[dir, "pid"]),
        };
        return !said.is_empty();
    }
    match fault {
        Fault::KilledTmux => {
            let servers = tmux_servers(world);
            servers.iter().for_each(|pid| kill(*pid));
            !servers.is_empty()
        }
        Fault::RemovedSocket => {
            let sockets = world.env.tmux_sockets();
            sockets.iter().filter(|socket| fs::remove_file(socket).is_ok()).count() > 0
        }
        Fault::KilledSupervisor => kill_recorded(world, "supervisor", dice),
        _ => kill_recorded(world, "pid", dice),
    }
}

/// The tmux servers of the environment, with a socket or without.
pub(super) fn tmux_servers(world: &World) -> Vec<u32> {
    let ours = processes_with_variable("MNGR_HOST_DIR", world.env.host_dir());
    let is_server = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "tmux: server")
    };
    ours.into_iter().filter(is_server).collect()
}

pub(super) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills a process that the record of an agent names, if it is one of the environment.
fn kill_recorded(world: &World, key: &str, dice: u64) -> bool {
    let ours = processes_with_variable("MNGR_HOST_DIR", world.env.host_dir());
    let records = fs::read_dir(world.env.host_dir().join("agents")).into_iter().flatten().flatten();
    let pids: Vec<u32> = records
        .filter_map(|agent| fs::read_to_string(agent.path().join("process")).ok())
        .filter_map(|record| {
            let word =
                record.split_whitespace().rev().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))?;
            word.split(':').next()?.parse().ok()
        })
        .filter(|pid| ours.contains(pid))
        .collect();
    let Some(pid) = pids.get(usize::try_from(dice).unwrap_or_default() % pids.len().max(1)) else {
        return false;
    };
    kill(*pid);
    true
}

fn on_link(world: &World, fault: Fault, dice: u64) -> bool {
    let Some(sshd) = world.sshd() else { return false };
    match fault {
        Fault::KilledSession => sshd.kill_connections(),
        Fault::KilledMaster => {
            let masters: Vec<u32> = ssh_masters(world);
            masters.iter().for_each(|pid| kill(*pid));
            !masters.is_empty()
        }
        _ => {
            let _one_at_a_time = world.outage.lock().unwrap_or_else(|broken| broken.into_inner());
            sshd.cut();
            thread::sleep(Duration::from_millis(200 + dice % 2500));
            sshd.mend();
            true
        }
    }
}

/// The connections that outlive a command, as their sockets tell.
fn ssh_masters(world: &World) -> Vec<u32> {
    let sockets = fs::read_dir(world.env.host_dir().join("ssh")).into_iter().flatten().flatten();
    let ask = |socket: std::path::PathBuf| -> Option<u32> {
        let mut ssh = world.env.command("ssh");
        ssh.arg("-S").arg(socket).args(["-O", "check", "box"]).stdin(Stdio::null());
        let said = String::from_utf8_lossy(&ssh.output().ok()?.stderr).into_owned();
        said.split_once("(pid=")?.1.split_once(')')?.0.parse().ok()
    };
    sockets.filter_map(|entry| ask(entry.path().join("c"))).collect()
}
