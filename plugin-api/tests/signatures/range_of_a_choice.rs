//! Refused: range of a choice.

use plugin_api::prelude::*;

/// The order of a list.
#[derive(ToolArgument)]
enum Order {
    Name,
    Size,
}

/// Returns one.
#[tool]
fn sorted(#[range(1..=5)] order: Order) -> ToolResult<u8> {
    Ok(match order {
        Order::Name => 1,
        Order::Size => 2,
    })
}

plugin!(sorted);

fn main() {}
