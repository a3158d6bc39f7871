//! Reads the evidence that a manifest names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use minijinja::value::Serde;
use serde_json::Value;

use super::budget::Budget;
use super::get::{Answers, Fetch};
use super::{derived, files, html, image};
use crate::domain::manifest::{Conversion, Evidence, Source};
use crate::expression::{self, Purpose};

/// Items of a list that are followed by `each`.
const ITEMS: usize = 1_000;
/// Missing items that are named one by one.
const NAMED: usize = 5;

/// Why a piece of evidence is not there, as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// The model did not make it, or made it so that it cannot be read: what needs it fails.
    Missing(String),
    /// Something else went wrong: what needs it cannot be judged.
    Fault(String),
}

/// What became of each entry of `[evidence]`.
pub(super) type Found = BTreeMap<String, Result<Arc<Value>, Lack>>;

/// Reads every entry, those that others need first.
pub(super) async fn gather(
    entries: &Arc<BTreeMap<String, Evidence>>,
    out: &Path,
    fetch: Fetch<'_>,
) -> (Found, Answers) {
    let mut found = Found::new();
    let budget = Arc::new(Budget::default());
    let mut answers = Answers::default();
    let mut waiting: Vec<(&String, &Evidence)> = entries.iter().collect();
    while !waiting.is_empty() {
        let is_ready = |entry: &Evidence| entry.needs().iter().all(|name| found.contains_key(name));
        let (ready, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, entry)| is_ready(entry));
        if ready.is_empty() {
            // Loading a domain refuses this.
            let lack = |name: &String| Lack::Fault(format!("the evidence `{name}` needs itself, or what is not there"));
            found.extend(later.iter().map(|(name, _)| ((*name).clone(), Err(lack(name)))));
            break;
        }
        for (name, entry) in ready {
            let known = Known { entries: Arc::clone(entries), found: found.clone() };
            let value = match entry.source() {
                Some(Source::Value(value)) => {
                    let (value, budget) = (value.to_owned(), Arc::clone(&budget));
                    let of = (name.clone(), entry.clone());
                    let make = move || derived::values(&of.0, &value, &of.1, &known.entries, &known.found, &budget);
                    apart(name, make).await
                }
                source => {
                    let of = entry.clone();
                    match (source, apart(name, move || names(&of, &known.entries, &known.found)).await) {
                        (Some(Source::Get(_)), Ok(names)) => Ok(answers.records(&names, fetch, &budget).await),
                        (_, Ok(names)) => Ok(read_files(entry, &names, out, &budget).await),
                        (_, Err(lack)) => Err(lack),
                    }
                }
            };
            let value = value.and_then(|values| as_asked(entry, values));
            found.insert(name.clone(), value.map(Arc::new));
        }
        waiting = later;
    }
    (found, answers)
}

/// What a thread of its own works with.
struct Known {
    entries: Arc<BTreeMap<String, Evidence>>,
    found: Found,
}

/// Parsing, decoding and evaluating what a model made may take long: not on the thread that serves the network and hears
/// Ctrl-C.
async fn apart<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> Result<T, Lack> + Send + 'static,
) -> Result<T, Lack> {
    let done = tokio::task::spawn_blocking(work).await;
    // A panic of a parser, which only a file made for that brings about.
    done.unwrap_or_else(|error| Err(Lack::Missing(format!("{name} broke its reader: {error}"))))
}

/// Whether the model decides what shape this has, so that an expression which cannot work on it
/// says nothing against the expression.
pub(super) fn is_free(entry: &Evidence, entries: &BTreeMap<String, Evidence>) -> bool {
    match entry.source() {
        Some(Source::Json(_) | Source::Text(_)) => true,
        Some(Source::Html(_)) => entry.select.is_some() && entry.r#as.unwrap_or_default() == Conversion::Text,
        Some(Source::Value(_)) => entry.needs().iter().any(|name| is_free_named(name, entries)),
        _ => false,
    }
}

/// As [`is_free`], by name. Loading a domain refuses evidence that needs itself.
pub(super) fn is_free_named(name: &str, entries: &BTreeMap<String, Evidence>) -> bool {
    entries.get(name).is_some_and(|entry| is_free(entry, entries))
}

/// Whether the model chose which records of the API this is, or is made of: a value in them that a right expression
/// cannot put in an order is what it chose.
pub(super) fn is_chosen_named(name: &str, entries: &BTreeMap<String, Evidence>) -> bool {
    entries.get(name).is_some_and(|entry| match entry.source() {
        Some(Source::Get(_)) => entry.each.is_some(),
        Some(Source::Value(_)) => entry.needs().iter().any(|name| is_chosen_named(name, entries)),
        _ => false,
    })
}

