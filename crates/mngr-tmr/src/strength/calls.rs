//! Tests that drive a command line: one call of the program at a time is replaced by what it printed before, without
//! running it. A test that looks at what the program did notices; one that only looks at what it prints does not.
//!
//! A small script stands in for the program: in front of `PATH`, or in the place of a file of the checkout, which is
//! clean again for the next run. What is recorded stays in a folder on the host of the runner until it is removed.
//!
//! Processes: one run of the test and one to read for a recording, one run of the test for each replaced call, one run
//! to remove it.

use std::time::Duration;

use mngr_host::random;
use mngr_model::quote::sh_quote;
use mngr_model::run::TaskId;

use crate::collect::{Bench, Collector, TestStatus};
use crate::verify::{Keep, Order, RunnerError, Taken};

/// The script that stands in for the program.
const STAND_IN: &str = include_str!("calls/stand_in.sh");
/// What stands in for a program that is given to Python as a file.
const STAND_IN_PYTHON: &str = include_str!("calls/stand_in.py");
/// How many calls of a test get a number.
const MOST_CALLS: usize = 200;
/// How many calls of a test are replaced, each in a run of its own.
const MOST_REPLACED: usize = 40;
/// How much of each thing that a call printed is read. It is replayed as a whole.
const READ_BYTES: usize = 16 * 1024;
/// The longest description of recorded calls that is read.
const LONGEST: u64 = 64 * 1024 * 1024;
/// How long reading or removing a recording may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program that tests drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Driven {
    /// A command that is found on `PATH`.
    Command(String),
    /// A file of the checkout, by its path there.
    File(String),
}

impl Driven {
    /// From a word as it is in the settings or in a tutorial: with a `/` it is a file of the checkout. Nothing where a
    /// script cannot stand in for it.
    pub fn new(word: &str) -> Option<Self> {
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
        match word.contains('/') {
            false => (is_plain(word) && !word.starts_with('-')).then(|| Self::Command(word.to_owned())),
            true => {
                let path = word.trim_start_matches("./");
                path.split('/').all(is_plain).then(|| Self::File(path.to_owned()))
            }
        }
    }
}

/// One call of the program, as it was recorded. Everything in it is untrusted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Its number, in the order in which calls began, from 1.
    pub(super) number: usize,
    /// The words after the name of the program.
    pub(super) words: Vec<String>,
    /// The beginning of its standard output.
    pub(super) stdout: String,
    /// The beginning of its standard error; what went to the same place as the output is there.
    pub(super) stderr: String,
    /// Its status.
    pub(super) status: i32,
}

/// The calls of a test, kept on the host of the runner.
#[derive(Debug)]
pub(super) struct Recording {
    folder: String,
    /// Each call that ended, in their order.
    pub(super) calls: Vec<Call>,
}

/// Whether a test looks at what the program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effects {
    /// It does not pass while its calls are recorded: nothing can be said.
    NotMeasurable,
    /// It does not call the program.
    NoCalls,
    /// It notices when this call does nothing.
    Noticed(Call),
    /// It notices nothing when any one of these calls does nothing.
    Unnoticed(Vec<Call>),
}

/// Records and replaces calls of a program.
pub(super) struct Calls<'a> {
    /// How tests are run.
    pub(super) tests: &'a Collector,
    /// Where.
    pub(super) bench: Bench<'a>,
    /// The program.
    pub(super) program: &'a Driven,
    /// How long one run of the test may take.
    pub(super) deadline: Duration,
}

