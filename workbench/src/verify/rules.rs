//! Applies one rule to the evidence. The expressions themselves are [`crate::expression`].

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use serde_json::{Number, Value};

use super::evidence::{Found, Lack, is_chosen_named, is_free_named};
use crate::domain::manifest::{Evidence, Rule};
use crate::expression::{self, JsonError, RuleError, truth};
use crate::results::format::{RuleOutcome, RuleStatus};

/// Bytes of JSON that are shown beside a rule.
const SHOWN: usize = 2_000;
/// Bytes of JSON that are looked at for that: floats get shorter.
const LOOKED_AT: usize = 64 << 10;

type Entries = BTreeMap<String, Evidence>;

/// What rules can see: the evidence that is there, by name.
pub(super) fn context(found: &Found) -> minijinja::Value {
    let there = found.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_ref().ok()?)));
    let names: BTreeMap<String, minijinja::Value> =
        there.map(|(name, value)| (name.to_owned(), minijinja::Value::from(Serde(value.as_ref())))).collect();
    names.into()
}

/// Judges one rule.
pub(super) fn judge(rule: &Rule, entries: &Entries, found: &Found, context: &minijinja::Value) -> RuleOutcome {
    let (status, got) = match lack(&rule.check, found) {
        Some(Lack::Missing(text)) => (RuleStatus::Fail, Value::from(text)),
        Some(Lack::Fault(text)) => (RuleStatus::Error, Value::from(text)),
        None => match truth(&rule.check, context.clone()) {
            Ok(is_true) => {
                let status = if is_true { RuleStatus::Pass } else { RuleStatus::Fail };
                (status, rule.got.as_ref().map_or(Value::Bool(is_true), |got| shown(got, found, context)))
            }
            Err(error) => {
                let status = if is_of_the_model(&error, entries) { RuleStatus::Fail } else { RuleStatus::Error };
                (status, Value::from(error.to_string()))
            }
        },
    };
    let points = if status == RuleStatus::Pass { rule.points } else { 0.0 };
    RuleOutcome { name: rule.name.clone(), status, got, points, max_points: rule.points }
}

/// What becomes of a rule when judging itself went wrong.
pub(super) fn broken(rule: &Rule, reason: &str) -> RuleOutcome {
    let got = Value::from(format!("judging broke: {reason}"));
    RuleOutcome { name: rule.name.clone(), status: RuleStatus::Error, got, points: 0.0, max_points: rule.points }
}

/// Whether an expression failed on what the model made rather than by itself. Otherwise a model
/// could turn a failed rule into one that does not count, by a file the rule cannot work on.
fn is_of_the_model(error: &RuleError, entries: &Entries) -> bool {
    let names = names(&error.expression, entries);
    error.on_empty_list
        || names.iter().any(|name| is_free_named(name, entries))
        || error.on_unordered && names.iter().any(|name| is_chosen_named(name, entries))
}

fn names<V>(expression: &str, known: &BTreeMap<String, V>) -> BTreeSet<String> {
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    // A wrong expression has no names here; evaluating it says what is wrong.
    expression::check(expression, &known).unwrap_or_default()
}

/// Why an expression cannot be evaluated, if it cannot: what the model did not make comes first,
/// since it decides the rule whatever else went wrong.
fn lack(text: &str, found: &Found) -> Option<Lack> {
    lack_of(&names(text, found), found)
}

/// As [`lack`], of the names that an expression reads.
pub(super) fn lack_of(names: &BTreeSet<String>, found: &Found) -> Option<Lack> {
    let lacks: Vec<&Lack> = names.iter().filter_map(|name| found.get(name)?.as_ref().err()).collect();
    lacks.iter().find(|lack| matches!(lack, Lack::Missing(_))).or(lacks.first()).map(|lack| (*lack).clone())
}

/// The value of a rule's `got`; what stands in its way is shown in its place and decides nothing.
fn shown(got: &str, found: &Found, context: &minijinja::Value) -> Value {
    if let Some(Lack::Missing(text) | Lack::Fault(text)) = lack(got, found) {
        return Value::from(text);
    }
    let value = match expression::value(got, context.clone()) {
        Ok(value) if value.is_undefined() => Value::Null,
        Ok(value) => match expression::json(&value, LOOKED_AT) {
            Ok(json) => serde_json::from_slice(&json).unwrap_or(Value::Null),
            Err(JsonError::TooLong { beginning, .. }) => return Value::from(cut(&String::from_utf8_lossy(&beginning))),
            Err(not_json @ JsonError::NotJson(_)) => return Value::from(not_json.to_string()),
        },
        Err(error) => return Value::from(error.to_string()),
    };
    short(rounded(value))
}

/// Floats without the noise of their last digits.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let tidy = number.as_f64().and_then(|number| format!("{number:.9e}").parse().ok());
            tidy.and_then(Number::from_f64).map_or(Value::Null, Value::Number)
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(entries) => entries.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        other => other,
    }
}

fn short(value: Value) -> Value {
    let text = value.to_string();
    if text.len() <= SHOWN {
        return value;
    }
    Value::from(cut(&text))
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN { text.to_owned() } else { format!("{}…", &text[..text.floor_char_boundary(SHOWN)]) }
}
