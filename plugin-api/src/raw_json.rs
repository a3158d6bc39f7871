//! JSON that is handed on as it came.

use std::fmt::{self, Debug};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::{ToolError, ToolResult};
use crate::host::{Body, Host, Origin};
use crate::wire::{ANSWER_HEAD, Reply, join};

/// A JSON document as the API sent it, already checked to be JSON.
///
/// A tool that returns it hands its bytes on untouched: order, spacing and numbers stay as they
/// were, and a big record costs no parse and, when it is the last that was fetched, no copy.
/// To look inside, [`parse`](Self::parse) what is needed.
#[derive(Clone)]
pub struct RawJson {
    body: Arc<Body>,
    /// Where it was fetched; none of a document that came as an argument, or was made.
    origin: Option<Origin>,
}

impl RawJson {
    /// A document that the host has checked.
    pub(crate) fn fetched(body: Body, origin: Origin) -> Self {
        Self { body: Arc::new(body), origin: Some(origin) }
    }

    /// A document that the host has made for this plugin alone.
    pub(crate) fn made(body: Body) -> Self {
        Self { body: Arc::new(body), origin: None }
    }

    pub(crate) fn from_raw(json: &RawValue) -> Self {
        Self { body: Arc::new(Body::Ours(json.get().as_bytes().to_vec())), origin: None }
    }

    /// A value, written as JSON.
    ///
    /// # Errors
    /// When it cannot be JSON: a map whose keys are not strings, for instance.
    pub fn of(value: &impl Serialize) -> ToolResult<Self> {
        let bytes = serde_json::to_vec(value)
            .map_err(|error| ToolError::new(format!("the value cannot be written as JSON: {error}")))?;
        Ok(Self { body: Arc::new(Body::Ours(bytes)), origin: None })
    }

    /// The message that answers a call with the document: only its number where that will do.
    pub(crate) fn into_message(self, host: &Host) -> Vec<u8> {
        match self.origin.as_ref().and_then(|origin| host.number_if_last(origin)) {
            Some(document) => join(&Reply::Unchanged { document }, &[]),
            None => [ANSWER_HEAD, self.bytes()].concat(),
        }
    }

    /// The document's own bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.body.bytes()
    }

    /// Reads what `T` names from the document; what `T` does not name is skipped.
    ///
    /// # Errors
    /// When the document has another shape: the API has changed, or this is not the document meant.
    pub fn parse<T: DeserializeOwned>(&self) -> ToolResult<T> {
        serde_json::from_slice(self.bytes()).map_err(|error| {
            ToolError::new(format!("the API's answer has an unexpected shape: {error}")).with_code("unexpected_answer")
        })
    }
}

/// Two documents are equal when their bytes are, wherever they came from.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for RawJson {}

impl Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("RawJson").field(&String::from_utf8_lossy(self.bytes())).finish()
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(self.bytes()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self::from_raw(&raw))
    }
}
