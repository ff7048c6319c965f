//! One command with its words.

use mngr_model::permission::READING;

use super::runner::Runner;
use super::word::Word;
use super::{Judge, NotCovered, absolute, is_below};

type Judged = Result<(), NotCovered>;

/// Options that make a reading command do more, and those of git that do.
const MORE: [(&str, &[&str]); 5] = [
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("sort", &["-o", "--output", "--compress-program", "-T"]),
    ("tree", &["-o"]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    ("uniq", &[]),
];
const MORE_OF_GIT: [&str; 8] = [
    "--output",
    "--ext-diff",
    "--open-files-in-pager",
    "-O",
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--filters",
];
/// Options of git itself that only say how it shows things.
const PLAIN_OF_GIT: [&str; 3] = ["--no-pager", "-P", "--no-optional-locks"];

/// Commands that change the files they name.
const CHANGING: [&str; 7] = ["touch", "mkdir", "rmdir", "rm", "cp", "mv", "tee"];

/// Whether a command may run; `may_write` says so of a file.
pub(super) fn judge(
    judge: &Judge<'_>,
    name: &str,
    words: &[Word],
    cwd: &str,
    may_write: &dyn Fn(&Word) -> Judged,
) -> Judged {
    let known: Vec<Option<&str>> = words.iter().map(|word| word.known().filter(|_| !word.splits)).collect();
    let is_allowed = judge.granted.set.allow.iter().any(|pattern| matches(pattern, name, &known));
    if is_allowed || is_publish(judge, name, cwd) || is_runner(judge, name, words, cwd) {
        return Ok(());
    }
    match name {
        "git" => git(judge, words, cwd),
        "timeout" | "time" => wrapped(judge, name, words, cwd, may_write),
        ":" | "exit" | "set" | "mktemp" | "wait" => Ok(()),
        "command" if known.first() == Some(&Some("-v")) => Ok(()),
        "sed" => sed(words),
        name if CHANGING.contains(&name) => {
            words.iter().filter(|word| !is_option(word)).try_for_each(may_write)
        }
        name if READING.contains(&name) => Ok(()),
        name => match MORE.iter().find(|(reading, _)| *reading == name) {
            Some((_, more)) => only_reads(name, words, more),
            None => Err(NotCovered(format!("`{name}` is not covered"))),
        },
    }
}

/// `timeout 60 COMMAND`: what is wrapped decides.
fn wrapped(
    judge: &Judge<'_>,
    name: &str,
    words: &[Word],
    cwd: &str,
    may_write: &dyn Fn(&Word) -> Judged,
) -> Judged {
    let is_time =
        |word: &Word| word.known().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    let rest = match (name, words) {
        ("timeout", [time, rest @ ..]) if is_time(time) => rest,
        ("time", rest) => rest,
        _ => return Err(NotCovered("of `timeout` only `timeout TIME COMMAND` is covered".to_owned())),
    };
    let Some((first, rest)) = rest.split_first() else { return Ok(()) };
    match first.known().filter(|_| !first.splits) {
        Some(inner) if inner != "cd" => self::judge(judge, inner, rest, cwd, may_write),
        _ => Err(NotCovered(format!("it is not known which program `{}` is", first.shown()))),
    }
}

fn is_option(word: &Word) -> bool {
    word.known().is_some_and(|text| text.starts_with('-') && text.len() > 1)
}

fn is_publish(judge: &Judge<'_>, name: &str, cwd: &str) -> bool {
    name.contains('/') && absolute(name, cwd) == format!("{}/commands/publish", judge.granted.state_dir)
}

/// Whether the command is one that runs the tests, with whatever else.
fn is_runner(judge: &Judge<'_>, name: &str, words: &[Word], cwd: &str) -> bool {
    judge.granted.set.runners.iter().any(|runner| {
        let Some((program, more)) = runner.split_first() else { return false };
        let begins = words.len() >= more.len()
            && more
                .iter()
                .zip(words)
                .all(|(wanted, word)| word.known() == Some(wanted.as_str()) && !word.splits);
        if program != name || !begins {
            return false;
        }
        match Runner::of(runner) {
            Runner::Any => true,
            // `sh -c` and `python -c` are not the test's runner.
            Runner::FileOfProject => words.get(more.len()).is_some_and(|word| {
                let path = word.known().filter(|path| !path.starts_with('-') && !word.splits);
                path.is_some_and(|path| is_below(&absolute(path, cwd), &judge.granted.work_dir))
            }),
        }
    })
}

/// Whether a pattern of the user's covers a command: word by word, `*` in a word stands for any letters, and a last word `*`
/// for any further words.
fn matches(pattern: &str, name: &str, words: &[Option<&str>]) -> bool {
    let mut wanted: Vec<&str> = pattern.split_whitespace().collect();
    let is_open = wanted.last() == Some(&"*") && wanted.len() > 1;
    if is_open {
        wanted.pop();
    }
    let said: Vec<Option<&str>> = std::iter::once(Some(name)).chain(words.iter().copied()).collect();
    if wanted.is_empty() || said.len() < wanted.len() || (!is_open && said.len() != wanted.len()) {
        return false;
    }
    wanted.iter().zip(&said).all(|(pattern, word)| word.is_some_and(|word| glob(pattern, word)))
}

fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| glob(after, &rest[at..]))
        }),
    }
}

