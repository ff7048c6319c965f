//! The server: one thread that accepts, one for each connection, and a record of what was asked.

use std::fmt;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::answer::{Answer, Ending};
use super::check::SafetyCheck;
use super::conversation::{self, Conversation};
use super::http::{self, Request};
use super::scenario::Scenario;
use super::wire::{Frame, Plain, Wire};
use crate::or_fail::OrFail;
use crate::wait_until;

/// A request that the server was sent.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// When it had been read.
    pub at: Instant,
    /// When the last byte of the answer was on its way; nothing while it is not, or if the answer was cut off.
    pub answered: Option<Instant>,
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// What the user said since the model spoke last, without the notes that agents add; empty after a tool
    /// has answered, several lines if messages had been waiting.
    pub user_text: String,
    /// What the model did; nothing if the request asked for something else than an answer, or for one beside
    /// the conversation, like a title.
    pub scenario: Option<Scenario>,
    /// The body; null if it was no JSON.
    pub body: Value,
}

impl Recorded {
    /// Everything the user said in the conversation so far, each message once: what the last request of a
    /// conversation says here is what has arrived.
    pub fn history(&self) -> Vec<String> {
        conversation::history(&self.body)
    }
}

/// A model on loopback whose answers a test decides.
///
/// ```no_run
/// use mngr_testkit::model::{ModelServer, Scenario};
///
/// let model = ModelServer::start();
/// model.set_scenario(Scenario::Ask);
/// println!("ANTHROPIC_BASE_URL={}", model.url());
/// ```
///
/// Dropping it hangs up on everyone and waits for its threads.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Wakes a connection that pauses in the middle of an answer.
    stopping: Condvar,
}

struct State {
    scenario: Scenario,
    check: SafetyCheck,
    plays: Vec<Play>,
    requests: Vec<Recorded>,
    connections: Vec<TcpStream>,
    stopped: bool,
}

/// What a play begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// The first message of a conversation.
    Conversation,
    /// Any message.
    Message,
}

/// The steps that follow a cue.
struct Play {
    opens: Opening,
    cue: String,
    steps: Vec<Scenario>,
}

impl ModelServer {
    /// Starts a server on a free port. It echoes until [`set_scenario`](Self::set_scenario) says otherwise.
    #[track_caller]
    pub fn start() -> Self {
        Self::start_on(0)
    }

