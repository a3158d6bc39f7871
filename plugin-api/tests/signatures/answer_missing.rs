//! Refused: answer missing.

use plugin_api::prelude::*;

/// Returns nothing.
#[tool]
fn rest() {}

plugin!(rest);

fn main() {}
