//! Evidence made of other evidence: `value`, an expression, once or for each item of a list. Its data are a model's, so
//! what it may take of memory and time is bounded.

use std::cell::Cell;
use std::collections::BTreeMap;

use minijinja::value::Serde;
use serde_json::Value;

use super::budget::{Budget, Patience};
use super::evidence::{Found, Lack, is_chosen_named, is_free, items};
use super::rules::lack_of;
use crate::bounded_json::{self, ParseError};
use crate::domain::manifest::Evidence;
use crate::expression::{self, JsonError, RuleError};

/// Bytes one value may have as JSON.
const VALUE_BYTES: usize = 64 << 20;
/// Bytes of memory it may take once it is read.
const VALUE_MEMORY: u64 = 256 << 20;

/// The one value of the entry `name`, or one for each item of its `each`.
pub(super) fn values(
    name: &str,
    value: &str,
    entry: &Evidence,
    entries: &BTreeMap<String, Evidence>,
    found: &Found,
    budget: &Budget,
) -> Result<Vec<Result<Value, Lack>>, Lack> {
    let needs = entry.needs();
    if let Some(lack) = lack_of(&needs, found) {
        return Err(lack);
    }
    let there = needs.iter().filter_map(|need| Some((need.clone(), found.get(need)?.as_ref().ok()?)));
    let context: BTreeMap<String, minijinja::Value> =
        there.map(|(need, value)| (need, minijinja::Value::from(Serde(value.as_ref())))).collect();
    let is_free = is_free(entry, entries);
    let is_chosen = needs.iter().any(|need| is_chosen_named(need, entries));
    let unfit = |text| if is_free { Lack::Missing(text) } else { Lack::Fault(text) };
    let failed = |error: RuleError| match error.on_empty_list || error.on_unordered && is_chosen {
        true => Lack::Missing(error.to_string()),
        false => unfit(error.to_string()),
    };
    let is_full = Cell::new(false);
    let evaluate = |context: BTreeMap<String, minijinja::Value>, patience: &Patience| {
        // What is one too many takes as long as what is kept.
        if is_full.get() {
            budget.keep(name, u64::MAX)?;
        }
        // One evaluation ends by itself, many of them may go on for hours.
        if patience.is_over() {
            return Err(Lack::Missing(Budget::no_time_for(name)));
        }
        let made = expression::value(value, context.into()).map_err(failed)?;
        if made.is_undefined() {
            return Err(unfit(format!("`{value}` is undefined")));
        }
        let json = expression::json(&made, VALUE_BYTES).map_err(|error| match error {
            too_long @ JsonError::TooLong { .. } => Lack::Missing(format!("{name} is not kept: {too_long}")),
            not_json @ JsonError::NotJson(_) => unfit(format!("`{value}`: {not_json}")),
        })?;
        budget.keep(name, bounded_json::weight(&json)).inspect_err(|_| is_full.set(true))?;
        bounded_json::parse(&json, VALUE_MEMORY).map_err(|error| match error {
            ParseError::Json(error) => unfit(format!("`{value}`: {error}")),
            too_big @ ParseError::TooBig { .. } => Lack::Missing(format!("{name} is not kept: {too_big}")),
        })
    };
    budget.values(|patience| {
        let Some(each) = &entry.each else { return Ok(vec![evaluate(context, patience)]) };
        let with = |item| {
            let mut context = context.clone();
            context.insert("item".to_owned(), minijinja::Value::from(Serde(item)));
            evaluate(context, patience)
        };
        Ok(items(each, entries, found)?.iter().map(with).collect())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_there_is_no_time_for_is_missing() {
        let entry: Evidence = toml::from_str("value = 'item + 1'\neach = 'n'").unwrap();
        let entries = BTreeMap::from([("e".to_owned(), entry.clone())]);
        let found = Found::from([("n".to_owned(), Ok(Arc::new(serde_json::json!([1, 2]))))]);
        let made = |budget: &Budget| values("e", "item + 1", &entry, &entries, &found, budget).unwrap();
        assert_eq!(made(&Budget::default()), [Ok(Value::from(2)), Ok(Value::from(3))]);
        let lack = Lack::Missing("e is not made: all values may take 60 seconds of processor time".to_owned());
        assert_eq!(made(&Budget::without_time()), [Err(lack.clone()), Err(lack)]);
    }
}
