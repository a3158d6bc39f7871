//! A declared tool and a function of the same signature are one to a model: the same schema, the same words.

#![allow(clippy::unwrap_used, clippy::too_many_arguments)]

use plugin_api::declared::DeclaredPlugin;
use plugin_api::dispatch::{Plugin, ToolEntry, Tools};
use plugin_api::prelude::*;
use plugin_api::testing::FakeHost;
use serde_json::{Value, json};

use crate::tools::Declared;

/// The order of a list.
#[derive(ToolArgument)]
enum Order {
    Up,
    Down,
}

/// Finds things. Returns a list.
#[tool]
fn find(
    /** Words to look for. */
    query: String,
    /** Kinds of thing. */
    kinds: Vec<String>,
    sizes: Option<Vec<i64>>,
    #[range(0.5..)] share: Option<f64>,
    #[default(Order::Up)] order: Order,
    #[default(100)]
    #[range(1..=500)]
    limit: i64,
    #[default(2.0)]
    #[range(..=9.5)]
    weight: f64,
    #[default(true)] tame: bool,
) -> ToolResult<Value> {
    let order = order.encode();
    Ok(json!({"query": query, "kinds": kinds, "sizes": sizes, "share": share, "order": order, "limit": limit,
              "weight": weight, "tame": tame}))
}

/// Takes nothing. Returns nothing.
#[tool]
fn ping() -> ToolResult<Value> {
    Ok(Value::Null)
}

const FUNCTIONS: Plugin = Plugin { name: "functions", tools: &[ToolEntry::of::<find>(), ToolEntry::of::<ping>()] };

fn declared() -> DeclaredPlugin<Declared> {
    let plugin = DeclaredPlugin::new("declared");
    let save = json!({"text": "{query}", "save": "x.txt"});
    let tools = json!([
        {"name": "find", "description": "Finds things. Returns a list.", "save_text": save, "arguments": {
            "query": {"type": "string", "description": "Words to look for."},
            "kinds": {"type": "list of string", "description": "Kinds of thing."},
            "sizes": {"type": "list of integer", "optional": true},
            "share": {"type": "number", "minimum": 0.5, "optional": true},
            "order": {"type": "string", "one_of": ["up", "down"], "default": "up"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 100},
            // As a manifest may say it: for a number, 2 is 2.0.
            "weight": {"type": "number", "maximum": 9.5, "default": 2},
            "tame": {"type": "boolean", "default": true},
        }},
        {"name": "ping", "description": "Takes nothing. Returns nothing.", "save_text": save},
    ]);
    plugin.learn(&tools).unwrap();
    plugin
}

#[test]
fn both_are_described_alike() {
    let (functions, declared) = (Tools::describe(&FUNCTIONS), declared().describe());
    assert_eq!(serde_json::to_string(&functions).unwrap(), serde_json::to_string(&declared).unwrap());
}

#[test]
fn both_refuse_in_the_same_words() {
    let fits = json!({"query": "x", "kinds": ["a"]});
    let with = |name: &str, value: Value| {
        let mut arguments = fits.clone();
        arguments[name] = value;
        arguments
    };
    let declared = declared();
    for arguments in [
        json!({}),
        json!([]),
        json!("text"),
        Value::Null,
        with("nosuch", json!(1)),
        with("query", json!(null)),
        with("query", json!(7)),
        with("kinds", json!("a")),
        with("kinds", json!(["a", 7])),
        with("sizes", json!([1, 2.5])),
        with("sizes", json!([1, "x"])),
        with("share", json!(0.25)),
        with("share", json!("half")),
        with("order", json!("sideways")),
        with("order", json!(["up"])),
        with("limit", json!(0)),
        with("limit", json!(501)),
        with("limit", json!(1.5)),
        with("limit", json!(1e30)),
        with("limit", json!("x".repeat(100))),
        with("weight", json!(10)),
        with("tame", json!("yes")),
        with("tame", json!({"a": 1})),
    ] {
        let function = FakeHost::new().call(&FUNCTIONS, "find", &arguments).unwrap_err();
        let declared = FakeHost::new().call(&declared, "find", &arguments).unwrap_err();
        assert_eq!(function, declared, "{arguments}");
    }
    for plugin in [&FUNCTIONS as &dyn Tools, &declared] {
        let error = FakeHost::new().call(plugin, "ping", &json!({"a": 1})).unwrap_err();
        assert_eq!(error.message, "bad arguments for ping: unknown argument `a`; it takes none");
        let error = FakeHost::new().call(plugin, "nosuch", &json!({})).unwrap_err();
        assert_eq!(error.message, "unknown tool `nosuch`; there are find, ping");
    }
}

#[test]
fn both_take_what_is_meant() {
    let declared = declared();
    for arguments in [
        json!({"query": "x", "kinds": []}),
        json!({"query": "", "kinds": ["a"], "sizes": null, "limit": null, "weight": null, "tame": null}),
        json!({"query": "猫", "kinds": ["a"], "sizes": [1, 2.0], "share": 1, "order": "down", "limit": 500.0, "tame": false}),
    ] {
        FakeHost::new().call(&FUNCTIONS, "find", &arguments).unwrap();
        let host = FakeHost::new();
        host.call(&declared, "find", &arguments).unwrap();
        assert_eq!(host.content("out/x.txt").unwrap(), arguments["query"].as_str().unwrap().as_bytes());
    }
}
