//! `workbench serve` and what goes wrong around it.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "serve/faults.rs"]
mod faults;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/served.rs"]
mod served;
