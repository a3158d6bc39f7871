//! Files that are there as a whole or as they were before, and files of others, read within limits.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// Writes beside the place and renames into it. A link there is replaced, not followed. The file can be
/// read by all, unlike other temporary files: results and cassettes are made to be handed on.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let readable = Permissions::from_mode(0o644);
    let mut file = tempfile::Builder::new().prefix(".saving-").permissions(readable).tempfile_in(folder)?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

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
    match file.take(limit + 1).read_to_end(&mut bytes)? as u64 {
        length if length > limit => Err(ReadError::TooLong { length, limit }),
        _ => Ok(bytes),
    }
}

/// Opens a file for reading, and waits for no writer should it have become a pipe.
fn open_at_once(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
