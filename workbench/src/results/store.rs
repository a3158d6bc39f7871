//! Writes and reads the folder of one run.
//!
//! Lines are appended as things happen, and whole files are written beside their place and renamed
//! into it: a host killed at any moment leaves a folder that can be read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::format::{CallRecord, RUN_FORMAT, RunRecord, Verdict};
use crate::bounded_json;
use crate::files::{LONGEST_TEXT, ReadError, hold, open_regular, read_regular, write_whole};

/// Name of the record in a run's folder; a folder that holds one is a run.
pub const RECORD_FILE: &str = "run.json";
pub(super) const TRANSCRIPT_FILE: &str = "transcript.jsonl";
pub(super) const LEDGER_FILE: &str = "ledger.jsonl";
const VERDICT_FILE: &str = "verify.json";
const EVIDENCE_FILE: &str = "evidence.json";
pub(super) const MANIFEST_FILE: &str = "domain.toml";

/// Bytes of `run.json`, and memory it may take. Folders are handed in by others, so what is in them is bounded.
const MAX_RECORD: Bounds = Bounds { file: 8 << 20, memory: 64 << 20 };
/// The same of `evidence.json`, which holds what the API answered, and of each line of a ledger or transcript. A whole
/// ledger may take the memory of one line.
const MAX_CONTENT: Bounds = Bounds { file: 128 << 20, memory: 512 << 20 };

#[derive(Clone, Copy)]
struct Bounds {
    file: u64,
    memory: u64,
}

/// Why results could not be written, read or found. Every text names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("could not {action} {}", .path.display())]
    Io {
        /// `read`, `write` or `create`.
        action: &'static str,
        /// What was to be read or written.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not what its name promises.
    #[error("{} cannot be used: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No run has this name.
    #[error("there is no run `{asked}` in {}{}", .results.display(), known(.nearest))]
    Unknown {
        /// What was asked for.
        asked: String,
        /// Where it was looked for.
        results: PathBuf,
        /// Names that come close, best first; may be empty.
        nearest: Vec<String>,
    },
    /// Several runs have a name that begins like this.
    #[error("`{asked}` fits several runs: {}", .runs.join(", "))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// The runs it fits.
        runs: Vec<String>,
    },
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(super) fn content(path: &Path, reason: impl Into<String>) -> Self {
        Self::Content { path: path.to_owned(), reason: reason.into() }
    }
}

fn known(names: &[String]) -> String {
    if names.is_empty() { "; it holds no runs".to_owned() } else { format!("; the nearest are {}", names.join(", ")) }
}

/// The folder of a run that is being made.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    name: String,
    transcript: Mutex<File>,
    ledger: Mutex<File>,
    /// Says that the run is under way: without a record the folder would look like one of a dead process.
    _lock: File,
}

