//! Opens the files of a run's `out/` and nothing else.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::evidence::Lack;

/// Bytes of a text, a page or a JSON document that are read at most.
pub(super) const TEXT_BYTES: u64 = 8 << 20;

/// The content of a file, which has at most `limit` bytes.
pub(super) fn read(out: &Path, name: &str, limit: u64) -> Result<Vec<u8>, Lack> {
    let (path, length) = locate(out, name)?;
    if length > limit {
        return Err(too_long(name, length, limit));
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    match read {
        // It grew meanwhile.
        Ok(length) if length as u64 > limit => Err(too_long(name, length as u64, limit)),
        Ok(_) => Ok(bytes),
        Err(error) => Err(Lack::Fault(format!("{name} could not be read: {error}"))),
    }
}

/// A text file; bytes that are no UTF-8 become `U+FFFD`.
pub(super) fn text(out: &Path, name: &str) -> Result<String, Lack> {
    let bytes = read(out, name, TEXT_BYTES)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// A JSON file.
pub(super) fn json(out: &Path, name: &str) -> Result<Value, Lack> {
    let bytes = read(out, name, TEXT_BYTES)?;
    serde_json::from_slice(&bytes).map_err(|error| Lack::Missing(format!("{name} is not JSON: {error}")))
}

/// That a file is there, and how long it is.
pub(super) fn existing(out: &Path, name: &str) -> Result<Value, Lack> {
    let (_, bytes) = locate(out, name)?;
    Ok(json!({ "file": name, "bytes": bytes }))
}

/// The path of a regular file inside `out`, and its length. A pipe would block its reader, a link
/// could lead anywhere.
fn locate(out: &Path, name: &str) -> Result<(PathBuf, u64), Lack> {
    let missing = |reason: &str| Lack::Missing(format!("{name} {reason}"));
    let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !Path::new(name).components().all(inside) {
        return Err(Lack::Missing(format!("`{name}` is no name of a file in the run's out/")));
    }
    let resolve = |path: &Path| {
        fs::canonicalize(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing("is missing"),
            _ => missing(&format!("cannot be opened: {error}")),
        })
    };
    let out = resolve(out)?;
    let path = resolve(&out.join(name))?;
    if !path.starts_with(&out) {
        return Err(missing("is a link that leaves the run's out/ and is not followed"));
    }
    match fs::metadata(&path) {
        Ok(about) if about.is_file() => Ok((path, about.len())),
        Ok(_) => Err(missing("is not a regular file")),
        Err(error) => Err(missing(&format!("cannot be opened: {error}"))),
    }
}

fn too_long(name: &str, length: u64, limit: u64) -> Lack {
    let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
    Lack::Missing(format!("{name} has {} MB; at most {} MB are read", megabytes(length), megabytes(limit)))
}
