//! What a server says it read and wrote.

use serde_json::Value;

use crate::model::prices::whole_nanodollars;

/// US dollars that no request costs.
const MOST_DOLLARS: f64 = 1e6;

/// Tokens of an answer, as far as the server tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reported {
    /// What was read.
    pub(super) read: Option<Read>,
    /// What was written, thinking included.
    pub(super) written: Option<u64>,
}

/// What was read, by how it was billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Not from a cache.
    pub(super) uncached: u64,
    /// From a cache.
    pub(super) from_cache: u64,
    /// Written to one.
    pub(super) to_cache: u64,
}

impl Reported {
    /// What the document says. The cached tokens are a part of `prompt_tokens` here. A prompt of no tokens was not
    /// counted: older servers say so of one they had cached.
    pub(super) fn in_document(document: &Value) -> Self {
        let usage = &document["usage"];
        let details = &usage["prompt_tokens_details"];
        let cached = number(&details["cached_tokens"]).or_else(|| number(&usage["cached_tokens"])).unwrap_or(0);
        let read = number(&usage["prompt_tokens"]).filter(|tokens| *tokens > 0).map(|prompt| {
            let from_cache = cached.min(prompt);
            let to_cache = number(&details["cache_write_tokens"]).unwrap_or(0).min(prompt - from_cache);
            Read { uncached: prompt - from_cache - to_cache, from_cache, to_cache }
        });
        Self { read, written: number(&usage["completion_tokens"]) }
    }
}

impl Reported {
    /// What an answer of the Responses API says. No model may have been asked for one that only goes on with a program.
    pub(super) fn in_response(document: &Value) -> Self {
        let usage = &document["usage"];
        let details = &usage["input_tokens_details"];
        let read = number(&usage["input_tokens"]).map(|prompt| {
            let from_cache = number(&details["cached_tokens"]).unwrap_or(0).min(prompt);
            let to_cache = number(&details["cache_write_tokens"]).unwrap_or(0).min(prompt - from_cache);
            Read { uncached: prompt - from_cache - to_cache, from_cache, to_cache }
        });
        Self { read, written: number(&usage["output_tokens"]) }
    }
}

/// US dollars that a request cost, as the server says. Of a request that goes by a key of the user's own at another
/// provider it tells only its own fee.
pub(super) fn cost(document: &Value) -> Option<f64> {
    let usage = &document["usage"];
    let cost = usage["cost"].as_f64().filter(|dollars| (0.0..=MOST_DOLLARS).contains(dollars));
    cost.filter(|_| usage["is_byok"] != true).map(whole_nanodollars)
}

/// A number of tokens: nothing that is negative, broken, or beyond what any model reads.
fn number(value: &Value) -> Option<u64> {
    let whole = |number: f64| (number.fract() == 0.0 && number >= 0.0).then_some(number as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole)).filter(|tokens| *tokens <= u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_request_cost_is_never_guessed() {
        let table = [
            (json!({"cost": 0.00012}), Some(0.00012)),
            (json!({"cost": 0}), Some(0.0)),
            (json!({"cost": 0.000_1, "is_byok": false}), Some(0.000_1)),
            (json!({"cost": 0.000_1, "is_byok": true}), None),
            (json!({"cost": -1}), None),
            (json!({"cost": 1e7}), None),
            (json!({"cost": "0.1"}), None),
            (json!({"cost": null}), None),
            (json!(null), None),
        ];
        for (usage, expected) in table {
            assert_eq!(cost(&json!({ "usage": usage })), expected, "{usage}");
        }
    }

    #[test]
    fn what_cannot_be_a_count_is_none() {
        let read = |uncached, from_cache, to_cache| Some(Read { uncached, from_cache, to_cache });
        let table = [
            (json!(null), None, None),
            (json!({}), None, None),
            (json!("many"), None, None),
            (json!({"prompt_tokens": 80, "completion_tokens": 20}), read(80, 0, 0), Some(20)),
            (json!({"prompt_tokens": 80.0, "completion_tokens": 0}), read(80, 0, 0), Some(0)),
            (json!({"prompt_tokens": 0, "completion_tokens": 5}), None, Some(5)),
            (json!({"prompt_tokens": -1, "completion_tokens": -1}), None, None),
            (json!({"prompt_tokens": 1.5, "completion_tokens": 1e30}), None, None),
            (json!({"prompt_tokens": u64::MAX, "completion_tokens": "20"}), None, None),
            (json!({"prompt_tokens": 80, "prompt_tokens_details": null}), read(80, 0, 0), None),
            (json!({"prompt_tokens": 80, "cached_tokens": 30}), read(50, 30, 0), None),
            (
                json!({"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 10}}),
                read(20, 50, 10),
                None,
            ),
            (
                json!({"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 9}}),
                read(0, 80, 0),
                None,
            ),
            (json!({"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": -5}}), read(80, 0, 0), None),
        ];
        for (usage, read, written) in table {
            let found = Reported::in_document(&json!({ "usage": usage }));
            assert_eq!(found, Reported { read, written }, "{usage}");
        }
    }
}
