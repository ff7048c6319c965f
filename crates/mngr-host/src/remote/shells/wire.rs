//! What travels between us and a shell on another machine: bytes out, answers in. No process and no clock.
//!
//! The other side is not trusted: whatever comes is limited, and what is no answer to our question is none.

use mngr_model::quote::sh_join;

use super::Request;
use crate::proc::{Hearing, Leftovers};
use crate::random;
use crate::remote::script::without_comments;

/// The loop that the shell runs.
const LOOP: &str = include_str!("../loop.sh");
/// How much a login shell may print before it runs our line.
const MOST_NOISE: usize = 1 << 20;
/// The first line of an answer is shorter.
const MOST_HEADER: usize = 1024;
/// An honest answer is shorter: files of that size are read in pieces or copied in other ways.
pub(in crate::remote) const MOST_OUTPUT: usize = 256 << 20;

/// Why a script did not run what it was to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::remote) enum Obstacle {
    /// There is no such program.
    NoProgram,
    /// There is no such folder.
    NoFolder,
    /// It is there but may not be used.
    Denied,
    /// There is no room for its script or input.
    Full,
    /// Its input did not arrive as a whole.
    Short,
    /// There is no folder in which the shell may keep what it needs.
    Nowhere,
}

impl Obstacle {
    /// The word for it in scripts and answers.
    pub(in crate::remote) fn word(self) -> &'static str {
        match self {
            Self::NoProgram => "program",
            Self::NoFolder => "folder",
            Self::Denied => "denied",
            Self::Full => "full",
            Self::Short => "short",
            Self::Nowhere => "nowhere",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let all = [Self::NoProgram, Self::NoFolder, Self::Denied, Self::Full, Self::Short];
        all.into_iter().find(|obstacle| obstacle.word() == word)
    }

    /// Whether the shell can be used again.
    pub(super) fn leaves_the_shell(self) -> bool {
        matches!(self, Self::NoProgram | Self::NoFolder | Self::Denied)
    }
}

/// An answer as it came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) obstacle: Option<Obstacle>,
}

/// The line that a login shell is given: it reads a script from standard input, which stays open for the script. Not a
/// word of it means anything else to csh or fish, and nothing is looked up in a user's files.
pub(super) fn entry_line(shell: &str) -> String {
    // The third character of a shell's own IFS is a newline, which csh would not take inside quotes.
    let read = "newline=${IFS#??}; script=; IFS= read -r end; \
                while IFS= read -r line; do case $line in $end) break;; esac; script=$script$line$newline; done; \
                eval \"$script\"";
    format!("exec {shell} -c '{read}'")
}

/// A script as [`entry_line`] reads it.
pub(super) fn entry_script(script: &str) -> String {
    // No line of the script can be this one.
    let end = random::hex32();
    format!("{end}\n{script}\n{end}\n")
}

/// What a new shell is told first.
pub(super) fn greeting(id: &str, shell: &str) -> String {
    entry_script(&format!("id={id}\nshell={}\n{}", sh_join([shell]), without_comments(LOOP)))
}

/// The lines every script begins with: it names its process group, or ends before it began if it is not wanted any more.
fn opening_lines(nonce: &str) -> String {
    format!("[ -s \"${{0%/*}}/stop\" ] && exit 1\necho {nonce} $$ >\"${{0%/*}}/pid\"\n")
}

