//! The protocol's bottom: JSON-RPC messages, each a WebSocket text, over a socket.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use mngr_host::socket::{Connection, Sockets};
use mngr_model::HostPath;
use serde_json::{Value, json};
use tungstenite::{HandshakeError, Message, WebSocket};

use super::ServerError;

/// A connection on which somebody asks.
pub(super) struct Client {
    line: WebSocket<Box<dyn Connection>>,
    /// The number of the last request.
    last: u64,
    /// What came and was no answer: notifications, and requests of the server.
    others: VecDeque<Value>,
    /// When patience ends.
    until: Instant,
}

impl Client {
    /// Connects and says who asks.
    pub(super) fn connect(
        sockets: &dyn Sockets,
        path: &HostPath,
        patience: Duration,
    ) -> Result<Self, ServerError> {
        let until = Instant::now() + patience;
        let connection = sockets.connect(path, patience)?;
        let (line, _) = tungstenite::client("ws://localhost/", connection).map_err(|error| match error {
            HandshakeError::Failure(error) => ServerError::Line(Box::new(error)),
            HandshakeError::Interrupted(_) => ServerError::Line(Box::new(overdue())),
        })?;
        let mut client = Self { line, last: 0, others: VecDeque::new(), until };
        let info = json!({ "name": "mngr", "title": "mngr", "version": env!("CARGO_PKG_VERSION") });
        let capabilities = json!({ "experimentalApi": true, "requestAttestation": false });
        client.call("initialize", json!({ "clientInfo": info, "capabilities": capabilities }))?;
        client.send(&json!({ "method": "initialized" }))?;
        Ok(client)
    }

    /// Gives whoever asks on this connection this much more time, from now on.
    pub(super) fn be_patient(&mut self, patience: Duration) {
        self.until = Instant::now() + patience;
    }

    /// Asks one thing.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<Value, ServerError> {
        let mut answers = self.call_all(vec![(method, params)])?;
        answers.pop().unwrap_or(Err(ServerError::NotUnderstood))
    }

    /// Asks several things at once: one round trip. The answers come in the order of the questions.
    pub(super) fn call_all(
        &mut self,
        calls: Vec<(&str, Value)>,
    ) -> Result<Vec<Result<Value, ServerError>>, ServerError> {
        let first = self.last + 1;
        for (method, params) in &calls {
            self.last += 1;
            self.send(&json!({ "id": self.last, "method": method, "params": params }))?;
        }
        let mut answers: Vec<Option<Result<Value, ServerError>>> = calls.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            let message = self.receive()?;
            let is_answer = message.get("method").is_none();
            let place = message.get("id").and_then(Value::as_u64).filter(|id| is_answer && *id >= first);
            match place.and_then(|id| answers.get_mut(usize::try_from(id - first).ok()?)) {
                Some(slot) => *slot = Some(answer_in(message)),
                None => self.others.push_back(message),
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Answers a request of the server.
    pub(super) fn answer(&mut self, id: &Value, result: &Value) -> Result<(), ServerError> {
        self.send(&json!({ "id": id, "result": result }))
    }

    /// The next notification or request of the server.
    pub(super) fn next(&mut self) -> Result<Value, ServerError> {
        match self.others.pop_front() {
            Some(message) => Ok(message),
            None => self.receive(),
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), ServerError> {
        self.await_no_longer()?;
        self.line.send(Message::text(message.to_string())).map_err(|error| ServerError::Line(Box::new(error)))
    }

    fn receive(&mut self) -> Result<Value, ServerError> {
        loop {
            self.await_no_longer()?;
            let message = self.line.read().map_err(|error| ServerError::Line(Box::new(error)))?;
            // Any other is a control message: answered by the library, or nothing to us.
            let Message::Text(text) = message else { continue };
            return serde_json::from_str(&text).map_err(|_| ServerError::NotUnderstood);
        }
    }

    /// However much the server says, it is not listened to for longer than was granted.
    fn await_no_longer(&self) -> Result<(), ServerError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ServerError::Line(Box::new(overdue())));
        }
        self.line.get_ref().set_patience(left).map_err(|error| ServerError::Line(Box::new(error.into())))
    }
}

fn overdue() -> tungstenite::Error {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

fn answer_in(mut message: Value) -> Result<Value, ServerError> {
    if let Some(error) = message.get("error") {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("without a reason");
        return Err(ServerError::Refused { message: message.to_owned() });
    }
    message.get_mut("result").map(Value::take).ok_or(ServerError::NotUnderstood)
}
