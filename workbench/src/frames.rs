//! Frames between the host and its own child processes: one line of JSON with a length, then that
//! many raw bytes.
//!
//! `{"kind":"answer","id":7,"len":665000}\n` and 665,000 bytes. The body is not looked at here, so
//! a big record costs a copy and no parse, and nothing a plugin or a script returns can break the
//! framing.

use std::io::{self, BufRead, Read, Write};
use std::os::unix::net::UnixStream;

use bytes::Bytes;
use rustix::net::sockopt::set_socket_send_buffer_size;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Longest head line. Ours are below 200 bytes; the rest is room for names and texts.
const MAX_HEAD: u64 = 64 * 1024;

/// Longest body: above the largest answer a domain may fetch, so that a limit of the web client,
/// which names the address, speaks first.
pub const MAX_BODY: u64 = 256 * 1024 * 1024;

/// Bytes that a channel holds in each direction, where the system grants them: a large record goes through in one piece,
/// and the two sides need not take turns for each part of it.
const ROOM: usize = 1024 * 1024;

/// The two ends of a channel.
pub fn channel() -> io::Result<(UnixStream, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    for end in [&ours, &theirs] {
        set_socket_send_buffer_size(end, ROOM)?;
    }
    Ok((ours, theirs))
}

/// What is said, and the bytes that go with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<H> {
    /// What is said: an enum with `#[serde(tag = "kind")]`.
    pub head: H,
    /// The bytes; may be empty.
    pub body: Bytes,
}

impl<H> Frame<H> {
    /// A frame with a body.
    pub fn new(head: H, body: impl Into<Bytes>) -> Self {
        Self { head, body: body.into() }
    }

    /// A frame without a body.
    pub fn bare(head: H) -> Self {
        Self { head, body: Bytes::new() }
    }
}

#[derive(Serialize)]
struct LineOut<'a, H> {
    #[serde(flatten)]
    head: &'a H,
    len: u64,
}

#[derive(Deserialize)]
struct LineIn<H> {
    #[serde(flatten)]
    head: H,
    len: u64,
}

/// Reads the next frame; `None` at the end of the stream. Anything that is not a frame is an error.
pub fn read<H: DeserializeOwned>(stream: &mut impl BufRead) -> io::Result<Option<Frame<H>>> {
    let mut line = Vec::new();
    stream.take(MAX_HEAD).read_until(b'\n', &mut line)?;
    let Some((head, length)) = parse_line(&line, MAX_BODY)? else { return Ok(None) };
    // Zeroing costs less than the many small reads of `read_to_end`.
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(Frame { head, body: body.into() }))
}

/// Writes one frame and flushes.
pub fn write<H: Serialize>(stream: &mut impl Write, frame: &Frame<H>) -> io::Result<()> {
    write_parts(stream, &frame.head, &[&frame.body])
}

/// Writes one frame whose body is these parts, one behind the other, and flushes: a record needs no copy to get a line
/// before it.
pub fn write_parts<H: Serialize>(stream: &mut impl Write, head: &H, parts: &[&[u8]]) -> io::Result<()> {
    stream.write_all(&line_of(head, parts)?)?;
    for part in parts {
        stream.write_all(part)?;
    }
    stream.flush()
}

/// As [`read`], for a stream of tokio.
pub async fn read_async<H: DeserializeOwned>(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Frame<H>>> {
    read_async_within(stream, MAX_BODY).await
}

/// As [`read_async`], for a side that has no reason to send bodies of more than `most` bytes.
pub async fn read_async_within<H: DeserializeOwned>(
    stream: &mut (impl AsyncBufRead + Unpin),
    most: u64,
) -> io::Result<Option<Frame<H>>> {
    let mut line = Vec::new();
    (&mut *stream).take(MAX_HEAD).read_until(b'\n', &mut line).await?;
    let Some((head, length)) = parse_line(&line, most)? else { return Ok(None) };
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Frame { head, body: body.into() }))
}

/// As [`write`], for a stream of tokio.
pub async fn write_async<H: Serialize>(stream: &mut (impl AsyncWrite + Unpin), frame: &Frame<H>) -> io::Result<()> {
    write_parts_async(stream, &frame.head, &[&frame.body]).await
}

/// As [`write_parts`], for a stream of tokio.
pub async fn write_parts_async<H: Serialize>(
    stream: &mut (impl AsyncWrite + Unpin),
    head: &H,
    parts: &[&[u8]],
) -> io::Result<()> {
    stream.write_all(&line_of(head, parts)?).await?;
    for part in parts {
        stream.write_all(part).await?;
    }
    stream.flush().await
}

fn line_of<H: Serialize>(head: &H, parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let len = parts.iter().map(|part| part.len() as u64).sum();
    let mut line = serde_json::to_vec(&LineOut { head, len })?;
    line.push(b'\n');
    Ok(line)
}

fn parse_line<H: DeserializeOwned>(line: &[u8], most: u64) -> io::Result<Option<(H, usize)>> {
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        let message = format!("a frame's head of {} bytes has no end", line.len());
        // One that is not too long was cut off: its writer died.
        let is_cut = (line.len() as u64) < MAX_HEAD;
        return Err(if is_cut { io::Error::new(io::ErrorKind::UnexpectedEof, message) } else { garbage(message) });
    }
    let LineIn { head, len } =
        serde_json::from_slice(line).map_err(|error| garbage(format!("a frame's head is not understood: {error}")))?;
    if len > most {
        return Err(garbage(format!("a frame of {len} bytes is over the limit of {most}")));
    }
    Ok(Some((head, usize::try_from(len).map_err(|error| garbage(error.to_string()))?)))
}

fn garbage(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
