//! How the files of one run differ from those of another, byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files::open_regular;

/// Files of a run that are compared: as many as a run may save, and some more that it may have made otherwise.
const MOST: usize = 20_000;
/// Bytes that are compared at a time.
const PIECE: usize = 64 * 1024;

/// A file that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileDifference {
    /// Its name in `out/`.
    pub file: String,
    /// How it differs.
    pub how: How,
}

/// How a file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Its bytes.
    Differs,
    /// It is in the first run only.
    OnlyRecorded,
    /// It is in the second run only.
    OnlyReplayed,
    /// In the first run it is no plain file, or cannot be read: it was not looked into.
    NotRead,
}

/// What came of a comparison of two folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Files that are in both, and alike.
    pub alike: usize,
    /// The others, by name.
    pub differences: Vec<FileDifference>,
}

/// Compares the files below `recorded`, which may come from anybody, with those below `replayed`. Links are not
/// followed, and nothing but plain files is opened.
///
/// # Errors
/// When a folder holds more files than any run makes, or cannot be read.
pub fn compare(recorded: &Path, replayed: &Path) -> io::Result<Compared> {
    let (first, second) = (listed(recorded)?, listed(replayed)?);
    let mut compared = Compared::default();
    for (name, path) in &first {
        let how = match second.get(name) {
            None => Some(How::OnlyRecorded),
            Some(other) => match is_alike(path, other) {
                Ok(true) => None,
                Ok(false) => Some(How::Differs),
                Err(_) => Some(How::NotRead),
            },
        };
        match how {
            None => compared.alike += 1,
            Some(how) => compared.differences.push(FileDifference { file: name.clone(), how }),
        }
    }
    let new = second.keys().filter(|name| !first.contains_key(*name));
    compared.differences.extend(new.map(|name| FileDifference { file: name.clone(), how: How::OnlyReplayed }));
    compared.differences.sort_by(|left, right| left.file.cmp(&right.file));
    Ok(compared)
}

/// All that is below a folder and is no folder, by its name there. What is no folder itself is empty.
fn listed(folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(String::new(), folder.to_owned())];
    if !fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(found);
    }
    while let Some((before, folder)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = format!("{before}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push((format!("{name}/"), entry.path()));
            } else {
                found.insert(name, entry.path());
            }
            if found.len() + folders.len() > MOST {
                return Err(io::Error::other(format!("it holds more than {MOST} files")));
            }
        }
    }
    Ok(found)
}

fn is_alike(recorded: &Path, replayed: &Path) -> io::Result<bool> {
    let (first, second) = (open_regular(recorded)?, open_regular(replayed)?);
    if first.metadata()?.len() != second.metadata()?.len() {
        return Ok(false);
    }
    let (mut first, mut second) = (BufReader::with_capacity(PIECE, first), BufReader::with_capacity(PIECE, second));
    let mut other = Vec::new();
    loop {
        let piece = first.fill_buf()?;
        let length = piece.len();
        other.clear();
        second.by_ref().take(length as u64).read_to_end(&mut other)?;
        if piece != other {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        first.consume(length);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_and_nothing_behind_a_link_is_read() {
        let home = tempfile::tempdir().unwrap();
        let (first, second) = (home.path().join("first"), home.path().join("second"));
        let long = vec![7; 3 * PIECE + 1];
        let mut changed = long.clone();
        changed[2 * PIECE + 5] = 8;
        for (folder, name, content) in [
            (&first, "same", &long[..]),
            (&second, "same", &long),
            (&first, "empty", b""),
            (&second, "empty", b""),
            (&first, "below/changed", &long),
            (&second, "below/changed", &changed),
            (&first, "cut", b"abc"),
            (&second, "cut", b"ab"),
            (&first, "gone", b""),
            (&second, "new", b""),
            (&second, "link", b"root"),
        ] {
            fs::create_dir_all(folder.join("below")).unwrap();
            fs::write(folder.join(name), content).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", first.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", first.join("folder")).unwrap();
        let compared = compare(&first, &second).unwrap();
        let told: Vec<(&str, How)> = compared.differences.iter().map(|it| (it.file.as_str(), it.how)).collect();
        let expected = [
            ("below/changed", How::Differs),
            ("cut", How::Differs),
            ("folder", How::OnlyRecorded),
            ("gone", How::OnlyRecorded),
            ("link", How::NotRead),
            ("new", How::OnlyReplayed),
        ];
        assert_eq!((told.as_slice(), compared.alike), (&expected[..], 2));
        assert_eq!(compare(&home.path().join("nothing"), &first).unwrap().differences.len(), 7);
    }
}
