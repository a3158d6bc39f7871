//! Pictures as evidence: decoded whole, since a truncated one is no picture, and within limits.

use std::io::Cursor;
use std::path::Path;

use ::image::{DynamicImage, ImageDecoder, ImageError, ImageReader};
use serde_json::{Value, json};

use super::evidence::Lack;
use super::files;

const PICTURE_BYTES: u64 = 64 << 20;
/// Bytes a picture may take when decoded, as for contact sheets: a small file can claim to be huge,
/// and a pixel has up to sixteen bytes.
const DECODED_BYTES: u64 = 256 << 20;

/// What a picture is: `{file, width, height, bytes, format}`; `format` is what its content says,
/// not its name.
pub(super) fn read(out: &Path, name: &str) -> Result<Value, Lack> {
    let bytes = files::read(out, name, PICTURE_BYTES)?;
    let unreadable = |error: ImageError| Lack::Missing(format!("{name} cannot be read as a picture: {error}"));
    let reader = ImageReader::new(Cursor::new(&bytes))
        .with_guessed_format()
        .map_err(|error| Lack::Fault(format!("{name}: {error}")))?;
    let Some(format) = reader.format() else {
        return Err(Lack::Missing(format!("{name} is no picture")));
    };
    let decoder = reader.into_decoder().map_err(unreadable)?;
    let (width, height) = decoder.dimensions();
    if decoder.total_bytes() > DECODED_BYTES {
        let [size, most] = [decoder.total_bytes(), DECODED_BYTES].map(|bytes| bytes.div_ceil(1 << 20));
        let pixels = format!("{width} x {height} pixels, {size} MB when decoded");
        return Err(Lack::Missing(format!("{name} has {pixels}; at most {most} MB are read")));
    }
    DynamicImage::from_decoder(decoder).map_err(unreadable)?;
    let format = format.extensions_str().first().copied().unwrap_or_default();
    let format = if format == "jpg" { "jpeg" } else { format };
    Ok(json!({ "file": name, "width": width, "height": height, "bytes": bytes.len(), "format": format }))
}