impl Calls<'_> {
    /// Runs a test and records its calls. Nothing if it does not pass like that: then nothing can be said. What is
    /// recorded has to be removed, see [`Calls::remove`].
    fn recorded_calls(&self, test: &TaskId) -> Result<Option<Recording>, RunnerError> {
        let folder = self.bench.runner.outside("calls")?;
        let mut recording = Recording { folder, calls: Vec::new() };
        let read = self.passes(test, &recording, None).and_then(|passes| match passes {
            true => self.read(&recording).map(Some),
            false => Ok(None),
        });
        match read {
            Ok(Some(calls)) => {
                recording.calls = calls;
                Ok(Some(recording))
            }
            other => {
                // What went wrong first matters more.
                let _ = self.remove(recording);
                other.map(|_| None)
            }
        }
    }

    /// Whether a test looks at what the program did: its calls are replaced one at a time until it notices.
    pub(super) fn effects(&self, test: &TaskId) -> Result<Effects, RunnerError> {
        let Some(recording) = self.recorded_calls(test)? else { return Ok(Effects::NotMeasurable) };
        let mut found = match recording.calls.is_empty() {
            true => Ok(Effects::NoCalls),
            false => Ok(Effects::Unnoticed(recording.calls.iter().take(MOST_REPLACED).cloned().collect())),
        };
        for call in recording.calls.iter().take(MOST_REPLACED) {
            match self.notices(test, &recording, call) {
                Ok(false) => continue,
                Ok(true) => found = Ok(Effects::Noticed(call.clone())),
                Err(error) => found = Err(error),
            }
            break;
        }
        let removed = self.remove(recording);
        found.and_then(|found| removed.map(|()| found))
    }

    /// Whether the test notices that this call only printed what was recorded, and did nothing.
    fn notices(&self, test: &TaskId, recording: &Recording, call: &Call) -> Result<bool, RunnerError> {
        Ok(!self.passes(test, recording, Some(call.number))?)
    }

    /// Removes a recording from the host.
    fn remove(&self, recording: Recording) -> Result<(), RunnerError> {
        self.tell(&format!("rm -rf {}", recording.folder), Keep::Tail).map(|_| ())
    }

    /// Whether the test passes with the stand-in. Each run counts its calls in a folder of its own.
    fn passes(
        &self,
        test: &TaskId,
        recording: &Recording,
        replaced: Option<usize>,
    ) -> Result<bool, RunnerError> {
        let recorded = format!("{}/recorded", recording.folder);
        let run = match replaced {
            Some(_) => format!("{}/{}", recording.folder, random::hex32()),
            None => recorded.clone(),
        };
        let stand_in = STAND_IN
            .replace("@RUN@", &run)
            .replace("@RECORDED@", &recorded)
            .replace("@REPLACED@", &replaced.map_or(String::new(), |number| number.to_string()))
            .replace("@MOST@", &MOST_CALLS.to_string());
        let tests = self.tests.prefaced(&self.set_up(&run, &stand_in));
        let examined = tests.examine(&self.bench, std::slice::from_ref(test), self.deadline)?;
        Ok(examined.tests.get(test).is_some_and(|result| result.status == TestStatus::Passed))
    }

    /// The lines of `sh` that put the stand-in into the place of the program. They may be run more than once.
    fn set_up(&self, run: &str, stand_in: &str) -> String {
        let stand_in = sh_quote(stand_in);
        match self.program {
            Driven::Command(name) => {
                let name = sh_quote(name);
                format!(
                    "mkdir -p {run}/bin && {{ [ -e {run}/real ] || command -v {name} >{run}/real; }} || exit 125\n\
                     case $(cat {run}/real) in /*) ;; */*) echo \"$PWD/$(cat {run}/real)\" >{run}/real ;; *) exit 125 ;; esac\n\
                     printf %s {stand_in} >{run}/bin/{name} && chmod +x {run}/bin/{name} || exit 125\n\
                     PATH={run}/bin:$PATH; export PATH\n"
                )
            }
            Driven::File(path) => {
                let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
                // Beside the stand-in: programs look for their parts where they are themselves.
                let real = format!("{folder}/.mngr-real-{name}");
                let python = STAND_IN_PYTHON.replace("@RUN@", &format!("{run:?}"));
                let (path, real, python) = (sh_quote(path), sh_quote(&real), sh_quote(&python));
                format!(
                    "mkdir -p {run} || exit 125\n\
                     if [ ! -e {real} ]; then\n\
                     mv -- {path} {real} && echo \"$PWD/\"{real} >{run}/real && printf %s {stand_in} >{run}/stand_in || exit 125\n\
                     case {path}:$(head -n 1 {real} | tr -d '\\000') in\n\
                     *.py:* | *'#!'*python*) printf %s {python} >{path} ;;\n\
                     *) cp {run}/stand_in {path} ;;\n\
                     esac\n\
                     if [ -x {real} ]; then chmod +x {path}; fi\n\
                     fi\n"
                )
            }
        }
    }

    /// The calls that were recorded.
    fn read(&self, recording: &Recording) -> Result<Vec<Call>, RunnerError> {
        let command = format!(
            "cd {}/recorded || exit 0\n\
             number=1\n\
             while [ -d $number ]; do\n\
             echo \"call $number $(cat $number/status 2>/dev/null)\"\n\
             for part in words stdout stderr; do\n\
             echo $part; head -c {READ_BYTES} $number/$part | od -An -v -tx1\n\
             done\n\
             number=$((number + 1))\n\
             done\n\
             exit 0",
            recording.folder
        );
        Ok(parse(&self.tell(&command, Keep::Output)?))
    }

    /// What a command prints.
    fn tell(&self, command: &str, keep: Keep) -> Result<String, RunnerError> {
        let order = Order { commit: self.bench.commit, command, deadline: PATIENCE, keep };
        let report = self.bench.runner.run(&order)?;
        let taken = report.printed.as_ref().map(|printed| printed.take(LONGEST)).transpose()?;
        Ok(match taken {
            Some(Taken::Text(text)) => text,
            _ => String::new(),
        })
    }
}

