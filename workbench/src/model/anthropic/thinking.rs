//! What is said about thinking: that there be none where a model allows it, else the least it allows.

use serde_json::{Map, Value, json};

/// How a model is told to think. A model that thinks more writes more tokens and, since its thoughts are part of the
/// conversation, reads more on later turns; so what it was told is part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// The model has none, and must not be told about it.
    Unknown,
    /// Switched off.
    Off,
    /// Only between the calls of a turn.
    BetweenTools,
    /// As much as it sees fit, at the lowest effort there is.
    LowEffort,
    /// Nothing is said: the model takes no word about it.
    Default,
}

/// Models that cannot switch it off, by the beginning of their ids, for servers that do not describe their models.
/// Source: the API's pages on thinking, late 2026.
const LEAST: [(&str, Thinking); 4] = [
    ("claude-sonnet-5-5", Thinking::BetweenTools),
    ("claude-opus-5-5", Thinking::LowEffort),
    ("claude-fable-5", Thinking::LowEffort),
    ("claude-mythos-5", Thinking::LowEffort),
];

impl Thinking {
    /// The least of a model, by its id.
    pub(super) fn of_model(id: &str) -> Self {
        LEAST.iter().find(|(beginning, _)| id.starts_with(beginning)).map_or(Self::Off, |(_, least)| *least)
    }

    /// The least of a model, by what the API says it can do; nothing when it does not say.
    pub(super) fn of_capabilities(description: &Value) -> Option<Self> {
        let capabilities = &description["capabilities"];
        let thinking = &capabilities["thinking"];
        // `{"supported": true}`, in places a plain word.
        let can = |value: &Value| value["supported"].as_bool().or_else(|| value.as_bool());
        if can(thinking) == Some(false) {
            return Some(Self::Unknown);
        }
        let types = thinking["types"].as_object()?;
        let allows = |kind: &str| types.get(kind).and_then(can) == Some(true);
        Some(match () {
            () if allows("disabled") => Self::Off,
            () if allows("between_tools") => Self::BetweenTools,
            () if allows("adaptive") && can(&capabilities["effort"]["low"]) != Some(false) => Self::LowEffort,
            () => Self::Default,
        })
    }

    /// What to say when the model does not take this word.
    pub(super) fn next(self) -> Option<Self> {
        match self {
            Self::Off => Some(Self::BetweenTools),
            Self::BetweenTools => Some(Self::LowEffort),
            Self::LowEffort => Some(Self::Default),
            Self::Unknown | Self::Default => None,
        }
    }

    /// As records say it.
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Unknown | Self::Off => "off",
            Self::BetweenTools => "least: between tools",
            Self::LowEffort => "least: adaptive, effort low",
            Self::Default => "least: the model's default",
        }
    }

    /// The fields of a request that say it.
    pub(super) fn fields(self) -> Map<String, Value> {
        let fields = match self {
            Self::Unknown | Self::Default => json!({}),
            Self::Off => json!({ "thinking": { "type": "disabled" } }),
            Self::BetweenTools => json!({ "thinking": { "type": "between_tools" } }),
            Self::LowEffort => json!({ "thinking": { "type": "adaptive" }, "output_config": { "effort": "low" } }),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

/// Whether a refusal is about the word that was said on thinking.
pub(super) fn is_named_in(words: &str) -> bool {
    words.contains("thinking") || words.contains("effort") || words.contains("output_config")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_a_model_allows() {
        let types = |types: &[&str]| {
            let types: Map<String, Value> =
                types.iter().map(|kind| ((*kind).to_owned(), json!({"supported": true}))).collect();
            json!({"capabilities": {"thinking": {"supported": true, "types": types}}})
        };
        let table = [
            (types(&["adaptive", "disabled"]), Some(Thinking::Off)),
            (types(&["adaptive", "between_tools"]), Some(Thinking::BetweenTools)),
            (types(&["adaptive"]), Some(Thinking::LowEffort)),
            (types(&["enabled"]), Some(Thinking::Default)),
            (json!({"capabilities": {"thinking": {"supported": false}}}), Some(Thinking::Unknown)),
            (json!({"capabilities": {"thinking": {"types": {"disabled": true}}}}), Some(Thinking::Off)),
            (json!({"capabilities": {"thinking": {"supported": true}}}), None),
            (json!({"id": "claude"}), None),
            (json!("odd"), None),
        ];
        for (description, least) in table {
            assert_eq!(Thinking::of_capabilities(&description), least, "{description}");
        }
        for (id, least) in [
            ("claude-haiku-5-5", Thinking::Off),
            ("claude-sonnet-5-5", Thinking::BetweenTools),
            ("claude-sonnet-5", Thinking::Off),
            ("claude-opus-5-5", Thinking::LowEffort),
            ("claude-fable-5-2", Thinking::LowEffort),
            ("something-else", Thinking::Off),
        ] {
            assert_eq!(Thinking::of_model(id), least, "{id}");
        }
    }
}
