//! A run's `out/`: the only place a tool can write to.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plugin_api::wire::SavedFile;

use super::names::{folded, given_name, numbered, safe_file_name};
use crate::files::{ReadError, read_regular, write_whole};

/// Name of the folder as tools and models see it, whatever its path.
const SHOWN_AS: &str = "out";

/// Bytes of all files that a run may save.
const MAX_BYTES: u64 = 1 << 30;
/// Files that a run may save.
const MAX_FILES: usize = 10_000;

/// The folder. Cheap to clone; it need not exist before something is saved, but what it is in must.
#[derive(Clone, Debug)]
pub struct OutFolder {
    path: PathBuf,
    max_bytes: u64,
    max_files: usize,
    /// What was saved through this value and its clones, by [`folded`] name.
    saves: Arc<Mutex<BTreeMap<String, Save>>>,
}

#[derive(Debug)]
struct Save {
    /// The name it was first asked for by, see [`given_name`].
    given: String,
    file: String,
    bytes: u64,
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
    /// The run has saved as much as it may.
    #[error("{file} is not saved: a run may save {files} files of {} MB in all, and would have more", bytes >> 20)]
    Full {
        /// The file, relative to the run.
        file: String,
        /// How many files a run may save.
        files: usize,
        /// How many bytes.
        bytes: u64,
    },
}

impl OutFolder {
    /// The folder at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), max_bytes: MAX_BYTES, max_files: MAX_FILES, saves: Arc::default() }
    }

    /// Where it is on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file under the safe form of `name`. Readers see the old file or the new one whole,
    /// and a link that stands there is replaced, not followed.
    ///
    /// The same name again replaces the file. Another name with the same safe form gets a number behind it, so that no
    /// file is lost; [`SavedFile::file`] says the name, which names that file from then on.
    pub fn save(&self, name: &str, extension: &str, bytes: &[u8]) -> Result<SavedFile, OutError> {
        let mut saves = self.saves();
        let file = file_for(&saves, name, extension);
        let length = bytes.len() as u64;
        let others = saves.values().filter(|save| save.file != file);
        let (count, sum) = others.fold((0, 0), |(count, sum), save| (count + 1, sum + save.bytes));
        if count >= self.max_files || sum + length > self.max_bytes {
            return Err(OutError::Full { file: shown(&file), files: self.max_files, bytes: self.max_bytes });
        }
        match self.write(&file, bytes) {
            Ok(()) => {
                let first = || Save { given: given_name(name, extension), file: file.clone(), bytes: 0 };
                saves.entry(folded(&file)).or_insert_with(first).bytes = length;
                Ok(SavedFile { file: shown(&file), bytes: length })
            }
            Err(source) => Err(OutError::Io { file: shown(&file), action: "saved", source }),
        }
    }

    /// The file that was saved under this name, if it was.
    pub fn saved(&self, name: &str, extension: &str) -> Option<SavedFile> {
        let file = file_for(&self.saves(), name, extension);
        let metadata = fs::symlink_metadata(self.path.join(&file)).ok()?;
        metadata.is_file().then(|| SavedFile { file: shown(&file), bytes: metadata.len() })
    }

    /// The bytes of a saved file, named as [`SavedFile::file`] or by its name alone. At most `limit` bytes.
    pub fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, OutError> {
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        let name = file_for(&self.saves(), file, extension);
        let file = shown(&name);
        read_regular(&self.path.join(name), limit).map_err(|error| match error {
            ReadError::NotRegular => OutError::Missing { file },
            ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => OutError::Missing { file },
            ReadError::TooLong { length, limit } => OutError::TooLarge { file, bytes: length, limit },
            ReadError::Io(source) => OutError::Io { file, action: "read", source },
        })
    }

    fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        // Not what is around it: a run whose folder was removed must notice.
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        write_whole(&self.path.join(file), bytes)
    }

    fn saves(&self) -> MutexGuard<'_, BTreeMap<String, Save>> {
        self.saves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of this name: the one that was saved by it, or the first that no other name has.
fn file_for(saves: &BTreeMap<String, Save>, name: &str, extension: &str) -> String {
    let given = given_name(name, extension);
    let plain = safe_file_name(name, extension);
    let mut file = plain.clone();
    for number in 2.. {
        match saves.get(&folded(&file)) {
            None => break,
            Some(save) if save.given == given || given_name(&save.file, extension) == given => {
                return save.file.clone();
            }
            Some(_) => file = numbered(&plain, number),
        }
    }
    file
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
    fn a_run_saves_so_much_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let out = OutFolder { max_bytes: 3 << 20, max_files: 4, ..OutFolder::new(folder.path()) };
        let block = vec![0; 1 << 20];
        for name in ["1", "2", "3", "3"] {
            out.save(name, "bin", &block).unwrap();
        }
        let refusal = "out/4.bin is not saved: a run may save 4 files of 3 MB in all, and would have more";
        assert_eq!(out.save("4", "bin", &block).unwrap_err().to_string(), refusal);
        out.save("3", "bin", b"less").unwrap();
        out.save("4", "bin", b"more").unwrap();
        assert!(matches!(out.save("5", "bin", b""), Err(OutError::Full { .. })), "a fifth file");
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
