//! Refused: choice of nothing.

use plugin_api::prelude::*;

/// The order of a list.
#[derive(ToolArgument)]
enum Order {}

fn main() {}
