//! A file system of the test's own, gone when the test ends. Needs root; where there is none the test says that it was
//! not made; where root runs it and `CI` is set, that is a failure.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

pub(crate) struct Mounted {
    folder: PathBuf,
    made: Option<TempDir>,
}

impl Mounted {
    /// A file system in memory with these options, such as `size=100k`.
    pub(crate) fn tmpfs(options: &str) -> Option<Self> {
        let made = tempfile::tempdir().unwrap();
        let mut mounted = Self::tmpfs_at(made.path(), options)?;
        mounted.made = Some(made);
        Some(mounted)
    }

    /// The same on a folder that is there.
    pub(crate) fn tmpfs_at(folder: &Path, options: &str) -> Option<Self> {
        let is_mounted = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], folder);
        if is_mounted { Some(Self { folder: folder.to_owned(), made: None }) } else { skipped() }
    }

    /// The same folder, which nobody can write to any more.
    pub(crate) fn read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], &self.folder));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, so that a process that still looks at it does not keep it.
        let _unmounted = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

fn mount(options: &[&str], folder: &Path) -> bool {
    Command::new("mount").args(options).arg(folder).output().is_ok_and(|output| output.status.success())
}

fn skipped() -> Option<Mounted> {
    let must = std::env::var_os("CI").is_some() && rustix::process::geteuid().is_root();
    assert!(!must, "no file system can be mounted here, and root must not skip this where `CI` is set");
    // Not by a macro, whose words the harness keeps to itself.
    _ = writeln!(std::io::stderr(), "SKIPPED: no file system can be mounted here; run the test as root");
    None
}
