//! What a model is told about the arguments of a tool, and what it reads when it gets them wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

use plugin_api::prelude::*;
use plugin_api::testing::FakeHost;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, ToolArgument)]
enum Light {
    FullDay,
    Night,
}

/// One of everything.
#[tool]
#[allow(clippy::too_many_arguments)]
fn everything(
    /** An id. */
    id: u64,
    small: Option<u8>,
    #[default(-1)]
    #[range(-5..=5)]
    signed: i32,
    #[default(0.5)]
    #[range(0.0..=1.0)]
    share: f64,
    #[default(true)] yes: bool,
    #[default("cat")] word: String,
    #[default(vec![])] list: Vec<u16>,
    #[default(Light::Night)] light: Light,
    #[range(..=10)] most: Option<i64>,
    anything: Option<RawJson>,
) -> ToolResult<Value> {
    Ok(json!([id, small, signed, share, yes, word, list, format!("{light:?}"), most, anything]))
}

/// Takes nothing.
#[tool]
fn nothing() -> ToolResult<()> {
    Ok(())
}

plugin!(everything, nothing);

fn call(tool: &str, arguments: &Value) -> ToolResult<Value> {
    FakeHost::new().call(&PLUGIN, tool, arguments)
}

#[test]
fn the_schema_says_what_the_signature_says() {
    let specs = PLUGIN.describe();
    assert_eq!(specs[0].description, "One of everything.");
    let expected = json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0, "description": "An id."},
            "small": {"type": "integer", "minimum": 0},
            "signed": {"type": "integer", "minimum": -5, "maximum": 5, "default": -1},
            "share": {"type": "number", "minimum": 0.0, "maximum": 1.0, "default": 0.5},
            "yes": {"type": "boolean", "default": true},
            "word": {"type": "string", "default": "cat"},
            "list": {"type": "array", "items": {"type": "integer", "minimum": 0}, "default": []},
            "light": {"type": "string", "enum": ["full_day", "night"], "default": "night"},
            "most": {"type": "integer", "maximum": 10},
            "anything": {},
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    assert_eq!(specs[0].input_schema, expected);
    let order: Vec<_> = specs[0].input_schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["id", "small", "signed", "share", "yes", "word", "list", "light", "most", "anything"]);
    assert_eq!(specs[1].input_schema["required"], json!([]));
}

#[test]
fn what_is_left_out_or_null_has_its_default() {
    let expected = json!([7, null, -1, 0.5, true, "cat", [], "Night", null, null]);
    assert_eq!(call("everything", &json!({"id": 7})), Ok(expected.clone()));
    let nulls = json!({"id": 7, "small": null, "signed": null, "word": null, "list": null, "light": null});
    assert_eq!(call("everything", &nulls), Ok(expected));
}

#[test]
fn what_is_given_arrives() {
    let given = json!({
        "id": u64::MAX, "small": 255, "signed": 5, "share": 1, "yes": false, "word": "ねこ", "list": [1, 2.0],
        "light": "full_day", "most": -3.0, "anything": {"deep": [1]},
    });
    let expected = json!([u64::MAX, 255, 5, 1.0, false, "ねこ", [1, 2], "FullDay", -3, {"deep": [1]}]);
    assert_eq!(call("everything", &given), Ok(expected));
}

#[test]
fn a_wrong_argument_is_explained_in_the_words_of_the_schema() {
    let takes = "it takes id (integer), small (integer, optional), signed (integer, default -1), \
                 share (number, default 0.5), yes (boolean, default true), word (string, default \"cat\"), \
                 list (list of integer, default []), light (one of full_day, night, default \"night\"), \
                 most (integer, optional), anything (anything, optional)";
    let cases = [
        (json!({"id": 1, "ident": 2}), format!("unknown argument `ident`; {takes}")),
        (json!({"ID": 1}), format!("unknown argument `ID`; {takes}")),
        (json!({}), format!("id is missing; {takes}")),
        (json!({"id": null}), "id must be an integer, not null".to_owned()),
        (json!({"id": "7"}), "id must be an integer, not \"7\"".to_owned()),
        (json!({"id": 7.5}), "id must be an integer, not 7.5".to_owned()),
        (json!({"id": 1e300}), "id must be an integer, not 1e+300".to_owned()),
        (json!({"id": true}), "id must be an integer, not true".to_owned()),
        (json!({"id": [7]}), "id must be an integer, not [7]".to_owned()),
        (json!({"id": -1}), "id must be at least 0, not -1".to_owned()),
        (json!({"id": 1, "small": 256}), "small must be between 0 and 255, not 256".to_owned()),
        (json!({"id": 1, "small": -2}), "small must be at least 0, not -2".to_owned()),
        (json!({"id": 1, "signed": 6}), "signed must be between -5 and 5, not 6".to_owned()),
        (json!({"id": 1, "share": 1.01}), "share must be between 0.0 and 1.0, not 1.01".to_owned()),
        (json!({"id": 1, "share": "half"}), "share must be a number, not \"half\"".to_owned()),
        (json!({"id": 1, "most": 11}), "most must be at most 10, not 11".to_owned()),
        (json!({"id": 1, "yes": 1}), "yes must be true or false, not 1".to_owned()),
        (json!({"id": 1, "word": 5}), "word must be a string, not 5".to_owned()),
        (json!({"id": 1, "list": "1,2"}), "list must be a list, not \"1,2\"".to_owned()),
        (json!({"id": 1, "list": [1, "x"]}), "item 2 of list must be an integer, not \"x\"".to_owned()),
        (json!({"id": 1, "light": "noon"}), "light must be one of full_day, night, not \"noon\"".to_owned()),
        (json!([1]), "they must be a JSON object, not [1]".to_owned()),
        (json!({"id": "x".repeat(99)}), format!("id must be an integer, not \"{}…", "x".repeat(59))),
    ];
    for (arguments, problem) in cases {
        let error = call("everything", &arguments).expect_err(&arguments.to_string());
        assert_eq!(error.message, format!("bad arguments for everything: {problem}"), "{arguments}");
        assert_eq!(error.code.as_deref(), Some("bad_arguments"));
    }
    let error = call("nothing", &json!({"id": 1})).unwrap_err();
    assert_eq!(error.message, "bad arguments for nothing: unknown argument `id`; it takes none");
}

#[test]
fn an_unknown_tool_is_answered_with_the_known_ones() {
    let error = call("everthing", &json!({})).unwrap_err();
    assert_eq!(error.message, "unknown tool `everthing`; there are everything, nothing");
}

#[test]
fn an_answer_of_nothing_is_null() {
    assert_eq!(call("nothing", &json!({})), Ok(Value::Null));
}
