//! What a workbench plugin is written with.

pub mod abi;
pub mod error;
pub mod wire;

pub use error::{ToolError, ToolResult};
