//! Reads the fields of a request, and names the first one that is not what it should be.

use serde_json::{Map, Value};

use super::refusal::Refusal;

/// What a field has to be that is read and does nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Number,
    Integer,
    Flag,
    List,
    Object,
}

/// An object of a request, and where it stands.
pub(super) struct Fields<'a> {
    path: String,
    fields: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// An object; `path` is how messages name it, empty for the request itself.
    pub(super) fn of(path: &str, value: &'a Value) -> Result<Self, Refusal> {
        let fields = value.as_object().ok_or_else(|| match path {
            "" => Refusal::invalid("Request body should be a JSON object"),
            path => Refusal::field(path, "an object"),
        })?;
        Ok(Self { path: path.to_owned(), fields })
    }

    /// Where a field of it stands.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Refuses fields that are none of these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.fields.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(Refusal::extra(self.path(key))),
            None => Ok(()),
        }
    }

    /// Refuses the first of these fields that is there and not what it should be.
    pub(super) fn kinds(&self, kinds: &[(&str, Kind)]) -> Result<(), Refusal> {
        for (key, kind) in kinds {
            let Some(value) = self.get(key) else { continue };
            let (is_so, should) = match kind {
                Kind::Text => (value.is_string(), "a valid string"),
                Kind::Number => (value.is_number(), "a valid number"),
                Kind::Integer => (value.is_i64() || value.is_u64(), "a valid integer"),
                Kind::Flag => (value.is_boolean(), "a valid boolean"),
                Kind::List => (value.is_array(), "a valid list"),
                Kind::Object => (value.is_object(), "an object"),
            };
            if !is_so {
                return Err(Refusal::field(self.path(key), should));
            }
        }
        Ok(())
    }

    /// A field; null is as good as none.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    /// A field that must be there.
    pub(super) fn required(&self, key: &str) -> Result<&'a Value, Refusal> {
        self.fields.get(key).ok_or_else(|| Refusal::missing(self.path(key)))
    }

    /// A text that must be there.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, Refusal> {
        self.required(key)?.as_str().ok_or_else(|| Refusal::field(self.path(key), "a valid string"))
    }

    /// A text that may be left out.
    pub(super) fn text_if_any(&self, key: &str) -> Result<Option<&'a str>, Refusal> {
        self.get(key).map(|_| self.text(key)).transpose()
    }

    /// A list that may be left out.
    pub(super) fn list_if_any(&self, key: &str) -> Result<Option<&'a [Value]>, Refusal> {
        let list = |value: &'a Value| value.as_array().ok_or_else(|| Refusal::field(self.path(key), "a valid list"));
        Ok(self.get(key).map(list).transpose()?.map(Vec::as_slice))
    }

    /// Yes or no; no where it is left out.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Refusal> {
        match self.get(key) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| Refusal::field(self.path(key), "a valid boolean")),
        }
    }
}
