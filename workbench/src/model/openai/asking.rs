//! One request for an answer of the model, over either API of a server.

use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use super::complaint::Complaint;
use super::endpoint::Endpoint;
use crate::bounded_json;
use crate::model::exchange::{Answer, Patience};
use crate::model::types::{ModelError, Retry};

/// Memory that an answer may take, in bytes as [`bounded_json::weight`] guesses them.
const ANSWER_MEMORY: u64 = 512 << 20;

/// What one request came to.
pub(super) enum Outcome {
    /// An answer of the model.
    Served(Value),
    /// A complaint.
    Refused(Complaint, ModelError),
}

/// Why an answer has no words of the model.
enum Problem {
    Complaint(Complaint),
    Garbage(String),
}

impl Endpoint {
    /// Sends a body below the base. Some gateways tell of an outage with status 200; that is tried again here, as others are
    /// by the exchange.
    pub(super) async fn ask(
        &self,
        path: &str,
        body: &Bytes,
        until: Option<Instant>,
        retries: &mut Vec<Retry>,
    ) -> Result<Outcome, ModelError> {
        let mut waits = Patience::default().waits();
        loop {
            let answer = self.exchange().await.post(path, body.clone(), until, retries).await?;
            let complaint = match read(&answer) {
                Ok(document) => return Ok(Outcome::Served(document)),
                Err(Problem::Complaint(complaint)) => complaint,
                Err(Problem::Garbage(problem)) => return Err(self.bad_answer(path, &problem)),
            };
            let wait = if answer.status < 300 && complaint.may_pass() { waits.next() } else { None };
            let Some(wait) = wait else {
                let error = self.refused(path, &answer, &complaint);
                return Ok(Outcome::Refused(complaint, error));
            };
            if until.is_some_and(|until| Instant::now() + wait >= until) {
                return Err(ModelError::OutOfTime);
            }
            let cause = format!("status {} with an error: {}", answer.status, complaint.message);
            retries.push(Retry { cause, wait_seconds: wait.as_secs_f64() });
            tokio::time::sleep(wait).await;
        }
    }
}

fn read(answer: &Answer) -> Result<Value, Problem> {
    if !(200..300).contains(&answer.status) {
        return Err(Problem::Complaint(Complaint::in_body(&answer.body)));
    }
    let document: Value = bounded_json::parse(&answer.body, ANSWER_MEMORY).map_err(|error| {
        let beginning: String = String::from_utf8_lossy(&answer.body).chars().take(80).collect();
        Problem::Garbage(format!("is no JSON document: {error}; it begins with `{}`", beginning.trim()))
    })?;
    match Complaint::in_document(&document) {
        Some(complaint) => Err(Problem::Complaint(complaint)),
        None => Ok(document),
    }
}