impl RunFolder {
    /// Makes `results/<domain>/<UTC time>-<mode>-<n>/` and its `out/`. `number` is the first `n`
    /// that is tried; a name that is taken, by this process or another, is counted on.
    pub fn create(
        results: &Path,
        domain: &str,
        mode: &str,
        number: u32,
        started: Timestamp,
    ) -> Result<Self, StoreError> {
        let parent = results.join(domain);
        fs::create_dir_all(&parent).map_err(StoreError::io("create", &parent))?;
        let (name, path, lock) = claim(&parent, &started.strftime("%Y-%m-%dT%H-%M-%SZ").to_string(), mode, number)?;
        for folder in ["out", "scripts"] {
            let folder = path.join(folder);
            fs::create_dir(&folder).map_err(StoreError::io("create", &folder))?;
        }
        let transcript = Mutex::new(append_to(&path.join(TRANSCRIPT_FILE))?);
        let ledger = Mutex::new(append_to(&path.join(LEDGER_FILE))?);
        Ok(Self { path, name, transcript, ledger, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name, as `run.json` says it in `run`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the artifacts go.
    pub fn out(&self) -> PathBuf {
        self.path.join("out")
    }

    /// Keeps the manifest the run is made and judged by.
    pub fn write_manifest(&self, text: &str) -> Result<(), StoreError> {
        replace(&self.path.join(MANIFEST_FILE), text.as_bytes())
    }

    /// Writes `run.json` anew.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), StoreError> {
        write_record(&self.path, record)
    }

    /// Adds a message to the transcript.
    pub fn append_message(&self, message: &impl Serialize) -> Result<(), StoreError> {
        append(&self.transcript, &self.path.join(TRANSCRIPT_FILE), message)
    }

    /// Adds a call to the ledger.
    pub fn append_call(&self, call: &CallRecord) -> Result<(), StoreError> {
        append(&self.ledger, &self.path.join(LEDGER_FILE), call)
    }

    /// Keeps a script before it runs; numbers start at 1.
    pub fn save_script(&self, number: u32, source: &str) -> Result<(), StoreError> {
        self.save_beside(number, "py", source)
    }

    /// Keeps a program before it is run elsewhere: a script in JavaScript.
    pub fn save_program(&self, number: u32, source: &str) -> Result<(), StoreError> {
        self.save_beside(number, "js", source)
    }

    /// Keeps what a script printed.
    pub fn save_output(&self, number: u32, output: &str) -> Result<(), StoreError> {
        self.save_beside(number, "out", output)
    }

    /// Saves what the plugin logged and printed as `plugin.log`; nothing when that is nothing.
    pub fn save_log(&self, log: &str) -> Result<(), StoreError> {
        if log.is_empty() { Ok(()) } else { replace(&self.path.join("plugin.log"), log.as_bytes()) }
    }

    /// Writes `verify.json` and `evidence.json`.
    pub fn write_verdict(&self, verdict: &Verdict, evidence: &Value) -> Result<(), StoreError> {
        write_evidence(&self.path, evidence)?;
        write_verdict(&self.path, verdict)
    }

    fn save_beside(&self, number: u32, extension: &str, text: &str) -> Result<(), StoreError> {
        replace(&self.path.join("scripts").join(format!("{number:02}.{extension}")), text.as_bytes())
    }
}

/// Writes `run.json` of a finished run anew, as `workbench verify` does.
pub fn write_record(run: &Path, record: &RunRecord) -> Result<(), StoreError> {
    write_json(&run.join(RECORD_FILE), record)
}

/// Writes `evidence.json` of a run.
pub fn write_evidence(run: &Path, evidence: &Value) -> Result<(), StoreError> {
    write_json(&run.join(EVIDENCE_FILE), evidence)
}

/// Writes `verify.json` of a run.
pub fn write_verdict(run: &Path, verdict: &Verdict) -> Result<(), StoreError> {
    write_json(&run.join(VERDICT_FILE), verdict)
}

/// Reads `run.json` of a run's folder.
pub fn read_run(run: &Path) -> Result<RunRecord, StoreError> {
    let path = run.join(RECORD_FILE);
    let record: Value = read_json(&path, MAX_RECORD)?;
    match record.get("format").and_then(Value::as_str) {
        Some(RUN_FORMAT) => {}
        Some(other) => {
            return Err(StoreError::content(
                &path,
                format!("its format is `{other}`, and `{RUN_FORMAT}` is known here"),
            ));
        }
        None => return Err(StoreError::content(&path, format!("it does not say `\"format\": \"{RUN_FORMAT}\"`"))),
    }
    let record: RunRecord =
        serde_json::from_value(record).map_err(|error| StoreError::content(&path, error.to_string()))?;
    match record.absurdity() {
        None => Ok(record),
        Some(absurdity) => Err(StoreError::content(&path, absurdity)),
    }
}

/// Reads the manifest a run was made by, as text.
pub fn read_manifest(run: &Path) -> Result<String, StoreError> {
    let path = run.join(MANIFEST_FILE);
    String::from_utf8(read_bounded(&path, LONGEST_TEXT)?).map_err(|error| StoreError::content(&path, error.to_string()))
}

/// Reads what the verifier fetched, so that a verdict can be repeated; `None` when the run was never judged.
pub fn read_evidence(run: &Path) -> Result<Option<Value>, StoreError> {
    let path = run.join(EVIDENCE_FILE);
    if path.exists() { read_json(&path, MAX_CONTENT).map(Some) } else { Ok(None) }
}

/// Reads the calls of a run. A last line that a killed host left half written is left out.
pub fn read_ledger(run: &Path) -> Result<Vec<CallRecord>, StoreError> {
    let mut left = MAX_CONTENT.memory;
    let calls = lines(run.join(LEDGER_FILE))?.map(|line| {
        let line = line?;
        let call = line.parse(left)?;
        left -= bounded_json::weight(&line.text);
        Ok(call)
    });
    calls.collect()
}

/// Reads the messages of a run, as values, one after the other: a long run says more than memory should hold. A
/// half-written last line is left out.
pub fn read_transcript(run: &Path) -> Result<impl Iterator<Item = Result<Value, StoreError>>, StoreError> {
    Ok(lines(run.join(TRANSCRIPT_FILE))?.map(|line| line?.parse(MAX_CONTENT.memory)))
}

/// Reads the scripts of a run, in their order.
pub fn read_scripts(run: &Path) -> Result<Vec<String>, StoreError> {
    let paths = (1..).map(|number: u32| run.join("scripts").join(format!("{number:02}.py")));
    let read = |path: PathBuf| {
        let bytes = read_bounded(&path, LONGEST_TEXT)?;
        String::from_utf8(bytes).map_err(|error| StoreError::content(&path, error.to_string()))
    };
    paths.take_while(|path| path.exists()).map(read).collect()
}

/// Making a folder is atomic, so two processes never get the same one.
fn claim(parent: &Path, time: &str, mode: &str, first: u32) -> Result<(String, PathBuf, File), StoreError> {
    let mut number = first;
    loop {
        let name = format!("{time}-{mode}-{number}");
        let path = parent.join(&name);
        match fs::create_dir(&path) {
            Ok(()) => match File::open(&path) {
                Ok(lock) if hold(&lock, &path) => return Ok((name, path, lock)),
                // Swept by another process before it was locked.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("create", &path)(error)),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u32::MAX => number += 1,
            Err(error) => return Err(StoreError::io("create", &path)(error)),
        }
    }
}

fn append_to(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new().create_new(true).append(true).open(path).map_err(StoreError::io("create", path))
}

/// One write a line, so that lines of concurrent calls never mix. What a full disk cuts off is taken back: a line that
/// follows once there is room again must not continue half a line.
fn append(file: &Mutex<File>, path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let mut line = to_json(path, value, serde_json::to_vec)?;
    line.push(b'\n');
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let before = file.metadata().map_err(StoreError::io("write", path))?.len();
    file.write_all(&line).map_err(|error| {
        // Where this fails, too, readers of a last half line know what to do.
        _ = file.set_len(before);
        StoreError::io("write", path)(error)
    })
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let mut text = to_json(path, value, serde_json::to_vec_pretty)?;
    text.push(b'\n');
    replace(path, &text)
}

fn to_json<T: Serialize>(
    path: &Path,
    value: &T,
    write: impl FnOnce(&T) -> serde_json::Result<Vec<u8>>,
) -> Result<Vec<u8>, StoreError> {
    write(value).map_err(|error| StoreError::content(path, error.to_string()))
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_whole(path, bytes).map_err(StoreError::io("write", path))
}

fn read_json<T: DeserializeOwned>(path: &Path, bounds: Bounds) -> Result<T, StoreError> {
    let bytes = read_bounded(path, bounds.file)?;
    bounded_json::parse(&bytes, bounds.memory).map_err(|error| StoreError::content(path, error.to_string()))
}

/// A whole line of a file, without its end.
struct Line {
    path: PathBuf,
    /// From 1.
    number: usize,
    text: Vec<u8>,
}

impl Line {
    fn parse<T: DeserializeOwned>(&self, memory: u64) -> Result<T, StoreError> {
        bounded_json::parse(&self.text, memory).map_err(|error| self.fault(error))
    }

    fn fault(&self, reason: impl std::fmt::Display) -> StoreError {
        StoreError::content(&self.path, format!("line {}: {reason}", self.number))
    }
}

/// The whole lines of a file that are not empty, one in memory at a time.
fn lines(path: PathBuf) -> Result<impl Iterator<Item = Result<Line, StoreError>>, StoreError> {
    let mut file = BufReader::new(open_regular(&path).map_err(unread(&path))?);
    let numbered = (1..).map_while(move |number| {
        let mut line = Line { path: path.clone(), number, text: Vec::new() };
        match file.by_ref().take(MAX_CONTENT.file).read_until(b'\n', &mut line.text) {
            Err(error) => Some(Err(StoreError::io("read", &path)(error))),
            Ok(length) if line.text.pop_if(|last| *last == b'\n').is_none() => {
                let is_cut = length as u64 == MAX_CONTENT.file;
                is_cut.then(|| Err(line.fault(format!("it is longer than {} MB", MAX_CONTENT.file >> 20))))
            }
            Ok(_) => Some(Ok(line)),
        }
    });
    Ok(numbered.filter(|line| !line.as_ref().is_ok_and(|line| line.text.is_empty())))
}

fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    read_regular(path, limit).map_err(unread(path))
}

fn unread(path: &Path) -> impl FnOnce(ReadError) -> StoreError {
    move |error| match error {
        ReadError::Io(source) => StoreError::io("read", path)(source),
        other => StoreError::content(path, other.to_string()),
    }
}
