//! What the model answered: blocks, why it stopped, what it cost.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::bounded_json::depth;
use crate::model::answer::in_short;
use crate::model::arguments;
use crate::model::types::{Block, StopReason, Usage};

/// Most tokens that a request can have: a thousand times what any model reads. More is a fault of the server.
pub(super) const MOST_TOKENS: u64 = 1_000_000_000;

/// Most arrays and objects that a block may stand for: with more, its line of the transcript could not be read again.
const DEEPEST: usize = 120;

/// An answer with its parts taken apart.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) content: Vec<Block>,
    /// The content as it is sent back: as it came, but for arguments that are no object.
    pub(super) raw: Box<RawValue>,
    pub(super) stop_reason: StopReason,
    pub(super) stop_detail: Option<String>,
    /// Nothing where the server told none, or none that can be.
    pub(super) usage: Option<Usage>,
    /// The container that is in use.
    pub(super) container: Option<String>,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    stop_sequence: Value,
    #[serde(default)]
    stop_details: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    container: Value,
}

/// Takes an answer apart; one that may only have `resumed` a script may cost nothing. The error says what in it is not what
/// the API promises.
pub(super) fn read(body: &[u8], resumed: bool) -> Result<Reply, String> {
    let document: Document<'_> = serde_json::from_slice(body).map_err(|error| format!("it cannot be read: {error}"))?;
    let raw = document.content.ok_or("it has no content")?;
    let parts: Vec<&RawValue> =
        serde_json::from_str(raw.get()).map_err(|_| "its content is no list of blocks".to_owned())?;
    let content = parts.iter().map(|part| block(part)).collect::<Result<Vec<_>, _>>()?;
    let mut ids = HashSet::new();
    let mut calls = content.iter().filter_map(|block| match block {
        Block::ToolUse { id, .. } => Some(id.as_str()),
        _ => None,
    });
    if let Some(id) = calls.find(|id| !ids.insert(*id)) {
        return Err(format!("two of its calls have the id `{id}`"));
    }
    let (stop_reason, stop_detail) = stop(&document, !ids.is_empty());
    let stop_detail = stop_detail.map(|detail| in_short(&detail));
    let raw = sent_back(raw, &parts, &content)?;
    let container = document.container["id"].as_str().map(str::to_owned);
    Ok(Reply { raw, stop_reason, stop_detail, usage: usage(&document.usage, resumed), content, container })
}

fn block(raw: &RawValue) -> Result<Block, String> {
    let value: Value =
        serde_json::from_str(raw.get()).map_err(|error| format!("one of its blocks cannot be read: {error}"))?;
    if depth(&value) > DEEPEST {
        return Err(format!("one of its blocks is nested more than {DEEPEST} deep"));
    }
    let Value::Object(mut fields) = value else { return Err("one of its blocks is no object".to_owned()) };
    let kind = fields.get("type").and_then(Value::as_str).ok_or("one of its blocks has no type")?.to_owned();
    let mut words = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("one of its {kind} blocks has no `{key}`")),
    };
    match kind.as_str() {
        "text" => Ok(Block::Text { text: words("text")? }),
        "tool_use" => {
            let (id, name) = (words("id")?, words("name")?);
            if id.is_empty() {
                return Err(format!("its call of `{name}` has no id"));
            }
            let input = fields.remove("input").unwrap_or_default();
            let caller = fields.remove("caller").and_then(|caller| serde_json::from_value(caller).ok());
            Ok(Block::ToolUse { id, name, input: arguments::of(&input), caller })
        }
        // Thinking, and whatever the API will send one day.
        _ => Ok(Block::Other(Value::Object(fields))),
    }
}

/// The content byte for byte, with objects in the place of arguments that are none: the API would refuse them, and the
/// model is to be told.
fn sent_back(raw: &RawValue, parts: &[&RawValue], content: &[Block]) -> Result<Box<RawValue>, String> {
    let (text, mut sent, mut written) = (raw.get(), String::new(), 0);
    // Each part is a piece of the text.
    let place = |part: &RawValue| part.get().as_ptr() as usize - text.as_ptr() as usize;
    for (part, block) in parts.iter().zip(content) {
        let Block::ToolUse { input, .. } = block else { continue };
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(part.get()).unwrap_or_default();
        let (start, end, object) = match fields.get("input") {
            Some(given) if given.get().starts_with('{') => continue,
            Some(given) => (place(given), place(given) + given.get().len(), arguments::as_sent(input)),
            None => (place(part) + 1, place(part) + 1, format!("\"input\":{},", arguments::as_sent(input))),
        };
        sent.push_str(&text[written..start]);
        sent.push_str(&object);
        written = end;
    }
    sent.push_str(&text[written..]);
    RawValue::from_string(sent).map_err(|error| format!("it cannot be sent back: {error}"))
}

