//! The demo, and our own tests of the tutorial, with agents on other machines: the same ends as on this one.

use std::path::{Path, PathBuf};
use std::process::Command;

use mngr_testkit::{Dockerd, Sshd};

use super::super::pool::{env_with, write_settings};
use crate::support;
use crate::tmr::demo::Demo;
use crate::tmr::own_suite::suite::{Suite, python};
use crate::tmr::own_suite::{ALL, MERGEABLE};

/// What is red at the end of the demo, wherever its agents are.
const FIRST_LINE: &str = "21 of 24 tests pass on tmr/1/integrated; 3 do not: tests/due-tomorrow.sh, tests/help.sh, \
                          tests/list-done.sh";

#[test]
fn soak_the_demo_ends_over_ssh_as_it_says() {
    let machines = [Sshd::start(), Sshd::start()];
    let env = env_with(&[&machines[0], &machines[1]]);
    let demo = Demo::all(&env);
    let (run, output) = demo.run(&["--provider", "crew", "--max-parallel-agents", "8"]);
    demo.assert_ends(&run, &output);
    assert!(output.stdout.starts_with(FIRST_LINE), "{output}");
    drop(env);
}

#[test]
fn soak_docker_the_demo_ends_in_containers_as_it_says() {
    let engine = Dockerd::start();
    let mut env = support::env();
    env.set_var("DOCKER_HOST", engine.endpoint());
    write_settings(&env, &format!("[providers.docker]\ndefault_image = {:?}\n", engine.image()));
    let demo = Demo::all(&env);
    let words = ["--provider", "docker", "--agents-per-host", "4", "--max-parallel-agents", "8"];
    let (run, output) = demo.run(&words);
    demo.assert_ends(&run, &output);
    assert!(output.stdout.starts_with(FIRST_LINE), "{output}");
}

#[test]
fn soak_tool_pytest_our_own_tests_of_the_tutorial_are_made_better_over_ssh() {
    let machine = Sshd::start();
    // The home of this machine, which may have Python and pytest, is hidden there: its own Python gets the packages.
    let copy = "cp -R \"$1\"/lib/python3*/site-packages \"$2\"";
    let environment = python().parent().unwrap().to_owned();
    let mut sh = Command::new("sh");
    sh.args(["-c", copy, "copy"]).arg(environment).arg(machine.tmp().join("packages"));
    assert!(sh.status().unwrap().success());
    let env = env_with(&[&machine]);
    let suite = Suite::new(&env, ALL, "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", Some("/tmp/packages"));
    let (run, output) = suite.run(&["--no-integrator", "--provider", "crew"]);
    suite.assert_ends(&run, &output);
    assert_eq!(suite.git(&["log", "--format=%s", "main..tmr/1/integrated"]), MERGEABLE);
    suite.assert_no_worlds(&machine.tmp());
    drop(env);
}

/// Arguments of `docker run` by which a container has these folders of this machine, at the same place.
fn mounted(folders: &[&Path]) -> Vec<String> {
    let mount = |folder: &&Path| ["-v".to_owned(), format!("{0}:{0}:ro", folder.display())];
    folders.iter().flat_map(mount).collect()
}

#[test]
fn soak_tool_pytest_docker_our_own_tests_of_the_tutorial_are_made_better_in_containers() {
    let engine = Dockerd::start();
    let mut env = support::env();
    env.set_var("DOCKER_HOST", engine.endpoint());
    // The image has no Python: containers have the one of this machine, pytest, and the binary under test.
    let pytest = python();
    let installation = pythons_own(&pytest);
    let own: Vec<&Path> = installation.iter().map(PathBuf::as_path).collect();
    let programs = [pytest.parent().unwrap(), Path::new(env!("CARGO_BIN_EXE_mngr")).parent().unwrap()];
    let arguments = mounted(&[&own[..], &programs[..]].concat());
    write_settings(
        &env,
        &format!(
            "[providers.docker]\ndefault_image = {:?}\ndefault_start_args = {arguments:?}\n",
            engine.image()
        ),
    );
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", pytest.display());
    let suite = Suite::new(&env, ALL, &path, None);
    let (run, output) = suite.run(&["--no-integrator", "--provider", "docker", "--agents-per-host", "9"]);
    suite.assert_ends(&run, &output);
    assert_eq!(suite.git(&["log", "--format=%s", "main..tmr/1/integrated"]), MERGEABLE);
}

/// What Python itself consists of, beside its virtual environment.
#[track_caller]
fn pythons_own(programs: &Path) -> Vec<PathBuf> {
    let print = "import os, sys, sysconfig\n\
                 print(*([sys.base_prefix] if sys.base_prefix != '/usr' else \
                 [os.path.realpath(sys.executable), sysconfig.get_path('stdlib')]), sep='\\n')";
    let output = Command::new(programs.join("python3")).args(["-c", print]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect()
}
