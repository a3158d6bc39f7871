//! `workbench serve` held against its documentation.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "serve/faults.rs"]
mod faults;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "serve/refusal_cases.rs"]
mod refusal_cases;
#[path = "serve/refusals.rs"]
mod refusals;
#[path = "support/served.rs"]
mod served;
