//! Headers a manifest asks for; those that carry a secret are read when a request is made.

use std::collections::BTreeMap;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The prefix of a value that stands in an environment variable.
const VARIABLE: &str = "env:";

/// The headers of a domain. Only [`Self::read`] ever holds a secret, for one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Vec<(HeaderName, Value)>);

#[derive(Clone, Debug)]
enum Value {
    Fixed(HeaderValue),
    /// Name of an environment variable.
    Variable(String),
}

/// A header that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is not the name of a header.
    #[error("`{0}` is not the name of a header")]
    Name(String),
    /// The value has characters a header cannot carry. The value itself is not told: it may be a secret.
    #[error("the value of `{0}` has characters that cannot be sent")]
    Value(String),
    /// The environment variable it stands in is not set.
    #[error("header `{name}` needs the environment variable {variable}, which is not set")]
    Variable {
        /// Which header.
        name: String,
        /// Which variable.
        variable: String,
    },
}

impl Headers {
    /// Reads `[api] headers`.
    pub(super) fn new(headers: &BTreeMap<String, String>) -> Result<Self, HeaderError> {
        let mut list = Vec::with_capacity(headers.len());
        for (name, value) in headers {
            let key: HeaderName = name.parse().map_err(|_| HeaderError::Name(name.clone()))?;
            let value = match value.strip_prefix(VARIABLE) {
                Some(variable) => Value::Variable(variable.to_owned()),
                None => Value::Fixed(value.parse().map_err(|_| HeaderError::Value(name.clone()))?),
            };
            list.push((key, value));
        }
        Ok(Self(list))
    }

    /// The headers of a request, secrets read now.
    pub(super) fn read(&self) -> Result<HeaderMap, HeaderError> {
        let mut map = HeaderMap::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            let value = match value {
                Value::Fixed(value) => value.clone(),
                Value::Variable(variable) => secret(name, variable)?,
            };
            map.insert(name, value);
        }
        Ok(map)
    }
}

fn secret(name: &HeaderName, variable: &str) -> Result<HeaderValue, HeaderError> {
    let value = std::env::var(variable)
        .map_err(|_| HeaderError::Variable { name: name.to_string(), variable: variable.to_owned() })?;
    let mut value = HeaderValue::from_str(value.trim()).map_err(|_| HeaderError::Value(name.to_string()))?;
    value.set_sensitive(true);
    Ok(value)
}
