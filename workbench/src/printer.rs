//! The only place that prints: data to standard output, everything else to standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

/// The first failure of standard output.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes `text` to standard output, to a terminal as [`plain`] text. A failure is kept for [`lost`].
pub fn data(text: &str) {
    data_bytes(text.as_bytes());
}

/// As [`data`], for bytes.
pub fn data_bytes(bytes: &[u8]) {
    let stdout = io::stdout().lock();
    let shown = shown(bytes, stdout.is_terminal());
    if let Err(error) = write_all(stdout, &shown)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        _ = LOST.set(error);
    }
}

/// As [`data_bytes`], with an end of the last line where a person reads it on a terminal.
pub fn document(bytes: &[u8]) {
    data_bytes(bytes);
    if lacks_end(bytes, io::stdout().is_terminal()) {
        data("\n");
    }
}

/// A program gets the bytes as they are; on a terminal the next line would begin behind the last one.
fn lacks_end(bytes: &[u8], is_terminal: bool) -> bool {
    is_terminal && !bytes.is_empty() && !bytes.ends_with(b"\n")
}

/// Why data is missing from standard output, if it is. A reader that went away (`| head`) misses nothing.
pub fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Writes `text` and a line feed to standard error, as [`plain`] text: it may hold names and words of others.
pub fn note(text: &str) {
    quietly(write_all(io::stderr().lock(), format!("{}\n", plain(text)).as_bytes()));
}

/// Writes what a script or a plugin wrote to standard error, to a terminal as [`plain`] text.
pub fn error_text(text: &str) {
    let stderr = io::stderr().lock();
    let shown = shown(text.as_bytes(), stderr.is_terminal());
    quietly(write_all(stderr, &shown));
}

/// Writes text of ours that has colour to standard error.
pub fn coloured(text: &str) {
    quietly(write_all(io::stderr().lock(), text.as_bytes()));
}

/// Text as a terminal may have it: what a model, an API or a handed-in run wrote must not move the cursor, turn the
/// order of letters round or repaint a verdict. What would is shown as its escape.
pub fn plain(text: &str) -> String {
    escaped(text, |letter| is_harmful(letter) && !matches!(letter, '\n' | '\t'))
}

/// As [`plain`], on one line: a name in the line of a table must not begin another.
pub fn line(text: &str) -> String {
    escaped(text, is_harmful)
}

/// Text as one word of a command line, in quotes where a shell would read it otherwise.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:@%+,=".contains(letter);
    match text.chars().all(is_plain) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
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

/// Programs get bytes as they are; a terminal would obey them.
fn shown(bytes: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if is_terminal { plain(&String::from_utf8_lossy(bytes)).into_bytes().into() } else { bytes.into() }
}

/// Nothing can be said when standard error itself fails.
fn quietly(_outcome: io::Result<()>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_ends_its_last_line_on_a_terminal() {
        for (bytes, expected) in [("", false), ("{}", true), ("{}\n", false)] {
            assert_eq!(lacks_end(bytes.as_bytes(), true), expected, "{bytes:?}");
            assert!(!lacks_end(bytes.as_bytes(), false), "{bytes:?}: a program gets the bytes");
        }
    }

    #[test]
    fn a_terminal_gets_nothing_that_it_obeys() {
        // A text, what a terminal gets, and the same on one line.
        let table = [
            ("Katze 🐈\n\tb", "Katze 🐈\n\tb", "Katze 🐈\\n\\tb"),
            ("\u{1b}[2J\u{9b}1m\r\u{7}", "\\u{1b}[2J\\u{9b}1m\\r\\u{7}", "\\u{1b}[2J\\u{9b}1m\\r\\u{7}"),
            ("\u{202e}\u{2069}", "\\u{202e}\\u{2069}", "\\u{202e}\\u{2069}"),
            ("\u{2028}\u{61c}", "\\u{2028}\\u{61c}", "\\u{2028}\\u{61c}"),
        ];
        for (text, expected, on_one_line) in table {
            assert_eq!(*shown(text.as_bytes(), true), *expected.as_bytes());
            assert_eq!(line(text), on_one_line);
            assert_eq!(*shown(text.as_bytes(), false), *text.as_bytes(), "a program gets the bytes");
        }
        for (text, word) in
            [("./lights", "./lights"), ("it's", "'it'\\''s'"), ("a b", "'a b'"), ("", "''"), ("Kätzchen", "Kätzchen")]
        {
            assert_eq!(shell_word(text), word);
        }
        assert_eq!(*shown(b"\xff\x1b", true), *"\u{fffd}\\u{1b}".as_bytes());
    }
}
