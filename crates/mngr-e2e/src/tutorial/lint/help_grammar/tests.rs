//! A real program asked for its help, and commands held against it.

use mngr_host::files::{Access, Durability, Files};
use mngr_host::local::{LocalFiles, LocalHost};
use tempfile::TempDir;

use super::*;
use crate::tutorial::lint::{Grammars, lint_text};

/// Prints help, and keeps a record of how it was called and of what it saw.
const TOOL: &str = r#"#!/bin/sh
echo "$* in $(ls -a | wc -l) with $SECRET" >> RECORD
case "$*" in
    --help) printf 'Commands:\n  build  Build\n\nOptions:\n  -q, --quiet  Less\n  -C <DIR>     Where\n' ;;
    'build --help') printf 'Options:\n  -j, --jobs <N>  At once\n  --mode <M>  [possible values: fast, slow]\n  -x\n' ;;
    *) echo "must not be run: $*" >&2; exit 99 ;;
esac
"#;

struct World {
    dir: TempDir,
    host: LocalHost,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().join("host").to_str().unwrap())).unwrap();
        let world = Self { dir, host };
        world.program("tool", &TOOL.replace("RECORD", &world.path("record")));
        world
    }

    fn program(&self, name: &str, text: &str) {
        let (path, access) = (HostPath::new(self.path(name)), Access::PrivateExecutable);
        LocalFiles.write(&path, text.as_bytes(), access, Durability::Cached).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn record(&self) -> String {
        LocalFiles.read_text(&HostPath::new(self.path("record"))).unwrap()
    }
}

fn messages(text: &str) -> Vec<String> {
    let world = World::new();
    let grammar = HelpGrammar::learn(&world.host, &world.path("tool")).unwrap();
    let report = lint_text(text, 1, &Grammars::new().with("tool", &grammar));
    let shown = |hints: &[String]| hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
    report.findings.iter().map(|it| format!("{}: {}{}", it.line, it.message, shown(&it.hints))).collect()
}

#[test]
fn what_the_help_knows_is_accepted() {
    let text = "tool -q build -j 4 --jobs=4 -j4 --mode slow file\ntool -C dir -qC dir build -- --anything\n\
                tool build --mode \"$m\" $rest --odd\ntool $command --odd\ntool --help\ntool build -1 -";
    assert_eq!(messages(text), ["3: No such option: --odd"; 0]);
}

#[test]
fn what_the_help_does_not_know_is_told_at_its_line() {
    for (text, expected) in [
        ("tool biuld", "1: No such command: `biuld`; did you mean `build`?"),
        ("tool --quite build", "1: No such option: --quite; did you mean `--quiet`?"),
        ("tool build \\\n  --job 4", "2: No such option: --job; did you mean `--jobs`?"),
        ("tool build -xz", "1: No such option: -z (in `-xz`)"),
        ("tool build --jobs", "1: Option `--jobs` needs a value"),
        (
            "tool build \\\n --mode \\\n solw",
            "3: Invalid value for `--mode`: `solw` is not one of fast, slow; did you mean `slow`?",
        ),
    ] {
        assert_eq!(messages(text), [expected], "{text}");
    }
}

#[test]
fn a_program_is_only_ever_asked_for_help_once_per_command_in_an_empty_folder() {
    let world = World::new();
    let grammar = HelpGrammar::learn(&world.host, &world.path("tool")).unwrap();
    let grammars = Grammars::new().with("tool", &grammar);
    let _ =
        lint_text("tool build; tool build x; rm -rf /nothing; tool biuld; tool $(tool build)", 1, &grammars);
    // `.`, `..` and nothing else.
    assert_eq!(world.record(), "--help in 2 with \nbuild --help in 2 with \n");
    let left = LocalFiles.list(&HostPath::new(world.path("host"))).unwrap();
    let left: Vec<&str> = left.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(left, ["host_id"]);
}

#[test]
fn a_program_without_help_is_an_error_that_names_it() {
    let world = World::new();
    let error = HelpGrammar::learn(&world.host, "no-such-program-anywhere").err().unwrap();
    assert_eq!(error.to_string(), "`no-such-program-anywhere --help` does not show any help");
    world.program("mute", "#!/bin/sh\n");
    let error = HelpGrammar::learn(&world.host, &world.path("mute")).err().unwrap();
    assert!(matches!(error, HelpError::NoHelp { .. }), "{error}");
}

#[test]
fn commands_that_no_page_describes_are_passed_over_and_not_called_wrong() {
    let world = World::new();
    let pages = [
        ("lists-some", "Commands:\n  a  b\n  ...  See all with --list\n"),
        ("lists-none", "usage: lists-none [-v] <command> [args]\n  -v  say more\n"),
        ("repeats", "Commands:\n  a  b\n"),
    ];
    for (name, page) in pages {
        world.program(name, &format!("#!/bin/sh\ncat <<'E'\n{page}\nE\n"));
        let grammar = HelpGrammar::learn(&world.host, &world.path(name)).unwrap();
        let report =
            lint_text(&format!("{name} a --odd\n{name} other -z"), 1, &Grammars::new().with(name, &grammar));
        let expected: usize = if name == "repeats" { 1 } else { 0 };
        assert_eq!((report.findings.len(), report.checked), (expected, expected), "{name}: {report:?}");
    }
}
