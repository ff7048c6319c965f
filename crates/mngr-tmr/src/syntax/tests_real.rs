//! Real programs accept what is made of a text: interpreters, shells and the compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::proc::{Cmd, Output};
use mngr_model::HostPath;

use super::tests::{parse, program};
use super::*;

/// Compiling dozens of texts may take a while on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// A folder in which programs run.
struct Folder {
    host: Arc<dyn Host>,
    root: HostPath,
    _dir: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host: Arc<dyn Host> = Arc::new(LocalHost::open(root.join("host")).unwrap());
        Self { host, root, _dir: dir }
    }

    fn write(&self, name: &str, text: &str) -> HostPath {
        let path = self.root.join(name);
        self.host.files().write(&path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
        path
    }

    fn run(&self, words: &[&str]) -> Output {
        let cmd = Cmd::new(words[0]).args(words[1..].to_vec()).cwd(&self.root).deadline(DEADLINE);
        self.host.exec(&cmd).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.run(&["sh", "-c", &format!("command -v {name}")]).success()
    }

    /// What a program of notes says to a few commands, one after another.
    fn session(&self, interpreter: &str, name: &str, text: &str) -> Vec<(bool, String)> {
        self.write(name, text);
        self.run(&["rm", "-f", "notes.txt"]);
        let commands: [&[&str]; 3] = [&["add", "one"], &["add", "two"], &["list"]];
        let run = |command: &&[&str]| {
            let words = [&[interpreter, name, "notes.txt"], *command].concat();
            let output = self.run(&words);
            (output.success(), output.stdout_text())
        };
        commands.iter().map(run).collect()
    }

    /// Functions fail when they are made to, and are recorded without a difference otherwise.
    fn check_session(&self, interpreter: &str, name: &str) {
        let source = program(name);
        let usual = self.session(interpreter, name, source.text());
        assert_eq!(usual[1], (true, "2".to_owned()), "{name}");
        let failing = self.session(interpreter, name, &source.failing(&|_| true));
        assert!(failing.iter().all(|(success, _)| !success), "{name}: {failing:?}");

        let record = self.root.join("it's a \"record\"");
        let recording = source.recording(&|index| Some(index as u64), record.as_str());
        assert_eq!(self.session(interpreter, name, &recording), usual, "{name}");
        let record = self.host.files().read(&record).unwrap();
        let numbers: BTreeSet<usize> =
            String::from_utf8(record).unwrap().lines().map(|line| line.parse().unwrap()).collect();
        let add = source.functions().iter().position(|function| function.name.ends_with("add")).unwrap();
        assert!(
            numbers.contains(&add) && numbers.contains(&(source.functions().len() - 1)),
            "{name}: {numbers:?}"
        );
        assert!(numbers.len() < source.functions().len(), "{name}: {numbers:?}");
        // Nobody can write there.
        let lost = source.recording(&|index| Some(index as u64), "/nowhere/record");
        assert_eq!(self.session(interpreter, name, &lost), usual, "{name}");
    }
}

#[test]
fn python_runs_what_is_made_of_a_program() {
    let folder = Folder::new();
    folder.check_session("python3", "notes.py");
    let source = program("notes.py");
    let mut texts: Vec<String> = source.edits().iter().map(|edit| source.apply(edit)).collect();
    let for_some: Vec<String> =
        source.edits().iter().filter_map(|edit| Some(source.apply_for(edit, 2)?.text)).collect();
    assert!(for_some.len() > 10, "{}", for_some.len());
    texts.extend(for_some);
    for index in 0..source.functions().len() {
        texts.push(source.failing(&|function| function == index));
        texts.push(source.recording(&|function| (function == index).then_some(1), "x"));
    }
    for (index, text) in texts.iter().enumerate() {
        folder.write(&format!("made_{index}.py"), text);
    }
    let script = "import glob, warnings\nwarnings.simplefilter('ignore')\nfor name in glob.glob('made_*.py'): compile(open(name).read(), name, 'exec')\n";
    let output = folder.run(&["python3", "-c", script]);
    assert!(output.success(), "{}", output.stderr_text());
}

#[test]
fn the_shell_runs_what_is_made_of_a_program() {
    let folder = Folder::new();
    folder.check_session("sh", "notes.sh");
    let source = program("notes.sh");
    for (index, edit) in source.edits().iter().enumerate() {
        folder.write(&format!("made_{index}.sh"), &source.apply(edit));
    }
    let output = folder.run(&["sh", "-c", "for f in made_*.sh; do sh -n $f || echo $f; done"]);
    assert_eq!(output.stdout_text(), "", "{}", output.stderr_text());
}

#[test]
fn node_runs_what_is_made_of_a_program() {
    let folder = Folder::new();
    // The only language here whose program need not be installed.
    if folder.has("node") {
        folder.check_session("node", "notes.js");
    }
}