/// The calls in what the host printed. One that did not end has no status and cannot be replayed.
fn parse(text: &str) -> Vec<Call> {
    let mut calls: Vec<(usize, Option<i32>, [Vec<u8>; 3])> = Vec::new();
    let mut part = 0;
    for line in text.lines() {
        if let Some(call) = line.strip_prefix("call ") {
            let mut words = call.split(' ');
            let number = words.next().and_then(|word| word.parse().ok());
            let status = words.next().and_then(|word| word.parse().ok());
            calls.extend(number.map(|number| (number, status, Default::default())));
        } else if let Some(at) = ["words", "stdout", "stderr"].iter().position(|name| *name == line) {
            part = at;
        } else if let Some((_, _, parts)) = calls.last_mut() {
            let bytes = line.split_whitespace().filter_map(|hex| u8::from_str_radix(hex, 16).ok());
            parts[part].extend(bytes);
        }
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = calls.into_iter().filter_map(|(number, status, [words, stdout, stderr])| {
        let mut words: Vec<String> = words.split(|byte| *byte == 0).map(text).collect();
        // Each word has an end, so the last piece is none.
        words.pop();
        Some(Call { number, words, stdout: text(&stdout), stderr: text(&stderr), status: status? })
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mngr_config::CollectorSettings;

    use super::*;
    use crate::collect::Selection;
    use crate::collect::testing::{Project, path_with_pytest};

    const LONG: Duration = Duration::from_secs(60);

    fn collector(name: &str, settings: &str) -> Collector {
        let own: BTreeMap<String, CollectorSettings> = toml::from_str(settings).unwrap();
        Collector::named(name, &own, Selection::default()).unwrap()
    }

    fn id(text: &str) -> TaskId {
        text.parse().unwrap()
    }

    /// The words of each call, and whether the test notices that it is replaced.
    fn noticed(calls: &Calls<'_>, test: &str) -> Option<Vec<(String, bool)>> {
        let recording = calls.recorded_calls(&id(test)).unwrap()?;
        let noticed = recording
            .calls
            .iter()
            .map(|call| (call.words.join(" "), calls.notices(&id(test), &recording, call).unwrap()))
            .collect();
        calls.remove(recording).unwrap();
        Some(noticed)
    }

    fn owned(pairs: &[(&str, bool)]) -> Option<Vec<(String, bool)>> {
        Some(pairs.iter().map(|(words, is_noticed)| ((*words).to_owned(), *is_noticed)).collect())
    }

    /// Keeps notes in a file, with a part of it beside it.
    const TOOL: &str = "#!/bin/sh\nset -eu\n. \"$(dirname \"$0\")/parts.sh\"\ncase $1 in\n\
        add) echo \"$2\" >>notes; said added ;;\nlist) cat notes ;;\nbad) echo no >&2; exit 3 ;;\nesac\n";
    const PARTS: &str = "said() { echo \"$1\"; }\n";

    #[test]
    fn a_test_that_looks_at_effects_notices_and_one_that_looks_at_words_does_not() {
        let project = Project::new(&[
            ("bin/tool", TOOL),
            ("bin/parts.sh", PARTS),
            ("t/effect.sh", "set -e; sh bin/tool add 'a b'; [ \"$(sh bin/tool list)\" = 'a b' ]"),
            ("t/words.sh", "[ \"$(sh bin/tool add x)\" = added ]"),
            ("t/status.sh", "sh bin/tool bad 2>err; [ $? = 3 ] && grep -q no err"),
            ("t/red.sh", "sh bin/tool add x; exit 1"),
            ("t/none.sh", "true"),
            ("t/atonce.sh", "sh bin/tool add x & sh bin/tool add y & wait; [ $(wc -l <notes) = 2 ]"),
        ]);
        let tests = collector("c", "[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'");
        let program = Driven::new("./bin/tool").unwrap();
        let calls = Calls { tests: &tests, bench: project.bench(), program: &program, deadline: LONG };
        // What lists is replaced by the very list, so only the change itself is noticed.
        let effect = noticed(&calls, "t/effect.sh");
        assert_eq!(effect, owned(&[("add a b", true), ("list", false)]));
        assert_eq!(noticed(&calls, "t/words.sh"), owned(&[("add x", false)]));
        assert_eq!(noticed(&calls, "t/status.sh"), owned(&[("bad", false)]));
        assert_eq!(noticed(&calls, "t/none.sh"), owned(&[]));
        assert_eq!(noticed(&calls, "t/red.sh"), None);
        let mut both = noticed(&calls, "t/atonce.sh").unwrap();
        both.sort();
        assert_eq!(Some(both), owned(&[("add x", true), ("add y", true)]));
    }

    #[test]
    fn whether_a_test_looks_at_effects_is_found_out() {
        let project = Project::new(&[
            ("bin/tool", TOOL),
            ("bin/parts.sh", PARTS),
            ("t/effect.sh", "set -e; sh bin/tool list 2>err || sh bin/tool add x; grep -q x notes"),
            ("t/words.sh", "[ \"$(sh bin/tool add x)\" = added ]"),
            ("t/none.sh", "true"),
            ("t/red.sh", "exit 1"),
        ]);
        let tests = collector("c", "[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'");
        let program = Driven::new("bin/tool").unwrap();
        let calls = Calls { tests: &tests, bench: project.bench(), program: &program, deadline: LONG };
        let effects = |test: &str| calls.effects(&id(test)).unwrap();
        assert!(matches!(effects("t/effect.sh"), Effects::Noticed(call) if call.number == 2));
        assert!(matches!(effects("t/words.sh"), Effects::Unnoticed(calls) if calls.len() == 1));
        assert_eq!(effects("t/none.sh"), Effects::NoCalls);
        assert_eq!(effects("t/red.sh"), Effects::NotMeasurable);
    }

    #[test]
    fn what_a_call_printed_is_recorded() {
        let project = Project::new(&[
            ("tool.sh", "echo \"out $1\"; printf 'err\\n' >&2; exit 4"),
            ("t/a.sh", "sh tool.sh \"it's\" ''; sh tool.sh 'ä\nb' 2>&1; true"),
        ]);
        let tests = collector("c", "[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'");
        let program = Driven::new("./tool.sh").unwrap();
        let calls = Calls { tests: &tests, bench: project.bench(), program: &program, deadline: LONG };
        let recording = calls.recorded_calls(&id("t/a.sh")).unwrap().unwrap();
        let [first, second] = &recording.calls[..] else { panic!("{recording:?}") };
        assert_eq!(first.words, ["it's", ""]);
        assert_eq!((first.stdout.as_str(), first.stderr.as_str(), first.status), ("out it's\n", "err\n", 4));
        // Both went to one place, in their order.
        assert_eq!(second.words, ["ä\nb"]);
        assert_eq!((second.stdout.as_str(), second.stderr.as_str()), ("out ä\nb\nerr\n", ""));
        calls.remove(recording).unwrap();
    }

    #[test]
    fn tool_pytest_commands_on_the_path_and_python_files_are_replaced_too() {
        let program = "import sys\nif sys.argv[1] == 'add':\n    open('notes', 'a').write(sys.argv[2])\n    print('added')\n";
        let test = "import os, subprocess, sys\n\ndef run(*words):\n    return subprocess.run(words, capture_output=True, text=True)\n\n\
            def test_effect():\n    run('touch', 'x')\n    assert os.path.exists('x')\n\n\
            def test_status():\n    assert run('touch', 'x').returncode == 0\n\n\
            def test_python():\n    assert run(sys.executable, 'prog.py', 'add', 'y').stdout == 'added\\n'\n    \
            assert open('notes').read() == 'y'\n";
        let project = Project::new(&[("tests/test_a.py", test), ("prog.py", program)]);
        let tests = collector("pytest", &format!("[pytest.env]\nPATH = '{}'", path_with_pytest()));
        let with = |program: &str, test: &str| {
            let program = Driven::new(program).unwrap();
            let calls = Calls { tests: &tests, bench: project.bench(), program: &program, deadline: LONG };
            noticed(&calls, test)
        };
        assert_eq!(with("touch", "tests/test_a.py::test_effect"), owned(&[("x", true)]));
        assert_eq!(with("touch", "tests/test_a.py::test_status"), owned(&[("x", false)]));
        assert_eq!(with("./prog.py", "tests/test_a.py::test_python"), owned(&[("add y", true)]));
        assert_eq!(with("nothing-like-it", "tests/test_a.py::test_status"), None);
    }

    #[test]
    fn a_program_is_a_command_or_a_file_of_the_checkout() {
        assert_eq!(Driven::new("mngr"), Some(Driven::Command("mngr".into())));
        assert_eq!(Driven::new("./bin/x"), Some(Driven::File("bin/x".into())));
        for word in ["", "..", "../x", "/bin/sh", "a//b", "-x", "a\nb", "bin/"] {
            assert_eq!(Driven::new(word), None, "{word:?}");
        }
    }

    #[test]
    fn calls_that_did_not_end_are_left_out() {
        let text = "call 1 0\nwords\n 61 00\nstdout\n 68 69 0a\nstderr\ncall 2 \nwords\nstdout\nstderr\n";
        let calls = parse(text);
        assert_eq!(calls.len(), 1);
        assert_eq!((calls[0].words.as_slice(), calls[0].stdout.as_str()), (&["a".to_owned()][..], "hi\n"));
    }
}
