//! A named pipe in a file's place: whoever opens it unawares waits for ever.
#![allow(clippy::unwrap_used, reason = "a test that cannot make it fails")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Puts one at `path`, instead of what is there.
pub(crate) fn pipe(path: &Path) {
    let _absent = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
