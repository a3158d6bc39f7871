//! Kept answers: bodies in memory, and on disk one file an address, so that every run sees the same.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::Expect;
use super::entry::Entry;
use crate::files::{self, ReadError, read_regular};

/// Bytes of bodies that are held in memory.
const HOT_BYTES: usize = 64 << 20;

/// Bytes of a file before its body: an address, a content type.
const HEAD_BYTES: u64 = 64 << 10;

/// Permissions of its files: an answer may be meant for one user.
const PRIVATE: u32 = 0o600;

/// The cache of one source of data. A file is a head line (JSON) and the body; it appears by rename,
/// so that two processes can use one cache and a killed one leaves no half entry.
#[derive(Clone, Debug)]
pub(super) struct DiskCache {
    folder: PathBuf,
    /// The most a body may have, in bytes.
    longest: u64,
}

#[derive(Serialize, Deserialize)]
struct Head {
    url: String,
    status: u16,
    content_type: String,
    length: usize,
}

impl DiskCache {
    /// The cache in `folder`, which need not be there yet, of bodies that have at most `longest` bytes.
    pub(super) fn open(folder: PathBuf, longest: u64) -> Self {
        files::sweep(&folder);
        Self { folder, longest }
    }

    /// The entry of `key`. One that is damaged or too long, or is nothing for a caller who can read `expect`,
    /// counts as absent, and is written anew.
    pub(super) fn read(&self, key: &str, expect: Expect) -> Result<Option<Entry>, String> {
        let path = self.path(key);
        match read_regular(&path, self.longest.saturating_add(HEAD_BYTES)) {
            Ok(content) => Ok(parse(key, Bytes::from(content)).filter(|entry| entry.is_permanent(expect))),
            Err(ReadError::NotRegular | ReadError::TooLong { .. }) => Ok(None),
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(ReadError::Io(error)) => Err(format!("{}: {error}", path.display())),
        }
    }

    /// Keeps `entry`, unless another process kept an answer of the same address first: then that
    /// one is the answer for both. Only what [`Self::read`] passes over is overwritten.
    pub(super) fn keep(&self, key: &str, expect: Expect, entry: Entry) -> Result<Entry, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.folder.display());
        let file = self.write(key, &entry).map_err(failed)?;
        let conflict = match file.persist_noclobber(self.path(key)) {
            Ok(_) => return Ok(entry),
            Err(conflict) if conflict.error.kind() == io::ErrorKind::AlreadyExists => conflict,
            Err(other) => return Err(failed(other.error)),
        };
        if let Some(first) = self.read(key, expect)? {
            return Ok(first);
        }
        conflict.file.persist(self.path(key)).map_err(|unkept| failed(unkept.error))?;
        Ok(entry)
    }

    /// Writes `entry` to a file that has no name of its own yet.
    fn write(&self, key: &str, entry: &Entry) -> io::Result<NamedTempFile> {
        fs::create_dir_all(&self.folder)?;
        let head = Head {
            url: key.to_owned(),
            status: entry.status,
            content_type: entry.content_type.clone(),
            length: entry.body.len(),
        };
        let file = files::unfinished_in(&self.folder, PRIVATE)?;
        let mut content = file.as_file();
        serde_json::to_writer(content, &head)?;
        content.write_all(b"\n")?;
        content.write_all(&entry.body)?;
        Ok(file)
    }

    fn path(&self, key: &str) -> PathBuf {
        let digest = hex(&Sha256::digest(key.as_bytes()));
        Path::new(&self.folder).join(&digest[..32])
    }
}

fn parse(key: &str, content: Bytes) -> Option<Entry> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&content[..end]).ok()?;
    let body = content.slice(end + 1..);
    (head.url == key && head.length == body.len()).then(|| Entry::trusted(head.status, head.content_type, body))
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Answers held in memory, up to [`HOT_BYTES`]; the oldest go first.
#[derive(Default)]
pub(super) struct HotCache {
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    entries: HashMap<String, Arc<Entry>>,
    order: VecDeque<String>,
    bytes: usize,
}

