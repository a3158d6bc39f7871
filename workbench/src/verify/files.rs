//! Opens the files of a run's `out/` and nothing else.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::budget::Budget;
use super::evidence::Lack;
use crate::bounded_json::{self, ParseError};
use crate::files::{ReadError, read_regular};

/// Bytes of a text, a page or a JSON document that are read at most.
pub(super) const TEXT_BYTES: u64 = 8 << 20;
/// Bytes of memory a JSON document may take.
const JSON_MEMORY: u64 = 64 << 20;

/// The content of a file, which has at most `limit` bytes.
pub(super) fn read(out: &Path, name: &str, limit: u64) -> Result<Vec<u8>, Lack> {
    let (path, _) = locate(out, name)?;
    read_regular(&path, limit).map_err(|error| match error {
        ReadError::TooLong { length, limit } => {
            let [length, limit] = [length, limit].map(|bytes| bytes.div_ceil(1 << 20));
            Lack::Missing(format!("{name} has {length} MB; at most {limit} MB are read"))
        }
        ReadError::NotRegular => Lack::Missing(format!("{name} is not a regular file")),
        // Whoever made the file has also decided who may read it.
        ReadError::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Lack::Missing(format!("{name} cannot be opened: {error}"))
        }
        ReadError::Io(error) => Lack::Fault(format!("{name} could not be read: {error}")),
    })
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
pub(super) fn json(out: &Path, name: &str, budget: &Budget) -> Result<Value, Lack> {
    let bytes = read(out, name, TEXT_BYTES)?;
    budget.keep(name, bounded_json::weight(&bytes).min(JSON_MEMORY))?;
    bounded_json::parse(&bytes, JSON_MEMORY).map_err(|error| match error {
        ParseError::Json(error) => Lack::Missing(format!("{name} is not JSON: {error}")),
        too_big @ ParseError::TooBig { .. } => Lack::Missing(format!("{name} is not read: {too_big}")),
    })
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
    // A run that was handed in may have any link in the place of its folder.
    if fs::symlink_metadata(out).is_ok_and(|about| about.is_symlink()) {
        return Err(missing("is not read: the run's out/ is a link, which may lead anywhere"));
    }
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