#[test]
fn rust_compiles_what_is_made_of_a_program() {
    let folder = Folder::new();
    let source = program("notes.rs");
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (index, edit) in source.edits().iter().enumerate() {
        texts.insert(format!("edit_{index}"), source.apply(edit));
        if let Some(changed) = source.apply_for(edit, 2) {
            texts.insert(format!("some_{index}"), changed.text);
        }
    }
    assert!(texts.keys().any(|name| name.starts_with("some_")));
    let edits = texts.len();
    texts.insert("failing".to_owned(), source.failing(&|_| true));
    texts.insert("recording".to_owned(), source.recording(&|index| Some(index as u64), "a \"b"));
    let modules: String = texts.keys().map(|name| format!("pub mod {name};\n")).collect();
    folder.write("lib.rs", &modules);
    for (name, text) in &texts {
        folder.write(&format!("{name}.rs"), text);
    }
    // All in one crate: starting the compiler takes longer than compiling.
    let words =
        "rustc --edition 2021 --crate-type lib --emit metadata --error-format short --cap-lints allow lib.rs";
    let said = folder.run(&words.split(' ').collect::<Vec<_>>()).stderr_text();
    let errors = said.lines().filter(|line| line.contains(": error"));
    let wrong: BTreeSet<&str> = errors.filter_map(|line| line.split(".rs:").next()).collect();
    assert!(!wrong.contains("failing") && !wrong.contains("recording"), "{said}");
    assert!(edits >= 30 && wrong.len() * 5 <= edits, "{} of {edits}: {said}", wrong.len());
}

/// What calls of a function print when a rule changes it only for the second arguments.
fn calls(name: &str, rule: &str, program: &str, run: &[&str]) -> Option<String> {
    let folder = Folder::new();
    if !folder.has(run[0]) {
        return None;
    }
    let source = parse(name, program);
    let edit = source.edits().into_iter().find(|edit| edit.rule == rule).unwrap();
    let changed = source.apply_for(&edit, 2).unwrap();
    let (before, after) = (program.lines().count(), changed.text.lines().count());
    assert!(after > before, "{}", changed.text);
    assert_eq!(changed.line_before(after), before, "what follows the function has moved");
    assert_eq!(changed.line_before(1), 1);
    folder.write(name, &changed.text);
    let output = folder.run(run);
    assert!(output.success(), "{}{}", changed.text, output.stderr_text());
    Some(output.stdout_text())
}

#[test]
fn a_change_for_some_arguments_is_made_for_them_every_time_and_for_no_others() {
    let python = "class A:\n    def more(self, a):\n        \"\"\"More.\n\n        Lines.\"\"\"\n        if a > 9:\n            return 0\n\n        return (a +\n            1)\n\nprint(*[A().more(a) for a in [1, 2, 1, 3, 2]])\n";
    let run = ["python3", "a.py"];
    assert_eq!(calls("a.py", "swap_arithmetic", python, &run).as_deref(), Some("2 1 2 4 1"));
    let rust = "struct A;\nimpl A {\nfn more(&self, a: i32) -> i32 {\n    // {changed} } is a comment\n    a + 1\n}\n}\nfn main() {\n    for a in [1, 2, 1, 3, 2] { print!(\"{} \", A.more(a)); }\n}\n";
    let run = ["sh", "-c", "rustc --edition 2021 --cap-lints allow -o a a.rs && ./a"];
    assert_eq!(calls("a.rs", "return_other", rust, &run).as_deref(), Some("2 77 2 4 77"));
    let node = "function more(a) {\n  return a + 1;\n}\nconsole.log(...[1, 2, 1, 3, 2].map(more));\n";
    let said = calls("a.js", "swap_arithmetic", node, &["node", "a.js"]);
    assert!(said.as_deref().is_none_or(|said| said == "2 1 2 4 1"), "{said:?}");
}

#[test]
fn what_cannot_be_there_twice_has_no_change_for_some_arguments() {
    let can_be = |name: &str, text: &str| {
        let source = parse(name, text);
        source.edits().iter().any(|edit| source.apply_for(edit, 1).is_some())
    };
    assert!(can_be("a.py", "def f(a):\n    return a + 1\n"));
    for text in [
        "def f(a): return a + 1\n",
        "import sys\nprint(len(sys.argv) + 1)\n",
        "def f(a):\n    b = \"\"\"x\n    y\"\"\"\n    return b + a + 1\n",
    ] {
        assert!(!can_be("a.py", text), "{text}");
    }
    assert!(can_be("a.rs", "fn f(a: i32) -> i32 { a + 1 }\n"));
    assert!(!can_be("a.rs", "fn f(a: A) -> i32 { a.b + 1 }\n"));
    assert!(!can_be("a.rs", "const fn f(a: i32) -> i32 { a + 1 }\n"));
    assert!(!can_be("a.js", "const f = (a) => a + 1;\n"));
    assert!(!can_be("a.sh", "f() { [ \"$1\" = a ]; }\n"));
}

#[test]
fn a_recorded_shell_function_still_sees_how_the_last_command_ended() {
    let folder = Folder::new();
    let text = "set -e\nlast() { echo \"ended with $?\"; }\ntrap last EXIT\nfalse\n";
    let source = Source::parse(Language::Shell, text).unwrap();
    folder.write("a.sh", &source.recording(&|index| Some(index as u64), "record"));
    let output = folder.run(&["sh", "a.sh"]);
    assert_eq!((output.success(), output.stdout_text().as_str()), (false, "ended with 1"));
}
