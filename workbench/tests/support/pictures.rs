//! Pictures that are not what they seem.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, RgbImage};

/// A picture that does not compress well, so that a part of the file is a part of the picture.
pub(crate) fn noise(format: ImageFormat) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let pixels = (0..200 * 200 * 3).map(|_| next()).collect();
    written(DynamicImage::ImageRgb8(RgbImage::from_raw(200, 200, pixels).unwrap()), format)
}

/// A good one, all black.
pub(crate) fn plain(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    written(DynamicImage::new_rgb8(width, height), format)
}

fn written(image: DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A small JPEG whose head claims this size.
pub(crate) fn jpeg_claiming(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = plain(8, 8, ImageFormat::Jpeg);
    let head = bytes.windows(2).position(|mark| mark == [0xff, 0xc0]).unwrap();
    bytes[head + 5..head + 7].copy_from_slice(&height.to_be_bytes());
    bytes[head + 7..head + 9].copy_from_slice(&width.to_be_bytes());
    bytes
}

/// A PNG of this size and so many bits for each of three colours, with hardly a pixel behind its head.
pub(crate) fn png_claiming(width: u32, height: u32, bits: u8) -> Vec<u8> {
    png(width, height, bits, &[(b"IDAT", deflated(1000))])
}

/// A good one, all black, of three colours.
pub(crate) fn black(width: u32, height: u32) -> Vec<u8> {
    png(width, height, 8, &[(b"IDAT", deflated(u64::from(height) * (1 + 3 * u64::from(width))))])
}

/// A PNG of 8 by 8 pixels with more pixels than that.
pub(crate) fn png_with_pixels_for(megabytes: u64) -> Vec<u8> {
    png(8, 8, 8, &[(b"IDAT", deflated(megabytes << 20))])
}

/// A PNG with so much of a text, or of a colour profile, before its pixels.
pub(crate) fn png_with_words_of(kind: &'static [u8; 4], megabytes: u64) -> Vec<u8> {
    let mut words = b"a\0\0".to_vec();
    words.extend(deflated(megabytes << 20));
    png(8, 8, 8, &[(kind, words), (b"IDAT", deflated(8 * 25))])
}

type Chunk = (&'static [u8; 4], Vec<u8>);

fn png(width: u32, height: u32, bits: u8, chunks: &[Chunk]) -> Vec<u8> {
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([bits, 2, 0, 0, 0]);
    let ends: [Chunk; 2] = [(b"IHDR", head), (b"IEND", Vec::new())];
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in ends[..1].iter().chain(chunks).chain(&ends[1..]) {
        bytes.extend((data.len() as u32).to_be_bytes());
        let start = bytes.len();
        bytes.extend(*kind);
        bytes.extend(data);
        let mut sum = flate2::Crc::new();
        sum.update(&bytes[start..]);
        bytes.extend(sum.sum().to_be_bytes());
    }
    bytes
}

/// This many zeros, compressed. A part is compressed once and repeated: gigabytes would take minutes.
fn deflated(zeros: u64) -> Vec<u8> {
    const PART: u64 = 1 << 20;
    let part = block(PART as usize);
    let mut stream = vec![0x78, 0x01];
    (0..zeros / PART).for_each(|_| stream.extend(&part));
    stream.extend(block((zeros % PART) as usize));
    // An empty last block, and the checksum of so many zeros.
    stream.extend([1, 0, 0, 0xff, 0xff]);
    stream.extend((((zeros % 65_521) as u32) << 16 | 1).to_be_bytes());
    stream
}

/// Zeros as a block that is not the last and ends with a whole byte.
fn block(zeros: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(1 << 16);
    let mut state = flate2::Compress::new(flate2::Compression::fast(), false);
    state.compress_vec(&vec![0; zeros], &mut block, flate2::FlushCompress::Sync).unwrap();
    block
}
