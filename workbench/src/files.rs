//! Files that are there as a whole or as they were before, whenever the program ends.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

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
