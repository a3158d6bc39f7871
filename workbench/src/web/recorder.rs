//! Writes a cassette: what `record` keeps of live answers.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::RawAnswer;
use super::cache::hex;
use super::cassette::{BODIES, Cassette, CassetteError, CassetteLine, DIGEST_DIGITS, INDEX};
use crate::files::{read_regular, sweep, write_whole};

/// A cassette that is added to. Of an answer it keeps address, status, content type and body: no
/// header, so no cookie and no key. Bodies are written at once, the index by [`Self::save`]. What was made up
/// ([`Self::add_sample`]) never stands beside what was recorded.
#[derive(Debug)]
pub struct CassetteWriter {
    folder: PathBuf,
    lines: BTreeMap<String, CassetteLine>,
    replaced_samples: usize,
}

/// What a cassette had for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing: the answer was added.
    New,
    /// The same answer.
    Same,
    /// Another answer, which stays.
    Other,
}

impl CassetteWriter {
    /// Goes on with the cassette in `folder`, or begins one.
    ///
    /// # Errors
    /// When the folder cannot be made, or the cassette in it is wrong.
    pub fn open(folder: &Path) -> Result<Self, CassetteError> {
        let bodies = folder.join(BODIES);
        fs::create_dir_all(&bodies).map_err(|cause| CassetteError::File { path: bodies, cause })?;
        sweep(folder);
        sweep(&folder.join(BODIES));
        let lines = if folder.join(INDEX).exists() {
            Cassette::open(folder)?.entries().map(|line| (line.url.clone(), line.clone())).collect()
        } else {
            BTreeMap::new()
        };
        Ok(Self { folder: folder.to_owned(), lines, replaced_samples: 0 })
    }

    /// Adds `answer`, unless something is recorded for its address. What was made up counts as recorded only where it is the
    /// same: a run on made-up answers adds nothing.
    ///
    /// # Errors
    /// When the body cannot be written.
    pub fn add_new(&mut self, answer: &RawAnswer) -> Result<Known, CassetteError> {
        let Some(line) = self.lines.get(&answer.url) else {
            self.add(answer)?;
            return Ok(Known::New);
        };
        if line.status == answer.status && self.holds(&line.body, &answer.body) {
            return Ok(Known::Same);
        }
        if line.sample {
            self.add(answer)?;
            return Ok(Known::New);
        }
        Ok(Known::Other)
    }

    fn holds(&self, name: &str, body: &[u8]) -> bool {
        let stored = read_regular(&self.folder.join(BODIES).join(name), body.len() as u64);
        stored.is_ok_and(|stored| stored == body)
    }

    /// Adds `answer`, or replaces what was recorded for its address. Equal bodies are stored once. All that was made up goes.
    ///
    /// # Errors
    /// When the body cannot be written.
    pub fn add(&mut self, answer: &RawAnswer) -> Result<(), CassetteError> {
        let samples = self.lines.values().filter(|line| line.sample).count();
        self.put(answer, false)?;
        self.lines.retain(|_, line| !line.sample);
        self.replaced_samples += samples;
        Ok(())
    }

    /// Adds an answer that nobody gave, for a domain that is to run before anything was asked for.
    ///
    /// # Errors
    /// When the body cannot be written.
    pub fn add_sample(&mut self, answer: &RawAnswer) -> Result<(), CassetteError> {
        self.put(answer, true)
    }

    /// How many made-up answers have gone since it was opened.
    #[must_use]
    pub fn replaced_samples(&self) -> usize {
        self.replaced_samples
    }

    fn put(&mut self, answer: &RawAnswer, sample: bool) -> Result<(), CassetteError> {
        let digest = hex(&Sha256::digest(&answer.body));
        let body = format!("{}.{}", &digest[..DIGEST_DIGITS], extension(&answer.content_type));
        let path = self.folder.join(BODIES).join(&body);
        let stored = crate::files::read_bounded(&path, answer.body.len() as u64).ok();
        if stored.as_deref() != Some(&answer.body[..]) {
            write_whole(&path, &answer.body).map_err(|cause| CassetteError::File { path, cause })?;
        }
        let (url, content_type) = (answer.url.clone(), answer.content_type.clone());
        self.lines.insert(url.clone(), CassetteLine { url, status: answer.status, content_type, body, sample });
        Ok(())
    }

