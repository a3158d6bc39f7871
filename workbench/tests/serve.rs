//! `workbench serve` held against its documentation, and against the provider's own client.
//!
//! `WORKBENCH_TEST_SDK` names a Python that has `sdk/requirements.txt`; without it that test skips with a line that says so,
//! in CI it fails.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "serve/containers.rs"]
mod containers;
#[path = "serve/faults.rs"]
mod faults;
#[path = "serve/loads.rs"]
mod loads;
#[path = "serve/models.rs"]
mod models;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "serve/refusal_cases.rs"]
mod refusal_cases;
#[path = "serve/refusals.rs"]
mod refusals;
#[path = "support/served.rs"]
mod served;
#[path = "support/server.rs"]
mod server;

use std::env;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

#[test]
fn the_official_client_is_served() {
    const PYTHON: &str = "WORKBENCH_TEST_SDK";
    let Some(python) = env::var_os(PYTHON) else {
        assert!(env::var_os("CI").is_none(), "CI must run this: {PYTHON} names no Python with the client");
        // Not by a macro, whose words the harness keeps to itself.
        _ = writeln!(io::stderr(), "SKIPPED: {PYTHON} names no Python that has workbench/tests/sdk/requirements.txt");
        return;
    };
    let mut suite = Command::new(python);
    suite.args(["-B", "-m", "unittest", "discover", "--start-directory"]);
    suite.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk"));
    let output = suite.env("WORKBENCH_PROGRAM", env!("CARGO_BIN_EXE_workbench")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // No test at all is no success to older versions of the runner only.
    assert!(said.contains("\nOK"), "{said}");
}