impl HotCache {
    pub(super) fn get(&self, key: &str) -> Option<Arc<Entry>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).entries.get(key).cloned()
    }

    pub(super) fn keep(&self, key: &str, entry: &Arc<Entry>) {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = entry.body.len();
        if bytes > HOT_BYTES {
            return;
        }
        if let Some(old) = shelf.entries.remove(key) {
            shelf.bytes -= old.body.len();
            shelf.order.retain(|other| other != key);
        }
        while shelf.bytes + bytes > HOT_BYTES {
            let Some(oldest) = shelf.order.pop_front() else { break };
            let freed = shelf.entries.remove(&oldest).map_or(0, |entry| entry.body.len());
            shelf.bytes -= freed;
        }
        shelf.bytes += bytes;
        shelf.order.push_back(key.to_owned());
        shelf.entries.insert(key.to_owned(), Arc::clone(entry));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const KEY: &str = "https://api.example.org/v1";
    const LONGEST: u64 = 1000;

    fn entry(body: &str) -> Entry {
        Entry::checked(200, "text/plain".to_owned(), Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn the_first_answer_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::open(folder.path().join("live"), LONGEST);
        assert!(cache.read(KEY, Expect::Bytes).unwrap().is_none());
        assert_eq!(cache.keep(KEY, Expect::Bytes, entry("first\n\n")).unwrap().body, "first\n\n");
        assert_eq!(cache.keep(KEY, Expect::Bytes, entry("second")).unwrap().body, "first\n\n");
        assert_eq!(cache.read(KEY, Expect::Bytes).unwrap().unwrap().body, "first\n\n");
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn of_two_writers_at_once_both_get_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(2);
        let keep_all = |body: &str| -> Vec<Bytes> {
            let cache = DiskCache::open(folder.path().to_owned(), LONGEST);
            let keep = |number: usize| {
                start.wait();
                cache.keep(&format!("{KEY}/{number}"), Expect::Bytes, entry(body)).unwrap().body
            };
            (0..200).map(keep).collect()
        };
        let (ours, theirs) = std::thread::scope(|scope| {
            let other = scope.spawn(|| keep_all("theirs"));
            (keep_all("ours"), other.join().unwrap())
        });
        assert_eq!(ours, theirs);
    }

    #[test]
    fn what_a_killed_process_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".saving-dEad01", "0123abcd"] {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        let living = files::unfinished_in(folder.path(), PRIVATE).unwrap();
        DiskCache::open(folder.path().to_owned(), LONGEST);
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [living.path().file_name().unwrap(), "0123abcd".as_ref()]);
    }

    #[test]
    fn a_damaged_entry_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::open(folder.path().to_owned(), LONGEST);
        cache.keep(KEY, Expect::Bytes, entry("a body of some length")).unwrap();
        let whole = fs::read(cache.path(KEY)).unwrap();
        for length in 0..whole.len() {
            fs::write(cache.path(KEY), &whole[..length]).unwrap();
            assert!(cache.read(KEY, Expect::Bytes).unwrap().is_none(), "cut to {length}");
        }
        assert_eq!(cache.keep(KEY, Expect::Bytes, entry("new")).unwrap().body, "new");
    }

    /// What no process of ours has written there is neither waited for nor read whole.
    #[test]
    fn what_is_no_entry_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::open(folder.path().to_owned(), LONGEST);
        let path = cache.path(KEY);
        let long = |path: &Path| fs::File::create(path).unwrap().set_len(10 << 30).unwrap();
        let pipe = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        let link = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        for make in [&long as &dyn Fn(&Path), &pipe, &link] {
            make(&path);
            assert!(cache.read(KEY, Expect::Bytes).unwrap().is_none());
            assert_eq!(cache.keep(KEY, Expect::Bytes, entry("new")).unwrap().body, "new");
            assert_eq!(cache.read(KEY, Expect::Bytes).unwrap().unwrap().body, "new");
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in the way");
        fs::write(&file, "").unwrap();
        let error = DiskCache::open(file.join("live"), LONGEST).keep(KEY, Expect::Bytes, entry("x")).unwrap_err();
        assert!(error.contains("in the way"), "{error}");
    }

    #[test]
    fn memory_is_bounded() {
        let hot = HotCache::default();
        let large = Arc::new(Entry::checked(200, String::new(), Bytes::from(vec![0; HOT_BYTES / 2])));
        for key in ["a", "b", "c"] {
            hot.keep(key, &large);
        }
        assert!(hot.get("a").is_none() && hot.get("b").is_some() && hot.get("c").is_some());
        hot.keep("b", &Arc::new(entry("in its place")));
        assert_eq!(hot.get("b").unwrap().body, "in its place");
        let rest = HOT_BYTES - HOT_BYTES / 2 - "in its place".len();
        hot.keep("e", &Arc::new(Entry::checked(200, String::new(), Bytes::from(vec![0; rest]))));
        assert!(["b", "c", "e"].iter().all(|key| hot.get(key).is_some()), "what was replaced takes no room");
        hot.keep("d", &Arc::new(Entry::checked(200, String::new(), Bytes::from(vec![0; HOT_BYTES + 1]))));
        assert!(hot.get("d").is_none() && hot.get("c").is_some());
    }
}
