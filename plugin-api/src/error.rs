//! The one error a tool returns.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tool answers when it cannot do what it was asked.
///
/// The model reads it as `ERROR: message`, a script as a Python `ToolError`, so the message must
/// say what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// What failed, with which value.
    pub message: String,
    /// A short machine-readable word, such as `http_404`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What to do about it; shown behind the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// What every tool returns.
pub type ToolResult<T> = Result<T, ToolError>;

impl ToolError {
    /// An error with a message alone.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None, help: None }
    }

    /// The same error with a machine-readable word.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The same error with a way on.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.help {
            Some(help) => write!(formatter, "{} ({help})", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}
