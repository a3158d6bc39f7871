//! Why a request is not served, in the words of the provider's API where they are known.
//!
//! docs/serve.md lists every text, and which of them are our own words for a refusal whose text is not known.

use std::fmt::Display;
use std::time::Duration;

use crate::model::types::ModelError;

/// An error answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// `error.type` of the body.
    pub kind: &'static str,
    /// `error.message` of the body.
    pub message: String,
}

impl Refusal {
    fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into() }
    }

    /// 400: something in the request is wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    /// 400: a field is not what it should be; `should` goes on after `Input should be `.
    pub(super) fn field(path: impl Display, should: &str) -> Self {
        Self::invalid(format!("{path}: Input should be {should}"))
    }

    /// 400: a field is missing.
    pub(super) fn missing(path: impl Display) -> Self {
        Self::invalid(format!("{path}: Field required"))
    }

    /// 400: a field that the API does not have.
    pub(super) fn extra(path: impl Display) -> Self {
        Self::invalid(format!("{path}: Extra inputs are not permitted"))
    }

    /// 401.
    pub(super) fn unauthorized(message: &str) -> Self {
        Self::new(401, "authentication_error", message)
    }

    /// 404.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(404, "not_found_error", message)
    }

    /// 404: an address that the API does not have.
    pub(super) fn nowhere() -> Self {
        Self::not_found("Not Found")
    }

    /// 404: a model that is not served.
    pub(super) fn no_model(id: &str) -> Self {
        Self::not_found(format!("model: {id}"))
    }

    /// 404: a container that is none of this key's, or none any more.
    pub(super) fn no_container(id: &str) -> Self {
        Self::not_found(format!("Container not found: {id}"))
    }

    /// 400: a result for a call that no cell of the container waits for.
    pub(super) fn not_waited_for(id: &str) -> Self {
        Self::invalid(format!(
            "no code of this container waits for `{id}`: it was answered before, or its cell has ended. Start the turn again"
        ))
    }

    /// 400: a cell of another conversation waits in the container.
    pub(super) fn waited_for(container: &str, id: &str) -> Self {
        Self::invalid(format!(
            "container: code in {container} waits for the result of `{id}`, which this conversation does not have; answer \
             it where it was asked for, or leave the container out"
        ))
    }

    /// 400: calls of the container's cell without a result.
    pub(super) fn unanswered(ids: &[&str]) -> Self {
        Self::invalid(format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a \
             corresponding `tool_result` block in the next message.",
            ids.join(", ")
        ))
    }

    /// 409: two requests at once for one container.
    pub(super) fn conflict(id: &str) -> Self {
        Self::new(409, "conflict_error", format!("container {id} is in use by another request"))
    }

    /// 405.
    pub(super) fn method() -> Self {
        Self::new(405, "invalid_request_error", "Method Not Allowed")
    }

    /// 408: the body was not whole in time.
    pub(super) fn too_slow(patience: Duration) -> Self {
        let seconds = patience.as_secs_f64();
        Self::new(408, "invalid_request_error", format!("The request body was not whole after {seconds} s"))
    }

    /// 413.
    pub(super) fn too_large() -> Self {
        Self::new(413, "request_too_large", "Request exceeds the maximum size of 32 MB")
    }

    /// 413: it is short, and would not be once it is read.
    pub(super) fn too_heavy(why: impl Display) -> Self {
        Self::new(413, "request_too_large", format!("Request exceeds what this server can hold: {why}"))
    }

    /// 500.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "api_error", message)
    }

    /// 500: nothing is begun or goes on any more.
    pub(super) fn ending() -> Self {
        Self::internal("the server is being ended")
    }

    /// The model behind did not answer, by whose fault, and whether asking again may help: 400, 429, 500 or 529.
    pub(super) fn of_the_model(error: &ModelError) -> Self {
        let told = format!("the model behind this server: {error}");
        match error {
            ModelError::TooLong(_) => Self::invalid(format!("prompt is too long: {told}")),
            ModelError::Refused { status: 429, .. } => Self::new(429, "rate_limit_error", told),
            ModelError::Refused { status: 408 | 409 | 503 | 504 | 529, .. }
            | ModelError::Unreachable(_)
            | ModelError::OutOfTime => Self::new(529, "overloaded_error", told),
            ModelError::Refused { status: 400..=499, .. } => Self::invalid(told),
            ModelError::Refused { .. }
            | ModelError::BadAnswer(_)
            | ModelError::RecordEnds { .. }
            | ModelError::Rehearsal(_) => Self::internal(told),
        }
    }

    /// 529: there is as much of something as there may be.
    pub(super) fn overloaded(of_what: &str) -> Self {
        Self::new(529, "overloaded_error", format!("Overloaded: {of_what} as this server may have at once"))
    }
}
