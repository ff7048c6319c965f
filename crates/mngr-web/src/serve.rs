//! The page from a server on this machine, for this user, until it is interrupted.
//!
//! Only the loopback interface is listened on, only who has the token is answered ([`gate`]), and only files that the
//! catalogue names are read. Pieces of a page are made when they are asked for and kept in a folder of our own, so
//! memory does not grow with what there is to show. The runtime is private: whoever calls is not asynchronous.

mod gate;
mod live;
mod raw;
mod routes;
mod site;
mod workshop;

use std::future::IntoFuture as _;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_host::random;
use mngr_model::HostPath;
use tokio::sync::oneshot;

use crate::catalogue::Catalogue;
use gate::Gate;
use site::Site;

/// How long work that is under way may hold up the end.
const GOODBYE: Duration = Duration::from_secs(2);

/// What to serve.
pub struct ServeRequest {
    /// Where the folder is.
    pub host: Arc<dyn Host>,
    /// The folder with runs.
    pub folder: HostPath,
    /// What is in it by now.
    pub catalogue: Catalogue,
    /// A folder that is not there yet, for pieces of the page. It is removed in the end.
    pub workshop: HostPath,
    /// The port; any free one without.
    pub port: Option<u16>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody else listens there.
    #[error("port {port} is in use")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// The port cannot be listened on.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] io::Error),
    /// The server broke down.
    #[error("cannot serve the page")]
    Serve(#[source] io::Error),
    /// There is no room for the pieces of the page.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// A server that listens, and does not answer yet.
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    folder: HostPath,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// When the port is taken, or the folder for pieces cannot be made.
    pub fn bind(request: ServeRequest) -> Result<Self, ServeError> {
        let ServeRequest { host, folder, catalogue, workshop, port } = request;
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).map_err(|source| {
                match (source.kind(), port) {
                    (io::ErrorKind::AddrInUse, Some(port)) => ServeError::PortInUse { port },
                    _ => ServeError::Listen(source),
                }
            })?;
        listener.set_nonblocking(true).map_err(ServeError::Listen)?;
        let port = listener.local_addr().map_err(ServeError::Listen)?.port();
        let gate = Gate::new(port, random::hex32());
        let site = Site::new(host, folder.to_string(), catalogue, workshop, gate)?;
        Ok(Self { listener, site: Arc::new(site), folder })
    }

    /// Where the page is, with the token that opens it.
    pub fn url(&self) -> String {
        self.site.gate.url()
    }

    /// Answers until the process is interrupted.
    ///
    /// # Errors
    /// When the server breaks down.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, site, folder } = self;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Serve)?;
        let (stop, stopped) = oneshot::channel();
        let follower = std::thread::spawn({
            let site = site.clone();
            move || live::follow(&site, &folder, stop)
        });
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let serving = axum::serve(listener, routes::router(site.clone())).into_future();
            tokio::select! {
                result = serving => result,
                _ = stopped => Ok(()),
            }
        });
        site.workshop.stop();
        // What is being made stops at its next piece; the folder can go only then.
        runtime.shutdown_timeout(GOODBYE);
        site.workshop.remove();
        // It ended the server, or ends with the process.
        if follower.is_finished() {
            let _ = follower.join();
        }
        served.map_err(ServeError::Serve)
    }
}
