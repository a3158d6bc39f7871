//! The rehearsal of the bundled domain over catalogues whose searches find other things than the bundled one's.
//!
//! Each is made of the bundled cassette: its objects and pictures stay, its searches are composed anew.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used)]

#[path = "support/program.rs"]
mod program;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use program::{Program, workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

const SEARCH: &str = "https://collectionapi.metmuseum.org/public/collection/v1.1/search";

/// Every word the rehearsal looks for.
const WORDS: [&str; 9] = ["cat", "kitten", "tiger", "lion", "feline", "cats", "leopard", "animal", "dog"];

/// A domain `met` whose searches find what a case says.
struct Catalogue(TempDir);

impl Catalogue {
    /// `found` names, for some words, which of the objects that answer to `cat` in the bundled catalogue they find; the other
    /// words find nothing.
    fn of(found: &[(&str, Range<usize>)]) -> Self {
        let catalogue = Self(tempfile::tempdir().unwrap());
        let bundled = workspace().join("domains/met");
        for part in ["domain.toml", "rehearsal/loop.py", "rehearsal/code/1.py", "rehearsal/code/2.py"] {
            copy(&bundled.join(part), &catalogue.folder().join(part));
        }
        let index = fs::read_to_string(bundled.join("cassette/index.jsonl")).unwrap();
        let entries: Vec<Value> = index.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (searches, mut kept): (Vec<Value>, Vec<Value>) =
            entries.into_iter().partition(|entry| entry["url"].as_str().unwrap().starts_with(SEARCH));
        for entry in &kept {
            let body = Path::new("cassette/bodies").join(entry["body"].as_str().unwrap());
            copy(&bundled.join(&body), &catalogue.folder().join(&body));
        }
        let ids = ids_of_cats(&searches, &bundled);
        for word in WORDS {
            let range = found.iter().find(|(of, _)| *of == word).map_or(0..0, |(_, range)| range.clone());
            kept.extend(catalogue.answers(word, &ids[range]));
        }
        kept.sort_by(|one, other| one["url"].as_str().cmp(&other["url"].as_str()));
        let lines: String = kept.iter().map(|entry| format!("{entry}\n")).collect();
        fs::write(catalogue.folder().join("cassette/index.jsonl"), lines).unwrap();
        catalogue
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("met")
    }

    /// The entries of one search, which has one page, at each length of page that is asked for.
    fn answers(&self, word: &str, ids: &[Value]) -> Vec<Value> {
        let object_ids = if ids.is_empty() { Value::Null } else { json!(ids) };
        let body = format!("{word}.json");
        let answer = json!({"total": ids.len(), "objectIDs": object_ids}).to_string();
        fs::write(self.folder().join("cassette/bodies").join(&body), answer).unwrap();
        let entry = |limit: u32| {
            let url = format!("{SEARCH}?hasImages=true&isPublicDomain=true&limit={limit}&offset=0&q={word}");
            json!({"url": url, "status": 200, "content_type": "application/json", "body": body})
        };
        [50, 100].map(entry).to_vec()
    }

    /// The record of a rehearsed run in this mode.
    fn run(&self, program: &Program, mode: &str) -> Value {
        let folder = self.folder();
        let outcome = program.run(&["run", folder.to_str().unwrap(), "--mode", mode, "--format", "json"]);
        let record: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{mode}: {outcome:?}"));
        assert_eq!(record["stop"], "end_turn", "{mode}: {record:#}");
        record
    }
}

/// What the bundled catalogue finds for `cat`, in its order.
fn ids_of_cats(searches: &[Value], bundled: &Path) -> Vec<Value> {
    let url = format!("{SEARCH}?hasImages=true&isPublicDomain=true&limit=500&offset=0&q=cat");
    let entry = searches.iter().find(|entry| entry["url"] == url.as_str()).unwrap();
    let body = fs::read(bundled.join("cassette/bodies").join(entry["body"].as_str().unwrap())).unwrap();
    serde_json::from_slice::<Value>(&body).unwrap()["objectIDs"].as_array().unwrap().clone()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

fn fallen(record: &Value) -> Vec<&str> {
    let rules = record["verify"]["rules"].as_array().unwrap().iter();
    rules.filter(|rule| rule["status"] != "pass").map(|rule| rule["name"].as_str().unwrap()).collect()
}

#[test]
fn other_words_are_tried_until_there_is_enough() {
    let program = Program::new();
    let cases: [&[(&str, Range<usize>)]; 3] = [
        &[("kitten", 0..5), ("lion", 5..10), ("dog", 10..100)],
        &[("cat", 0..3), ("tiger", 3..6), ("animal", 6..60)],
        &[("feline", 0..100)],
    ];
    for case in cases {
        let catalogue = Catalogue::of(case);
        let in_code = catalogue.run(&program, "code");
        assert_eq!(in_code["verify"]["ok"], true, "{case:?}: {in_code:#}");
        let in_loop = catalogue.run(&program, "loop");
        let fallen = fallen(&in_loop);
        assert!(!fallen.contains(&"12 pieces") && !fallen.contains(&"at least 4 departments"), "{case:?}: {in_loop:#}");
        assert!(in_loop["final_text"].as_str().unwrap().contains("is ready: 12 pieces"), "{case:?}: {in_loop:#}");
    }
}

#[test]
fn a_catalogue_with_too_little_is_said_to_have_too_little() {
    let program = Program::new();
    let cases: [&[(&str, Range<usize>)]; 2] = [&[], &[("cat", 0..3), ("dog", 2..6), ("animal", 6..9)]];
    for case in cases {
        let catalogue = Catalogue::of(case);
        for (mode, words) in [("loop", "suitable pieces from"), ("code", "suitable pieces of different kinds found")] {
            let record = catalogue.run(&program, mode);
            assert!(record["final_text"].as_str().unwrap().contains(words), "{case:?}: {mode}: {record:#}");
            assert_eq!(record["verify"]["ok"], false, "{case:?}: {mode}: {record:#}");
        }
    }
}
