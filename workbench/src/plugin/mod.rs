//! Plugins: how they are built, loaded in a child process, called, and served.

use bytes::Bytes;

/// How a tool call ended, as everything above this module sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// The tool's answer: JSON, checked.
    Answer(Bytes),
    /// The tool refused or failed in a way it knows, or the arguments were wrong.
    ToolError(plugin_api::ToolError),
    /// The plugin panicked in this call, or its process died; the text names the cause.
    Crashed(String),
    /// The call took longer than `tool_seconds` and was killed.
    TimedOut(u64),
}
