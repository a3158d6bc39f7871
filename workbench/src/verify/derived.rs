//! Evidence made of other evidence: `value`, an expression, once or for each item of a list.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use serde_json::Value;

use super::budget::Budget;
use super::evidence::{Found, Lack, is_free, items};
use super::rules::lack_of;
use crate::bounded_json::memory_of;
use crate::domain::manifest::Evidence;
use crate::expression;

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
        there.map(|(need, value)| (need, minijinja::Value::from(Serde(value)))).collect();
    let unfit = |text| if is_free(entry, entries) { Lack::Missing(text) } else { Lack::Fault(text) };
    let evaluate = |context: BTreeMap<String, minijinja::Value>| {
        let made = expression::value(value, context.into()).map_err(|error| match error.on_empty_list {
            true => Lack::Missing(error.to_string()),
            false => unfit(error.to_string()),
        })?;
        if made.is_undefined() {
            return Err(unfit(format!("`{value}` is undefined")));
        }
        let made = serde_json::to_value(made).map_err(|error| Lack::Fault(format!("`{value}`: {error}")))?;
        budget.keep(name, memory_of(&made)).map(|()| made)
    };
    let Some(each) = &entry.each else { return Ok(vec![evaluate(context)]) };
    let with = |item| {
        let mut context = context.clone();
        context.insert("item".to_owned(), minijinja::Value::from(Serde(item)));
        evaluate(context)
    };
    Ok(items(each, entries, found)?.iter().map(with).collect())
}