/// Whether a word is this option; programs take the beginning of a long one for it.
fn is_called(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name == option || (name.len() > 3 && name.starts_with("--") && option.starts_with(name))
}

/// A reading command without any of the options that make it do more.
fn only_reads(name: &str, words: &[Word], more: &[&str]) -> Judged {
    for word in words.iter().filter(|word| word.may_be_option()) {
        let Some(text) = word.known().filter(|_| !word.splits) else {
            return Err(NotCovered(format!("it is not known what `{}` does to `{name}`", word.shown())));
        };
        let is_more = more.iter().any(|option| {
            is_called(text, option)
                // Letters of options stand together.
                || (option.len() == 2 && !text.starts_with("--") && name != "find" && text.contains(&option[1..]))
        });
        if is_more {
            return Err(NotCovered(format!("`{name} {text}` does more than read")));
        }
    }
    // What comes second is written.
    match name == "uniq" && words.iter().filter(|word| !is_option(word)).count() > 1 {
        true => Err(NotCovered("`uniq` with two files writes the second one".to_owned())),
        false => Ok(()),
    }
}

/// `sed -n '10,20p'`: nothing else, since its scripts can write and run.
fn sed(words: &[Word]) -> Judged {
    let shows = |script: &str| {
        let plain = script.strip_suffix('p').unwrap_or_default();
        !plain.is_empty() && plain.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | '+'))
    };
    let known: Vec<&str> = words.iter().filter_map(Word::known).collect();
    let is_plain = known.len() == words.len()
        && known.first() == Some(&"-n")
        && known.get(1).is_some_and(|script| script.split(';').all(|script| shows(script.trim())))
        && !known[2..].iter().any(|word| word.starts_with('-'));
    match is_plain {
        true => Ok(()),
        false => Err(NotCovered(
            "of `sed` only `sed -n 'FROM,TOp' FILE` is covered: change files with your own tools".to_owned(),
        )),
    }
}

fn git(judge: &Judge<'_>, words: &[Word], cwd: &str) -> Judged {
    // What follows `-m` is a text, whatever it is.
    let is_text = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words[before].known());
        !words[at].splits
            && (matches!(before, Some("-m" | "-am" | "--message")) || words[at].begins("--message="))
    };
    let is_clear = |(at, word): (usize, &Word)| {
        !word.may_be_option() || is_text(at) || (word.known().is_some() && !word.splits)
    };
    if !words.iter().enumerate().all(is_clear) {
        return Err(NotCovered("it is not known with which options git is called".to_owned()));
    }
    let mut at = 0;
    let text = |at: usize| words.get(at).and_then(Word::known);
    loop {
        match text(at) {
            Some("-C")
                if text(at + 1)
                    .is_some_and(|path| is_below(&absolute(path, cwd), &judge.granted.work_dir)) =>
            {
                at += 2;
            }
            Some("-c")
                if text(at + 1)
                    .is_some_and(|pair| pair.starts_with("user.") || pair == "commit.gpgsign=false") =>
            {
                at += 2;
            }
            Some(option) if PLAIN_OF_GIT.contains(&option) => at += 1,
            Some(option) if option.starts_with('-') => {
                return Err(NotCovered(format!("`git {option}` is not covered")));
            }
            _ => break,
        }
    }
    let Some(verb) = text(at) else { return Err(NotCovered("it is not known what git is to do".to_owned())) };
    if !judge.granted.set.git.iter().any(|allowed| allowed == verb) {
        return Err(NotCovered(format!("`git {verb}` is not covered")));
    }
    for option in words[at + 1..].iter().filter_map(Word::known).take_while(|word| *word != "--") {
        let is_pager = verb == "grep" && option.starts_with("-O");
        if is_pager || (verb != "commit" && MORE_OF_GIT.iter().any(|more| is_called(option, more))) {
            return Err(NotCovered(format!("`git {verb} {option}` is not covered")));
        }
    }
    Ok(())
}
