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

/// Text as a terminal may have it: what a model, an API or a handed-in run wrote must not move the cursor or repaint a
/// verdict. What would is shown as its escape.
pub fn plain(text: &str) -> String {
    let is_harmful = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    text.chars().fold(String::with_capacity(text.len()), |mut clean, letter| {
        if is_harmful(letter) {
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