/// Why the model stopped, and the API's words about it.
fn stop(document: &Document<'_>, has_calls: bool) -> (StopReason, Option<String>) {
    let by_calls = if has_calls { StopReason::ToolUse } else { StopReason::EndTurn };
    match document.stop_reason.as_str() {
        Some("end_turn") => (StopReason::EndTurn, None),
        Some("tool_use") if has_calls => (StopReason::ToolUse, None),
        Some("tool_use") => (StopReason::EndTurn, Some("it stopped to call tools, and called none".to_owned())),
        Some("max_tokens") => (StopReason::MaxTokens, None),
        Some("model_context_window_exceeded") => {
            (StopReason::MaxTokens, Some("the conversation fills all that the model can read".to_owned()))
        }
        Some("refusal") => (StopReason::Refusal, refusal(&document.stop_details)),
        Some("pause_turn") => (StopReason::Paused, None),
        Some("stop_sequence") => {
            let sequence = document.stop_sequence.as_str().unwrap_or_default();
            (by_calls, Some(format!("it came to the stop sequence `{sequence}`")))
        }
        Some(other) => (by_calls, Some(format!("it stopped for a reason not known here: `{other}`"))),
        None => (by_calls, Some("it did not say why it stopped".to_owned())),
    }
}

/// `category: explanation`, as far as they are told.
fn refusal(details: &Value) -> Option<String> {
    let words = ["category", "explanation"].map(|key| details[key].as_str().filter(|text| !text.is_empty()));
    let words: Vec<&str> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(": "))
}