    /// Starts a server on this port, for a caller that has to announce it beforehand.
    #[track_caller]
    pub fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).or_fail("listening on loopback");
        let address = listener.local_addr().or_fail("asking for the port of the model server");
        let state = State {
            scenario: Scenario::Echo,
            check: SafetyCheck::default(),
            plays: Vec::new(),
            requests: Vec::new(),
            connections: Vec::new(),
            stopped: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), stopping: Condvar::new() });
        let for_acceptor = Arc::clone(&shared);
        let acceptor = Some(thread::spawn(move || accept(&listener, &for_acceptor)));
        Self { address, shared, acceptor }
    }

    /// `http://127.0.0.1:PORT`, under which the paths begin with `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the model does with messages that do not choose for themselves.
    pub fn set_scenario(&self, scenario: Scenario) {
        self.shared.state().scenario = scenario;
    }

    /// What becomes of the check of tool calls that Claude Code's auto mode leaves to the server: passed unless told.
    pub fn set_check(&self, check: SafetyCheck) {
        self.shared.state().check = check;
    }

    /// What the model does in conversations whose first message contains `cue`: one step each time it is asked,
    /// whether a user or a tool spoke. After the last step it behaves as everywhere else.
    pub fn rehearse(&self, cue: impl Into<String>, steps: impl Into<Vec<Scenario>>) {
        self.learn(Opening::Conversation, cue.into(), steps.into());
    }

    /// The same from any message on that contains `cue`, until another one with a cue: several plays in one conversation.
    pub fn rehearse_scene(&self, cue: impl Into<String>, steps: impl Into<Vec<Scenario>>) {
        self.learn(Opening::Message, cue.into(), steps.into());
    }

    fn learn(&self, opens: Opening, cue: String, steps: Vec<Scenario>) {
        self.shared.state().plays.push(Play { opens, cue, steps });
    }

    /// All requests so far, in the order in which they were read.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// What users said to the model, in order: one entry for each time it was asked in a conversation.
    pub fn user_texts(&self) -> Vec<String> {
        let state = self.shared.state();
        let asked = state.requests.iter().filter(|request| request.scenario.is_some());
        asked.map(|request| request.user_text.clone()).filter(|text| !text.is_empty()).collect()
    }

    /// Waits until a user has said something that contains `text`, and says whether that happened.
    #[must_use = "nobody may have said it"]
    pub fn wait_for_user_text(&self, text: &str, limit: Duration) -> bool {
        wait_until(limit, || self.user_texts().iter().any(|said| said.contains(text)))
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.state().stopped = true;
        self.shared.stopping.notify_all();
        for connection in &self.shared.state().connections {
            // It may have been closed by the other side.
            let _ = connection.shutdown(Shutdown::Both);
        }
        // `accept` only looks up when someone calls.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            // It has nothing to report but its end.
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // What a failed thread left is still worth asserting on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The step of a play that the conversation has come to, if it is one that was rehearsed.
    fn step(&self, body: &Value, conversation: &Conversation) -> Option<Scenario> {
        if conversation.is_beside() {
            return None;
        }
        let state = self.state();
        let cued = |text: &str, opens: Opening| {
            state.plays.iter().find(|play| play.opens == opens && text.contains(&play.cue))
        };
        let newest = conversation::newest_cue(body, |text| cued(text, Opening::Message));
        let (play, answers) = match newest {
            Some(newest) => newest,
            None => {
                (cued(conversation::history(body).first()?, Opening::Conversation)?, conversation.answers)
            }
        };
        play.steps.get(answers).cloned()
    }

    /// Waits, and says whether the server still runs.
    fn pause(&self, time: Duration) -> bool {
        let guard = self.state();
        let waited = self.stopping.wait_timeout_while(guard, time, |state| !state.stopped);
        !waited.unwrap_or_else(PoisonError::into_inner).0.stopped
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for connection in listener.incoming() {
        let Ok(connection) = connection else { continue };
        let Ok(handle) = connection.try_clone() else { continue };
        {
            let mut state = shared.state();
            if state.stopped {
                break;
            }
            state.connections.push(handle);
        }
        let shared = Arc::clone(shared);
        threads.push(thread::spawn(move || {
            // An agent that hangs up in the middle, because its user interrupted it, is no failure.
            let _ = serve(&connection, &shared);
            // The handle kept for the end of the server would keep the connection open.
            let _ = connection.shutdown(Shutdown::Both);
        }));
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn serve(connection: &TcpStream, shared: &Shared) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    while let Some(request) = http::read_request(&mut reader)? {
        let (number, ending) = respond(connection, shared, request)?;
        if ending == Ending::Dropped {
            break;
        }
        if let Some(recorded) = shared.state().requests.get_mut(number - 1) {
            recorded.answered = Some(Instant::now());
        }
    }
    Ok(())
}

/// Answers one request and says which one it was, and whether the connection can be used for another.
fn respond(mut connection: &TcpStream, shared: &Shared, request: Request) -> io::Result<(usize, Ending)> {
    let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let Some(wire) = Wire::of(&request.method, &request.path) else {
        if request.method == "HEAD" {
            http::write_plain(&mut connection, 200, &[], b"")?;
        } else {
            write_plain(&mut connection, &beside(&request))?;
        }
        return Ok((record(shared, request, String::new(), None, body), Ending::Complete));
    };
    let conversation = Conversation::read(&body);
    let (scenario, answer) = match shared.step(&body, &conversation) {
        Some(step) => {
            let answer = Answer::step(&conversation, &step);
            (step, answer)
        }
        None => {
            // Of several messages the earlier ones may be left from a turn that the user interrupted.
            let chosen = conversation.said().last().and_then(|text| Scenario::in_message(text));
            let scenario = chosen.unwrap_or_else(|| shared.state().scenario.clone());
            let answer = Answer::to(&conversation, &scenario);
            (scenario, answer)
        }
    };
    let scenario = (!conversation.is_beside()).then_some(scenario);
    let number = record(shared, request, conversation.said().join("\n"), scenario, body.clone());
    match answer {
        Answer::Refusal(refusal) => write_plain(&mut connection, &wire.refuse(refusal))?,
        Answer::Speech(speech) if conversation.streamed => {
            let mut frames = wire.stream(&speech, number);
            let check = shared.state().check;
            check.answer(&body, &speech, number, &mut frames);
            let ending = write_stream(connection, shared, &frames, speech.ending)?;
            return Ok((number, ending));
        }
        Answer::Speech(speech) if speech.ending == Ending::Dropped => return Ok((number, Ending::Dropped)),
        Answer::Speech(speech) => write_plain(&mut connection, &wire.whole(&speech, number))?,
    }
    Ok((number, Ending::Complete))
}

/// What agents ask for beside answers. Nothing of it matters to them, but a failure would be shown or retried.
fn beside(request: &Request) -> Plain {
    let path = request.path.split('?').next().unwrap_or_default();
    match path {
        "/v1/messages/count_tokens" => Plain::ok(json!({"input_tokens": 10})),
        "/v1/models" => Plain::ok(json!({"object": "list", "data": [], "models": []})),
        _ if request.method == "GET" => Plain::ok(json!({})),
        _ => Plain { status: 404, ..Plain::ok(json!({"error": {"message": "no such thing"}})) },
    }
}

/// Notes the request and returns its number, counted from 1.
fn record(
    shared: &Shared,
    request: Request,
    user_text: String,
    scenario: Option<Scenario>,
    body: Value,
) -> usize {
    let Request { method, path, .. } = request;
    let mut state = shared.state();
    let at = Instant::now();
    state.requests.push(Recorded { at, answered: None, method, path, user_text, scenario, body });
    state.requests.len()
}

fn write_plain(to: &mut impl io::Write, plain: &Plain) -> io::Result<()> {
    http::write_plain(to, plain.status, &plain.headers, plain.body.to_string().as_bytes())
}

fn write_stream(
    mut connection: &TcpStream,
    shared: &Shared,
    frames: &[Frame],
    ending: Ending,
) -> io::Result<Ending> {
    http::write_stream_head(&mut connection)?;
    for frame in frames {
        if !frame.pause.is_zero() && !shared.pause(frame.pause) {
            return Ok(Ending::Dropped);
        }
        http::write_chunk(&mut connection, frame.text.as_bytes())?;
    }
    if ending == Ending::Complete {
        http::write_chunk(&mut connection, b"")?;
    }
    Ok(ending)
}

#[cfg(test)]
mod tests;
