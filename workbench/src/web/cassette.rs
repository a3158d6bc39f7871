//! A domain's recorded answers: `index.jsonl`, one line an entry, and the bodies beside it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::address::Address;
use super::cache::hex;
use crate::files::{ReadError, read_regular, read_text};

/// The index of a cassette.
pub(super) const INDEX: &str = "index.jsonl";
/// The longest index that is read: some hundred thousand entries.
const INDEX_BYTES: u64 = 64 << 20;
/// The folder of the bodies.
pub(super) const BODIES: &str = "bodies";
/// Digits of a body's SHA-256 that name its file.
pub(super) const DIGEST_DIGITS: usize = 16;

/// One line of `index.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CassetteLine {
    /// The real address in normal form.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Its `Content-Type`, or nothing.
    pub content_type: String,
    /// Name of the file in `bodies/`.
    pub body: String,
    /// Whether nobody ever answered so: `new` makes a few answers up, and the first that is recorded takes the place of all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sample: bool,
}

impl CassetteLine {
    /// The beginning of the body's SHA-256, where the name of its file is one: so `record` names them. Files that were
    /// written by hand may be named as one likes.
    fn digest(&self) -> Option<&str> {
        let (stem, _) = self.body.split_once('.')?;
        (stem.len() == DIGEST_DIGITS && stem.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(stem)
    }
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// A file or folder cannot be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What happened.
        cause: io::Error,
    },
    /// A line of the index is wrong.
    #[error("{}:{line}: {reason}", index.display())]
    Line {
        /// The index.
        index: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What is wrong and how it is mended.
        reason: String,
    },
}

/// A cassette that is read: the index in memory, bodies when they are asked for.
#[derive(Debug)]
pub struct Cassette {
    folder: PathBuf,
    lines: HashMap<String, (usize, CassetteLine)>,
}

impl Cassette {
    /// Loads the index of the cassette in `folder`.
    ///
    /// # Errors
    /// When the index cannot be read, or a line of it is wrong: broken JSON, an address that is not
    /// in normal form or stands there twice, a body outside `bodies/`.
    pub fn open(folder: &Path) -> Result<Self, CassetteError> {
        let index = folder.join(INDEX);
        let text =
            read_text(&index, INDEX_BYTES).map_err(|cause| CassetteError::File { path: index.clone(), cause })?;
        let mut lines = HashMap::new();
        for (number, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let wrong = |reason| CassetteError::Line { index: index.clone(), line: number, reason };
            let line = read_line(text).map_err(wrong)?;
            if let Some((first, line)) = lines.insert(line.url.clone(), (number, line)) {
                return Err(wrong(format!("{} is recorded twice, first on line {first}", line.url)));
            }
        }
        Ok(Self { folder: folder.to_owned(), lines })
    }

    /// The name of the domain the cassette belongs to: `domains/<name>/cassette`.
    pub(super) fn domain(&self) -> String {
        let absolute = fs::canonicalize(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let name = absolute.parent().and_then(Path::file_name);
        name.map_or_else(|| "DOMAIN".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// What is recorded for an address in normal form.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<Recording> {
        self.lines.get(key).map(|(number, line)| Recording {
            folder: self.folder.clone(),
            number: *number,
            line: line.clone(),
        })
    }

    /// How many of its answers `new` has made up.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.entries().filter(|line| line.sample).count()
    }

    /// Every entry, in no order.
    pub fn entries(&self) -> impl Iterator<Item = &CassetteLine> {
        self.lines.values().map(|(_, line)| line)
    }
}

/// One recorded answer, its body not read yet.
#[derive(Clone, Debug)]
pub struct Recording {
    folder: PathBuf,
    number: usize,
    /// What the index says about it.
    pub line: CassetteLine,
}

impl Recording {
    /// Reads the body, of at most `limit` bytes.
    ///
    /// # Errors
    /// When the file is missing, no plain file, too long, or not what was recorded; the text names index and line.
    pub fn body(&self, limit: u64) -> Result<Bytes, CassetteError> {
        let wrong = |reason: String| CassetteError::Line {
            index: self.folder.join(INDEX),
            line: self.number,
            reason: format!("body {BODIES}/{} {reason}", self.line.body),
        };
        let path = self.folder.join(BODIES).join(&self.line.body);
        let body = read_regular(&path, limit).map_err(|error| match error {
            ReadError::NotRegular => wrong("is not a plain file".to_owned()),
            ReadError::TooLong { length, limit } => {
                wrong(format!("has {length} bytes, more than {limit} (`[api] body_mb`)"))
            }
            ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => wrong("is missing".to_owned()),
            ReadError::Io(error) => wrong(format!("cannot be read: {error}")),
        })?;
        if self.line.digest().is_some_and(|digest| !hex(&Sha256::digest(&body)).starts_with(digest)) {
            return Err(wrong(
                "is not what was recorded: its name begins with the SHA-256 of another content; record it again, or give \
                 what was changed on purpose another name"
                    .to_owned(),
            ));
        }
        Ok(Bytes::from(body))
    }
}

fn read_line(text: &str) -> Result<CassetteLine, String> {
    let line: CassetteLine = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let address = Address::parse(&line.url).map_err(|error| error.to_string())?;
    if address.key() != line.url {
        return Err(format!("url {} is not in normal form; write {}", line.url, address.key()));
    }
    let plain = line.body.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    if !plain || line.body.is_empty() || line.body.starts_with('.') {
        return Err(format!("body `{}` is not the name of a file in {BODIES}/", line.body));
    }
    Ok(line)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn open(index: &str) -> Result<Cassette, CassetteError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(INDEX), index).unwrap();
        Cassette::open(folder.path())
    }

    #[test]
    fn errors_name_file_line_and_mend() {
        let good = r#"{"url":"https://a.example/x?a=1&b=2","status":200,"content_type":"","body":"1.bin"}"#;
        let table = [
            (good.replace("a=1&b=2", "b=2&a=1"), "write https://a.example/x?a=1&b=2"),
            (good.replace("1.bin", "../1.bin"), "is not the name of a file in bodies/"),
            (good.replace("1.bin", ".."), "is not the name of a file in bodies/"),
            (good.replace("status", "stats"), "unknown field `stats`"),
            (good.replace("https://a.example/x", "x"), "relative URL"),
            (good.to_owned(), "is recorded twice, first on line 1"),
            ("{".to_owned(), "EOF"),
        ];
        for (line, reason) in table {
            let error = open(&format!("\u{feff}{good}\r\n\n{line}\n")).unwrap_err().to_string();
            assert!(error.contains("index.jsonl:3: ") && error.contains(reason), "{line}: {error}");
        }
    }

    #[test]
    fn a_missing_index_or_body_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Cassette::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(INDEX), "{error}");
        let line = r#"{"url":"https://a.example/x","status":200,"content_type":"","body":"1.bin"}"#;
        fs::write(folder.path().join(INDEX), line).unwrap();
        let cassette = Cassette::open(folder.path()).unwrap();
        let recording = cassette.find("https://a.example/x").unwrap();
        assert!(recording.body(9).unwrap_err().to_string().ends_with("index.jsonl:1: body bodies/1.bin is missing"));
        fs::create_dir_all(folder.path().join(BODIES)).unwrap();
        fs::write(folder.path().join(BODIES).join("1.bin"), "0123456789").unwrap();
        assert!(recording.body(9).unwrap_err().to_string().contains("more than 9"));
        assert_eq!(recording.body(10).unwrap(), "0123456789");
    }
}
