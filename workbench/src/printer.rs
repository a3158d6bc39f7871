//! The only place that prints: data to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

/// Writes `text` to standard output. A reader that went away (`| head`) is no error.
pub fn data(text: &str) {
    quietly(write_all(io::stdout().lock(), text.as_bytes()));
}

/// As [`data`], for bytes.
pub fn data_bytes(bytes: &[u8]) {
    quietly(write_all(io::stdout().lock(), bytes));
}

/// Writes `text` and a line feed to standard error, as [`plain`] text: it may hold names and words of others.
pub fn note(text: &str) {
    quietly(write_all(io::stderr().lock(), format!("{}\n", plain(text)).as_bytes()));
}

/// Writes `text` to standard error as it is.
pub fn error_text(text: &str) {
    quietly(write_all(io::stderr().lock(), text.as_bytes()));
}

/// Text as a terminal may have it: what a model, an API or a handed-in run wrote must not move the cursor, turn the order
/// of letters round or repaint a verdict. What would is shown as its escape.
pub fn plain(text: &str) -> String {
    escaped(text, |letter| is_harmful(letter) && !matches!(letter, '\n' | '\t'))
}

/// As [`plain`], on one line: a name in the line of a table must not begin another.
pub fn line(text: &str) -> String {
    escaped(text, is_harmful)
}

/// Control characters, ends of lines and paragraphs, and what sets the direction of text.
fn is_harmful(letter: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&letter) || ('\u{2028}'..='\u{202e}').contains(&letter);
    letter.is_control() || turns || ('\u{2066}'..='\u{2069}').contains(&letter)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut clean, letter| {
        if is_escaped(letter) {
            clean.extend(letter.escape_default())
        } else {
            clean.push(letter)
        }
        clean
    })
}

/// Whether standard error is a terminal, so that progress may be drawn.
pub fn is_interactive() -> bool {
    io::stderr().is_terminal()
}

/// Whether standard error is a terminal that shows colour and whose user wants it (`NO_COLOR`, `CLICOLOR`, `TERM`).
pub fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

fn write_all(mut stream: impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

/// Nothing can be said when the streams themselves fail.
fn quietly(_outcome: io::Result<()>) {}
