//! What is done to a result that has passed, to see which rules notice: files that are gone, and lists that are changed.

use std::fs;
use std::io;
use std::path::Path;

use super::candidates::others;
use super::documents::{Edit, Kind, List};
use crate::results::format::CallRecord;

/// Files that are deleted one by one.
const FILES: usize = 60;
/// Other records that are put in the place of the first item, one by one.
const SINGLE: usize = 3;
/// How often all items are replaced by such records.
const ALL: usize = 10;
/// Changes of lists that are tried: each is written and judged, and a large JSON file has very many lists.
const CHANGES: usize = 400;

/// One change of a result.
#[derive(Clone, Debug)]
pub(super) struct Mutation {
    /// The list that is changed; nothing when a whole file is.
    pub(super) list: Option<String>,
    /// What is done to it.
    pub(super) what: &'static str,
    /// The file it is done to.
    pub(super) file: String,
    /// Whether a sound set of rules notices it.
    pub(super) is_harm: bool,
}

/// A change of a list, before it is made.
pub(super) struct Change {
    /// What is done.
    pub(super) mutation: Mutation,
    edits: Vec<Edit>,
}

impl Change {
    /// The whole file with the change; nothing when the list cannot be changed so.
    pub(super) fn made(&self, list: &List) -> Option<String> {
        list.edited(&self.edits)
    }
}

/// How many changes of each list are tried, so that all together are not too many: every list has its turn before one
/// has another. `counts` says how many there are of each.
pub(super) fn shares(counts: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; counts.len()];
    let mut left = CHANGES;
    loop {
        let before = left;
        for (share, count) in shares.iter_mut().zip(counts) {
            if *share < *count && left > 0 {
                *share += 1;
                left -= 1;
            }
        }
        if left == before {
            return shares;
        }
    }
}

/// Every file of the folder, deleted. The second value counts the files that are left out.
pub(super) fn deletions(out: &Path) -> io::Result<(Vec<Mutation>, usize)> {
    let mut files: Vec<String> = fs::read_dir(out)?
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    files.sort();
    let more = files.len().saturating_sub(FILES);
    files.truncate(FILES);
    let deleted = files.into_iter().map(|file| Mutation { list: None, what: "delete", file, is_harm: true });
    Ok((deleted.collect(), more))
}

/// Every way in which a list can be changed.
pub(super) fn changes(list: &List, calls: &[CallRecord]) -> Vec<Change> {
    let count = list.values.len();
    let set_all = |values: &[String]| -> Vec<Edit> {
        values.iter().cloned().enumerate().map(|(place, value)| Edit::Set(place, value)).collect()
    };
    let mut changes: Vec<(&'static str, bool, Vec<Edit>)> = Vec::new();
    let is_items = list.kind == Kind::Items;
    if list.kind != Kind::Values {
        changes.push(("drop the first", is_items, vec![Edit::Remove(0)]));
    }
    if list.kind != Kind::Values && count > 1 {
        changes.push(("drop all", is_items, (0..count).map(Edit::Remove).collect()));
    }
    if is_items {
        changes.push(("double the first", true, vec![Edit::Double(0)]));
    }
    if is_items && count > 2 {
        changes.push(("drop all but the first", true, (1..count).map(Edit::Remove).collect()));
    }
    if let [first, second, ..] = list.values.as_slice()
        && list.kind != Kind::Places
        && first != second
    {
        let swapped = vec![Edit::Set(0, second.clone()), Edit::Set(1, first.clone())];
        changes.push(("swap the first two", false, swapped));
        changes.push(("make the second like the first", is_items, vec![Edit::Set(1, first.clone())]));
        if count > 2 {
            changes.push(("make all like the first", false, set_all(&vec![first.clone(); count])));
        }
    }
    let others = if list.kind == Kind::Places { Vec::new() } else { others(&list.values, calls) };
    for other in others.iter().take(SINGLE) {
        changes.push(("put another record that was read for the first", false, vec![Edit::Set(0, other.clone())]));
    }
    for some in others.chunks(count.max(1)).take(ALL) {
        changes.push(("put other records that were read for all", false, set_all(some)));
    }
    if others.is_empty() {
        for value in different(&list.values[0]) {
            changes.push(("change the first", false, vec![Edit::Set(0, value)]));
        }
    }
    let change = |(what, is_harm, edits)| {
        let mutation = Mutation { list: Some(list.name.clone()), what, file: list.file.clone(), is_harm };
        Change { mutation, edits }
    };
    changes.into_iter().map(change).collect()
}

/// Values of the same kind that are surely not meant.
fn different(value: &str) -> Vec<String> {
    match value {
        "true" => vec!["false".to_owned()],
        "false" => vec!["true".to_owned()],
        _ if value.parse::<f64>().is_ok() => vec!["0".to_owned(), "1000000000".to_owned()],
        _ => vec!["something else".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_its_turn_before_one_has_another() {
        let many = [vec![20; 100], vec![1; 100]].concat();
        for (counts, expected) in [
            (vec![], vec![]),
            (vec![3, 0, 390], vec![3, 0, 390]),
            (vec![3, 1, 1_000], vec![3, 1, 396]),
            (many, [vec![3; 100], vec![1; 100]].concat()),
            (vec![9; 500], [vec![1; 400], vec![0; 100]].concat()),
        ] {
            assert_eq!(shares(&counts), expected, "{counts:?}");
        }
    }
}
