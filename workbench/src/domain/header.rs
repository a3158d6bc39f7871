//! A header of `[api] headers`: what it may be named, what it may say, and where a secret stands.

use http::{HeaderName, HeaderValue};

use crate::env::KEYS;

/// The prefix of a value that stands in an environment variable.
pub const VARIABLE: &str = "env:";

/// What a header says.
#[derive(Clone, Debug)]
pub enum HeaderText {
    /// The same to everybody.
    Fixed(HeaderValue),
    /// A secret: the name of the environment variable it stands in.
    Variable(String),
}

/// Why a header cannot be sent, as what is true of it. The value is not told: it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It is named as no header is.
    #[error("is not the name of a header")]
    Name,
    /// HTTP cannot carry the value.
    #[error("has characters that no header can carry")]
    Value,
    /// Behind `env:` stands no name.
    #[error("names no environment variable")]
    Variable,
    /// The variable holds the key of a model, which goes to the model's server alone.
    #[error("names the key of a model's provider, which goes nowhere else")]
    ModelKey,
}

impl HeaderFault {
    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Self::Name => "use letters, digits and `-`",
            Self::Value => "write it on one line, without control characters",
            Self::Variable => "write `env:NAME`",
            Self::ModelKey => "keep the key of this API in a variable of its own",
        }
    }
}

/// Reads an entry of `[api] headers`.
pub fn parse(name: &str, value: &str) -> Result<(HeaderName, HeaderText), HeaderFault> {
    let name = name.parse().map_err(|_| HeaderFault::Name)?;
    let text = match value.strip_prefix(VARIABLE) {
        Some(variable) if variable.is_empty() || variable.contains(['=', '\0']) => return Err(HeaderFault::Variable),
        Some(variable) if KEYS.contains(&variable) => return Err(HeaderFault::ModelKey),
        Some(variable) => HeaderText::Variable(variable.to_owned()),
        None => HeaderText::Fixed(text(value)?),
    };
    Ok((name, text))
}

/// A value as it is sent.
pub fn text(value: &str) -> Result<HeaderValue, HeaderFault> {
    value.parse().map_err(|_| HeaderFault::Value)
}
