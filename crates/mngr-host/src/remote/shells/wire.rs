//! What travels between us and a shell on another machine: bytes out, answers in. No process and no clock.
//!
//! The other side is not trusted: whatever comes is limited, and what is no answer to our question is none.

use mngr_model::quote::sh_join;

use std::io;

use super::Request;
use crate::proc::{self, Capture, Exit, Hearing, Keep, Kept, KeptFiles, Leftovers, Stream};
use crate::random;
use crate::remote::script::without_comments;

/// The loop that the shell runs.
const LOOP: &str = include_str!("../loop.sh");
/// How much a login shell may print before it runs our line.
const MOST_NOISE: usize = 1 << 20;
/// The first line of an answer is shorter.
const MOST_HEADER: usize = 1024;
/// An honest answer is shorter: files of that size are read in pieces or copied in other ways.
pub(in crate::remote) const MOST_OUTPUT: usize = proc::MOST_OUTPUT;

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
    /// The lock under which it was to run is not held any more.
    Unlocked,
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
            Self::Unlocked => "unlocked",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let all = [Self::NoProgram, Self::NoFolder, Self::Denied, Self::Full, Self::Short, Self::Unlocked];
        all.into_iter().find(|obstacle| obstacle.word() == word)
    }

    /// Whether the shell can be used again.
    pub(super) fn leaves_the_shell(self) -> bool {
        matches!(self, Self::NoProgram | Self::NoFolder | Self::Denied | Self::Unlocked)
    }
}

/// An answer as it came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// Where the whole of both is, if it was too much.
    pub(super) files: KeptFiles,
    /// Why that could not be written.
    pub(super) problem: Option<io::ErrorKind>,
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
    /// What comes behind the header is kept here, if it may be more than memory should hold.
    body: Option<Body>,
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

/// The outputs of an answer on their way to where they are kept.
#[derive(Debug)]
struct Body {
    capture: Capture,
    taken: usize,
}

impl Body {
    /// Standard output comes first, and then standard error.
    fn take(&mut self, header: &Header, bytes: &[u8]) {
        let (out, err) = bytes.split_at(header.out.saturating_sub(self.taken).min(bytes.len()));
        for (stream, bytes) in [(Stream::Stdout, out), (Stream::Stderr, err)] {
            if !bytes.is_empty() {
                self.capture.take(stream, bytes);
            }
        }
        self.taken += bytes.len();
    }
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
            body: None,
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
    pub(super) fn expect(&mut self, nonce: &str, kept_output: Option<usize>, keep: Option<&Keep>) {
        nonce.clone_into(&mut self.nonce);
        self.is_taken = false;
        self.body = keep.map(|keep| Body { capture: Capture::new(keep), taken: 0 });
        self.most = match keep {
            Some(_) => usize::MAX,
            None => kept_output.map_or(MOST_OUTPUT, |each| each.saturating_mul(2)).min(MOST_OUTPUT),
        };
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) -> Hearing {
        match (&self.header, &mut self.body) {
            (Some(header), Some(body)) => body.take(header, bytes),
            _ => {
                self.heard.extend_from_slice(bytes);
                self.understand();
                if let (Some(header), Some(body)) = (&self.header, &mut self.body) {
                    body.take(header, &self.heard.split_off(header.start.min(self.heard.len())));
                }
            }
        }
        let is_whole = self.header.is_some_and(|header| self.heard_in_all() >= header.end());
        if is_whole || self.is_garbled { Hearing::Enough } else { Hearing::More }
    }

    /// The answer, once it is whole; nothing when it was none.
    pub(super) fn take(&mut self) -> Option<Answer> {
        let heard = self.heard_in_all();
        let header = self.header.take().filter(|header| heard == header.end())?;
        if let Some(Body { capture, .. }) = self.body.take() {
            self.heard.clear();
            let (status, obstacle) = (header.status, header.obstacle);
            return Some(match capture.finish(Exit::Code(status)) {
                Ok(Kept { output, files }) => {
                    let (stdout, stderr) = (output.stdout, output.stderr);
                    Answer { status, stdout, stderr, files, problem: None, obstacle }
                }
                Err(error) => {
                    let (files, problem) = (KeptFiles::default(), Some(error.kind()));
                    Answer { status, stdout: Vec::new(), stderr: Vec::new(), files, problem, obstacle }
                }
            });
        }
        let mut stdout = std::mem::take(&mut self.heard).split_off(header.start);
        let stderr = stdout.split_off(header.out);
        let Header { status, obstacle, .. } = header;
        Some(Answer { status, stdout, stderr, files: KeptFiles::default(), problem: None, obstacle })
    }

    /// How many bytes came since the answer began.
    fn heard_in_all(&self) -> usize {
        self.heard.len() + self.body.as_ref().map_or(0, |body| body.taken)
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
        listener.expect("n1", Some(1000), None);
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
        listener.expect("n2", None, None);
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
    fn a_long_answer_goes_to_files_as_it_comes() {
        let dir = tempfile::tempdir().unwrap();
        let folder = mngr_model::HostPath::new(dir.path().to_str().unwrap());
        let mut listener = Listener::new("me");
        listener.expect("n1", None, Some(&Keep { bytes: 3, folder, name: "x".to_owned() }));
        for byte in b"me ready\nn1 3 5 2 none\nabcdefg" {
            let _ = listener.hear(&[*byte]);
        }
        let answer = listener.take().unwrap();
        assert_eq!(
            (answer.status, answer.stdout.as_slice(), answer.stderr.as_slice()),
            (3, &b"abc"[..], &b""[..])
        );
        let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
        assert_eq!((read("x.stdout"), read("x.stderr")), (b"abcde".to_vec(), b"fg".to_vec()));
        listener.expect("n2", None, None);
        assert_eq!(listener.hear(b"n2 0 2 0 none\nhi"), Hearing::Enough);
        assert_eq!(listener.take().unwrap().stdout, b"hi");
    }

    #[test]
    fn endless_noise_is_given_up() {
        assert_eq!(listener().hear(&vec![b'x'; MOST_NOISE + 1]), Hearing::Enough);
        let mut endless_header = listener();
        endless_header.hear(b"me ready\n");
        assert_eq!(endless_header.hear(&[b'1'; MOST_HEADER + 1]), Hearing::Enough);
    }
}
