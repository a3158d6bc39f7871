//! What the compiler says of a signature, or a list of tools, that is wrong: one message, at the place, with one way on.
//!
//! A case is a file in `signatures/`, with the compiler's words beside it; `TRYBUILD=overwrite` writes them. They are those
//! of the toolchain in `rust-toolchain.toml`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn a_wrong_signature_is_refused_in_these_words() {
    trybuild::TestCases::new().compile_fail("tests/signatures/*.rs");
}

/// Held over the files as they are committed, so that an overwritten one is looked at, too.
#[test]
fn each_case_is_refused_once() {
    let words = files("stderr");
    assert_eq!(words.len(), files("rs").len(), "a case without words, or words without a case");
    for path in words {
        let text = fs::read_to_string(&path).unwrap();
        let errors = text.lines().filter(|line| line.starts_with("error")).count();
        let warnings = text.lines().filter(|line| line.starts_with("warning")).count();
        assert_eq!((errors, warnings), (1, 0), "{}:\n{text}", path.display());
        assert!(text.lines().count() <= 20, "{} is long:\n{text}", path.display());
    }
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signatures");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|own| own == extension)).collect()
}
