//! Files that are there as a whole or as they were before, whenever the program ends, and what dead processes left.
//!
//! What is under way belongs to whoever holds its lock, which the system lets go when a process ends, however it ends.
//! So the clock does not matter, nor whose process ids they are. Where a file system has no locks, nothing is swept.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

mod read;

pub(crate) use read::megabytes;
pub use read::{LONGEST_TEXT, ReadError, open_regular, read_bounded, read_regular, read_text};

/// How the names of files begin that are being written.
const UNFINISHED: &str = ".saving-";
/// Letters that make such a name one of its own.
const LETTERS: usize = 6;

/// Writes beside the place and renames into it. A link there is replaced, not followed. The file can be
/// read by all, unlike other temporary files: results and cassettes are made to be handed on.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = unfinished_in(path.parent().unwrap_or(Path::new(".")), 0o644)?;
    file.as_file().write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// As [`write_whole`], where nothing stands in the place yet.
///
/// # Errors
/// When something does (`AlreadyExists`), or the system refuses.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = unfinished_in(path.parent().unwrap_or(Path::new(".")), 0o644)?;
    file.as_file().write_all(content)?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// A new file in `folder` with these permissions, to be written and then persisted under its real name; gone when it is
/// dropped before. What writes to its `as_file` gets errors without that name, which nobody knows.
pub fn unfinished_in(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut names = tempfile::Builder::new();
    names.prefix(UNFINISHED).rand_bytes(LETTERS);
    // Made here, so that an error is the system's own, without the name.
    let make = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path);
    loop {
        let file = names.make_in(folder, make)?;
        // A sweeper may have been quicker than the lock.
        if hold(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
}

/// Removes the unfinished files in `folder` whose writers are dead. What cannot be removed is in nobody's way. Behind a
/// link nothing is: it may lead to anybody's files.
pub fn sweep(folder: &Path) {
    if folder.is_symlink() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let letters = name.strip_prefix(UNFINISHED.as_bytes()).unwrap_or_default();
        let is_ours = letters.len() == LETTERS && letters.iter().all(u8::is_ascii_alphanumeric);
        // The lock is held until the file is gone: its writer may have made it, and not yet locked it.
        if is_ours
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Some(_lock) = abandoned(&entry.path())
        {
            _ = fs::remove_file(entry.path());
        }
    }
}

/// Takes the lock of an open file or folder, and tells whether it is still the one at `path`.
pub fn hold(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => is_at(file, path),
        Err(TryLockError::WouldBlock) => false,
        // Without locks nobody sweeps.
        Err(TryLockError::Error(_)) => true,
    }
}

/// The lock of what is at `path`, when no living process holds it.
pub fn abandoned(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    (file.try_lock().is_ok() && is_at(&file, path)).then_some(file)
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().ok().map(identity) == fs::symlink_metadata(path).ok().map(identity)
}

/// What a folder holds that such a process made. Nothing else is ever removed with what is in it.
const MARK: &str = ".made-by-workbench";

/// How often a folder is tried to be made whose parent is removed meanwhile.
const TAKES: usize = 20;

/// A folder that belongs to this process, and goes with it.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    _lock: File,
}

impl OwnFolder {
    /// Makes the folder `name` in `parent`; those that dead processes made there are removed first. `None`: it belongs
    /// to another process.
    ///
    /// # Errors
    /// When the system refuses, and when `parent` is a link: what it leads to may be anybody's.
    pub fn take(parent: &Path, name: &str) -> io::Result<Option<Self>> {
        for _ in 1..TAKES {
            match Self::take_once(parent, name) {
                // Another has just removed the parent, which was empty.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                taken => return taken,
            }
        }
        Self::take_once(parent, name)
    }

