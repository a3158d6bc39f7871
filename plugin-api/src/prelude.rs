//! What nearly every plugin uses: `use plugin_api::prelude::*;`.

pub use crate::{Host, Picture, RawJson, SavedFile, ToolArgument, ToolError, ToolResult, plugin, tool};
