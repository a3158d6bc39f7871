//! Finds runs: all of a domain, or one by what a user typed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::format::RunRecord;
use super::store::{LEDGER_FILE, RECORD_FILE, StoreError, read_run};

/// Names offered when a run is not found.
const OFFERED: usize = 3;

/// A run on disk.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// Its folder.
    pub folder: PathBuf,
    /// Its record.
    pub record: RunRecord,
}

/// The runs of a results folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read, oldest first.
    pub runs: Vec<StoredRun>,
    /// Why the others were left out; a warning each, never a failure of the whole.
    pub skipped: Vec<StoreError>,
}

/// Reads all runs under `results`, or those of one domain. A results folder that does not exist is empty.
pub fn list_runs(results: &Path, domain: Option<&str>) -> Result<Listing, StoreError> {
    let (folders, skipped) = run_folders(results)?;
    let mut listing = Listing { runs: Vec::new(), skipped };
    for folder in folders {
        if domain.is_some_and(|domain| folder.parent() != Some(results.join(domain).as_path())) {
            continue;
        }
        match read_run(&folder) {
            Ok(record) => listing.runs.push(StoredRun { folder, record }),
            Err(error) => listing.skipped.push(error),
        }
    }
    Ok(listing)
}

/// The folder of the run that `asked` names: a path to it (or to its `run.json`), its name, with or
/// without `<domain>/`, or the beginning of a name that fits no other run.
pub fn find_run(results: &Path, asked: &str) -> Result<PathBuf, StoreError> {
    let path = Path::new(asked);
    // Whatever stands there; reading it says what is wrong with it.
    if fs::symlink_metadata(path.join(RECORD_FILE)).is_ok() {
        return Ok(path.to_owned());
    }
    if path.is_file() && path.ends_with(RECORD_FILE) {
        return Ok(path.parent().unwrap_or(path).to_owned());
    }
    let wanted = asked.trim_end_matches('/');
    let (folders, unreadable) = run_folders(results)?;
    let names: Vec<(String, String)> = folders.iter().map(|folder| names_of(folder)).collect();
    let matching = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..folders.len()).filter(|index| fits(&names[*index].0) || fits(&names[*index].1)).collect()
    };
    let mut found = matching(&|name| name == wanted);
    if found.is_empty() && !wanted.is_empty() {
        found = matching(&|name| name.starts_with(wanted));
    }
    match found.as_slice() {
        [one] => Ok(folders[*one].clone()),
        [] => Err(without_record(results, asked)
            .or_else(|| unreadable.into_iter().next())
            .unwrap_or_else(|| unknown(results, asked, &names))),
        several => Err(StoreError::Ambiguous {
            asked: asked.to_owned(),
            runs: several.iter().map(|index| names[*index].1.clone()).collect(),
        }),
    }
}

/// What is wrong with the folder that `asked` names, if that was a run: it has a ledger.
fn without_record(results: &Path, asked: &str) -> Option<StoreError> {
    let domains = folders_in(results).unwrap_or_default();
    let places = [PathBuf::from(asked), results.join(asked)].into_iter().chain(domains.iter().map(|it| it.join(asked)));
    let folder = places.into_iter().find(|folder| folder.join(LEDGER_FILE).is_file())?;
    Some(StoreError::content(&folder, format!("it holds no {RECORD_FILE}")))
}

fn unknown(results: &Path, asked: &str, names: &[(String, String)]) -> StoreError {
    let mut nearest: Vec<&(String, String)> = names.iter().collect();
    let likeness = |(short, long): &(String, String)| strsim::jaro(asked, short).max(strsim::jaro(asked, long));
    nearest.sort_by(|left, right| likeness(right).total_cmp(&likeness(left)));
    StoreError::Unknown {
        asked: asked.to_owned(),
        results: results.to_owned(),
        nearest: nearest.into_iter().take(OFFERED).map(|(_, long)| long.clone()).collect(),
    }
}

/// `<run>` and `<domain>/<run>`.
fn names_of(folder: &Path) -> (String, String) {
    let part = |path: Option<&Path>| path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let run = part(Some(folder));
    let long = format!("{}/{run}", part(folder.parent()));
    (run, long)
}

/// Folders two levels down that hold a record, by domain and name. Names begin with the time, so
/// this is oldest first within a domain. Hidden folders, such as the cache, hold no runs. Beside
/// them the folders that could not be looked into.
fn run_folders(results: &Path) -> Result<(Vec<PathBuf>, Vec<StoreError>), StoreError> {
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    for domain in folders_in(results)? {
        match folders_in(&domain) {
            Ok(runs) => found.extend(runs.into_iter().filter(|run| run.join(RECORD_FILE).exists())),
            Err(error) => unreadable.push(error),
        }
    }
    Ok((found, unreadable))
}

fn folders_in(parent: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read", parent)(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", parent))?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}
