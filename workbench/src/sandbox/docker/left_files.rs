//! The files that a script left in its container: fetched as the hostile things they are.

use std::io::Read;

use bollard::query_parameters::DownloadFromContainerOptions;
use futures::StreamExt;

use super::container::{Container, OUT_FOLDER};
use crate::sandbox::Bridge;

/// Bytes of the archive they come in: what the volume holds, and what the archive adds for each file.
const LONGEST_ARCHIVE: usize = 72 * 1024 * 1024;

/// Files that are kept, at most.
const MOST_FILES: usize = 1000;

/// Fetches what lies in the container's folder and hands each file to the bridge. Returns what a reader of the script's
/// output is to know: nothing when all went well.
pub(super) async fn keep(container: &Container, bridge: &dyn Bridge) -> String {
    let archive = match fetch(container).await {
        Ok(archive) => archive,
        Err(reason) => return note(&format!("the files in {OUT_FOLDER} could not be fetched: {reason}")),
    };
    let mut notes = String::new();
    let read = tar::Archive::new(archive.as_slice()).entries().map(|entries| {
        for (number, entry) in entries.enumerate() {
            // The folder itself is the first.
            if number > MOST_FILES {
                let text = format!("{OUT_FOLDER} holds more than {MOST_FILES} files; the others were not kept");
                notes.push_str(&note(&text));
                break;
            }
            let Ok(entry) = entry else {
                notes.push_str(&note(&format!("the archive of {OUT_FOLDER} is damaged")));
                break;
            };
            if let Err(reason) = keep_one(entry, bridge) {
                notes.push_str(&note(&reason));
            }
        }
    });
    if let Err(error) = read {
        notes.push_str(&note(&format!("the files in {OUT_FOLDER} could not be read: {error}")));
    }
    notes
}

async fn fetch(container: &Container) -> Result<Vec<u8>, String> {
    let options = DownloadFromContainerOptions { path: OUT_FOLDER.to_owned() };
    let mut pieces = container.docker().download_from_container(container.id(), Some(options));
    let mut archive = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| error.to_string())?;
        if archive.len() + piece.len() > LONGEST_ARCHIVE {
            return Err(format!("they take more than {} MB", LONGEST_ARCHIVE >> 20));
        }
        archive.extend_from_slice(&piece);
    }
    Ok(archive)
}

/// Keeps one regular file that stands in the folder itself.
fn keep_one(mut entry: tar::Entry<'_, impl Read>, bridge: &dyn Bridge) -> Result<(), String> {
    let path = entry.path_bytes().into_owned();
    let path = String::from_utf8_lossy(&path).into_owned();
    let inside = path.split_once('/').map_or("", |(_, inside)| inside).trim_end_matches('/');
    if inside.is_empty() {
        return Ok(());
    }
    let kind = entry.header().entry_type();
    if !kind.is_file() || inside.contains('/') {
        let what = if kind.is_dir() {
            "folders"
        } else if kind.is_file() {
            "files in folders"
        } else {
            "links and devices"
        };
        return Err(format!("{OUT_FOLDER}/{inside} was not kept: {what} are not"));
    }
    let mut content = Vec::new();
    entry.read_to_end(&mut content).map_err(|error| format!("{OUT_FOLDER}/{inside} could not be read: {error}"))?;
    bridge.keep(inside, &content).map_err(|reason| format!("{OUT_FOLDER}/{inside} was not kept: {reason}"))
}

fn note(text: &str) -> String {
    format!("note: {text}\n")
}