/// A request as it is sent.
pub(super) fn request_bytes(nonce: &str, request: &Request<'_>) -> Vec<u8> {
    let mut script = opening_lines(nonce) + &request.script;
    if !script.ends_with('\n') {
        script.push('\n');
    }
    let lines = script.bytes().filter(|byte| *byte == b'\n').count();
    let keep = request.kept_output.map_or(-1, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    let leftovers = match request.leftovers {
        Leftovers::Spare => "spare",
        Leftovers::End => "end",
    };
    let mut bytes = format!("{nonce} {lines} {} {keep} {leftovers}\n", request.input.len()).into_bytes();
    bytes.extend_from_slice(script.as_bytes());
    bytes.extend_from_slice(request.input);
    bytes
}

/// Collects the bytes of an answer.
#[derive(Debug)]
pub(super) struct Listener {
    /// What the shell says first, until it has said it.
    welcome: Option<String>,
    refusal: String,
    nonce: String,
    /// How much both outputs may be.
    most: usize,
    heard: Vec<u8>,
    header: Option<Header>,
    /// The shell has the whole request and runs it.
    is_taken: bool,
    /// What came was no answer: the rest means nothing.
    is_garbled: bool,
}

#[derive(Debug, Clone, Copy)]
struct Header {
    start: usize,
    status: i32,
    out: usize,
    err: usize,
    obstacle: Option<Obstacle>,
}

impl Header {
    fn end(&self) -> usize {
        self.start + self.out + self.err
    }
}

impl Listener {
    pub(super) fn new(id: &str) -> Self {
        Self {
            welcome: Some(format!("{id} ready\n")),
            refusal: format!("{id} nowhere\n"),
            nonce: String::new(),
            most: MOST_OUTPUT,
            heard: Vec::new(),
            header: None,
            is_taken: false,
            is_garbled: false,
        }
    }

    /// Whether the shell was ever heard.
    pub(super) fn is_greeted(&self) -> bool {
        self.welcome.is_none()
    }

    /// Whether the shell has said that it runs the request.
    pub(super) fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// What came that was no answer.
    pub(super) fn noise(&self) -> String {
        String::from_utf8_lossy(&self.heard).into_owned()
    }

    /// The next answer is to this, and keeps to what was asked for.
    pub(super) fn expect(&mut self, nonce: &str, kept_output: Option<usize>) {
        nonce.clone_into(&mut self.nonce);
        self.is_taken = false;
        self.most = kept_output.map_or(MOST_OUTPUT, |each| each.saturating_mul(2)).min(MOST_OUTPUT);
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) -> Hearing {
        self.heard.extend_from_slice(bytes);
        self.understand();
        let is_whole = self.header.is_some_and(|header| self.heard.len() >= header.end());
        if is_whole || self.is_garbled { Hearing::Enough } else { Hearing::More }
    }

    /// The answer, once it is whole; nothing when it was none.
    pub(super) fn take(&mut self) -> Option<Answer> {
        let header = self.header.take().filter(|header| self.heard.len() == header.end())?;
        let mut stdout = std::mem::take(&mut self.heard).split_off(header.start);
        let stderr = stdout.split_off(header.out);
        Some(Answer { status: header.status, stdout, stderr, obstacle: header.obstacle })
    }

    fn understand(&mut self) {
        if let Some(welcome) = &self.welcome {
            if let Some(end) = end_of(&self.heard, welcome.as_bytes()) {
                self.heard.drain(..end);
                self.welcome = None;
            } else if end_of(&self.heard, self.refusal.as_bytes()).is_some() {
                let obstacle = Some(Obstacle::Nowhere);
                self.heard.clear();
                self.header = Some(Header { start: 0, status: 126, out: 0, err: 0, obstacle });
                return;
            } else {
                self.is_garbled = self.heard.len() > MOST_NOISE;
                return;
            }
        }
        let receipt = format!("{} taken\n", self.nonce);
        if self.header.is_none() && !self.is_taken && self.heard.starts_with(receipt.as_bytes()) {
            self.is_taken = true;
            self.heard.drain(..receipt.len());
        }
        if self.header.is_none() {
            match self.heard.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.header = read_header(&self.heard[..end], &self.nonce, self.most, end + 1);
                    self.is_garbled = self.header.is_none();
                }
                None => self.is_garbled = self.heard.len() > MOST_HEADER,
            }
        }
    }
}

fn end_of(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part).map(|start| start + part.len())
}

fn read_header(line: &[u8], nonce: &str, most: usize, start: usize) -> Option<Header> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    (words.next()? == nonce).then_some(())?;
    let status = words.next()?.parse().ok()?;
    let out: usize = words.next()?.parse().ok()?;
    let err: usize = words.next()?.parse().ok()?;
    let obstacle = Obstacle::parse(words.next()?);
    (out.checked_add(err)? <= most).then_some(Header { start, status, out, err, obstacle })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener() -> Listener {
        let mut listener = Listener::new("me");
        listener.expect("n1", Some(1000));
        listener
    }

    #[test]
    fn an_answer_is_found_behind_noise_and_in_pieces() {
        let mut listener = listener();
        let text = b"Welcome to box\nme ready\nn1 3 2 4 none\nabcdef";
        for byte in &text[..text.len() - 1] {
            assert_eq!(listener.hear(&[*byte]), Hearing::More);
        }
        assert_eq!(listener.hear(b"f"), Hearing::Enough);
        let answer = listener.take().unwrap();
        assert_eq!(
            (answer.status, answer.stdout.as_slice(), answer.stderr.as_slice()),
            (3, &b"ab"[..], &b"cdef"[..])
        );
    }

    #[test]
    fn a_receipt_tells_that_the_request_runs_and_is_no_part_of_the_answer() {
        let mut listener = listener();
        assert_eq!(listener.hear(b"me ready\nn1 tak"), Hearing::More);
        assert!(!listener.is_taken());
        assert_eq!(listener.hear(b"en\n"), Hearing::More);
        assert!(listener.is_taken());
        assert_eq!(listener.hear(b"n1 0 2 0 none\nab"), Hearing::Enough);
        assert_eq!(listener.take().unwrap().stdout, b"ab");
        listener.expect("n2", None);
        assert!(!listener.is_taken());
    }

    #[test]
    fn what_is_no_answer_to_our_question_is_none() {
        for text in [
            "me ready\nn2 0 0 0 none\n",
            "me ready\nn1 0 0\n",
            "me ready\nn1 0 99999999999 0 none\n",
            "me ready\nn1 0 1000 1001 none\n",
            "me ready\nn1 0 1 0 none\nab",
            "me ready\nhello\n",
        ] {
            let mut listener = listener();
            assert_eq!(listener.hear(text.as_bytes()), Hearing::Enough, "{text}");
            assert_eq!(listener.take(), None, "{text}");
        }
    }

    #[test]
    fn endless_noise_is_given_up() {
        assert_eq!(listener().hear(&vec![b'x'; MOST_NOISE + 1]), Hearing::Enough);
        let mut endless_header = listener();
        endless_header.hear(b"me ready\n");
        assert_eq!(endless_header.hear(&[b'1'; MOST_HEADER + 1]), Hearing::Enough);
    }
}
