//! Files that are there as a whole or as they were before, whenever the program ends; and files of others,
//! read without waiting and within bounds.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The longest text that is read of what a person wrote: a manifest, a prompt, a script, a template.
pub const LONGEST_TEXT: u64 = 8 << 20;

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

/// The content of a regular file of at most `limit` bytes. Pipes and devices are refused: they would block their
/// reader, or have no end.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(io::Error::other(format!("it is {what}, not a file")));
    }
    let mut content = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::other(format!("it is longer than {} MB", limit >> 20)));
    }
    Ok(content)
}

/// As [`read_bounded`], for text in UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_bounded(path, limit)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::other(format!("line {line} is not UTF-8; save the file as UTF-8"))
    })
}
