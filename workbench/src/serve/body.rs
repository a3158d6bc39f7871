//! The body of a request: read in time and within bounds, before its work has to have room.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request as HttpRequest;
use futures::StreamExt as _;
use serde_json::Value;

use super::refusal::Refusal;
use crate::bounded_json::{self, ParseError};

/// Longest body of a request in bytes. Source: the provider's page on request sizes.
const LONGEST_BODY: usize = 32 << 20;

/// Memory that a request may take once it is read, in bytes as [`bounded_json::weight`] guesses them.
const BODY_MEMORY: u64 = 256 << 20;

/// A body that came whole.
pub(super) struct Received {
    text: Vec<u8>,
}

/// Takes in the body of a request, if it is whole within this time.
pub(super) async fn receive(request: HttpRequest<Body>, patience: Duration) -> Result<Received, Refusal> {
    let is_json = request.headers().get("content-type").and_then(|value| value.to_str().ok());
    let is_json =
        is_json.is_some_and(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json"));
    if !is_json {
        return Err(Refusal::invalid("content-type: Input should be 'application/json'"));
    }
    let length = request.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > LONGEST_BODY) {
        return Err(Refusal::too_large());
    }
    let receiving = tokio::time::timeout(patience, Received::of(request.into_body()));
    receiving.await.map_err(|_| Refusal::too_slow(patience))?
}

impl Received {
    async fn of(body: Body) -> Result<Self, Refusal> {
        let mut chunks = body.into_data_stream();
        let mut text = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| Refusal::invalid(format!("The request body broke off: {error}")))?;
            if text.len() + chunk.len() > LONGEST_BODY {
                return Err(Refusal::too_large());
            }
            text.extend_from_slice(&chunk);
        }
        Ok(Self { text })
    }

    /// Reads it as JSON.
    pub(super) fn json(self) -> Result<Value, Refusal> {
        bounded_json::parse(&self.text, BODY_MEMORY).map_err(|error| match error {
            ParseError::TooBig { .. } => Refusal::too_heavy(error),
            ParseError::Json(error) => Refusal::invalid(format!("The request body is not valid JSON: {error}")),
        })
    }
}
