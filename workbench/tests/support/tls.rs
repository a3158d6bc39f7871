//! An HTTPS server on the loopback interface with a certificate of `fixtures/tls/`. All have one key, which protects
//! nothing; those not self-signed are signed by the authority in `ca.pem`, whose key is gone.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The folder of the certificates.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls")
}

/// Starts a server that shows `fixtures/tls/NAME.der` and answers every request with `answer`; an empty one is a
/// connection that ends without an answer, and without a proper end. It runs as long as the test.
pub(crate) fn start(name: &str, answer: &'static [u8]) -> SocketAddr {
    let read = |file: &str| std::fs::read(fixtures().join(file)).unwrap();
    let certificate = CertificateDer::from(read(&format!("{name}.der")));
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(read("server.key.der")));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            // A client that refuses the certificate leaves.
            thread::spawn(move || _ = serve(stream, config, answer));
        }
    });
    address
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, answer: &[u8]) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let mut stream = reader.into_inner();
    stream.write_all(answer)?;
    if !answer.is_empty() {
        stream.conn.send_close_notify();
    }
    stream.flush()
}
