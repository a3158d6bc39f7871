//! Plugins: how they are built, loaded in a child process, called, and served.

mod build;
mod cause;
mod client;
mod documents;
mod error;
mod evaluate;
pub mod kit;
mod library;
mod link;
mod messages;
mod pending;
mod platform;
mod process;
mod services;
mod tail;
mod upcalls;
pub mod worker;

use bytes::Bytes;

pub use build::{library_for, profile};
pub use client::{ClientSettings, PluginClient};
pub use error::PluginError;
pub use services::HostServices;
pub use upcalls::RunServices;

/// The hidden subcommand that runs [`worker::run`].
pub const SUBCOMMAND: &str = "__plugin-worker";

/// How a tool call ended, as everything above this module sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// The tool's answer: JSON, checked.
    Answer(Bytes),
    /// The tool refused or failed in a way it knows, or the arguments were wrong.
    ToolError(plugin_api::ToolError),
    /// The plugin panicked in this call, or its process died; the text names the cause.
    Crashed(String),
    /// The call took longer than `tool_seconds`, which is the number, and was killed.
    TimedOut(u64),
}
