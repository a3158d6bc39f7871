//! What was sent to a provider and what came back, in files for people, without any secret.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::access::AccessError;
use super::exchange::HIDDEN;
use super::provider::ProviderOptions;
use crate::files::{write_new, write_whole};

/// Names of answers' headers that may tell who asked.
const TELLING: [&str; 2] = ["set-cookie", "cookie"];

/// A folder of requests and answers: `0001-request.json`, `0001-response.json` and so on.
#[derive(Debug)]
pub struct Trace {
    folder: PathBuf,
    /// The last number that was taken, as far as is known here.
    last: AtomicU64,
}

impl Trace {
    /// Where the user wants what is sent and received to be kept.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub(super) fn of(options: &ProviderOptions) -> Result<Option<Arc<Self>>, AccessError> {
        let kept = |folder: &PathBuf| match Self::into_folder(folder) {
            Ok(trace) => Ok(Arc::new(trace)),
            Err(error) => Err(AccessError::Setup(format!("the trace cannot be kept in {}: {error}", folder.display()))),
        };
        options.trace.as_ref().map(kept).transpose()
    }

    /// Traces into `folder`, which is made; what is in it stays, and numbers go on behind it.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    fn into_folder(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let number = |entry: io::Result<fs::DirEntry>| -> io::Result<u64> {
            let name = entry?.file_name();
            let digits = name.to_string_lossy().split('-').next().and_then(|digits| digits.parse::<u32>().ok());
            Ok(digits.unwrap_or(0).into())
        };
        let last =
            fs::read_dir(folder)?.map(number).try_fold(0, |last, number| number.map(|number| last.max(number)))?;
        Ok(Self { folder: folder.to_owned(), last: AtomicU64::new(last) })
    }

    /// Keeps a request; the number is that of its answer, too.
    pub(super) fn request(&self, method: &Method, address: &Url, headers: &HeaderMap, body: Option<&[u8]>) -> u64 {
        let document = json!({
            "method": method.as_str(),
            "address": address.as_str(),
            "headers": shown(headers),
            "body": body.map(content),
        });
        let text = serde_json::to_vec_pretty(&document).unwrap_or_default();
        loop {
            let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            let path = self.path(number, "request");
            match write_new(&path, &text) {
                // Another command that traces into this folder has taken the number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                outcome => {
                    warn(&path, outcome);
                    return number;
                }
            }
        }
    }

    /// Keeps an answer.
    pub(super) fn answer(&self, number: u64, status: u16, headers: &HeaderMap, body: &[u8]) {
        self.write(number, "response", &json!({ "status": status, "headers": shown(headers), "body": content(body) }));
    }

    /// Keeps why there was none.
    pub(super) fn fault(&self, number: u64, reason: &str) {
        self.write(number, "response", &json!({ "fault": reason }));
    }

    fn path(&self, number: u64, kind: &str) -> PathBuf {
        self.folder.join(format!("{number:04}-{kind}.json"))
    }

    fn write(&self, number: u64, kind: &str, document: &Value) {
        let path = self.path(number, kind);
        warn(&path, write_whole(&path, &serde_json::to_vec_pretty(document).unwrap_or_default()));
    }
}

/// A trace that cannot be written must not end a run that costs money.
fn warn(path: &Path, outcome: io::Result<()>) {
    if let Err(error) = outcome {
        crate::printer::note(&format!("warning: {} could not be written: {error}", path.display()));
    }
}

fn shown(headers: &HeaderMap) -> Value {
    let shown = headers.iter().map(|(name, value)| {
        let is_secret = value.is_sensitive() || TELLING.contains(&name.as_str());
        let text = if is_secret { HIDDEN.to_owned() } else { String::from_utf8_lossy(value.as_bytes()).into_owned() };
        (name.as_str().to_owned(), Value::String(text))
    });
    Value::Object(shown.collect())
}

fn content(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_request_has_a_number_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["notes.txt", "0007-request.json", "4294967295-x", "99999999999999999999-x"] {
            fs::write(folder.path().join(name), "kept").unwrap();
        }
        // Two commands that began at the same time.
        let (one, other) = (Trace::into_folder(folder.path()).unwrap(), Trace::into_folder(folder.path()).unwrap());
        let address: Url = "http://127.0.0.1/v1".parse().unwrap();
        let numbers = [&one, &other, &one, &other].map(|trace| {
            let number = trace.request(&Method::GET, &address, &HeaderMap::new(), None);
            trace.fault(number, "none");
            number
        });
        let first = u64::from(u32::MAX) + 1;
        assert_eq!(numbers, [first, first + 1, first + 2, first + 3]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4 + 2 * numbers.len());
        assert_eq!(fs::read_to_string(folder.path().join("0007-request.json")).unwrap(), "kept");
    }
}
