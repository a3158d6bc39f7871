//! The replaying API server that lies beside this repository on some machines.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The server, which ends with its test.
pub(crate) struct Replay {
    child: Child,
    pub(crate) url: String,
}

impl Replay {
    /// Starts it with these faults; nothing where it cannot be started.
    pub(crate) fn start(faults: &[String]) -> Option<Self> {
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/tools/api_server.py");
        if !server.is_file() {
            eprintln!("skipped: {} is not there", server.display());
            return None;
        }
        let mut command = Command::new("python3");
        command.arg(server).args(faults.iter().flat_map(|fault| ["--fail", fault]));
        let Ok(mut child) = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() else {
            eprintln!("skipped: there is no python3");
            return None;
        };
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Some(Self { child, url })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
