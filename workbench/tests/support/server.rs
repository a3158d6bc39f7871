//! A scripted HTTP server on the loopback interface: a closure answers each request, and every
//! request is kept with its time of arrival.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

/// A request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `GET`, `POST` and so on.
    pub(crate) method: String,
    /// Path and query, or the full address when the server is used as a proxy.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// What stands behind the head, where that tells its length.
    pub(crate) body: Bytes,
    /// When it was complete.
    pub(crate) at: Instant,
    /// How many came before it.
    pub(crate) number: usize,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a request is answered.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// These bytes; the connection stays open.
    Bytes(Vec<u8>),
    /// These bytes; then the connection is closed.
    Close(Vec<u8>),
    /// These bytes, then the second part again and again, each after the wait, until the client leaves.
    Endless(Vec<u8>, Vec<u8>, Duration),
    /// These bytes; then the connection is reset, as by a machine that goes down.
    Reset(Vec<u8>),
}

/// A whole answer; `headers` as lines without their ends. The length is added.
pub(crate) fn answer(status: u16, headers: &[&str], body: &[u8]) -> Reply {
    let mut bytes = head(status, headers, Some(body.len()));
    bytes.extend_from_slice(body);
    Reply::Bytes(bytes)
}

/// Status 200 and a JSON document.
pub(crate) fn json(body: &str) -> Reply {
    answer(200, &["content-type: application/json"], body.as_bytes())
}

/// The head of an answer.
pub(crate) fn head(status: u16, headers: &[&str], length: Option<usize>) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Scripted\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if let Some(length) = length {
        text.push_str(&format!("content-length: {length}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// A running server; it ends when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    ended: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
}

impl Server {
    /// Starts one on 127.0.0.1.
    pub(crate) fn start(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1:0", script).expect("a port on the loopback interface")
    }

    /// Starts one on another address, such as `[::1]:0`.
    pub(crate) fn on(address: &str, script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let server =
            Self { address: listener.local_addr()?, seen: Arc::default(), ended: Arc::default(), sent: Arc::default() };
        let (seen, ended, script) = (Arc::clone(&server.seen), Arc::clone(&server.ended), Arc::new(script));
        let sent = Arc::clone(&server.sent);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                let (seen, ended, script) = (Arc::clone(&seen), Arc::clone(&ended), Arc::clone(&script));
                let sent = Arc::clone(&sent);
                // A client that leaves early is part of many scripts.
                thread::spawn(move || _ = serve(stream, &seen, &ended, &sent, &*script));
            }
        });
        Ok(server)
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The bytes its clients have taken so far, those included that wait in the system's buffers.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// The requests so far, in order of arrival.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().expect("no test panics while it holds this").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        _ = TcpStream::connect(self.address);
    }
}

fn serve(
    stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    ended: &AtomicBool,
    sent: &AtomicU64,
    script: &dyn Fn(&Request) -> Reply,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = Counted { stream, sent };
    while let Some(Head { method, target, headers }) = read_head(&mut reader)? {
        let body = read_body(&mut reader, &headers)?;
        let request = {
            let mut seen = seen.lock().expect("no test panics while it holds this");
            let request = Request { method, target, headers, body, at: Instant::now(), number: seen.len() };
            seen.push(request.clone());
            request
        };
        match script(&request) {
            Reply::Bytes(bytes) => stream.write_all(&bytes)?,
            Reply::Close(bytes) => return stream.write_all(&bytes),
            Reply::Reset(bytes) => {
                stream.write_all(&bytes)?;
                // Closing does not wait for what is on the way: the other side is told that it is lost.
                rustix::net::sockopt::set_socket_linger(&stream.stream, Some(Duration::ZERO))?;
                return Ok(());
            }
            Reply::Endless(start, again, wait) => {
                stream.write_all(&start)?;
                while !ended.load(Ordering::SeqCst) {
                    thread::sleep(wait);
                    stream.write_all(&again)?;
                }
            }
        }
    }
    Ok(())
}

/// A connection whose bytes are counted.
struct Counted<'a> {
    stream: TcpStream,
    sent: &'a AtomicU64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.sent.fetch_add(count as u64, Ordering::SeqCst);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// What stands before the body of a request.
struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
}

/// The next request, or nothing when the client is done.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => return Ok(Some(Head { method, target, headers })),
        }
    }
}

fn read_body(reader: &mut impl BufRead, headers: &[(String, String)]) -> io::Result<Bytes> {
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok(body.into())
}
