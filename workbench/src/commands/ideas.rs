//! `workbench ideas`

use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;

/// What any chat model is asked for.
const PROMPT: &str = include_str!("../../../templates/ideas.md");

/// Prints a prompt that asks a model for domains worth building.
pub(super) fn run() -> Result<Exit, Failure> {
    printer::data(PROMPT);
    Ok(Exit::Success)
}
