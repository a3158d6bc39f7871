//! The models of the strict API, and what each of them allows.

use serde_json::{Map, Value, json};

use super::rules::Refusal;

/// A model.
pub(crate) struct Card {
    pub(crate) id: &'static str,
    /// Forms of thinking it takes.
    pub(crate) thinking: &'static [&'static str],
    /// Whether it can be told how much effort to make.
    pub(crate) effort: bool,
    /// Whether a tool may be forced.
    pub(crate) forces: bool,
}

const CARDS: &[Card] = &[
    Card { id: "claude-haiku-5-5", thinking: &["adaptive", "disabled"], effort: true, forces: true },
    Card { id: "claude-haiku-4-5", thinking: &["enabled", "disabled"], effort: false, forces: true },
    Card { id: "claude-sonnet-5-5", thinking: &["adaptive", "between_tools"], effort: true, forces: false },
    Card { id: "claude-opus-5-5", thinking: &["adaptive"], effort: true, forces: false },
    // As the API may have one day: no name tells what they allow.
    Card { id: "next-1", thinking: &["adaptive"], effort: true, forces: false },
    Card { id: "next-2", thinking: &[], effort: false, forces: false },
];

const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];

impl Card {
    pub(crate) fn description(&self) -> Value {
        let can = |supported: bool| json!({ "supported": supported });
        let types = ["adaptive", "between_tools", "disabled", "enabled"];
        let types: Map<String, Value> =
            types.iter().map(|kind| ((*kind).to_owned(), can(self.thinking.contains(kind)))).collect();
        let effort: Map<String, Value> = EFFORTS.iter().map(|it| ((*it).to_owned(), can(self.effort))).collect();
        let retires_at = (self.id == "claude-haiku-4-5").then_some("2027-06-30T00:00:00Z");
        json!({
            "type": "model", "id": self.id, "display_name": "A Model", "created_at": "2026-10-07T00:00:00Z",
            "lifecycle": "active", "max_input_tokens": 1_000_000, "max_tokens": 128_000, "retires_at": retires_at,
            "capabilities": {
                "thinking": { "supported": !self.thinking.is_empty(), "types": types }, "effort": effort,
                // It runs no code; `serve` is the stand-in that does.
                "code_execution": { "supported": false },
            },
        })
    }

    /// What it says to these settings.
    pub(crate) fn check(&self, body: &Value) -> Result<(), Refusal> {
        let effort = &body["output_config"]["effort"];
        if !effort.is_null() {
            if !EFFORTS.iter().any(|known| effort == known) {
                return Err(Refusal::invalid("output_config.effort: Input should be a known effort"));
            }
            if !self.effort {
                return Err(Refusal::invalid("output_config.effort: This model does not support effort."));
            }
        }
        match body["thinking"]["type"].as_str() {
            None if body["thinking"].is_null() => Ok(()),
            Some(kind) if self.thinking.contains(&kind) => Ok(()),
            Some("adaptive") => Err(Refusal::invalid("adaptive thinking is not supported on this model")),
            Some(kind) => Err(Refusal::invalid(format!(
                "\"thinking.type.{kind}\" is not supported for this model. Use \"thinking.type.adaptive\" and \
                 \"output_config.effort\" to control thinking behavior."
            ))),
            None => Err(Refusal::invalid("thinking.type: Field required")),
        }
    }
}

pub(crate) fn find(id: &str) -> Result<&'static Card, Refusal> {
    CARDS.iter().find(|card| card.id == id).ok_or_else(|| Refusal::not_found(&format!("model: {id}")))
}

pub(crate) fn list() -> Value {
    let models: Vec<Value> = CARDS.iter().map(Card::description).collect();
    json!({ "data": models, "has_more": false, "first_id": CARDS[0].id, "last_id": CARDS[CARDS.len() - 1].id })
}
