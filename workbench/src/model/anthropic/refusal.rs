//! What it means that the API refuses, and what to do about it.

use crate::env::ANTHROPIC_KEY;
use crate::model::exchange::{Answer, Exchange};
use crate::model::types::ModelError;

/// What the API says of a conversation that is longer than what the model reads, the answer included.
const TOO_LONG: [&str; 2] = ["prompt is too long", "exceed context limit"];

/// The refusal as one sentence: where, the status, the API's own words, and a way on where there is one.
pub(super) fn of(exchange: &Exchange, path: &str, answer: &Answer, id: &str) -> ModelError {
    let Answer { status, headers, .. } = answer;
    let told = match (answer.words(), headers.get("request-id").and_then(|id| id.to_str().ok())) {
        (words, _) if words.is_empty() => String::new(),
        (words, None) => format!(" ({words})"),
        (words, Some(request)) => format!(" ({words}; request {request})"),
    };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let way_on = match status {
        200 => ": an error in the place of an answer".to_owned(),
        300..=399 => format!(
            ": it sends elsewhere, to `{}`; name the API's own address with `--base-url`",
            header("location").unwrap_or_default()
        ),
        401 => format!(": the key in `{ANTHROPIC_KEY}` is not one of this API; set one that is"),
        402 => ": the account of the key cannot pay; mend its billing".to_owned(),
        403 => format!(": the key in `{ANTHROPIC_KEY}` may not do this; use one that may, or another model"),
        404 if told.to_lowercase().contains("container") => {
            ": it looks for a container, whatever it is asked; make the run again".to_owned()
        }
        404 => format!(": there is no model `{id}`, or no such API at this address; look at both"),
        413 => ": the conversation is too long for one request".to_owned(),
        429 => match answer.asked_wait() {
            Some(wait) => format!(": too much was asked; it wants to be left alone for {} s", wait.as_secs()),
            None => ": too much was asked, or the account has spent what it may; wait, or raise its limits".to_owned(),
        },
        500.. => ": the service fails or is overloaded, also after several tries; try later".to_owned(),
        _ => String::new(),
    };
    let message = format!("{} answered {status}{told}{way_on}", exchange.address(path));
    if *status == 413 || (*status == 400 && TOO_LONG.iter().any(|words| told.contains(words))) {
        return ModelError::TooLong(message);
    }
    ModelError::Refused { status: *status, message }
}
