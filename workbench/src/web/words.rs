//! What an answer says about itself, as short plain text for people and models.

use serde_json::Value;

/// The longest text that is quoted, in characters.
const QUOTED_CHARS: usize = 300;

/// The API's own message in the body of an error: the usual JSON members, or a short plain text.
/// Markup is never quoted. Empty when nothing can be read.
pub(super) fn api_message(body: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(body) else { return String::new() };
    match serde_json::from_str::<Value>(text) {
        Ok(document) => json_message(&document).map(|message| shorten(message, QUOTED_CHARS)).unwrap_or_default(),
        Err(_) if text.contains('<') || text.trim_start().starts_with(['{', '[']) => String::new(),
        Err(_) => shorten(text, QUOTED_CHARS),
    }
}

fn json_message(document: &Value) -> Option<&str> {
    let error = document.get("error");
    [
        document.get("message"),
        error.and_then(|error| error.get("message")),
        error,
        document.get("detail"),
        Some(document),
    ]
    .into_iter()
    .flatten()
    .find_map(Value::as_str)
}

/// The first words of a document of any kind, without its markup.
pub(super) fn first_words(body: &[u8]) -> String {
    const READ_BYTES: usize = 4096;
    const CHARS: usize = 80;
    let start = String::from_utf8_lossy(body.get(..READ_BYTES).unwrap_or(body));
    let mut inside_tag = false;
    let text: String = start
        .chars()
        .map(|letter| match letter {
            '<' => {
                inside_tag = true;
                ' '
            }
            '>' if inside_tag => {
                inside_tag = false;
                ' '
            }
            _ if inside_tag => ' ',
            _ => letter,
        })
        .collect();
    shorten(&text, CHARS)
}

/// `text` on one line, with single spaces and no control characters, at most `chars` long.
pub(super) fn shorten(text: &str, chars: usize) -> String {
    let words =
        text.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > chars * 4 {
            break;
        }
    }
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_message_of_an_error() {
        let table = [
            (r#"{"message":"ObjectID not found"}"#, "ObjectID not found"),
            (r#"{"error":"bad key"}"#, "bad key"),
            (r#"{"error":{"code":7,"message":"quota\n used up"}}"#, "quota used up"),
            (r#"{"detail":"no such item"}"#, "no such item"),
            (r#""plainly a string""#, "plainly a string"),
            (r#"{"other":1}"#, ""),
            ("Not Found", "Not Found"),
            ("", ""),
            ("<html><title>Forbidden</title></html>", ""),
            ("{\"message\":\"cut o", ""),
        ];
        for (body, expected) in table {
            assert_eq!(api_message(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(api_message(b"\xff\xfe"), "");
        assert_eq!(api_message("é".repeat(1000).as_bytes()).chars().count(), QUOTED_CHARS + 1);
    }

    #[test]
    fn quotes_pages_without_markup() {
        assert_eq!(first_words(b"<html><title>Hello</title>\n<body class='a'>dear reader"), "Hello dear reader");
        assert_eq!(first_words(b"\x00\x01"), "");
    }
}
