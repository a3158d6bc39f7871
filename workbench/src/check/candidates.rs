//! Values that could stand in the place of an item: those of other records that the run read and did not use.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::results::format::{CallEnd, CallRecord};

/// What else was asked for where one of `values` was: the values that the same argument of the same tool had in calls
/// that were answered. Sorted, since calls of a script end in any order.
pub(super) fn others(values: &[String], calls: &[CallRecord]) -> Vec<String> {
    let mut asked: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.outcome == CallEnd::Answered) {
        for (argument, value) in call.arguments.as_object().into_iter().flatten() {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            asked.entry((&call.tool, argument)).or_default().push(value);
        }
    }
    let used: BTreeSet<&String> = values.iter().collect();
    let mut known = BTreeSet::new();
    let about_items = asked.into_values().filter(|asked| asked.iter().any(|value| used.contains(value)));
    let mut others: Vec<String> =
        about_items.flatten().filter(|value| !used.contains(value) && known.insert(value.clone())).collect();
    // Numbers by their size.
    others.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
    others
}
