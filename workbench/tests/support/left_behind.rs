//! What a test could leave behind: processes, files, descriptors, and memory taken at the worst moment.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::patience::until;
use crate::processes::{self, Process};

/// A name of its own for the built program, which tells its processes from those of other tests.
pub(crate) struct Marked {
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl Marked {
    pub(crate) fn new() -> Self {
        Self::of(Path::new(env!("CARGO_BIN_EXE_workbench")))
    }

    pub(crate) fn of(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("workbench");
        symlink(program, &name).unwrap();
        Self { program: name, _folder: folder }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Its processes that are there.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let name = self.program.to_str().unwrap();
        processes::all().filter(|process| process.command.contains(name)).collect()
    }

    /// Waits until there are none.
    pub(crate) async fn all_gone(&self) {
        until("no process is left", || self.processes().is_empty()).await;
    }
}

/// Runs `test`, the whole of the test of this name, in a process of its own that has an empty folder for its temporary
/// files and works in it: nothing is in it afterwards. That of the system is no measure, as others write there. Workers
/// are not told of it, and their locks let them write into a run's folder alone.
pub(crate) fn leaves_no_file(name: &str, test: impl FnOnce()) {
    const COUNTED: &str = "WORKBENCH_TEST_FILES_ARE_COUNTED";
    if env::var_os(COUNTED).is_some() {
        return test();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut own = Command::new(env::current_exe().unwrap());
    own.args([name, "--exact", "--nocapture"]).env(COUNTED, "1").env("TMPDIR", folder.path());
    let output = own.current_dir(folder.path()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "files are left: {left:?}");
}

/// Open descriptors of this process.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The most memory this process had at once since the last call, in megabytes.
pub(crate) fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    fs::write("/proc/self/clear_refs", "5").unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