    /// Writes the index, sorted by address; returns the number of its entries.
    ///
    /// # Errors
    /// When the index cannot be written; the old one then stays as it was.
    pub fn save(&self) -> Result<usize, CassetteError> {
        let path = self.folder.join(INDEX);
        let lines: Result<Vec<String>, _> = self.lines.values().map(serde_json::to_string).collect();
        lines
            .map_err(io::Error::from)
            .and_then(|lines| {
                write_whole(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes())
            })
            .map_err(|cause| CassetteError::File { path, cause })?;
        Ok(self.lines.len())
    }

    /// Removes the bodies that no entry names; returns their number. Comes after [`Self::save`].
    ///
    /// # Errors
    /// When the folder cannot be read or a file not be removed, and when it is a link: it may lead to anybody's files.
    pub fn prune(&self) -> Result<usize, CassetteError> {
        let known: HashSet<&str> = self.lines.values().map(|line| line.body.as_str()).collect();
        let folder = self.folder.join(BODIES);
        let mut removed = 0;
        let mut sweep = || {
            if folder.is_symlink() {
                return Err(std::io::Error::other("it is a link, and nothing behind it is removed"));
            }
            for file in fs::read_dir(&folder)? {
                let file = file?;
                let is_known = file.file_name().to_str().is_some_and(|name| known.contains(name));
                if !is_known && file.file_type()?.is_file() {
                    fs::remove_file(file.path())?;
                    removed += 1;
                }
            }
            Ok(())
        };
        sweep().map_err(|cause| CassetteError::File { path: folder.clone(), cause })?;
        Ok(removed)
    }
}

