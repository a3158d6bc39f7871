//! Lists what is compiled into the program: the sources that plugins outside the workspace are built from, and the scaffold of
//! `workbench new`. And tells cargo of one more input it cannot see: a macro compiles the Python modules of the embedded sandbox.
#![allow(clippy::print_stdout, clippy::expect_used)] // cargo listens there; a build that cannot read its source ends

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What a workspace of plugins is made of, as far as it is not written anew.
const KIT: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "plugin-api/Cargo.toml",
    "plugin-api/build.rs",
    "plugin-api/src",
    "plugin-api/macros/Cargo.toml",
    "plugin-api/macros/src",
    "plugins/http/Cargo.toml",
    "plugins/http/src",
];

fn main() {
    println!("cargo::rerun-if-changed=src/sandbox/embedded/python");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("kit.rs"), list(&root, KIT)).expect("cargo made the folder");
    fs::write(out.join("scaffold.rs"), list(&root.join("templates/scaffold"), &["domain", "http", "rust"]))
        .expect("cargo made the folder");
}

/// A Rust list of these files and of all in these folders: path below `root`, content.
fn list(root: &Path, paths: &[&str]) -> String {
    let mut files = Vec::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
        collect(&root.join(path), &mut files);
    }
    files.sort();
    let mut list = "&[\n".to_owned();
    for file in files {
        let name = file.strip_prefix(root).expect("it was found there");
        writeln!(list, "    ({name:?}, include_str!({file:?})),").expect("a String takes it");
    }
    list + "]\n"
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries.for_each(|entry| collect(&entry.expect("the folder can be read").path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}
