//! The real program in a workspace of its own with one domain, and what may lie in a file's place.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::program::{Outcome, finish};

/// A workspace with one domain in it, `case`.
pub(crate) struct Bench(TempDir);

impl Bench {
    pub(crate) fn new(manifest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        fs::create_dir_all(folder.path().join("domains/case")).unwrap();
        fs::write(folder.path().join("domains/case/domain.toml"), manifest).unwrap();
        Self(folder)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join("domains/case").join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// `workbench` with these arguments, in the workspace.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(arguments).current_dir(self.path()).env_remove("WORKBENCH_ROUTES").env_remove("WORKBENCH_RESULTS");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        finish(&mut self.command(arguments), "")
    }
}

/// What is put in a file's place, and what is said about it behind its name.
pub(crate) type InPlace = (&'static str, fn(&Path), &'static str);

pub(crate) const IN_PLACE: &[InPlace] = &[
    ("a folder", |path| fs::create_dir(path).unwrap(), "it is a folder, not a file"),
    ("a pipe", pipe, "it is a pipe or a device, not a file"),
    ("a device", |path| symlink("/dev/zero", path).unwrap(), "it is a pipe or a device, not a file"),
    ("a link to itself", |path| symlink(path, path).unwrap(), "Too many levels of symbolic links"),
    ("a link to nothing", |path| symlink("nothing", path).unwrap(), "No such file or directory"),
    ("100 MB", endless, "it is longer than 8 MB"),
];

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A file of a hundred megabytes that takes no room on the disk.
fn endless(path: &Path) {
    File::create(path).unwrap().set_len(100 << 20).unwrap();
}
