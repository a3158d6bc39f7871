//! Draws saved pictures into one: a grid of cells with a label below each.

use std::sync::{Mutex, PoisonError};

use font8x8::{BASIC_FONTS, LATIN_FONTS, UnicodeFonts};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageError, Rgba, RgbaImage, imageops};
use plugin_api::wire::Picture;

use super::out_folder::{OutError, OutFolder};
use super::pictures::{self, MAX_FILE, PictureError};

/// Pixels a picture may fill, in both directions.
const CELL: u32 = 240;
/// Pixels of the line below it.
const LABEL: u32 = 22;
/// Cells in a row.
const COLUMNS: u32 = 4;
/// Pixels of a letter of the font, in both directions, before it is enlarged.
const LETTER: u32 = 8;
/// Enlargement of letters; a label that would be too wide is drawn at 1.
const SCALE: u32 = 2;
/// Cells of a sheet: more could not be told apart, and a JPEG has room for 65,535 rows.
const MAX_PICTURES: usize = 400;
/// Bytes the pictures of a sheet may take when decoded, in all: decoding that much takes about as long as a tool may run.
const MAX_DECODED: u64 = 4 << 30;
const QUALITY: u8 = 85;

/// Held by whoever draws: a sheet takes some hundred megabytes until it is encoded.
static DRAWING: Mutex<()> = Mutex::new(());

const WHITE: Rgba<u8> = Rgba([255, 255, 255, 255]);
const INK: Rgba<u8> = Rgba([40, 40, 40, 255]);

/// Why there is no contact sheet.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// There is nothing to draw, or too much.
    #[error("a contact sheet has 1 to {MAX_PICTURES} pictures, not {0}")]
    Count(usize),
    /// A picture is not there.
    #[error(transparent)]
    File(#[from] OutError),
    /// A picture cannot be decoded.
    #[error("{file} cannot be drawn: it {source}")]
    Picture {
        /// The picture, relative to the run.
        file: String,
        /// What is wrong with it.
        source: PictureError,
    },
    /// All of them together take too long to decode.
    #[error("{file} is one too many: the pictures of a sheet may have {} MB in all when decoded", MAX_DECODED >> 20)]
    TooMuch {
        /// The picture at which it was too much.
        file: String,
    },
    /// The sheet itself cannot be written.
    #[error("the contact sheet cannot be encoded: {0}")]
    Encode(ImageError),
}

/// The sheet as a JPEG. Pictures keep their aspect and stand in the middle of their cells; small
/// ones are not enlarged.
pub fn contact_sheet(out: &OutFolder, pictures: &[Picture]) -> Result<Vec<u8>, SheetError> {
    if !(1..=MAX_PICTURES).contains(&pictures.len()) {
        return Err(SheetError::Count(pictures.len()));
    }
    let _turn = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
    refuse_too_much(out, pictures)?;
    let rows = (pictures.len() as u32).div_ceil(COLUMNS);
    let mut sheet = RgbaImage::from_pixel(COLUMNS * CELL, rows * (CELL + LABEL), WHITE);
    for (place, picture) in (0..).zip(pictures) {
        let (left, top) = ((place % COLUMNS) * CELL, (place / COLUMNS) * (CELL + LABEL));
        let bytes = out.read(&picture.file, MAX_FILE)?;
        pictures::decode(&bytes, |image| draw_picture(&mut sheet, image, left, top))
            .map_err(|source| SheetError::Picture { file: picture.file.clone(), source })?;
        draw_label(&mut sheet, &picture.label, left, top + CELL);
    }
    let mut jpeg = Vec::new();
    let sheet = DynamicImage::ImageRgba8(sheet).into_rgb8();
    sheet.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, QUALITY)).map_err(SheetError::Encode)?;
    Ok(jpeg)
}

/// Looks at the heads of all pictures before any is decoded.
fn refuse_too_much(out: &OutFolder, pictures: &[Picture]) -> Result<(), SheetError> {
    let mut decoded = 0;
    for Picture { file, .. } in pictures {
        let about = pictures::examine(&out.read(file, MAX_FILE)?)
            .map_err(|source| SheetError::Picture { file: file.clone(), source })?;
        decoded += about.decoded;
        if decoded > MAX_DECODED {
            return Err(SheetError::TooMuch { file: file.clone() });
        }
    }
    Ok(())
}

fn draw_picture(sheet: &mut RgbaImage, image: &DynamicImage, left: u32, top: u32) {
    let fits = image.width() <= CELL && image.height() <= CELL;
    let small = if fits { image.to_rgba8() } else { image.thumbnail(CELL, CELL).into_rgba8() };
    let (x, y) = (left + (CELL - small.width()) / 2, top + (CELL - small.height()) / 2);
    imageops::overlay(sheet, &small, x.into(), y.into());
}