    fn take_once(parent: &Path, name: &str) -> io::Result<Option<Self>> {
        fs::create_dir_all(parent)?;
        if !fs::symlink_metadata(parent)?.is_dir() {
            return Err(io::Error::other("it is a link; remove it"));
        }
        let turn = File::open(parent)?;
        // Where there are no locks, whoever makes the folder has it.
        _ = turn.lock();
        for entry in fs::read_dir(parent)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && let Some(_lock) = abandoned(&entry.path())
            {
                if fs::symlink_metadata(entry.path().join(MARK)).is_ok_and(|mark| mark.is_file()) {
                    _ = fs::remove_dir_all(entry.path());
                } else {
                    // Its maker died before it could mark it, or it is somebody else's and stays for what is in it.
                    _ = fs::remove_dir(entry.path());
                }
            }
        }
        let path = parent.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made?,
        }
        let lock = File::open(&path)?;
        _ = lock.try_lock();
        File::create(path.join(MARK))?;
        Ok(Some(Self { path, _lock: lock }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // What is left is swept by the next.
        _ = fs::remove_dir_all(&self.path);
        // Stays where others have folders in it.
        if let Some(parent) = self.path.parent() {
            _ = fs::remove_dir(parent);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_unfinished_files_of_the_dead_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let ours = [".saving-aB3dE9", ".saving-000000"];
        let others = [".saving-", ".saving-notes-of-mine", "saving-123456", "run.json", ".saving-é1234"];
        for name in ours.iter().chain(&others) {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        fs::create_dir(folder.path().join(".saving-folder")).unwrap();
        let living = unfinished_in(folder.path(), 0o600).unwrap();
        sweep(folder.path());
        let mut left: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        left.push(".saving-folder".to_owned());
        left.push(living.path().file_name().unwrap().to_str().unwrap().to_owned());
        left.sort();
        assert_eq!(names(folder.path()), left);
        living.persist(folder.path().join("whole")).unwrap();
        assert!(names(folder.path()).contains(&"whole".to_owned()));
    }

    #[test]
    fn writers_and_sweepers_do_not_harm_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let sweeping = std::sync::atomic::AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while sweeping.load(std::sync::atomic::Ordering::Relaxed) {
                    sweep(folder.path());
                }
            });
            let written: io::Result<()> =
                (0..2000).try_for_each(|number| write_whole(&folder.path().join("a"), &[b'x'; 100][..number % 100]));
            sweeping.store(false, std::sync::atomic::Ordering::Relaxed);
            written.unwrap();
        });
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_folder_has_one_owner_and_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        let parent = home.path().join("owned");
        let first = OwnFolder::take(&parent, "a").unwrap().unwrap();
        fs::write(first.path().join("file"), "").unwrap();
        fs::create_dir_all(parent.join("of a dead process/deep")).unwrap();
        fs::write(parent.join("of a dead process").join(MARK), "").unwrap();
        fs::create_dir_all(parent.join("not marked yet")).unwrap();
        assert!(OwnFolder::take(&parent, "a").unwrap().is_none());
        assert_eq!(names(&parent), ["a"]);
        drop(first);
        assert!(!parent.exists(), "it was empty");
        let (a, b) = (OwnFolder::take(&parent, "a").unwrap().unwrap(), OwnFolder::take(&parent, "b").unwrap().unwrap());
        drop(a);
        assert_eq!(names(&parent), ["b"]);
        drop(b);
        assert!(!parent.exists());
    }

    #[test]
    fn what_others_made_is_never_removed() {
        let home = tempfile::tempdir().unwrap();
        let theirs = home.path().join("theirs");
        fs::create_dir_all(theirs.join("work/deep")).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&theirs, &link).unwrap();
        assert_eq!(OwnFolder::take(&link, "a").unwrap_err().to_string(), "it is a link; remove it");
        fs::write(theirs.join(".saving-aB3dE9"), "half").unwrap();
        sweep(&link);
        assert_eq!(names(&theirs), [".saving-aB3dE9", "work"]);
        drop(OwnFolder::take(&theirs, "a").unwrap().unwrap());
        assert!(theirs.join("work/deep").is_dir(), "it is not marked as ours");
    }
}
