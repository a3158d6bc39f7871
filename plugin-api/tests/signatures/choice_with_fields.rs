//! Refused: choice with fields.

use plugin_api::prelude::*;

/// The order of a list.
#[derive(ToolArgument)]
enum Order {
    Name,
    Size { descending: bool },
}

fn main() {}
