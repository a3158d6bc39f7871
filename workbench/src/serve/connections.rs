//! Connections: each is served on its own, and one that does not send the head of a request in time is closed.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

/// Takes connections for ever. Those taken go on when this is dropped.
pub(super) async fn serve(mut listener: TcpListener, routes: Router, head: Duration) -> Infallible {
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(head);
    let service = TowerToHyperService::new(routes);
    loop {
        // Where there are as many as the system allows, it tries again until one is closed.
        let (stream, _) = axum::serve::Listener::accept(&mut listener).await;
        let connection = protocol.serve_connection(TokioIo::new(stream), service.clone());
        // It breaks off where its client does.
        tokio::spawn(async move { _ = connection.await });
    }
}
