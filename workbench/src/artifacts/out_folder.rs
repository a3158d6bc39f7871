//! A run's `out/`: the only place a tool can write to.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use plugin_api::wire::SavedFile;

use super::names::safe_file_name;
use crate::files::write_whole;

/// Name of the folder as tools and models see it, whatever its path.
const SHOWN_AS: &str = "out";

/// The folder. Cheap to clone; it need not exist before something is saved, but what it is in must.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutFolder {
    path: PathBuf,
}

/// Why a file could not be written or read. The text names it as the model knows it.
#[derive(Debug, thiserror::Error)]
pub enum OutError {
    /// Disk full, no permission, and the like.
    #[error("{file} could not be {action}: {source}")]
    Io {
        /// The file, relative to the run.
        file: String,
        /// `saved` or `read`.
        action: &'static str,
        /// The system's words.
        source: io::Error,
    },
    /// It was never saved.
    #[error("{file} was not saved yet")]
    Missing {
        /// The file, relative to the run.
        file: String,
    },
    /// It is larger than anything that is read here.
    #[error("{file} has {bytes} bytes, over the limit of {limit}")]
    TooLarge {
        /// The file, relative to the run.
        file: String,
        /// Its length.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
}

impl OutFolder {
    /// The folder at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file under the safe form of `name`. Readers see the old file or the new one whole,
    /// and a link that stands there is replaced, not followed.
    pub fn save(&self, name: &str, extension: &str, bytes: &[u8]) -> Result<SavedFile, OutError> {
        let file = safe_file_name(name, extension);
        match self.write(&file, bytes) {
            Ok(()) => Ok(SavedFile { file: shown(&file), bytes: bytes.len() as u64 }),
            Err(source) => Err(OutError::Io { file: shown(&file), action: "saved", source }),
        }
    }

    /// The file that was saved under this name, if it was.
    pub fn saved(&self, name: &str, extension: &str) -> Option<SavedFile> {
        let file = safe_file_name(name, extension);
        let metadata = fs::symlink_metadata(self.path.join(&file)).ok()?;
        metadata.is_file().then(|| SavedFile { file: shown(&file), bytes: metadata.len() })
    }

    /// The bytes of a saved file, named as [`SavedFile::file`] or by its name alone. At most `limit` bytes.
    pub fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, OutError> {
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        let name = safe_file_name(file, extension);
        match self.saved(&name, extension) {
            None => Err(OutError::Missing { file: shown(&name) }),
            Some(SavedFile { file, bytes }) if bytes > limit => Err(OutError::TooLarge { file, bytes, limit }),
            Some(SavedFile { file, .. }) => read_at_most(&self.path.join(name), limit).map_err(|source| OutError::Io {
                file,
                action: "read",
                source,
            }),
        }
    }

    fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        // Not what is around it: a run whose folder was removed must notice.
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        write_whole(&self.path.join(file), bytes)
    }
}

fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn shown(file: &str) -> String {
    format!("{SHOWN_AS}/{file}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{OutError, OutFolder};

    #[test]
    fn what_is_saved_can_be_found_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let out = OutFolder::new(folder.path().join("out"));
        assert_eq!(out.saved("436535", "jpg"), None);
        let file = out.save("436535", "jpg", b"picture").unwrap();
        assert_eq!((file.file.as_str(), file.bytes), ("out/436535.jpg", 7));
        assert_eq!(out.saved("436535.jpg", "jpg"), Some(file));
        assert_eq!(out.read("out/436535.jpg", 7).unwrap(), b"picture");
        assert!(matches!(out.read("out/436535.jpg", 6), Err(OutError::TooLarge { bytes: 7, .. })));
        assert_eq!(out.read("out/1.jpg", 7).unwrap_err().to_string(), "out/1.jpg was not saved yet");
        out.save("436535", "jpg", b"").unwrap();
        assert_eq!(out.read("out/436535.jpg", 7).unwrap(), b"");
        let names: Vec<_> = out.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["436535.jpg"], "no temporary file is left");
    }

    #[test]
    fn links_are_replaced_and_never_followed() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret.txt");
        std::fs::write(&secret, "secret").unwrap();
        let out = OutFolder::new(folder.path().join("out"));
        std::fs::create_dir(out.path()).unwrap();
        std::os::unix::fs::symlink(&secret, out.path().join("page.html")).unwrap();
        assert_eq!(out.saved("page", "html"), None);
        assert!(matches!(out.read("out/page.html", 100), Err(OutError::Missing { .. })));
        out.save("page", "html", b"page").unwrap();
        assert_eq!(std::fs::read(&secret).unwrap(), b"secret");
        assert_eq!(out.read("out/page.html", 100).unwrap(), b"page");
    }

    #[test]
    fn a_folder_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("page.html")).unwrap();
        let error = OutFolder::new(folder.path()).save("page", "html", b"page").unwrap_err();
        assert!(error.to_string().starts_with("out/page.html could not be saved: "), "{error}");
    }
}
