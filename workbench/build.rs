//! Tells cargo of the one input it cannot see: a macro compiles the Python modules of the embedded sandbox.
#![allow(clippy::print_stdout)] // cargo listens there

fn main() {
    println!("cargo::rerun-if-changed=src/sandbox/embedded/python");
}
