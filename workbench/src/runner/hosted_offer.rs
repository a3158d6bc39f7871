//! The tools as mode `hosted` offers them, and what keeps it from offering them: known before anything is asked.

use std::collections::BTreeMap;

use plugin_api::wire::ToolSpec;

use super::loop_mode::definitions;
use crate::model::schema::circular_reference;
use crate::model::types::{Callers, ToolDefinition};
use crate::nearest::suggestion;

/// Why the tools of a domain cannot be offered to scripts of a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {way_on}")]
pub struct NotHosted {
    /// What is in the way.
    pub reason: String,
    /// What to do about it.
    pub way_on: String,
}

/// The tools as mode `hosted` offers them.
pub(super) fn hosted_definitions(tools: &[ToolSpec], callers: &BTreeMap<String, Callers>) -> Vec<ToolDefinition> {
    let mut definitions = definitions(tools);
    for tool in &mut definitions {
        tool.callers = callers.get(&tool.name).copied().unwrap_or(Callers::Code);
    }
    definitions
}

/// As [`hosted_definitions`], where the provider would take them.
///
/// # Errors
/// When `callers`, the manifest's `[callers]`, names a tool that there is not, when a schema refers to itself, and when no tool is
/// left for scripts.
pub fn hosted_offer(tools: &[ToolSpec], callers: &BTreeMap<String, Callers>) -> Result<Vec<ToolDefinition>, NotHosted> {
    let names = || tools.iter().map(|tool| tool.name.as_str());
    if let Some(unknown) = callers.keys().find(|name| !names().any(|known| known == *name)) {
        return Err(NotHosted {
            reason: format!("`[callers]` names `{unknown}`, and there is no such tool{}", suggestion(unknown, names())),
            way_on: "correct it in domain.toml".to_owned(),
        });
    }
    let offered = hosted_definitions(tools, callers);
    for tool in offered.iter().filter(|tool| tool.callers != Callers::Direct) {
        if let Some(reference) = circular_reference(&tool.input_schema) {
            let name = &tool.name;
            return Err(NotHosted {
                reason: format!(
                    "mode hosted cannot offer `{name}`: the schema of its arguments refers to itself ({reference}), which \
                     scripts of a provider cannot call"
                ),
                way_on: format!(
                    "write it out a few levels deep, or keep it for the model itself with `{name} = \"direct\"` below \
                     `[callers]`"
                ),
            });
        }
    }
    if offered.iter().all(|tool| tool.callers == Callers::Direct) {
        return Err(NotHosted {
            reason: "mode hosted has no tool that scripts may call: `[callers]` keeps all of them for the model itself"
                .to_owned(),
            way_on: "set one to \"code\" or \"both\", or compare in mode loop".to_owned(),
        });
    }
    Ok(offered)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tool(name: &str, schema: Value) -> ToolSpec {
        ToolSpec { name: name.to_owned(), description: String::new(), input_schema: schema }
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_offered_to_the_model_alone() {
        let circle = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
        let tools = [tool("plain", json!({ "type": "object" })), tool("tree", circle)];
        let callers = |of_tree: Callers| BTreeMap::from([("tree".to_owned(), of_tree)]);
        for of_tree in [Callers::Code, Callers::Both] {
            let told = hosted_offer(&tools, &callers(of_tree)).unwrap_err().to_string();
            assert!(told.contains("cannot offer `tree`") && told.contains("`tree = \"direct\"`"), "{told}");
        }
        assert_eq!(hosted_offer(&tools, &callers(Callers::Direct)).unwrap().len(), 2);
    }
}
