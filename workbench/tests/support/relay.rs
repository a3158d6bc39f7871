//! A socket that stands before the engine's own, and can fail as an engine does: gone, cut off in the middle, answering one
//! request with an error, or passing over what a container is to be held to.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

/// What an engine answers instead of serving a request.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    /// A part of the request's first line, such as `/containers/create`.
    pub(crate) request: &'static str,
    /// The status line's code and words.
    pub(crate) status: &'static str,
    /// Its message.
    pub(crate) message: &'static str,
}

/// Requests whose connection breaks instead of bringing an answer, as do those that were kept and have broken since.
#[derive(Clone, Copy)]
pub(crate) struct Breaks {
    /// A part of the request's first line.
    pub(crate) request: &'static str,
    /// How many of them.
    pub(crate) times: usize,
}

/// What requests say, and what the engine reads instead, which has the same length: that stands in their heads.
pub(crate) type Losses = &'static [(&'static str, &'static str)];

/// The socket; gone when this is dropped.
pub(crate) struct Relay {
    folder: TempDir,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    connections: Vec<UnixStream>,
    refusal: Option<Refusal>,
    losses: Losses,
    breaks: Option<Breaks>,
    gone: bool,
}

impl State {
    fn breaks_at(&mut self, first_line: &str) -> bool {
        let Some(breaks) = self.breaks.as_mut().filter(|breaks| first_line.contains(breaks.request)) else {
            return false;
        };
        let breaks_now = breaks.times > 0;
        breaks.times = breaks.times.saturating_sub(1);
        breaks_now
    }

    fn cut(&mut self) {
        for connection in self.connections.drain(..) {
            let _already_gone = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Relay {
    /// Before the socket at `engine`.
    pub(crate) fn before(engine: &Path) -> Self {
        let relay = Self { folder: tempfile::tempdir().unwrap(), state: Arc::default() };
        let listener = UnixListener::bind(relay.path()).unwrap();
        let (engine, state) = (engine.to_owned(), Arc::clone(&relay.state));
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let mut state_now = state.lock().unwrap();
                if state_now.gone {
                    continue;
                }
                let server = UnixStream::connect(&engine).unwrap();
                for stream in [&client, &server] {
                    state_now.connections.push(stream.try_clone().unwrap());
                }
                drop(state_now);
                let (back_from, back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || carry(back_from, back_to, None));
                let state = Arc::clone(&state);
                thread::spawn(move || carry(client, server, Some(&state)));
            }
        });
        relay
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("engine.sock")
    }

    /// As `DOCKER_HOST` names it.
    pub(crate) fn address(&self) -> String {
        format!("unix://{}", self.path().display())
    }

    /// The engine is gone, and with it every connection.
    pub(crate) fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.gone = true;
        state.cut();
    }

    /// Every connection breaks; new ones are served.
    pub(crate) fn cut(&self) {
        self.state.lock().unwrap().cut();
    }

    /// Every connection breaks, and so do those of the next requests of one kind.
    pub(crate) fn cut_again(&self, breaks: Breaks) {
        let mut state = self.state.lock().unwrap();
        state.breaks = Some(breaks);
        state.cut();
    }

    /// From now on one kind of request is refused.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.state.lock().unwrap().refusal = Some(refusal);
    }

    /// From now on this is lost. A request that says it in two pieces keeps it.
    pub(crate) fn lose(&self, losses: Losses) {
        assert!(losses.iter().all(|(said, read)| said.len() == read.len()), "{losses:?}");
        self.state.lock().unwrap().losses = losses;
    }
}

/// Carries bytes on, to the end of either side. A request that is refused is answered here, and ends the connection.
fn carry(mut from: UnixStream, mut to: UnixStream, requests: Option<&Mutex<State>>) {
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        let refusal = requests.and_then(|state| state.lock().unwrap().refusal);
        let first_line = chunk[..read].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let first_line = String::from_utf8_lossy(first_line);
        if requests.is_some_and(|state| state.lock().unwrap().breaks_at(&first_line)) {
            let _already_gone = from.shutdown(Shutdown::Both);
            break;
        }
        if let Some(Refusal { status, message, .. }) = refusal.filter(|refusal| first_line.contains(refusal.request)) {
            let body = format!("{{\"message\":\"{message}\"}}");
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
            let _gone = from.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes());
            break;
        }
        for (said, lost) in requests.map(|state| state.lock().unwrap().losses).unwrap_or_default() {
            let places: Vec<usize> = chunk[..read]
                .windows(said.len())
                .enumerate()
                .filter(|(_, part)| *part == said.as_bytes())
                .map(|(place, _)| place)
                .collect();
            for place in places {
                chunk[place..place + lost.len()].copy_from_slice(lost.as_bytes());
            }
        }
        if to.write_all(&chunk[..read]).is_err() {
            // Who takes no more lets go of the other side: an engine that wrote on would wait for ever.
            let _already_gone = from.shutdown(Shutdown::Both);
            break;
        }
    }
    for stream in [from, to] {
        let _already_gone = stream.shutdown(Shutdown::Write);
    }
}
