//! How mngr comes to other people: the archives, the script that installs them, the Homebrew formula, the Debian package.
//! No release is built here: the binary under test is packed, or a stand-in where the binary does not matter.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

const INTEL: &str = "x86_64-unknown-linux-musl";
const ARM: &str = "aarch64-unknown-linux-musl";
const MAC: &str = "universal-apple-darwin";

fn project() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// A command of the project. Compressing a debug binary well would be most of the time of a test.
fn script(env: &TestEnv, path: &str) -> Command {
    let mut command = env.command(project().join(path));
    command.env("DPKG_DEB_COMPRESSOR_TYPE", "none").env("GZIP", "-1");
    command
}

/// Puts a program of a few lines into the environment.
fn program(env: &TestEnv, path: &str, lines: &str) -> PathBuf {
    let path = env.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The folder of a release that holds this binary for each of these targets.
fn release(env: &TestEnv, binary: &Path, targets: &[&str]) -> PathBuf {
    let folder = env.root().join("release");
    for target in targets {
        let mut package = script(env, "scripts/package");
        package.arg(binary).arg(target).arg(&folder);
        let _ = env.run(package).success();
    }
    index(env, &folder);
    folder
}

fn index(env: &TestEnv, folder: &Path) {
    let mut index = script(env, "scripts/release-index");
    index.arg(folder).arg(format!("file://{}", folder.display()));
    let _ = env.run(index).success();
}

/// A release of stand-ins that say a version, for all machines.
fn release_of_stand_ins(env: &TestEnv) -> PathBuf {
    release(env, &program(env, "stand-in", "echo mngr 99"), &[INTEL, ARM, MAC])
}

fn install(env: &TestEnv, folder: &Path, args: &[&str]) -> CmdOutput {
    let mut install = env.command("sh");
    install.arg(folder.join("install.sh")).args(args);
    env.run(install)
}

fn archive(folder: &Path, target: &str) -> PathBuf {
    folder.join(format!("mngr-{}-{target}.tar.gz", env!("CARGO_PKG_VERSION")))
}

/// The binary under test without what only a debugger reads.
fn stripped(env: &TestEnv) -> PathBuf {
    let path = env.root().join("mngr");
    let mut strip = env.command("strip");
    strip.arg("-o").arg(&path).arg(env!("CARGO_BIN_EXE_mngr"));
    let _ = env.run(strip).success();
    path
}

fn version_of(env: &TestEnv, binary: &Path) -> String {
    let mut command = env.command(binary);
    command.arg("--version");
    env.run(command).success().stdout
}

/// The archive that `uname` makes this machine ask for.
fn own_target() -> &'static str {
    if cfg!(target_os = "macos") {
        MAC
    } else if cfg!(target_arch = "aarch64") {
        ARM
    } else {
        INTEL
    }
}

#[test]
fn what_the_install_script_puts_in_place_runs_and_has_its_man_pages() {
    let env = env();
    let folder = release(&env, &stripped(&env), &[own_target()]);
    let told = install(&env, &folder, &[]).success();

    let installed = env.home().join(".local/bin/mngr");
    let version = version_of(&env, &installed);
    assert_eq!(version, format!("mngr {}\n", env!("CARGO_PKG_VERSION")));
    assert!(told.stdout.contains(&format!("Installed {}: {}", version.trim(), installed.display())));
    assert!(told.stdout.contains("add"), "it is not on PATH, and that is said: {told}");
    let pages = env.home().join(".local/share/man");
    assert!(pages.join("man1/mngr-create.1").exists() && pages.join("man7/mngr-address.7").exists());

    let mut list = env.command("tar");
    list.arg("-tzf").arg(archive(&folder, own_target()));
    let files = env.run(list).success().stdout;
    for file in
        ["LICENSE", "README.md", "completions/mngr.bash", "completions/_mngr", "completions/mngr.fish"]
    {
        assert!(files.lines().any(|line| line.ends_with(&format!("/{file}"))), "{file}: {files}");
    }
}

#[test]
fn an_archive_that_is_not_what_its_checksum_promises_is_not_even_unpacked() {
    let env = env();
    let folder = release_of_stand_ins(&env);
    let archive = archive(&folder, own_target());
    let mut bytes = fs::read(&archive).unwrap();
    // Still an archive that can be unpacked: what follows the end of one is left alone.
    bytes.push(0);
    fs::write(&archive, bytes).unwrap();

    let refused = install(&env, &folder, &[]).code(1);
    assert!(refused.stderr.contains("is not what its checksum promises; nothing was installed"), "{refused}");
    assert!(!env.home().join(".local").exists());

    // Whoever can change both fools only those who have no checksums from elsewhere.
    let own = env.root().join("sums");
    fs::copy(folder.join("SHA256SUMS"), &own).unwrap();
    index(&env, &folder);
    let refused = install(&env, &folder, &["--sums", own.to_str().unwrap()]).code(1);
    assert!(refused.stderr.contains("is not what its checksum promises"), "{refused}");
    assert!(!env.home().join(".local").exists());
    let _ = install(&env, &folder, &[]).success();
}

