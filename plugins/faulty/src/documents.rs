//! Documents of the host and what a tool may do with them: none of it is a fault, and the right one must arrive.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use plugin_api::prelude::*;

static KEPT: Mutex<Option<RawJson>> = Mutex::new(None);

/// Asks for documents and returns one of them as it came.
#[tool]
pub(crate) fn hand_on(
    host: &Host,
    /** What to ask for. */
    paths: Vec<String>,
    /** Which of them to return. */
    index: usize,
    /** Whether each is asked for by a thread of its own. */
    #[default(false)]
    at_once: bool,
) -> ToolResult<RawJson> {
    let get = |path: &String| host.get_json(path, &[]);
    let documents: Vec<_> = if at_once {
        thread::scope(|scope| {
            let threads: Vec<_> = paths.iter().map(|path| scope.spawn(move || get(path))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())))
                .collect()
        })
    } else {
        paths.iter().map(get).collect()
    };
    documents[index].clone()
}

/// Asks for a document and returns the one of the call before, if there was one.
#[tool]
pub(crate) fn hand_on_the_one_before(
    host: &Host,
    /** What to ask for. */
    path: String,
) -> ToolResult<RawJson> {
    let document = host.get_json(path, &[])?;
    let before = KEPT.lock().unwrap_or_else(PoisonError::into_inner).replace(document.clone());
    Ok(before.unwrap_or(document))
}

/// Asks for a document and returns it with one more field.
#[tool]
pub(crate) fn change(
    host: &Host,
    /** What to ask for. */
    path: String,
) -> ToolResult<BTreeMap<String, String>> {
    let mut record: BTreeMap<String, String> = host.get_json(path, &[])?.parse()?;
    record.insert("changed".to_owned(), "yes".to_owned());
    Ok(record)
}
