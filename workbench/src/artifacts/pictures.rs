//! Decodes pictures that others made: within limits, whole, and one at a time in the whole program.

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

/// Bytes of a file that is decoded.
pub const MAX_FILE: u64 = 64 << 20;
/// Bytes a picture may take when decoded: a small file can claim to be huge, and a pixel has up to eight bytes.
/// A decoder may need twice as much again on the way, for a JPEG that comes in several passes.
pub const MAX_DECODED: u64 = 256 << 20;

/// Held by whoever decodes, so that many pictures at once take no more memory than one.
static DECODING: Mutex<()> = Mutex::new(());

/// What a picture says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// What its content is, whatever its name says.
    pub format: ImageFormat,
    /// Pixels of a row.
    pub width: u32,
    /// Pixels of a column.
    pub height: u32,
    /// Bytes it takes when decoded.
    pub decoded: u64,
}

/// Why a picture was not decoded; the text can stand behind its name.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Not by its first bytes.
    #[error("is no picture")]
    NoPicture,
    /// It would take too much memory.
    #[error(
        "has {} x {} pixels, {} MB when decoded; at most {} MB are read",
        .0.width, .0.height, .0.decoded.div_ceil(1 << 20), MAX_DECODED >> 20
    )]
    TooBig(About),
    /// The end of it is not there.
    #[error("cannot be read as a picture: it is cut off")]
    CutOff,
    /// It is damaged.
    #[error("cannot be read as a picture: {0}")]
    Damaged(#[from] ImageError),
}

/// Reads the head of a picture; refuses one that is too big to be decoded.
///
/// # Errors
/// When it is too big, or no picture.
pub fn examine(bytes: &[u8]) -> Result<About, PictureError> {
    examined(bytes).map(|(about, _)| about)
}

/// Decodes the whole picture and gives it to `work`; nobody else decodes meanwhile.
///
/// # Errors
/// When it is too big, damaged, cut off or no picture.
pub fn decode<T>(bytes: &[u8], work: impl FnOnce(&DynamicImage) -> T) -> Result<T, PictureError> {
    let (about, decoder) = examined(bytes)?;
    // The decoder fills up what is missing of a JPEG in grey.
    if about.format == ImageFormat::Jpeg && !has_end(bytes) {
        return Err(PictureError::CutOff);
    }
    // A decoder that panicked has left nothing half done.
    let _turn = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(work(&DynamicImage::from_decoder(decoder)?))
}

fn examined(bytes: &[u8]) -> Result<(About, impl ImageDecoder + '_), PictureError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(ImageError::from)?;
    let format = reader.format().ok_or(PictureError::NoPicture)?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    let about = About { format, width, height, decoded: decoder.total_bytes() };
    if about.decoded > MAX_DECODED { Err(PictureError::TooBig(about)) } else { Ok((about, decoder)) }
}

/// Whether a JPEG has an end mark behind the beginning of its pixels: a preview in its head has one, too.
fn has_end(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(2..).unwrap_or_default();
    loop {
        match rest {
            // Pixels begin here; in them this byte is always followed by a zero.
            [0xff, 0xda, pixels @ ..] => return pixels.windows(2).any(|pair| pair == [0xff, 0xd9]),
            // Marks may be preceded by any number of fill bytes.
            [0xff, 0xff, ..] => rest = &rest[1..],
            // These two stand alone.
            [0xff, 0x01 | 0xd0..=0xd8, after @ ..] => rest = after,
            [0xff, _, high, low, ..] => {
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                rest = rest.get(2 + length..).unwrap_or_default();
            }
            // Not as the standard has it; the decoder decides.
            [_, after @ ..] => rest = after,
            [] => return false,
        }
    }
}
