//! What a server says is wrong, in each of the forms that are about.

use serde_json::Value;

use crate::model::answer::on_one_line;

/// Letters kept of words that are no error document, such as a gateway's page.
const KEPT_LETTERS: usize = 300;

/// A server's complaint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    /// Its words.
    pub(super) message: String,
    /// Its code, a word or a number.
    code: String,
    /// Its kind.
    kind: String,
    /// The field of the request it is about.
    param: String,
}

impl Complaint {
    /// The complaint in a document, which may have come with status 200: `error` as an object or a bare text, one beside
    /// the first choice, a flat object with `message`, or `detail` as frameworks write it.
    pub(super) fn in_document(document: &Value) -> Option<Self> {
        let choice = &document["choices"][0];
        if let Some(error) = [&document["error"], &choice["error"]].into_iter().find(|error| !is_nothing(error)) {
            return Some(Self::of_error(error));
        }
        if choice.is_object() {
            return None;
        }
        match (&document["message"], &document["detail"]) {
            (Value::String(_), _) => Some(Self::of_error(document)),
            (_, detail) if !is_nothing(detail) => Some(Self { message: in_words(detail), ..Self::default() }),
            _ => None,
        }
    }

    /// The complaint in the body of an answer whose status says that it is one.
    pub(super) fn in_body(body: &[u8]) -> Self {
        let document = serde_json::from_slice(body).unwrap_or_default();
        Self::in_document(&document).unwrap_or_else(|| {
            let text = String::from_utf8_lossy(body);
            let message = match text.trim() {
                "" => "no word about why".to_owned(),
                text => on_one_line(text).chars().take(KEPT_LETTERS).collect(),
            };
            Self { message, ..Self::default() }
        })
    }

    fn of_error(error: &Value) -> Self {
        if !error.is_object() {
            return Self { message: in_words(error), ..Self::default() };
        }
        let word = |name: &str| if is_nothing(&error[name]) { String::new() } else { in_words(&error[name]) };
        let message = match word("message") {
            message if message.is_empty() => in_words(error),
            message => message,
        };
        // A gateway hands on here what the server behind it said.
        let behind = match &error["metadata"]["raw"] {
            Value::String(words) => format!(" ({})", on_one_line(words).chars().take(KEPT_LETTERS).collect::<String>()),
            _ => String::new(),
        };
        Self { message: message + &behind, code: word("code"), kind: word("type"), param: word("param") }
    }

    /// The HTTP status it names as its code.
    pub(super) fn status(&self) -> Option<u16> {
        self.code.parse().ok().filter(|code| (400..600).contains(code))
    }

    /// Whether the same request may be served later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self.status(), Some(408 | 409 | 429 | 500 | 502 | 503 | 504 | 529))
    }

    /// Whether it is about this field of the request.
    pub(super) fn names(&self, field: &str) -> bool {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        self.param == field || self.message.split(|letter| !is_of_word(letter)).any(|word| word == field)
    }

    /// Whether the conversation is longer than what the model can read.
    pub(super) fn is_too_long(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        self.code == "context_length_exceeded"
            || self.kind == "exceed_context_size_error"
            || ["maximum context length", "context length exceeded", "exceeds the available context size"]
                .iter()
                .any(|words| message.contains(words))
    }

    /// Whether it is about tools that the server or the model does not take.
    pub(super) fn is_about_tools(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        message.contains("enable-auto-tool-choice")
            || (message.contains("tool") && (message.contains("not support") || message.contains("unsupported")))
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

fn in_words(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    on_one_line(&text).chars().take(10 * KEPT_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_of_a_complaint_is_read() {
        let table = [
            (json!({"error": {"message": "no", "type": "x", "param": "tools", "code": null}}), Some("no")),
            (
                json!({"error": {"message": "no", "code": 502, "metadata": {"raw": "overloaded"}}}),
                Some("no (overloaded)"),
            ),
            (json!({"error": "no\nhint: yes"}), Some("no hint: yes")),
            (json!({"error": {"code": 7}}), Some("{\"code\":7}")),
            (json!({"error": "model 'x' not found"}), Some("model 'x' not found")),
            (json!({"object": "error", "message": "flat", "code": 400}), Some("flat")),
            (json!({"detail": [{"loc": ["body", "tools"]}]}), Some("[{\"loc\":[\"body\",\"tools\"]}]")),
            (json!({"choices": [{"error": {"message": "late", "code": 429}}]}), Some("late")),
            (json!({"choices": [{"message": {}}], "error": null}), None),
            (json!({"choices": [{"message": {}}], "error": {}, "message": "fine"}), None),
            (json!({"choices": []}), None),
            (json!([1]), None),
        ];
        for (document, expected) in table {
            let found = Complaint::in_document(&document).map(|complaint| complaint.message);
            assert_eq!(found.as_deref(), expected, "{document}");
        }
        assert_eq!(Complaint::in_body(b"<html>busy</html>").message, "<html>busy</html>");
        assert_eq!(Complaint::in_body(b" ").message, "no word about why");
    }

    #[test]
    fn a_field_is_named_as_a_word() {
        let complaint =
            |message: &str| Complaint { message: message.to_owned(), ..Complaint::default() }.names("max_tokens");
        assert!(complaint("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."));
        assert!(!complaint("Unrecognized request argument supplied: max_completion_tokens"));
    }
}
