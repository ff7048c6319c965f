//! A Rust project with cargo-nextest: the framework is recognised, its tests are collected, repaired and integrated.

use std::path::PathBuf;

use super::project::Project;

const MANIFEST: &str = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";

const LIB: &str =
    "pub fn twice(n: u32) -> u32 {\n    n + 1\n}\n\npub fn half(n: u32) -> u32 {\n    n / 2\n}\n";

const TESTS: &str = "use small::{half, twice};\n\n#[test]\nfn doubles() {\n    assert_eq!(twice(3), 6);\n}\n\n\
    #[test]\nfn halves() {\n    assert_eq!(half(6), 3);\n}\n";

/// The agent's home has no toolchain: the one of this machine is used.
fn toolchain() -> PathBuf {
    let own = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    own.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".rustup"))
}

#[test]
fn a_rust_project_is_repaired_with_cargo_nextest() {
    let mut project = Project::new();
    project.env.set_var("RUSTUP_HOME", toolchain());
    // What is compiled is kept outside the checkouts, which are clean for every run.
    project.env.set_var("CARGO_TARGET_DIR", project.env.root().join("compiled"));
    for (file, text) in [("Cargo.toml", MANIFEST), ("src/lib.rs", LIB), ("tests/sums.rs", TESTS)] {
        project.write(file, text);
    }
    project.write(".gitignore", "Cargo.lock\n");
    let fix = "sed -i 's/n + 1/n * 2/' src/lib.rs; commit '[FIX_IMPL] twice is two times'; publish";
    project.part("small::sums doubles", fix);
    project.commit();
    let words = ["tmr", "--agent-type", "player", "--run-name", "1", "--yes", "--gate", "cargo check -q"];
    let told = project.env.spawn(words).finish().code(0).stderr;
    assert!(told.contains("cargo-nextest"), "{told}");
    let run = project.seen();
    let ends = run.ends();
    assert_eq!(
        (ends["small::sums doubles"].as_str(), ends["small::sums halves"].as_str()),
        ("integrated", "clean")
    );
    assert_eq!(run.log("%s"), ["[FIX_IMPL] twice is two times"]);
    project.git(&["switch", "--quiet", run.branch()]);
    let mut cargo = project.env.command("cargo");
    cargo.args(["nextest", "run"]);
    assert!(project.env.run(cargo).status.success());
}
