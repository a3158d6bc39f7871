//! A local server of the Messages API with programmatic tool calling: scripts run in our sandboxes and pause on each call.
//!
//! It is as strict as the provider's, and speaks through a [`backend::Backend`]. docs/serve.md tells what is as there, what
//! is assumed and what is left out.

pub mod backend;
mod body;
mod cell;
mod connections;
mod containers;
mod conversation;
mod fields;
mod http;
mod messages;
mod refusal;
mod request;
mod tools;
mod turn;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use self::backend::Backend;
use self::body::Memory;
use self::containers::Containers;
use self::refusal::Refusal;
use self::request::Models;
use crate::model::anthropic::WITHOUT_PROGRAMMATIC_CALLING;
use crate::sandbox::Sandbox;

/// The versions of the API, of which the second refuses more. Source: its versioning page.
const VERSIONS: [&str; 2] = [OLDEST_VERSION, "2026-10-21"];
/// The version that is asked for in most examples.
const OLDEST_VERSION: &str = "2023-06-01";

/// Letters of the longest line of the log: refusals repeat what was sent, and cells write what they like.
const LONGEST_LINE: usize = 400;

/// How often containers are looked at whose time is over.
const SWEEP: Duration = Duration::from_secs(1);

/// What ends what. Sources: the provider's pages on code execution and programmatic tool calling; docs/serve.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a cell may compute; its waits for answers are not counted.
    pub cell: Duration,
    /// Bytes of memory of a container, beyond what an idle interpreter has.
    pub memory: u64,
    /// How long a call waits for its answer before it is a `TimeoutError` in the code.
    pub pending: Duration,
    /// How long a container lives that nobody uses.
    pub idle: Duration,
    /// How long any container lives.
    pub age: Duration,
    /// Containers there may be at once.
    pub containers: usize,
    /// Requests that are served at once; one more is answered with 529.
    pub requests: usize,
    /// How long a connection may take for the head of a request.
    pub head: Duration,
    /// How long a request may take for its body.
    pub body: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cell: Duration::from_secs(90),
            memory: 512 << 20,
            pending: Duration::from_secs(270),
            idle: Duration::from_secs(300),
            age: Duration::from_secs(30 * 24 * 60 * 60),
            containers: 100,
            requests: 100,
            head: Duration::from_secs(30),
            body: Duration::from_secs(60),
        }
    }
}

/// How a server is set up.
pub struct Setup {
    /// Who speaks.
    pub backend: Arc<dyn Backend>,
    /// Where cells run.
    pub sandbox: Arc<dyn Sandbox>,
    /// Names under which it is asked; the first is its own.
    pub models: Vec<String>,
    /// Keys that are let in. A container belongs to the key it was made with.
    pub tokens: Vec<String>,
    /// What ends what.
    pub limits: Limits,
    /// Hears of each request, and of what else happens, in a line.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

/// A server that listens.
pub struct Listening {
    listener: TcpListener,
    server: Arc<Server>,
}

/// What all requests share.
struct Server {
    backend: Arc<dyn Backend>,
    models: Vec<String>,
    tokens: Vec<String>,
    limits: Limits,
    containers: Containers,
    room: Semaphore,
    memory: Memory,
    /// Ends what is under way.
    ending: CancellationToken,
    log: Log,
}

/// Hears in a line what happens.
type Log = Arc<dyn Fn(&str) + Send + Sync>;

impl Listening {
    /// Takes the address.
    ///
    /// # Errors
    /// When it cannot be had.
    pub async fn open(address: SocketAddr, setup: Setup) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let Setup { backend, sandbox, models, tokens, limits, log } = setup;
        let log: Log = Arc::new(move |told| log(&told.chars().take(LONGEST_LINE).collect::<String>()));
        let (containers, room) = (Containers::new(sandbox, limits, Arc::clone(&log)), Semaphore::new(limits.requests));
        let ending = CancellationToken::new();
        let memory = Memory::new();
        let server = Arc::new(Server { backend, models, tokens, limits, containers, room, memory, ending, log });
        Ok(Self { listener, server })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped or `end` comes back; then all cells are ended.
    pub async fn serve(self, end: impl Future<Output = ()> + Send + 'static) {
        let Self { listener, server } = self;
        let sweeping = async {
            loop {
                tokio::time::sleep(SWEEP).await;
                server.containers.sweep();
            }
        };
        let routes = http::routes(Arc::clone(&server));
        tokio::select! {
            never = connections::serve(listener, routes, server.limits.head) => match never {},
            () = sweeping => {}
            () = end => {}
        }
        // Connections live on their own: what they have under way has to let go of its containers.
        server.ending.cancel();
        server.containers.close().await;
    }
}

impl Server {
    /// Room for the work of one request. One that is still on its way takes nobody's place.
    fn room(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.room.try_acquire().map_err(|_| Refusal::overloaded("as many requests are under way"))
    }
}

impl Models for Server {
    fn calls_from_code(&self, id: &str) -> Option<bool> {
        self.models.iter().any(|known| known == id).then(|| !id.starts_with(WITHOUT_PROGRAMMATIC_CALLING))
    }

    fn cell_time(&self) -> Duration {
        self.limits.cell
    }
}

/// A new name: `prefix_` and 24 letters that nobody guesses.
fn identifier(prefix: &str) -> String {
    format!("{prefix}_{}", secret(12))
}

/// So many random bytes, as hexadecimal digits.
pub fn secret(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    // Without random numbers there is no TLS, either, and no system of today is without.
    if getrandom::fill(&mut random).is_err() {
        std::process::abort();
    }
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}
