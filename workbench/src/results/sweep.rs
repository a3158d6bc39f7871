//! Clears away what killed processes have left among the runs: half-written files, and folders that were begun and
//! hold nothing yet. What anybody else put there stays.

use std::fs;
use std::path::Path;

use super::order::begins_with_time;
use super::store::{LEDGER_FILE, MANIFEST_FILE, RECORD_FILE, TRANSCRIPT_FILE};
use crate::files;

/// Sweeps the runs of one domain. What cannot be removed is in nobody's way.
pub fn sweep_domain(results: &Path, domain: &str) {
    let folders = fs::read_dir(results.join(domain)).into_iter().flatten().flatten();
    for folder in folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if folder.path().join(RECORD_FILE).exists() {
            sweep_run(&folder.path());
        } else if begins_with_time(&folder.file_name().to_string_lossy()) {
            remove_stillborn(&folder.path());
        }
    }
}

/// Sweeps one run.
pub fn sweep_run(run: &Path) {
    files::sweep(run);
    files::sweep(&run.join("out"));
    files::sweep(&run.join("scripts"));
}

/// Removes a run's folder in which nothing was done before its host died.
fn remove_stillborn(run: &Path) {
    let Some(_lock) = files::abandoned(run) else { return };
    // Its own process made it a run meanwhile, and ended.
    if run.join(RECORD_FILE).exists() {
        return;
    }
    sweep_run(run);
    for file in [TRANSCRIPT_FILE, LEDGER_FILE] {
        let path = run.join(file);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
            _ = fs::remove_file(path);
        }
    }
    // None of these succeeds where something else lies inside.
    for folder in ["out", "scripts"] {
        _ = fs::remove_dir(run.join(folder));
    }
    let is_manifest = |entry: &fs::DirEntry| entry.file_name() == MANIFEST_FILE;
    let alone = fs::read_dir(run).into_iter().flatten().flatten().all(|entry| is_manifest(&entry));
    if alone {
        _ = fs::remove_file(run.join(MANIFEST_FILE));
        _ = fs::remove_dir(run);
    }
}
