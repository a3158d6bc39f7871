//! JSON that is handed on as it came.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::{ToolError, ToolResult};
use crate::wire::ANSWER_HEAD;

/// A JSON document as the API sent it, already checked to be JSON.
///
/// A tool that returns it hands its bytes on untouched: order, spacing and numbers stay as they
/// were, and a big record costs no parse. To look inside, [`parse`](Self::parse) what is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson {
    /// The message that answers with the document: most tools do, and a big record then needs no copy.
    answer: Vec<u8>,
}

impl RawJson {
    /// A document that is JSON, behind [`ANSWER_HEAD`].
    pub(crate) fn checked(answer: Vec<u8>) -> Self {
        Self { answer }
    }

    pub(crate) fn from_raw(json: &RawValue) -> Self {
        Self { answer: [ANSWER_HEAD, json.get().as_bytes()].concat() }
    }

    /// The message that answers with the document.
    pub(crate) fn into_answer(self) -> Vec<u8> {
        self.answer
    }

    /// The document's own bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.answer[ANSWER_HEAD.len()..]
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