#[test]
fn a_program_that_does_not_run_here_replaces_nothing() {
    let env = env();
    let old = program(&env, "home/.local/bin/mngr", "echo mngr 1");
    let folder = release(&env, &program(&env, "broken", "exit 126"), &[own_target()]);
    let refused = install(&env, &folder, &[]).code(1);
    assert!(refused.stderr.contains("does not run here; nothing was installed"), "{refused}");
    assert!(fs::read_to_string(&old).unwrap().contains("echo mngr 1"));
    assert_eq!(fs::read_dir(old.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_archive_of_the_machine_is_chosen() {
    let mut env = env();
    let folder = release_of_stand_ins(&env);
    let bin = env.root().join("bin");
    env.set_var("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    let on = |system: &str, machine: &str| {
        let uname = format!("case $1 in -s) echo {system} ;; -m) echo {machine} ;; esac");
        let _ = program(&env, "bin/uname", &uname);
        install(&env, &folder, &[])
    };
    for (system, machine, target) in [
        ("Linux", "x86_64", INTEL),
        ("Linux", "aarch64", ARM),
        ("Darwin", "arm64", MAC),
        ("Darwin", "x86_64", MAC),
    ] {
        let told = on(system, machine).success();
        let name = archive(&folder, target);
        assert!(told.stdout.contains(&format!("Downloading file://{}\n", name.display())), "{told}");
    }
    let refused = on("Linux", "sparc64").code(1);
    assert!(
        refused.stderr.contains("no archive for Linux on sparc64; with Rust: cargo install"),
        "{refused}"
    );
    fs::remove_file(archive(&folder, ARM)).unwrap();
    index(&env, &folder);
    let refused = on("Linux", "aarch64").code(1);
    assert!(refused.stderr.contains(&format!("name no archive for {ARM}")), "{refused}");
}

#[test]
fn a_script_that_was_cut_short_on_its_way_does_nothing() {
    let env = env();
    let folder = release_of_stand_ins(&env);
    let text = fs::read_to_string(folder.join("install.sh")).unwrap();
    for (at, _) in text.match_indices('\n').step_by(10) {
        let mut shell = env.command("sh");
        shell.arg("-c").arg(&text[..at]);
        let _ = env.run(shell);
        assert!(!env.home().join(".local").exists(), "{}", &text[..at]);
    }
}

#[test]
fn the_formula_names_the_archives_that_are_there_with_their_checksums() {
    let env = env();
    let folder = release_of_stand_ins(&env);
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let formula = fs::read_to_string(folder.join("mngr.rb")).unwrap();
    for target in [INTEL, ARM, MAC] {
        let name = archive(&folder, target);
        let name = name.file_name().unwrap().to_str().unwrap();
        let sum = sums.lines().find_map(|line| line.strip_suffix(&format!("  {name}"))).unwrap();
        assert!(formula.contains(&format!("/{name}\"\n")), "{formula}");
        assert!(formula.contains(&format!("sha256 \"{sum}\"\n")), "{formula}");
    }
    assert_eq!(
        formula.lines().filter(|line| line.trim_end().ends_with(" do")).count(),
        formula.lines().filter(|line| line.trim() == "end").count() - 2,
        "every block has its end, as have the class and its method: {formula}"
    );

    fs::remove_file(archive(&folder, MAC)).unwrap();
    index(&env, &folder);
    assert!(!fs::read_to_string(folder.join("mngr.rb")).unwrap().contains("on_macos"));
}

#[test]
fn tool_ruby_the_formula_is_ruby() {
    let env = env();
    let folder = release_of_stand_ins(&env);
    let mut ruby = env.command("ruby");
    ruby.arg("-c").arg(folder.join("mngr.rb"));
    assert_eq!(env.run(ruby).success().stdout, "Syntax OK\n");
}

#[test]
fn tool_dpkg_the_debian_package_unpacks_into_a_program_that_runs() {
    let env = env();
    let folder = release(&env, &stripped(&env), &[INTEL]);
    let package = folder.join(format!("mngr_{}_amd64.deb", env!("CARGO_PKG_VERSION")));
    let dpkg = |args: &[&str], last: &Path| {
        let mut dpkg = env.command("dpkg-deb");
        dpkg.args(args).arg(&package).arg(last);
        env.run(dpkg).success().stdout
    };
    assert_eq!(dpkg(&["--field"], Path::new("Depends")), "git, openssh-client, rsync, tmux\n");
    assert_eq!(dpkg(&["--field"], Path::new("Version")), format!("{}\n", env!("CARGO_PKG_VERSION")));
    let root = env.root().join("unpacked");
    let _ = dpkg(&["--extract"], &root);
    let version = version_of(&env, &root.join("usr/bin/mngr"));
    assert_eq!(version, format!("mngr {}\n", env!("CARGO_PKG_VERSION")));
    let share = root.join("usr/share");
    for file in [
        "man/man1/mngr.1.gz",
        "man/man7/mngr-address.7.gz",
        "bash-completion/completions/mngr",
        "zsh/vendor-completions/_mngr",
        "fish/vendor_completions.d/mngr.fish",
        "doc/mngr/copyright",
    ] {
        assert!(share.join(file).exists(), "{file}");
    }
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert!(sums.contains("_amd64.deb"), "{sums}");
}

#[test]
fn what_cannot_be_built_here_is_said_with_what_to_do() {
    let env = env();
    let build = |target: &str| {
        let mut build = script(&env, "scripts/build-release");
        // Where rustup keeps the compiler.
        build.env("HOME", std::env::var_os("HOME").unwrap()).arg(target);
        env.run(build).code(1).stderr
    };
    let foreign = "msp430-none-elf";
    assert!(build(foreign).contains(&format!("is not installed; with rustup: rustup target add {foreign}")));
    if cfg!(target_os = "linux") {
        assert!(build(MAC).contains("can only be built on macOS"));
        let compiler = build("riscv64gc-unknown-linux-musl");
        assert!(compiler.contains("looked for riscv64gc-linux-musl-gcc"), "{compiler}");
        assert!(compiler.contains("CC_riscv64gc_unknown_linux_musl"), "{compiler}");
    }
}
