//! The engine's API: requests and answers, and connections that become plain streams.
//!
//! What the answers mean is not known here. Budget: one connection for each request; one `ssh` for each engine behind ssh
//! whose socket is not forwarded yet.

mod download;
mod stream;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use mngr_host::allowance::SILENCE_LIMIT;
use mngr_host::remote::{SshError, SshLine, SshTarget};
use mngr_model::HostPath;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};

pub(crate) use download::{Download, Limits};
pub(crate) use stream::RawStream;

/// How long an answer may take, unless the request says otherwise.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long finding the engine may take.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// The engine could not do it.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Nobody answers there.
    #[error("the Docker engine `{endpoint}` cannot be reached")]
    Unreachable {
        /// Its address.
        endpoint: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The way there by ssh cannot be set up.
    #[error("the Docker engine `{endpoint}` cannot be reached by ssh")]
    Ssh {
        /// Its address.
        endpoint: String,
        /// Why.
        #[source]
        source: Box<SshError>,
    },
    /// It answers and says no.
    #[error("the Docker engine refused: {message}")]
    Refused {
        /// The status of its answer.
        status: u16,
        /// What it says.
        message: String,
    },
    /// The connection ended, or spoke no HTTP.
    #[error("the connection to the Docker engine failed")]
    Link {
        /// Why.
        #[source]
        source: hyper::Error,
    },
    /// No answer came in time. What was asked may have been done.
    #[error("the Docker engine did not answer within {:.0} s", after.as_secs_f32())]
    Late {
        /// How long it was given.
        after: Duration,
    },
    /// The answer is not what the API promises.
    #[error("the Docker engine gave an answer that cannot be read")]
    Answer {
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The request cannot be written down.
    #[error("a request to the Docker engine cannot be made")]
    Request {
        /// Why.
        #[source]
        source: hyper::http::Error,
    },
    /// This machine gives us no means to wait for an answer.
    #[error("the system gives no means to speak to the Docker engine")]
    System {
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl EngineError {
    /// Whether what was named is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

/// Where connections go to.
#[derive(Debug, Clone)]
enum Dial {
    Unix(String),
    Tcp(String),
}

/// An engine that can be asked. Blocking; may be shared by threads.
#[derive(Debug)]
pub struct EngineClient {
    endpoint: String,
    dial: Dial,
    runtime: Runtime,
    /// How long it may be silent.
    limit: Duration,
    /// When it was last found to be silent: nobody asks it again at once.
    given_up: Mutex<Option<Instant>>,
}

impl EngineClient {
    /// A client for the engine there. Only an engine behind ssh is connected now: its socket is forwarded to one in
    /// the folder `links`, by a connection that outlives us.
    ///
    /// # Errors
    /// When ssh cannot reach its machine.
    pub fn open(endpoint: &crate::Endpoint, links: &HostPath) -> Result<Self, EngineError> {
        let text = endpoint.to_string();
        let dial = match endpoint {
            crate::Endpoint::Unix { path } => Dial::Unix(path.clone()),
            crate::Endpoint::Tcp { address } => Dial::Tcp(address.clone()),
            crate::Endpoint::Ssh { user, host, port, socket } => {
                let target = SshTarget {
                    name: host.clone(),
                    address: host.clone(),
                    user: user.clone(),
                    port: *port,
                    ..SshTarget::default()
                };
                let forward = || SshLine::open(target, links)?.forward(socket);
                let local = forward().map_err(|source| EngineError::Ssh {
                    endpoint: text.clone(),
                    source: Box::new(source),
                })?;
                Dial::Unix(local.to_string())
            }
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| EngineError::System { source })?;
        Ok(Self { endpoint: text, dial, runtime, limit: SILENCE_LIMIT, given_up: Mutex::default() })
    }

    /// The same engine, which may be silent for this long.
    #[must_use]
    pub(crate) fn with_silence_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// The address by which other programs of this machine reach the engine, as `DOCKER_HOST` spells it.
    pub(crate) fn docker_host(&self) -> String {
        match &self.dial {
            Dial::Unix(path) => format!("unix://{path}"),
            Dial::Tcp(address) => format!("tcp://{address}"),
        }
    }

    /// Asks for something.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, EngineError> {
        let bytes = self.ask(Method::GET, path, None, DEADLINE)?;
        serde_json::from_slice(&bytes).map_err(|source| EngineError::Answer { source })
    }

    /// Whether it answers at all.
    pub(crate) fn ping(&self) -> Result<(), EngineError> {
        self.ask(Method::GET, "/_ping", None, DEADLINE).map(drop)
    }

    /// Asks for something long, which is read piece by piece.
    pub(crate) fn download(&self, path: &str, limits: Limits) -> Result<Download<'_>, EngineError> {
        let request = request(Method::GET, path, None)?;
        let body = self.within(DEADLINE, async {
            let answer = self.send(request).await?;
            if !answer.status().is_success() {
                return Err(refusal(answer).await);
            }
            Ok(answer.into_body())
        })?;
        Ok(Download::new(&self.runtime, body, limits))
    }

    /// Has something made or done, and reads what came of it.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        deadline: Duration,
    ) -> Result<T, EngineError> {
        let bytes = self.ask(Method::POST, path, Some(body), deadline)?;
        serde_json::from_slice(&bytes).map_err(|source| EngineError::Answer { source })
    }

    /// Has something done that has no answer.
    pub(crate) fn order(&self, path: &str, deadline: Duration) -> Result<(), EngineError> {
        self.ask(Method::POST, path, None, deadline).map(drop)
    }

    /// Has something done that needs to be described and has no answer.
    pub(crate) fn order_with(&self, path: &str, body: &Value, deadline: Duration) -> Result<(), EngineError> {
        self.ask(Method::POST, path, Some(body), deadline).map(drop)
    }

    /// Has something removed. What is not there is removed.
    pub(crate) fn delete(&self, path: &str) -> Result<(), EngineError> {
        match self.ask(Method::DELETE, path, None, DEADLINE) {
            Err(error) if error.is_absent() => Ok(()),
            other => other.map(drop),
        }
    }

    /// Has something started whose input and output come over the connection itself.
    pub(crate) fn hijack(&self, path: &str, body: &Value) -> Result<RawStream, EngineError> {
        let mut request = request(Method::POST, path, Some(body))?;
        let headers = request.headers_mut();
        headers.insert(header::CONNECTION, header::HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, header::HeaderValue::from_static("tcp"));
        self.within(DEADLINE, async {
            let answer = self.send(request).await?;
            if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
                return Err(refusal(answer).await);
            }
            let upgraded = hyper::upgrade::on(answer).await.map_err(|source| EngineError::Link { source })?;
            RawStream::take(upgraded).map_err(|source| EngineError::System { source })
        })
    }

    fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<Bytes, EngineError> {
        let request = request(method, path, body)?;
        self.within(deadline, async {
            let answer = self.send(request).await?;
            // "Not modified" is how the engine says that it is already so.
            if !answer.status().is_success() && answer.status() != StatusCode::NOT_MODIFIED {
                return Err(refusal(answer).await);
            }
            let body = answer.into_body().collect().await.map_err(|source| EngineError::Link { source })?;
            Ok(body.to_bytes())
        })
    }

    fn within<T>(
        &self,
        after: Duration,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        self.check_not_given_up()?;
        // The limit is made inside: a timer belongs to a runtime.
        self.runtime.block_on(async {
            let mut work = pin!(work);
            let began = Instant::now();
            loop {
                let left = after.saturating_sub(began.elapsed());
                if left.is_zero() {
                    return Err(EngineError::Late { after });
                }
                if let Ok(done) = tokio::time::timeout(left.min(self.limit / 2), &mut work).await {
                    return done;
                }
                // What was asked for may take its time; an engine that lives answers beside it.
                if !self.answers().await {
                    *self.given_up.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                    return Err(EngineError::Late { after: began.elapsed() });
                }
            }
        })
    }

    /// Whether it answers the smallest of all questions.
    async fn answers(&self) -> bool {
        let Ok(ping) = request(Method::GET, "/_ping", None) else { return true };
        tokio::time::timeout(self.limit / 2, self.send(ping)).await.is_ok_and(|answer| answer.is_ok())
    }

    /// An engine that was silent is not asked again for as long as it was waited for.
    fn check_not_given_up(&self) -> Result<(), EngineError> {
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        given_up.take_if(|since| since.elapsed() >= self.limit);
        if given_up.is_some() { Err(EngineError::Late { after: self.limit }) } else { Ok(()) }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, EngineError> {
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let unreachable = |source| EngineError::Unreachable { endpoint: self.endpoint.clone(), source };
        match &self.dial {
            Dial::Unix(path) => {
                let connected = tokio::time::timeout(CONNECT_DEADLINE, UnixStream::connect(path)).await;
                exchange(connected.map_err(late).flatten().map_err(unreachable)?, request).await
            }
            Dial::Tcp(address) => {
                let connected = tokio::time::timeout(CONNECT_DEADLINE, TcpStream::connect(address)).await;
                exchange(connected.map_err(late).flatten().map_err(unreachable)?, request).await
            }
        }
    }
}

fn request(method: Method, path: &str, body: Option<&Value>) -> Result<Request<Full<Bytes>>, EngineError> {
    let text = body.map_or_else(String::new, Value::to_string);
    // Without a version in the path the engine speaks its own: the fields used here are the same in all of them.
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "docker")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(text)))
        .map_err(|source| EngineError::Request { source })
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, EngineError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let link = |source| EngineError::Link { source };
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(link)?;
    tokio::spawn(connection.with_upgrades());
    sender.send_request(request).await.map_err(link)
}

async fn refusal(answer: Response<Incoming>) -> EngineError {
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let said = serde_json::from_slice::<Value>(&bytes).ok();
    let message = said.as_ref().and_then(|said| said.get("message")?.as_str());
    let message = message.map_or_else(|| String::from_utf8_lossy(&bytes).into_owned(), str::to_owned);
    // Parts of it may come from an image or a registry.
    EngineError::Refused { status, message: message.chars().filter(|c| !c.is_control()).take(500).collect() }
}

/// A word as a part of a path or a query.
pub(crate) fn encoded(word: &str) -> String {
    word.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_leave_their_place_in_a_path() {
        assert_eq!(encoded("../a b?x=1&y"), "..%2Fa%20b%3Fx%3D1%26y");
        assert_eq!(encoded("mngr-x_1.2"), "mngr-x_1.2");
    }

    #[test]
    fn an_engine_that_is_not_there_is_named() {
        let endpoint = "unix:///nowhere/docker.sock".parse().unwrap();
        let client = EngineClient::open(&endpoint, &HostPath::new("/nowhere")).unwrap();
        let error = client.get::<Value>("/version").unwrap_err();
        assert_eq!(error.to_string(), "the Docker engine `unix:///nowhere/docker.sock` cannot be reached");
    }
}
