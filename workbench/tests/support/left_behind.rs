//! What a test could leave behind: children, descriptors, and memory taken at the worst moment.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

    /// Folders in `/proc` of the processes that are there.
    pub(crate) fn processes(&self) -> Vec<PathBuf> {
        let name = self.program.as_os_str().as_encoded_bytes();
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        let is_ours = |line: Vec<u8>| line.windows(name.len()).any(|part| part == name);
        processes.filter(|path| fs::read(path.join("cmdline")).is_ok_and(is_ours)).collect()
    }

    /// Waits until there are none.
    pub(crate) async fn all_gone(&self) {
        while !self.processes().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Children of this process of the given name, dead ones that nobody asked for included.
pub(crate) fn children_named(name: &str) -> Vec<String> {
    let own = std::process::id();
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    // `PID (NAME) STATE PARENT …`
    let is_child = |stat: &String| {
        let (before, after) = stat.rsplit_once(')')?;
        let named = before.split_once('(')?.1 == name;
        let parent = after.split_whitespace().nth(1)?.parse::<u32>().ok()?;
        (named && parent == own).then_some(())
    };
    processes.filter(|stat| is_child(stat).is_some()).collect()
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
