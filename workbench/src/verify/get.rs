//! Records of the API as evidence, fetched by the verifier itself, never through the tool under test.

use std::collections::BTreeMap;

use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::budget::Budget;
use super::evidence::Lack;
use crate::bounded_json::{self, memory_of};
use crate::web::{Expect, WebClient, WebError};

/// Value of `format` in `evidence.json`.
const EVIDENCE_FORMAT: &str = "workbench/evidence/v1";
/// Bytes of memory one record may take.
const RECORD_MEMORY: u64 = 128 << 20;
/// Requests under way at once; the client paces them.
const CONCURRENCY: usize = 8;

/// Where the verifier gets the API's records.
#[derive(Clone, Copy)]
pub enum Fetch<'a> {
    /// It asks for them.
    Web(&'a WebClient),
    /// It takes those of an earlier verdict, from the run's `evidence.json`.
    Recorded(&'a Value),
    /// It takes those of an earlier verdict, and asks for what they lack: answers that are not there, or were a fault.
    Completed(&'a Value, &'a WebClient),
}

/// What the API answered, by path. What `evidence.json` holds.
#[derive(Default)]
pub(super) struct Answers(BTreeMap<String, Record>);

/// One answer; the two kinds of failure keep their text, so that a verdict repeats exactly.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record {
    Json(Value),
    Missing(String),
    Fault(String),
}

impl Answers {
    /// The records at `paths`, in their order; each path is asked for once.
    pub(super) async fn records(
        &mut self,
        paths: &[String],
        fetch: Fetch<'_>,
        budget: &Budget,
    ) -> Vec<Result<Value, Lack>> {
        let mut wanted: Vec<&String> = paths.iter().filter(|path| !self.0.contains_key(*path)).collect();
        wanted.sort();
        wanted.dedup();
        let fetched: Vec<(String, Record)> = futures::stream::iter(wanted)
            .map(|path| async move { (path.clone(), record(path, fetch, budget).await) })
            .buffered(CONCURRENCY)
            .collect()
            .await;
        self.0.extend(fetched);
        let found = |path: &String| match self.0.get(path)? {
            Record::Json(value) => Some(budget.keep(path, memory_of(value)).map(|()| value.clone())),
            Record::Missing(text) => Some(Err(Lack::Missing(text.clone()))),
            Record::Fault(text) => Some(Err(Lack::Fault(text.clone()))),
        };
        paths.iter().filter_map(found).collect()
    }

    /// The paths that have no answer, with the reason of each.
    pub(super) fn faults(&self) -> Vec<String> {
        let fault = |(path, record): (&String, &Record)| match record {
            Record::Fault(text) => Some(format!("{path}: {text}")),
            Record::Json(_) | Record::Missing(_) => None,
        };
        self.0.iter().filter_map(fault).collect()
    }

    /// The content of `evidence.json`.
    pub(super) fn to_json(&self) -> Value {
        json!({ "format": EVIDENCE_FORMAT, "answers": self.0 })
    }
}

async fn record(path: &str, fetch: Fetch<'_>, budget: &Budget) -> Record {
    match fetch {
        Fetch::Recorded(evidence) => recorded(path, evidence),
        Fetch::Web(web) => asked(path, web, budget).await,
        Fetch::Completed(evidence, web) => match recorded(path, evidence) {
            Record::Fault(_) => asked(path, web, budget).await,
            answer => answer,
        },
    }
}

fn recorded(path: &str, evidence: &Value) -> Record {
    evidence.get("answers").and_then(|answers| answers.get(path)).map_or_else(
        || Record::Fault(format!("evidence.json has no answer for {path}; judge again with the API")),
        |record| Record::deserialize(record).unwrap_or_else(|error| Record::Fault(format!("evidence.json: {error}"))),
    )
}

async fn asked(path: &str, web: &WebClient, budget: &Budget) -> Record {
    match web.get(path, &[], Expect::Json).await {
        Ok(answer) => match bounded_json::parse(&answer.body, RECORD_MEMORY) {
            Ok(value) => match budget.record(path, bounded_json::weight(&answer.body)) {
                Ok(()) => Record::Json(value),
                Err(text) => Record::Missing(text),
            },
            Err(error) => Record::Fault(format!("{} cannot be read: {error}", answer.url)),
        },
        // The API has answered that it does not know what was asked for.
        Err(error @ WebError::Status { .. }) if !error.is_fault() => Record::Missing(error.to_string()),
        Err(error) => Record::Fault(error.to_string()),
    }
}
