//! Tells the crate which compiler builds it, so that host and plugins can compare theirs.
#![allow(clippy::print_stdout)] // cargo listens there

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    // A compiler without a version is not compared.
    let words = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    println!("cargo::rustc-env=PLUGIN_API_COMPILER={words}");
}