fn extension(content_type: &str) -> &'static str {
    match content_type.split(';').next().unwrap_or_default().trim() {
        "application/json" => "json",
        kind if kind.ends_with("+json") => "json",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "text/html" => "html",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use bytes::Bytes;

    use super::super::Origin;
    use super::*;

    fn answer(url: &str, status: u16, content_type: &str, body: &[u8]) -> RawAnswer {
        RawAnswer {
            url: url.to_owned(),
            status,
            content_type: content_type.to_owned(),
            body: Bytes::copy_from_slice(body),
            origin: Origin::Network,
        }
    }

    fn bodies(folder: &Path) -> usize {
        fs::read_dir(folder.join(BODIES)).unwrap().count()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let table: &[(&str, u16, &str, &[u8])] = &[
            ("https://a.example/z", 200, "application/json; charset=utf-8", b"{\"a\":1}\n"),
            ("https://a.example/a?q=%22", 404, "application/json", b"{}"),
            ("https://a.example/b", 200, "image/jpeg", b"\xff\xd8\x00\n\r\n"),
            ("https://a.example/c", 200, "", b""),
            ("https://a.example/d", 410, "application/json", b"{}"),
        ];
        let mut writer = CassetteWriter::open(folder.path()).unwrap();
        for (url, status, content_type, body) in table {
            writer.add(&answer(url, *status, content_type, body)).unwrap();
        }
        assert_eq!(writer.save().unwrap(), table.len());
        assert_eq!(bodies(folder.path()), table.len() - 1, "equal bodies are stored once");
        let cassette = Cassette::open(folder.path()).unwrap();
        for (url, status, content_type, body) in table {
            let recording = cassette.find(url).unwrap();
            assert_eq!((recording.line.status, recording.line.content_type.as_str()), (*status, *content_type));
            assert_eq!(recording.body(1000).unwrap(), *body);
        }
        let index = fs::read_to_string(folder.path().join(INDEX)).unwrap();
        let urls: Vec<&str> = index.lines().collect();
        assert!(urls.is_sorted(), "{index}");
    }

    #[test]
    fn a_body_that_was_cut_or_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CassetteWriter::open(folder.path()).unwrap();
        writer.add(&answer("https://a.example/x", 200, "application/json", b"[1, 2]")).unwrap();
        writer.save().unwrap();
        let recording = Cassette::open(folder.path()).unwrap().find("https://a.example/x").unwrap();
        let path = folder.path().join(BODIES).join(&recording.line.body);
        for damaged in ["", "[1, 2", "[1, 3]", "[1, 2]\n"] {
            fs::write(&path, damaged).unwrap();
            let error = recording.body(1000).unwrap_err().to_string();
            assert!(
                error.contains("index.jsonl:1: body bodies/") && error.contains("is not what was recorded"),
                "{error}"
            );
        }
        fs::write(&path, "[1, 2]").unwrap();
        assert_eq!(recording.body(1000).unwrap(), "[1, 2]");
    }

    #[test]
    fn an_update_replaces_and_prune_sweeps() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CassetteWriter::open(folder.path()).unwrap();
        writer.add(&answer("https://a.example/x", 200, "text/plain", b"old")).unwrap();
        writer.save().unwrap();
        let mut writer = CassetteWriter::open(folder.path()).unwrap();
        writer.add(&answer("https://a.example/x", 200, "text/plain", b"new")).unwrap();
        assert_eq!(writer.save().unwrap(), 1);
        let offered = [("x", "new", Known::Same), ("x", "newer", Known::Other), ("y", "", Known::New)];
        for (path, body, known) in offered {
            let answer = answer(&format!("https://a.example/{path}"), 200, "text/plain", body.as_bytes());
            assert_eq!(writer.add_new(&answer).unwrap(), known, "{path} {body}");
        }
        assert_eq!(writer.prune().unwrap(), 1);
        assert_eq!(bodies(folder.path()), 2);
        let cassette = Cassette::open(folder.path()).unwrap();
        assert_eq!(cassette.find("https://a.example/x").unwrap().body(9).unwrap(), "new");
    }

    #[test]
    fn what_was_made_up_never_stands_beside_what_was_recorded() {
        let made_up = |path: &str| answer(&format!("https://a.example/{path}"), 200, "text/plain", b"made up");
        let recorded = |path: &str| answer(&format!("https://b.example/{path}"), 200, "text/plain", b"recorded");
        /// How an answer is added, and whether the made-up ones are gone then.
        type Case = (fn(&mut CassetteWriter, &RawAnswer) -> Result<Known, CassetteError>, RawAnswer, bool);
        let another = RawAnswer { body: Bytes::from_static(b"recorded"), ..made_up("x") };
        let table: [Case; 5] = [
            (|writer, answer| writer.add(answer).map(|()| Known::New), recorded("x"), true),
            (|writer, answer| writer.add(answer).map(|()| Known::New), made_up("x"), true),
            (CassetteWriter::add_new, recorded("x"), true),
            (CassetteWriter::add_new, another, true),
            (CassetteWriter::add_new, made_up("x"), false),
        ];
        for (number, (add, answer, is_gone)) in table.into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = CassetteWriter::open(folder.path()).unwrap();
            writer.add_sample(&made_up("x")).unwrap();
            writer.add_sample(&made_up("y")).unwrap();
            writer.save().unwrap();
            assert_eq!(Cassette::open(folder.path()).unwrap().samples(), 2);
            let mut writer = CassetteWriter::open(folder.path()).unwrap();
            let known = add(&mut writer, &answer).unwrap();
            writer.save().unwrap();
            let cassette = Cassette::open(folder.path()).unwrap();
            assert_eq!(known == Known::New, is_gone, "case {number}");
            let left = (cassette.samples(), cassette.entries().count(), writer.replaced_samples());
            assert_eq!(left, if is_gone { (0, 1, 2) } else { (2, 2, 0) }, "case {number}");
            assert_eq!(cassette.find(&answer.url).unwrap().body(99).unwrap(), answer.body, "case {number}");
        }
    }

    #[test]
    fn prune_removes_nothing_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = tempfile::tempdir().unwrap();
        let mut writer = CassetteWriter::open(folder.path()).unwrap();
        writer.add(&answer("https://a.example/x", 200, "text/plain", b"text")).unwrap();
        writer.save().unwrap();
        fs::write(theirs.path().join("file"), "").unwrap();
        fs::remove_dir_all(folder.path().join(BODIES)).unwrap();
        std::os::unix::fs::symlink(theirs.path(), folder.path().join(BODIES)).unwrap();
        let error = writer.prune().unwrap_err().to_string();
        assert!(error.contains("it is a link"), "{error}");
        assert!(theirs.path().join("file").is_file());
    }
}
