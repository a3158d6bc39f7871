//! Files of others, read within limits and without waiting.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The longest text that is read of what a person wrote: a manifest, a prompt, a script, a template.
pub const LONGEST_TEXT: u64 = 8 << 20;

/// Why a file of others was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A folder, a link, a pipe, a socket, a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is longer than it may be.
    #[error("it has {} MB; at most {} MB are read", megabytes(*length), megabytes(*limit))]
    TooLong {
        /// Its length in bytes; of a file that grows while it is read, where reading ended.
        length: u64,
        /// What is read at most, in bytes.
        limit: u64,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error,
            other => Self::new(io::ErrorKind::InvalidData, other.to_string()),
        }
    }
}

/// The content of a regular file that has at most `limit` bytes. Nothing else is opened, and a link at the end of
/// `path` is not followed: a pipe would hold its reader up for ever, opening a device can do anything.
///
/// # Errors
/// When it is no such file, or the system refuses.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(ReadError::NotRegular);
    }
    let file = open_at_once(path)?;
    // Another file may stand there by now.
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(ReadError::NotRegular);
    }
    if about.len() > limit {
        return Err(ReadError::TooLong { length: about.len(), limit });
    }
    let mut bytes = Vec::new();
    match file.take(limit.saturating_add(1)).read_to_end(&mut bytes)? as u64 {
        length if length > limit => Err(ReadError::TooLong { length, limit }),
        _ => Ok(bytes),
    }
}

/// As [`read_regular`], for a file of the user's own: a link may lead to it, and the texts say what stands in its place.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(io::Error::other(format!("it is {what}, not a file")));
    }
    read_regular(&fs::canonicalize(path)?, limit).map_err(|error| match error {
        ReadError::TooLong { limit, .. } => io::Error::other(format!("it is longer than {} MB", limit >> 20)),
        other => other.into(),
    })
}

/// As [`read_bounded`], for text in UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_bounded(path, limit)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::other(format!("line {line} is not UTF-8; save the file as UTF-8"))
    })
}

/// Opens a file for reading, and waits for no writer should it have become a pipe.
fn open_at_once(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
