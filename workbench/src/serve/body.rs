//! The body of a request: read in time and within bounds, before its work has to have room.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request as HttpRequest;
use futures::StreamExt as _;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::refusal::Refusal;
use crate::bounded_json::{self, ParseError};

/// Longest body of a request in bytes. Source: the provider's page on request sizes.
const LONGEST_BODY: usize = 32 << 20;

/// Memory that a request may take once it is read, in bytes as [`bounded_json::weight`] guesses them.
const BODY_MEMORY: u64 = 256 << 20;

/// Memory that all requests may take together, in kilobytes.
const ALL_MEMORY: usize = 1 << 20;

/// The memory there is for requests.
pub(super) struct Memory(Arc<Semaphore>);

/// What one request has of it, until this is dropped.
pub(super) struct Share(OwnedSemaphorePermit);

/// A body that came whole.
pub(super) struct Received {
    text: Vec<u8>,
    share: Share,
}

impl Memory {
    /// All of it.
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ALL_MEMORY)))
    }

    fn share(&self) -> Result<Share, Refusal> {
        Share::of(&self.0, 0).map(Share)
    }
}

impl Share {
    fn of(all: &Arc<Semaphore>, kilobytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let taken = u32::try_from(kilobytes).ok().and_then(|many| Arc::clone(all).try_acquire_many_owned(many).ok());
        taken.ok_or_else(|| Refusal::overloaded("requests take as much memory"))
    }

    /// Takes what is missing to so many bytes.
    fn grow(&mut self, bytes: u64) -> Result<(), Refusal> {
        let kilobytes = usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX);
        let missing = kilobytes.saturating_sub(self.0.num_permits());
        self.0.merge(Self::of(self.0.semaphore(), missing)?);
        Ok(())
    }
}

/// Takes in the body of a request, if it is whole within this time.
pub(super) async fn receive(
    request: HttpRequest<Body>,
    memory: &Memory,
    patience: Duration,
) -> Result<Received, Refusal> {
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
    let receiving = tokio::time::timeout(patience, Received::of(request.into_body(), memory.share()?));
    receiving.await.map_err(|_| Refusal::too_slow(patience))?
}

impl Received {
    async fn of(body: Body, mut share: Share) -> Result<Self, Refusal> {
        let mut chunks = body.into_data_stream();
        let mut text = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| Refusal::invalid(format!("The request body broke off: {error}")))?;
            if text.len() + chunk.len() > LONGEST_BODY {
                return Err(Refusal::too_large());
            }
            share.grow((text.len() + chunk.len()) as u64)?;
            text.extend_from_slice(&chunk);
        }
        Ok(Self { text, share })
    }

    /// Has it read on another thread, since a large one takes a while, and others are served meanwhile. What is made of it
    /// may stay for as long as the share does.
    pub(super) async fn read<Made: Send + 'static>(
        self,
        read: impl FnOnce(&Value) -> Result<Made, Refusal> + Send + 'static,
    ) -> Result<(Made, Share), Refusal> {
        let reading = spawn_blocking(move || {
            let (body, share) = self.json()?;
            Ok((read(&body)?, share))
        });
        reading.await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(Refusal::ending()),
        })
    }

    fn json(mut self) -> Result<(Value, Share), Refusal> {
        let weight = bounded_json::weight(&self.text);
        if weight <= BODY_MEMORY {
            self.share.grow(weight)?;
        }
        let value = bounded_json::parse(&self.text, BODY_MEMORY).map_err(|error| match error {
            ParseError::TooBig { .. } => Refusal::too_heavy(error),
            ParseError::Json(error) => Refusal::invalid(format!("The request body is not valid JSON: {error}")),
        })?;
        Ok((value, self.share))
    }
}
