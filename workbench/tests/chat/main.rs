//! Models behind chat completions, through the real program and a strict server on the loopback interface.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

mod asking;
mod deviations;
mod endings;
#[path = "../support/program.rs"]
mod program;
mod rules;
mod runs;
#[path = "../support/server.rs"]
mod server;
mod set_up;
mod strict_server;
