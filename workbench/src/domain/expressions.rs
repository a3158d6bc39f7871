//! Where the expressions of declared tools stand in the manifest, for what is said when one fails.

use std::collections::BTreeMap;

use super::text::Step;
use super::{Domain, MANIFEST, shape};

use Step::{Index, Key};

/// Where a tool may have an expression.
const PLACES: [&[&str]; 5] =
    [&["pick"], &["pages", "items"], &["pages", "next"], &["pages", "total"], &["download", "link"]];

impl Domain {
    /// The place of each expression of a declared tool, such as `tool[1].pick (domain.toml:12)`, by its text.
    pub fn tool_expressions(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let declared = self.manifest.declared().unwrap_or_default();
        // A domain that was loaded has a manifest that parses.
        let Ok((_, text)) = shape::parse(&self.text) else { return found };
        for (index, tool) in declared.as_array().into_iter().flatten().enumerate() {
            for keys in PLACES {
                let Some(expression) = tool.pointer(&format!("/{}", keys.join("/"))).and_then(|value| value.as_str())
                else {
                    continue;
                };
                let path: Vec<Step<'_>> =
                    [Key("tool"), Index(index)].into_iter().chain(keys.iter().map(|key| Key(key))).collect();
                let start = text.problem(&path, "").span.start;
                let line = 1 + self.text.get(..start).unwrap_or_default().matches('\n').count();
                // Where two tools have one expression, it fails alike in both: the first is named.
                let place = || format!("tool[{}].{} ({MANIFEST}:{line})", index + 1, keys.join("."));
                found.entry(expression.to_owned()).or_insert_with(place);
            }
        }
        found
    }
}