/// The files or paths an entry reads: one, or one for each item of the list that `each` names.
fn names(entry: &Evidence, entries: &BTreeMap<String, Evidence>, found: &Found) -> Result<Vec<String>, Lack> {
    let Some(source) = entry.source() else {
        return Err(Lack::Fault("the evidence names no source, or several".to_owned()));
    };
    let purpose = if matches!(source, Source::Get(_)) { Purpose::Path } else { Purpose::FileName };
    let fill = |item| expression::fill(source.template(), &item, purpose).map_err(|error| error.to_string());
    let Some(each) = &entry.each else {
        return fill(minijinja::Value::UNDEFINED).map(|name| vec![name]).map_err(Lack::Fault);
    };
    let unfit = unfit(each, entries);
    items(each, entries, found)?
        .iter()
        .map(|item| fill(minijinja::Value::from(Serde(item))))
        .collect::<Result<_, _>>()
        .map_err(unfit)
}

/// The items of the list that `each` names.
pub(super) fn items<'a>(
    each: &str,
    entries: &BTreeMap<String, Evidence>,
    found: &'a Found,
) -> Result<&'a [Value], Lack> {
    match found.get(each).map(|found| found.as_deref()) {
        Some(Ok(Value::Array(items))) if items.len() > ITEMS => {
            Err(Lack::Missing(format!("`{each}` has {} items; at most {ITEMS} are followed", items.len())))
        }
        Some(Ok(Value::Array(items))) => Ok(items),
        Some(Ok(_)) => Err(unfit(each, entries)(format!("`each` wants a list, but `{each}` is none"))),
        Some(Err(lack)) => Err(lack.clone()),
        None => Err(Lack::Fault(format!("there is no evidence `{each}`"))),
    }
}

/// What it is when the items of `each` cannot be used: the model's doing, where it made them.
fn unfit(each: &str, entries: &BTreeMap<String, Evidence>) -> fn(String) -> Lack {
    if is_free_named(each, entries) { Lack::Missing } else { Lack::Fault }
}

/// A list of values with `each`, else the one value.
fn as_asked(entry: &Evidence, values: Vec<Result<Value, Lack>>) -> Result<Value, Lack> {
    if entry.each.is_some() { together(values) } else { values.into_iter().next().unwrap_or(Ok(Value::Null)) }
}

async fn read_files(entry: &Evidence, names: &[String], out: &Path, budget: &Arc<Budget>) -> Vec<Result<Value, Lack>> {
    let entry = Arc::new(entry.clone());
    let mut values = Vec::with_capacity(names.len());
    for name in names {
        let (entry, file, out, budget) = (Arc::clone(&entry), name.clone(), out.to_owned(), Arc::clone(budget));
        values.push(apart(name, move || read_file(&entry, &file, &out, &budget)).await);
    }
    values
}

fn read_file(entry: &Evidence, name: &str, out: &Path, budget: &Budget) -> Result<Value, Lack> {
    match entry.source() {
        Some(Source::Html(_)) => html::read(out, name, entry, budget),
        Some(Source::Image(_)) => image::read(out, name, budget),
        Some(Source::Json(_)) => files::json(out, name, budget),
        Some(Source::Text(_)) => {
            let text = files::text(out, name)?;
            budget.keep(name, text.len() as u64)?;
            Ok(Value::from(text))
        }
        Some(Source::File(_)) => files::existing(out, name),
        Some(Source::Get(_) | Source::Value(_)) | None => Err(Lack::Fault("no file is to be read".to_owned())),
    }
}

/// The list of all values. One missing item makes the whole list missing: a rule over eleven of
/// twelve pictures would answer another question.
fn together(values: Vec<Result<Value, Lack>>) -> Result<Value, Lack> {
    let total = values.len();
    let mut list = Vec::with_capacity(total);
    let mut missing = Vec::new();
    let mut fault = None;
    for value in values {
        match value {
            Ok(value) => list.push(value),
            Err(Lack::Missing(text)) => missing.push(text),
            Err(Lack::Fault(text)) => fault = fault.or(Some(text)),
        }
    }
    if !missing.is_empty() {
        let more = missing.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
        missing.truncate(NAMED);
        let count = if total == 1 { String::new() } else { format!("{} of {total} missing: ", more + missing.len()) };
        return Err(Lack::Missing(format!("{count}{}{rest}", missing.join("; "))));
    }
    match fault {
        Some(text) => Err(Lack::Fault(text)),
        None => Ok(Value::Array(list)),
    }
}
