//! Pictures as evidence: decoded whole, since a truncated one is no picture, and within limits.

use std::path::Path;

use serde_json::{Value, json};

use super::budget::Budget;
use super::evidence::Lack;
use super::files;
use crate::artifacts::pictures::{self, PictureError};

/// What a picture is: `{file, width, height, bytes, format}`; `format` is what its content says,
/// not its name.
pub(super) fn read(out: &Path, name: &str, budget: &Budget) -> Result<Value, Lack> {
    let bytes = files::read(out, name, pictures::MAX_FILE)?;
    let unreadable = |error: PictureError| Lack::Missing(format!("{name} {error}"));
    let about = pictures::examine(&bytes).map_err(unreadable)?;
    budget.decode(name, about.decoded)?;
    pictures::decode(&bytes, |_| ()).map_err(unreadable)?;
    let format = about.format.extensions_str().first().copied().unwrap_or_default();
    let format = if format == "jpg" { "jpeg" } else { format };
    Ok(json!({ "file": name, "width": about.width, "height": about.height, "bytes": bytes.len(), "format": format }))
}
