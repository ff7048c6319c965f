//! Hosts behind sshd, against bare `ssh`.

use std::process::Command;
use std::time::Instant;

use mngr_testkit::{Sshd, TestEnv};

use super::Bench;
use super::other_machine::{create, masters, obstacle, quoted, set};
use crate::bench::error::BenchError;
use crate::bench::fleet::{all_at_once, succeeded};
use crate::bench::measure::{interleaved, timed};
use crate::bench::row::Row;

const HOSTS: usize = 20;
const AGENTS_PER_HOST: usize = 5;
const AT_ONCE: usize = 10;

/// What mngr sends to each host for a list.
const SURVEY: &str = include_str!("../../../../crates/mngr-host/src/remote/survey.sh");

/// `list` over 20 hosts with 5 agents each, against the same script by 20 bare `ssh` over the same connections.
pub(crate) fn list(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    const WHAT: &str = "list, 20 ssh hosts";
    if let Some(why) = obstacle("sshd") {
        return Ok(vec![Row::skipped(WHAT, why)]);
    }
    let (env, _machines) = ground(bench, HOSTS)?;
    let addresses = (0..HOSTS * AGENTS_PER_HOST).map(|n| format!("agent-{n}@h{}:/root", n % HOSTS));
    let creates: Vec<_> = addresses.map(|address| create(&env, &address, &["--transfer", "none"])).collect();
    let mut creates = creates.into_iter();
    loop {
        bench.interrupt.check()?;
        let some: Vec<_> = creates.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            break;
        }
        all_at_once(some)?;
    }
    let line = format!("exec sh -c {} look /root/.mngr ''", quoted(SURVEY));
    let sockets = masters(&env);
    if sockets.len() != HOSTS {
        return Err(BenchError::Failed(format!("{} connections to {HOSTS} hosts", sockets.len())));
    }
    let bare = || {
        let ssh = |socket| {
            let mut ssh = env.command("ssh");
            ssh.arg("-S").arg(socket).args(["-T", "host", &line]);
            ssh
        };
        sockets.iter().map(ssh).collect::<Vec<_>>()
    };
    let pair = interleaved(
        bench.effort.rounds(15),
        &bench.interrupt,
        |_| timed(env.mngr_cmd().arg("list")),
        |_| {
            let start = Instant::now();
            all_at_once(bare())?;
            Ok(start.elapsed())
        },
    )?;
    Ok(vec![Row::ratio(WHAT, "20 ssh with the same script", pair, 1.5)])
}

/// The first look at a host to which there is no connection, against a bare new `ssh`.
pub(crate) fn first_contact(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    const WHAT: &str = "first contact, ssh";
    if let Some(why) = obstacle("sshd") {
        return Ok(vec![Row::skipped(WHAT, why)]);
    }
    let (env, machines) = ground(bench, 1)?;
    succeeded(&env.run(create(&env, "agent@h0:/root", &["--transfer", "none"])))?;
    let pair = interleaved(
        bench.effort.rounds(15),
        &bench.interrupt,
        |_| {
            for socket in masters(&env) {
                let mut exit = env.command("ssh");
                exit.arg("-S").arg(&socket).args(["-O", "exit", "host"]);
                timed(&mut exit)?;
            }
            timed(env.mngr_cmd().arg("list"))
        },
        |_| timed(&mut bare_ssh(&env, &machines[0])),
    )?;
    Ok(vec![Row::ratio(WHAT, "ssh host true", pair, 1.3)])
}

/// Machines, and an environment whose provider `lab` knows them as `h0`, `h1`, ... The environment ends first.
fn ground(bench: &Bench, count: usize) -> Result<(TestEnv, Vec<Sshd>), BenchError> {
    let env = TestEnv::new(&bench.binary);
    env.repo(1);
    let machines: Vec<Sshd> = (0..count).map(|_| Sshd::start()).collect();
    set(&env, "backend", "ssh")?;
    for (number, machine) in machines.iter().enumerate() {
        let set = |key: &str, value: &str| set(&env, &format!("hosts.h{number}.{key}"), value);
        set("address", "127.0.0.1")?;
        set("port", &machine.port().to_string())?;
        set("user", "root")?;
        set("key_file", &machine.key_file().display().to_string())?;
        set("host_keys", &format!("[{:?}]", machine.host_key()))?;
    }
    Ok((env, machines))
}

fn bare_ssh(env: &TestEnv, machine: &Sshd) -> Command {
    let mut ssh = env.command("ssh");
    ssh.arg("-F").arg(machine.config_file()).args(["-o", "ControlPath=none", "-T", "box", "true"]);
    ssh
}