fn usage(usage: &Value, may_be_nothing: bool) -> Option<Usage> {
    let tokens = |key: &str| usage[key].as_u64().filter(|tokens| *tokens <= MOST_TOKENS);
    // Those of the cache may be left out.
    let of_cache = |key: &str| if usage[key].is_null() { Some(0) } else { tokens(key) };
    let usage = Usage {
        input_tokens: tokens("input_tokens")?,
        output_tokens: tokens("output_tokens")?,
        cache_read_tokens: of_cache("cache_read_input_tokens")?,
        cache_write_tokens: of_cache("cache_creation_input_tokens")?,
        estimated: false,
    };
    // There is no request of which nothing is read, but where no model was asked.
    (may_be_nothing || usage.tokens_read() > 0).then_some(usage)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    const CALL: &str = r#"{"type":"tool_use","id":"a","name":"f","input":{"x":1}}"#;
    const CALL_B: &str = r#"{"type":"tool_use","id":"b","name":"f","input":7}"#;

    #[test]
    fn why_it_stopped() {
        let text = r#"{"type":"text","text":"hi"}"#;
        let table = [
            (r#""end_turn""#, text, StopReason::EndTurn, ""),
            (r#""tool_use""#, CALL, StopReason::ToolUse, ""),
            (r#""tool_use""#, text, StopReason::EndTurn, "called none"),
            (r#""max_tokens""#, CALL, StopReason::MaxTokens, ""),
            (r#""model_context_window_exceeded""#, text, StopReason::MaxTokens, "all that the model can read"),
            (r#""pause_turn""#, text, StopReason::Paused, ""),
            (r#""refusal""#, text, StopReason::Refusal, ""),
            (
                r#""refusal","stop_details":{"category":"cyber","explanation":"no"}"#,
                text,
                StopReason::Refusal,
                "cyber: no",
            ),
            (r#""refusal","stop_details":{"category":"bio","explanation":null}"#, text, StopReason::Refusal, "bio"),
            (r#""stop_sequence","stop_sequence":"END""#, text, StopReason::EndTurn, "sequence `END`"),
            (r#""new_reason""#, CALL, StopReason::ToolUse, "`new_reason`"),
            (r#""new_reason""#, text, StopReason::EndTurn, "`new_reason`"),
            ("null", CALL, StopReason::ToolUse, "did not say why"),
            ("7", text, StopReason::EndTurn, "did not say why"),
        ];
        for (stop, block, reason, detail) in table {
            let reply = read(format!(r#"{{"content":[{block}],"stop_reason":{stop}}}"#).as_bytes(), false).unwrap();
            let told = reply.stop_detail.unwrap_or_default();
            assert!(reply.stop_reason == reason && told.contains(detail), "{stop}: {:?} {told}", reply.stop_reason);
            assert_eq!(detail.is_empty(), told.is_empty(), "{stop}: {told}");
        }
    }

    #[test]
    fn what_it_said() {
        let content = r#"[{"type":"thinking","thinking":"","signature":"x\u002fy"}, {"type":"text","text":"hi"},
            {"type":"tool_use","id":"a","name":"f","input":{"x":1.50},"caller":{"type":"direct"}},{"type":"new","z":[1]}]"#;
        let reply = read(format!(r#"{{"content":{content},"stop_reason":"tool_use"}}"#).as_bytes(), false).unwrap();
        assert_eq!(reply.raw.get(), content, "it goes back as it came");
        assert_eq!(
            reply.content,
            [
                Block::Other(json!({"type": "thinking", "thinking": "", "signature": "x/y"})),
                Block::Text { text: "hi".to_owned() },
                Block::ToolUse { id: "a".to_owned(), name: "f".to_owned(), input: json!({"x": 1.5}), caller: None },
                Block::Other(json!({"type": "new", "z": [1]})),
            ]
        );
        assert_eq!(read(br#"{"content":[],"stop_reason":"end_turn"}"#, false).unwrap().content, []);
    }

    #[test]
    fn arguments_that_are_no_object_are_told_and_sent_back_as_one() {
        let table = [
            (r#","input":[1]"#, json!([1]), r#","input":{}"#),
            (r#", "input" : "no" "#, json!("no"), r#", "input" : {} "#),
            (r#","input":null"#, json!({}), r#","input":{}"#),
            (r#","input":"{\"x\":1}""#, json!({"x": 1}), r#","input":{"x":1}"#),
            (r#","input":{"x":1.50}"#, json!({"x": 1.5}), r#","input":{"x":1.50}"#),
        ];
        for (field, read_as, sent) in table {
            let call = |field: &str| format!(r#"{{"type":"tool_use","id":"a","name":"f"{field}}}"#);
            let content =
                |field: &str| format!(r#"[ {{"type":"thinking","signature":"\u002f"}},{} , {}]"#, call(field), CALL_B);
            let reply = read(format!(r#"{{"content":{},"stop_reason":"tool_use"}}"#, content(field)).as_bytes(), false)
                .unwrap();
            let Block::ToolUse { input, .. } = &reply.content[1] else { panic!("{:?}", reply.content) };
            assert_eq!((input, reply.raw.get()), (&read_as, content(sent).replace(":7}", ":{}}").as_str()));
        }
        let reply = read(br#"{"content":[{"type":"tool_use","id":"a","name":"f"}]}"#, false).unwrap();
        assert_eq!(reply.raw.get(), r#"[{"input":{},"type":"tool_use","id":"a","name":"f"}]"#);
    }

    #[test]
    fn answers_that_are_none() {
        let nested = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(r#"[{{"type":"tool_use","id":"a","name":"f","input":{{"x":{open}1{close}}}}}]"#)
        };
        let (deep, deeper) = (nested(DEEPEST - 1), nested(300));
        assert!(read(format!(r#"{{"content":{}}}"#, nested(DEEPEST - 2)).as_bytes(), false).is_ok());
        let twice = format!("[{CALL},{CALL}]");
        let table = [
            ("7", "no list of blocks"),
            ("null", "it has no content"),
            ("{}", "no list of blocks"),
            ("[7]", "no object"),
            (r#"[{"text":"hi"}]"#, "no type"),
            (r#"[{"type":"text"}]"#, "text blocks has no `text`"),
            (r#"[{"type":"tool_use","name":"f","input":{}}]"#, "tool_use blocks has no `id`"),
            (r#"[{"type":"tool_use","id":"","name":"f","input":{}}]"#, "call of `f` has no id"),
            (r#"[{"type":"tool_use","id":"a","input":{}}]"#, "no `name`"),
            (r#"[{"type":"text","text":"\ud800"}]"#, "cannot be read"),
            (&deep, "nested more than 120 deep"),
            (&deeper, "recursion limit"),
            (&twice, "two of its calls have the id `a`"),
        ];
        for (content, problem) in table {
            let told =
                read(format!(r#"{{"content":{content},"stop_reason":"tool_use"}}"#).as_bytes(), false).unwrap_err();
            assert!(told.contains(problem), "{content:.100}: {told}");
        }
        assert!(
            read(b"[]", false).is_err()
                && read(b"", false).is_err()
                && read(b"{}", false).unwrap_err() == "it has no content"
        );
    }

    #[test]
    fn figures_that_cannot_be() {
        let told = |usage: &str| read(format!(r#"{{"content":[],"usage":{usage}}}"#).as_bytes(), false).unwrap().usage;
        let good = told(
            r#"{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4,"new":-1}"#,
        );
        let expected =
            Usage { input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4, estimated: false };
        assert_eq!(good, Some(expected));
        assert!(told(r#"{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":null}"#).is_some());
        for usage in [
            "null",
            "{}",
            "[]",
            r#""much""#,
            r#"{"input_tokens":1}"#,
            r#"{"output_tokens":1}"#,
            r#"{"input_tokens":0,"output_tokens":2}"#,
            r#"{"input_tokens":-1,"output_tokens":2}"#,
            r#"{"input_tokens":1.5,"output_tokens":2}"#,
            r#"{"input_tokens":"1","output_tokens":2}"#,
            r#"{"input_tokens":18446744073709551615,"output_tokens":2}"#,
            r#"{"input_tokens":99999999999999999999999,"output_tokens":2}"#,
            r#"{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":-3}"#,
        ] {
            assert_eq!(told(usage), None, "{usage}");
        }
    }
}