fn draw_label(sheet: &mut RgbaImage, label: &str, left: u32, top: u32) {
    let letters = label.chars().take((CELL / LETTER) as usize).collect::<Vec<_>>();
    let count = letters.len() as u32;
    let scale = if count * LETTER * SCALE <= CELL { SCALE } else { 1 };
    let x = left + (CELL - count * LETTER * scale) / 2;
    let y = top + (LABEL - LETTER * scale) / 2;
    for (place, letter) in (0..).zip(letters) {
        draw_letter(sheet, letter, x + place * LETTER * scale, y, scale);
    }
}

/// A letter the font does not have is drawn as `?`.
fn draw_letter(sheet: &mut RgbaImage, letter: char, left: u32, top: u32, scale: u32) {
    let known = BASIC_FONTS.get(letter).or_else(|| LATIN_FONTS.get(letter)).or_else(|| BASIC_FONTS.get('?'));
    let rows = known.unwrap_or_default();
    for y in 0..LETTER * scale {
        for x in 0..LETTER * scale {
            if rows[(y / scale) as usize] >> (x / scale) & 1 == 1 {
                sheet.put_pixel(left + x, top + y, INK);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
    use plugin_api::wire::Picture;

    use super::{OutFolder, contact_sheet};

    fn saved(out: &OutFolder, name: &str, width: u32, height: u32) -> Picture {
        let image = DynamicImage::ImageRgb8(RgbImage::from_pixel(width, height, Rgb([200, 0, 0])));
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        let file = out.save(name, "png", bytes.get_ref()).unwrap().file;
        Picture { file, label: format!("#{name}") }
    }

    fn is_red(sheet: &RgbImage, x: u32, y: u32) -> bool {
        let Rgb([red, green, _]) = *sheet.get_pixel(x, y);
        red > 150 && green < 80
    }

    fn is_white(sheet: &RgbImage, x: u32, y: u32) -> bool {
        sheet.get_pixel(x, y).0.iter().all(|part| *part > 230)
    }

    #[test]
    fn pictures_stand_in_the_middle_of_their_cells() {
        let folder = tempfile::tempdir().unwrap();
        let out = OutFolder::new(folder.path());
        let pictures =
            [("wide", 960, 480), ("tall", 100, 800), ("small", 40, 40), ("line", 5000, 1), ("fifth", 240, 240)]
                .map(|(name, width, height)| saved(&out, name, width, height));
        let sheet = contact_sheet(&out, &pictures).unwrap();
        let sheet = image::load_from_memory_with_format(&sheet, ImageFormat::Jpeg).unwrap().into_rgb8();
        assert_eq!(sheet.dimensions(), (960, 524));
        assert!(is_red(&sheet, 10, 120) && is_white(&sheet, 120, 30), "wide keeps its aspect");
        assert!(is_red(&sheet, 360, 10) && is_white(&sheet, 300, 120), "tall keeps its aspect");
        assert!(is_red(&sheet, 600, 120) && is_white(&sheet, 600, 60), "small is not enlarged");
        assert!(is_red(&sheet, 120, 382) && is_white(&sheet, 400, 382), "the fifth begins a row");
        let ink = |left: u32| (0..22).flat_map(move |y| (left..left + 240).map(move |x| (x, 240 + y)));
        let dark = |left: u32| ink(left).filter(|(x, y)| sheet.get_pixel(*x, *y).0[1] < 120).count();
        assert!(dark(0) > 50 && dark(480) > 50, "labels are drawn");
    }

    #[test]
    fn what_cannot_be_drawn_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let out = OutFolder::new(folder.path());
        out.save("text", "jpg", b"<html>not a picture</html>").unwrap();
        let good = saved(&out, "good", 10, 10);
        // A header that claims 4 gigapixels.
        let mut bomb = std::fs::read(folder.path().join("good.png")).unwrap();
        bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        out.save("bomb", "png", &bomb).unwrap();
        let picture = |file: &str| Picture { file: file.to_owned(), label: String::new() };
        for (pictures, expected) in [
            (vec![], "a contact sheet has 1 to 400 pictures, not 0"),
            (vec![good.clone(); 401], "a contact sheet has 1 to 400 pictures, not 401"),
            (vec![good.clone(), picture("out/1.jpg")], "out/1.jpg was not saved yet"),
            (vec![good.clone(), picture("out/text.jpg")], "out/text.jpg cannot be drawn: it is no picture"),
            (vec![picture("out/bomb.png")], "out/bomb.png cannot be drawn: it "),
        ] {
            let error = contact_sheet(&out, &pictures).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn any_label_can_be_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let out = OutFolder::new(folder.path());
        let good = saved(&out, "good", 10, 10);
        for label in ["", "猫é", &"x".repeat(5000), "\u{1f408}\0"] {
            let picture = Picture { label: label.to_owned(), ..good.clone() };
            contact_sheet(&out, &[picture]).unwrap();
        }
    }
}
