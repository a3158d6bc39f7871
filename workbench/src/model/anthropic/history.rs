//! The messages of a conversation as the API gets them: it only grows, and each message is written once.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::request::CACHE_CONTROL;
use crate::model::types::{Message, ModelError, Role};

/// What closes a message that ends with a block.
const END: &[u8] = b"}]}";

/// What was said so far, as JSON. What the model said is kept and sent back byte for byte, since the API checks that its
/// thoughts were not touched.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The messages, with commas between them.
    text: Vec<u8>,
    /// How many of the runner's messages are in it.
    heard: usize,
    /// What the model said last, until the runner repeats it.
    said: Option<Box<RawValue>>,
    /// Where the last two messages of the user have room for a mark, inside their last block.
    marks: [Option<usize>; 2],
}

impl History {
    /// Takes in what is new of a conversation, which continues the one before.
    ///
    /// # Errors
    /// Never: messages are JSON.
    pub(super) fn hear(&mut self, messages: &[Message]) -> Result<(), ModelError> {
        for message in messages.get(self.heard..).unwrap_or_default() {
            match (message.role, self.said.take()) {
                // An answer without content is not sent back: the API takes no empty message.
                (Role::Assistant, _) if message.content.is_empty() => {}
                (Role::Assistant, Some(said)) => {
                    self.comma();
                    self.text.extend_from_slice(br#"{"role":"assistant","content":"#);
                    self.text.extend_from_slice(said.get().as_bytes());
                    self.text.push(b'}');
                }
                (role, _) => self.write(role, message)?,
            }
        }
        self.heard = messages.len();
        Ok(())
    }

    /// Keeps the content of the model's answer as it came.
    pub(super) fn say(&mut self, content: Box<RawValue>) {
        self.said = Some(content);
    }

    /// The whole request behind this opening. With `caching`, the last two messages of the user are marked: what the
    /// request before wrote to the cache ends at the first, what this one writes at the second.
    pub(super) fn body(&self, opening: &[u8], caching: bool) -> Bytes {
        let marks = if caching { self.marks } else { [None; 2] };
        let mut body = Vec::with_capacity(opening.len() + self.text.len() + 2 + 2 * (CACHE_CONTROL.len() + 1));
        body.extend_from_slice(opening);
        let mut written = 0;
        for mark in marks.into_iter().flatten() {
            body.extend_from_slice(&self.text[written..mark]);
            body.push(b',');
            body.extend_from_slice(CACHE_CONTROL.as_bytes());
            written = mark;
        }
        body.extend_from_slice(&self.text[written..]);
        body.extend_from_slice(b"]}");
        body.into()
    }

    /// Blocks and messages of the runner have the API's form.
    fn write(&mut self, role: Role, message: &Message) -> Result<(), ModelError> {
        self.comma();
        serde_json::to_writer(&mut self.text, message)
            .map_err(|error| ModelError::Unreachable(format!("the request cannot be written: {error}")))?;
        if role == Role::User && self.text.ends_with(END) {
            self.marks = [self.marks[1], Some(self.text.len() - END.len())];
        }
        Ok(())
    }

    fn comma(&mut self) {
        if !self.text.is_empty() {
            self.text.push(b',');
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;
    use crate::model::types::Block;

    fn user(text: &str) -> Message {
        Message { role: Role::User, content: vec![Block::Text { text: text.to_owned() }] }
    }

    fn assistant(content: Vec<Block>) -> Message {
        Message { role: Role::Assistant, content }
    }

    fn text(history: &History, caching: bool) -> String {
        String::from_utf8(history.body(b"[", caching).to_vec()).unwrap()
    }

    #[test]
    fn what_the_model_said_goes_back_byte_for_byte() {
        let raw = r#"[ {"type":"thinking", "thinking":"","signature":"a\u002fb"},{"type":"text","text":"1.0e2"}]"#;
        let mut history = History::default();
        let mut messages = vec![user("one")];
        history.hear(&messages).unwrap();
        history.say(RawValue::from_string(raw.to_owned()).unwrap());
        messages.extend([assistant(vec![Block::Other(json!({"type": "thinking"}))]), user("two")]);
        history.hear(&messages).unwrap();
        history.hear(&messages).unwrap();
        let one = r#"{"role":"user","content":[{"type":"text","text":"one""#;
        let two = r#"{"role":"user","content":[{"type":"text","text":"two""#;
        let said = format!(r#"{{"role":"assistant","content":{raw}}}"#);
        assert_eq!(text(&history, false), format!("[{one}}}]}},{said},{two}}}]}}]}}"));
        let mark = r#","cache_control":{"type":"ephemeral"}"#;
        assert_eq!(text(&history, true), format!("[{one}{mark}}}]}},{said},{two}{mark}}}]}}]}}"));
        messages.extend([assistant(vec![Block::Text { text: "x".to_owned() }]), user("three")]);
        history.hear(&messages).unwrap();
        assert_eq!(text(&history, true).matches("cache_control").count(), 2, "only the last two are marked");
        assert!(!text(&history, true).starts_with(&format!("[{one}{mark}")));
    }

    #[test]
    fn an_answer_without_content_is_not_sent_back() {
        let mut history = History::default();
        history.hear(&[user("one")]).unwrap();
        history.say(RawValue::from_string("[]".to_owned()).unwrap());
        history.hear(&[user("one"), assistant(Vec::new())]).unwrap();
        assert_eq!(text(&history, false).matches("role").count(), 1);
    }
}
