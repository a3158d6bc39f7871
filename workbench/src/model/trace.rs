//! What was sent to a provider and what came back, in files for people, without any secret.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::exchange::HIDDEN;
use crate::files::write_whole;

/// Names of answers' headers that may tell who asked.
const TELLING: [&str; 2] = ["set-cookie", "cookie"];

/// A folder of requests and answers: `0001-request.json`, `0001-response.json` and so on.
#[derive(Debug)]
pub struct Trace {
    folder: PathBuf,
    requests: AtomicU32,
}

impl Trace {
    /// Traces into `folder`, which is made; what is in it stays, and numbers go on behind it.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn into_folder(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let number = |entry: io::Result<fs::DirEntry>| -> io::Result<u32> {
            let name = entry?.file_name();
            Ok(name.to_string_lossy().split('-').next().and_then(|digits| digits.parse().ok()).unwrap_or(0))
        };
        let last =
            fs::read_dir(folder)?.map(number).try_fold(0, |last, number| number.map(|number| last.max(number)))?;
        Ok(Self { folder: folder.to_owned(), requests: AtomicU32::new(last) })
    }

    /// Keeps a request; the number is that of its answer, too.
    pub(super) fn request(&self, method: &Method, address: &Url, headers: &HeaderMap, body: Option<&[u8]>) -> u32 {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let document = json!({
            "method": method.as_str(),
            "address": address.as_str(),
            "headers": shown(headers),
            "body": body.map(content),
        });
        self.write(number, "request", &document);
        number
    }

    /// Keeps an answer.
    pub(super) fn answer(&self, number: u32, status: u16, headers: &HeaderMap, body: &[u8]) {
        self.write(number, "response", &json!({ "status": status, "headers": shown(headers), "body": content(body) }));
    }

    /// Keeps why there was none.
    pub(super) fn fault(&self, number: u32, reason: &str) {
        self.write(number, "response", &json!({ "fault": reason }));
    }

    /// A trace that cannot be written must not end a run that costs money.
    fn write(&self, number: u32, kind: &str, document: &Value) {
        let path = self.folder.join(format!("{number:04}-{kind}.json"));
        let text = serde_json::to_vec_pretty(document).unwrap_or_default();
        if let Err(error) = write_whole(&path, &text) {
            crate::printer::note(&format!("warning: {} could not be written: {error}", path.display()));
        }
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
