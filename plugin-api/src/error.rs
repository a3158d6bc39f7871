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

/// Names for the text of an error: the first twenty, long ones cut, and how many more there are. They may be a model's,
/// which reads the text again on every later turn.
///
/// ```
/// let ids: Vec<String> = (1..=22).map(|id| id.to_string()).collect();
/// assert!(plugin_api::named(&ids).ends_with(", 19, 20 and 2 more"));
/// assert_eq!(plugin_api::named(&["owlbear", "imp"]), "owlbear, imp");
/// ```
pub fn named(names: &[impl AsRef<str>]) -> String {
    const NAMED: usize = 20;
    const LETTERS: usize = 60;
    let cut = |name: &str| match name.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    };
    let first: Vec<String> = names.iter().take(NAMED).map(|name| cut(name.as_ref())).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

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
