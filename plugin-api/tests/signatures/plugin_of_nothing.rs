//! Refused: plugin of nothing.

use plugin_api::prelude::*;

plugin!();

fn main() {}
