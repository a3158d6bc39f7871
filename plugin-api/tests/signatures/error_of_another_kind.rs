//! Refused: error of another kind.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
fn count() -> Result<u8, std::num::ParseIntError> {
    "1".parse()
}

plugin!(count);

fn main() {}
