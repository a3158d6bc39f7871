//! Lists in the files of a run, and the same files with a list changed: what mutations are made with. What a list is
//! follows from `[evidence]` alone.

mod json;
mod page;

use std::fs;
use std::path::{Component, Path};
use std::sync::Arc;

use serde_json::Value;

use crate::domain::manifest::{Evidence, Source};
use crate::expression::{self, Purpose};
use crate::files::{LONGEST_TEXT, read_regular};

/// A change of a list; places count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The item is gone.
    Remove(usize),
    /// A copy of the item stands behind it.
    Double(usize),
    /// The item has another value.
    Set(usize, String),
}

/// How a list may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Items that stand for something: all of them count.
    Items,
    /// Values of such items: they can be others, and not fewer.
    Values,
    /// Places of a document that a rule may or may not look at.
    Places,
}

/// A list in a file.
#[derive(Clone, Debug)]
pub struct List {
    /// The file.
    pub file: String,
    /// How people call it.
    pub name: String,
    /// How it may be changed.
    pub kind: Kind,
    /// Its items as texts.
    pub values: Vec<String>,
    /// The file as it is; lists of one file share it.
    text: Arc<str>,
    place: Place,
}

/// Where a list stands in its file.
#[derive(Clone, Debug)]
enum Place {
    /// What a selector finds.
    Page(page::Selection),
    /// The array at a pointer; of its items this key.
    Json(String, Option<String>),
    /// The member of an object.
    Member(String),
    /// Lines of a text.
    Lines,
}

impl List {
    /// The whole file with the list changed; nothing when it cannot be.
    pub fn edited(&self, edits: &[Edit]) -> Option<String> {
        match &self.place {
            Place::Page(selection) => page::edited(&self.text, selection, edits),
            Place::Json(pointer, key) => json::edited(&self.text, pointer, key.as_deref(), edits),
            Place::Member(pointer) => json::with_member(&self.text, pointer, edits),
            Place::Lines => {
                let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
                edit(&mut lines, edits, |line, value| value.clone_into(line));
                Some(lines.join("\n") + "\n")
            }
        }
    }
}

/// The lists that the evidence `name` reads in `out`; none of evidence that is a picture, a record, or one of many files.
pub fn lists(name: &str, evidence: &Evidence, out: &Path) -> Vec<List> {
    let Some(source) = evidence.source().filter(|_| evidence.each.is_none()) else { return Vec::new() };
    let Ok(file) = expression::fill(source.template(), &minijinja::Value::UNDEFINED, Purpose::FileName) else {
        return Vec::new();
    };
    let path = out.join(&file);
    // It is going to be written, too: nothing outside `out`, and nothing behind a link.
    let is_inside = Path::new(&file).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || !fs::symlink_metadata(&path).is_ok_and(|about| about.is_file()) {
        return Vec::new();
    }
    let Some(text) = read_regular(&path, LONGEST_TEXT).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Vec::new();
    };
    let text: Arc<str> = text.into();
    let list = |name: String, kind, values: Vec<String>, place| List {
        file: file.clone(),
        name,
        kind,
        values,
        text: Arc::clone(&text),
        place,
    };
    let found = match source {
        Source::Html(_) => {
            let selections = page::selections(name, evidence);
            let lists = selections.into_iter().map(|(name, kind, selection)| {
                list(name, kind, page::values(&text, &selection), Place::Page(selection))
            });
            lists.collect()
        }
        Source::Json(_) => {
            let Ok(document) = serde_json::from_str::<Value>(&text) else { return Vec::new() };
            let arrays = json::arrays(&document).into_iter().map(|(pointer, key, values)| {
                let kind = if key.is_some() { Kind::Values } else { Kind::Items };
                let name = json::name(name, &pointer, key.as_deref());
                list(name, kind, values, Place::Json(pointer, key))
            });
            let members = json::members(&document).into_iter().map(|(pointer, value)| {
                list(json::name(name, &pointer, None), Kind::Values, vec![value], Place::Member(pointer))
            });
            arrays.chain(members).collect()
        }
        Source::Text(_) => {
            vec![list(
                format!("`{name}`, lines"),
                Kind::Places,
                text.lines().map(str::to_owned).collect(),
                Place::Lines,
            )]
        }
        Source::Image(_) | Source::Get(_) | Source::File(_) | Source::Value(_) => Vec::new(),
    };
    let found: Vec<List> = found;
    found.into_iter().filter(|list| !list.values.is_empty()).collect()
}

/// Changes a list: values first, so that places stay what they are, then doubles and gaps from the end.
fn edit<T: Clone>(items: &mut Vec<T>, edits: &[Edit], set: impl Fn(&mut T, &str)) {
    for edit in edits {
        if let Edit::Set(place, value) = edit
            && let Some(item) = items.get_mut(*place)
        {
            set(item, value);
        }
    }
    let place = |edit: &&Edit| match edit {
        Edit::Remove(place) | Edit::Double(place) | Edit::Set(place, _) => *place,
    };
    let mut shifts: Vec<&Edit> = edits.iter().filter(|edit| !matches!(edit, Edit::Set(..))).collect();
    shifts.sort_by_key(|edit| std::cmp::Reverse(place(edit)));
    for shift in shifts.into_iter().filter(|edit| place(edit) < items.len()).collect::<Vec<_>>() {
        match shift {
            Edit::Remove(place) => _ = items.remove(*place),
            Edit::Double(place) => items.insert(place + 1, items[*place].clone()),
            Edit::Set(..) => {}
        }
    }
}
