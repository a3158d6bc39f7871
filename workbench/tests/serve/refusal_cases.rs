//! What is refused, a line each.

use serde_json::{Value, json};

/// A place in a good request, what stands there instead (null: nothing), the status, and how the refusal begins.
pub(crate) type Case = (&'static str, Value, u16, &'static str);

/// Changes of a first question.
pub(crate) fn of_a_question() -> Vec<Case> {
    let tool = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    let called = |name: &str| json!({ "name": name, "input_schema": { "type": "object" }, "allowed_callers": ["code_execution_20260120"] });
    let code = json!({ "type": "code_execution_20260120", "name": "code_execution" });
    let circle = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    let said = |blocks: Value| json!([{ "role": "user", "content": "x" }, { "role": "assistant", "content": blocks }, { "role": "user", "content": "x" }]);
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "note", "input": {} });
    let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": "1" });
    let cell =
        json!({ "type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": { "code": "" } });
    let by_cell = json!({ "type": "code_execution_20260120", "tool_id": "srvtoolu_2" });
    let called_by =
        |caller: Value| json!({ "type": "tool_use", "id": "toolu_1", "name": "note", "input": {}, "caller": caller });
    let cell_result = json!({ "type": "code_execution_tool_result", "tool_use_id": "srvtoolu_2", "content": {} });
    vec![
        // The request itself.
        ("", json!([1]), 400, "Request body should be a JSON object"),
        ("/model", Value::Null, 400, "model: Field required"),
        ("/model", json!(5), 400, "model: Input should be a valid string"),
        ("/model", json!("nobody"), 404, "model: nobody"),
        ("/odd", json!(1), 400, "odd: Extra inputs are not permitted"),
        ("/max_tokens", Value::Null, 400, "max_tokens: Field required"),
        ("/max_tokens", json!("9"), 400, "max_tokens: Input should be a valid integer"),
        ("/max_tokens", json!(-1), 400, "max_tokens: Input should be a valid integer"),
        ("/max_tokens", json!(1.5), 400, "max_tokens: Input should be a valid integer"),
        ("/stream", json!(true), 400, "stream: this server answers in one piece"),
        ("/stream", json!("no"), 400, "stream: Input should be a valid boolean"),
        ("/thinking", json!("adaptive"), 400, "thinking: Input should be an object"),
        ("/metadata", json!([]), 400, "metadata: Input should be an object"),
        ("/service_tier", json!(1), 400, "service_tier: Input should be a valid string"),
        ("/stop_sequences", json!("x"), 400, "stop_sequences: Input should be a valid list"),
        ("/stop_sequences", json!(["x", 1]), 400, "stop_sequences.1: Input should be a valid string"),
        ("/temperature", json!("hot"), 400, "temperature: Input should be a valid number"),
        ("/top_p", json!([]), 400, "top_p: Input should be a valid number"),
        ("/top_k", json!(1.5), 400, "top_k: Input should be a valid integer"),
        ("/cache_control", json!("yes"), 400, "cache_control: Input should be an object"),
        ("/system", json!(1), 400, "system: Input should be a valid string or list"),
        ("/system", json!([{ "type": "image", "text": "x" }]), 400, "system.0.type: Input should be 'text'"),
        ("/system", json!([{ "type": "text" }]), 400, "system.0.text: Field required"),
        (
            "/system",
            json!([{ "type": "text", "text": "x", "cache_control": 1 }]),
            400,
            "system.0.cache_control: Input should be an object",
        ),
        // Tools.
        ("/tools", json!({}), 400, "tools: Input should be a valid list"),
        ("/tools/2", json!("note"), 400, "tools.2: Input should be an object"),
        ("/tools/2/name", Value::Null, 400, "tools.2.name: Field required"),
        ("/tools/2/name", json!("a b"), 400, "tools.2.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"),
        ("/tools/2/name", json!("n".repeat(65)), 400, "tools.2.name: String should match pattern"),
        ("/tools/2/name", json!("get_order"), 400, "tools: Tool names must be unique."),
        ("/tools/2/name", json!("code_execution"), 400, "tools: Tool names must be unique."),
        ("/tools/2", code.clone(), 400, "tools: Tool names must be unique."),
        (
            "/tools/2",
            called("get-order"),
            400,
            "tools.2.name: `get_order` and `get-order` are both `get_order` in code",
        ),
        ("/tools/2/odd", json!(1), 400, "tools.2.odd: Extra inputs are not permitted"),
        ("/tools/2/strict", json!("yes"), 400, "tools.2.strict: Input should be a valid boolean"),
        ("/tools/2/defer_loading", json!(1), 400, "tools.2.defer_loading: Input should be a valid boolean"),
        ("/tools/2/input_examples", json!({}), 400, "tools.2.input_examples: Input should be a valid list"),
        ("/tools/2/cache_control", json!(true), 400, "tools.2.cache_control: Input should be an object"),
        ("/tools/0/strict", json!(0), 400, "tools.0.strict: Input should be a valid boolean"),
        ("/tools/0/allowed_callers", json!("direct"), 400, "tools.0.allowed_callers: Input should be a valid list"),
        ("/tools/2/input_schema", Value::Null, 400, "tools.2.input_schema: Field required"),
        ("/tools/2/input_schema/type", json!("array"), 400, "tools.2.input_schema.type: Input should be 'object'"),
        ("/tools/2/type", json!("web_search_20260209"), 400, "tools.2.type: this server has no tool of type"),
        (
            "/tools/0/type",
            json!("code_execution_20250825"),
            400,
            "tools.0.type: this server runs the programmatic versions only",
        ),
        ("/tools/0/name", json!("python"), 400, "tools.0.name: Input should be 'code_execution'"),
        (
            "/tools/1/allowed_callers",
            json!([]),
            400,
            "tools.1.allowed_callers: List should have at least 1 item after validation",
        ),
        (
            "/tools/1/allowed_callers",
            json!(["direct", "me"]),
            400,
            "tools.1.allowed_callers.1: Input should be 'direct', ",
        ),
        (
            "/tools/1/strict",
            json!(true),
            400,
            "tools.1.strict: strict tools are not supported with programmatic tool calling",
        ),
        ("/tools/1/input_schema", circle, 400, "tools.1.input_schema: Circular $ref detected"),
        (
            "/tools",
            json!([called("f")]),
            400,
            "tools: `allowed_callers` names code execution, but no `code_execution` tool was provided",
        ),
        (
            "/tool_choice",
            json!({ "type": "auto", "disable_parallel_tool_use": true }),
            400,
            "tool_choice.disable_parallel_tool_use: not supported",
        ),
        (
            "/tool_choice",
            json!({ "type": "tool", "name": "get_order" }),
            400,
            "tool_choice: `get_order` cannot be forced",
        ),
        (
            "/tool_choice",
            json!({ "type": "tool", "name": "nothing" }),
            400,
            "tool_choice.name: Tool 'nothing' not found in provided tools",
        ),
        (
            "/tool_choice",
            json!({ "type": "tool", "name": "note" }),
            400,
            "tool_choice: this server cannot force a tool",
        ),
        ("/tool_choice", json!({ "type": "any" }), 400, "tool_choice: this server cannot force a tool"),
        (
            "/tool_choice",
            json!({ "type": "some" }),
            400,
            "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
        ),
        (
            "/model",
            json!("claude-haiku-4-5"),
            400,
            "'claude-haiku-4-5' does not support programmatic tool calling. The following tools have `allowed_callers` that require it: get_order. Explicitly set",
        ),
        // Containers.
        ("/container", json!({ "id": "container_1" }), 400, "container: Input should be a valid string"),
        ("/container", json!({ "skills": [] }), 400, "container: this server has no skills"),
        ("/container", json!("container_1"), 404, "Container not found: container_1"),
        // Messages.
        ("/messages", Value::Null, 400, "messages: Field required"),
        ("/messages", json!([]), 400, "messages: at least one message is required"),
        ("/messages/0", json!("x"), 400, "messages.0: Input should be an object"),
        ("/messages/0/role", json!("system"), 400, "messages.0.role: Input should be 'user' or 'assistant'"),
        ("/messages/0/role", json!("assistant"), 400, "messages: first message must use the \"user\" role"),
        ("/messages/0/odd", json!(1), 400, "messages.0.odd: Extra inputs are not permitted"),
        ("/messages/0/content", json!([]), 400, "messages.0: all messages must have non-empty content except for"),
        ("/messages/0/content", json!(""), 400, "messages.0: all messages must have non-empty content except for"),
        ("/messages/0/content", json!(1), 400, "messages.0.content: Input should be a valid string or list"),
        (
            "/messages/0/content",
            json!([{ "type": "text", "text": "" }]),
            400,
            "messages.0.content.0: text content blocks must be non-empty",
        ),
        (
            "/messages/0/content",
            json!([{ "type": "image" }]),
            400,
            "messages.0.content.0.type: a block of type 'image' is not read here from the user",
        ),
        (
            "/messages/0/content",
            json!([result("toolu_1")]),
            400,
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
        ),
        (
            "/messages/0/content",
            json!([{ "type": "text", "text": "x" }, result("toolu_1")]),
            400,
            "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
        ),
        (
            "/messages/0/content",
            json!([{ "type": "text", "text": "x", "cache_control": "ephemeral" }]),
            400,
            "messages.0.content.0.cache_control: Input should be an object",
        ),
        (
            "/messages",
            said(json!([{ "type": "document" }])),
            400,
            "messages.1.content.0.type: a block of type 'document' is not read here from the assistant",
        ),
        (
            "/messages",
            said(json!([call])),
            400,
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each",
        ),
        ("/messages", said(json!([call, call])), 400, "messages.1.content.1: `tool_use` ids must be unique"),
        (
            "/messages",
            said(json!([{ "type": "tool_use", "id": "toolu_1", "name": "f", "input": 1 }])),
            400,
            "messages.1.content.0.input: Input should be an object",
        ),
        (
            "/messages",
            said(json!([called_by(by_cell)])),
            400,
            "messages.1.content.0.caller.tool_id: no `server_tool_use` block has the id `srvtoolu_2`",
        ),
        (
            "/messages",
            said(json!([called_by(json!({ "type": "me" }))])),
            400,
            "messages.1.content.0.caller.type: Input should be 'direct', ",
        ),
        (
            "/messages",
            said(json!([cell_result])),
            400,
            "messages.1.content.0: `code_execution_tool_result` block for `srvtoolu_2`, which no `code_execution` tool use waits for",
        ),
        (
            "/messages",
            said(json!([{ "type": "server_tool_use", "id": "s", "name": "bash_code_execution", "input": {} }])),
            400,
            "messages.1.content.0.name: Input should be 'code_execution'",
        ),
        (
            "/messages",
            said(json!([cell])),
            400,
            "`code_execution` tool use with id `srvtoolu_1` was found without a corresponding `code_execution_tool_result` block",
        ),
        (
            "/messages/1",
            json!({ "role": "assistant", "content": "So" }),
            400,
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
        // What only concerns a request without code.
        ("/tools", json!([tool("f")]), 200, ""),
        ("/tools", Value::Null, 200, ""),
        ("/odd", Value::Null, 200, ""),
    ]
}

/// Changes of one without tools.
pub(crate) fn of_a_question_without_tools() -> Vec<Case> {
    vec![
        ("/container", json!("container_1"), 400, "container: no `code_execution` tool is there that could use it"),
        (
            "/container",
            json!({ "skills": [] }),
            400,
            "container: skills can only be used when a code execution tool is enabled",
        ),
        ("/tool_choice", json!({ "type": "auto" }), 400, "tool_choice may only be specified while providing tools."),
        ("/temperature", json!(0.5), 200, ""),
    ]
}

/// Changes of the answer to a cell's calls; the words in capitals stand for its ids.
pub(crate) fn of_an_answer() -> Vec<Case> {
    let results = |more: &[Value]| {
        let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": "1" });
        json!([vec![result("FIRST"), result("SECOND")], more.to_vec()].concat())
    };
    let words = json!({ "type": "text", "text": "By the way." });
    let picture = json!([{ "type": "image", "source": {} }]);
    let other = json!({ "type": "tool_result", "tool_use_id": "toolu_x", "content": "1" });
    let cell = json!({ "type": "server_tool_use", "id": "CELL", "name": "code_execution", "input": { "code": "" } });
    let caller = json!({ "type": "code_execution_20260120", "tool_id": "CELL" });
    let lost = json!([
        { "role": "user", "content": "Go on." },
        { "role": "assistant", "content": [
            cell, { "type": "tool_use", "id": "FIRST", "name": "get_order", "input": {}, "caller": caller }
        ] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "FIRST", "content": "1" }] },
    ]);
    vec![
        (
            "/container",
            Value::Null,
            400,
            "container_id is required when there are pending tool uses generated by code execution with tools.",
        ),
        ("/container", json!("container_1"), 404, "Container not found: container_1"),
        (
            "/tools/1/allowed_callers",
            json!(["direct"]),
            400,
            "tools: code waits for `FIRST`, and what it may call has changed",
        ),
        (
            "/tools/1/description",
            json!("Another."),
            400,
            "tools: code waits for `FIRST`, and what it may call has changed",
        ),
        (
            "/tools",
            json!([{ "name": "get_order", "input_schema": { "type": "object" } }]),
            400,
            "messages: a `code_execution` tool use is open, but no `code_execution` tool was provided",
        ),
        (
            "/messages/2/content/1",
            Value::Null,
            400,
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: SECOND. Each",
        ),
        (
            "/messages/2/content",
            results(std::slice::from_ref(&words)),
            400,
            "`code_execution` tool use with id `CELL` was found without a corresponding `code_execution_tool_result` block",
        ),
        (
            "/messages/2/content/0",
            words.clone(),
            400,
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: FIRST, SECOND. Each",
        ),
        (
            "/messages/2/content",
            json!([words]),
            400,
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: FIRST, SECOND. Each",
        ),
        (
            "/messages/2/content",
            results(&[other]),
            400,
            "messages.2.content.2: unexpected `tool_use_id` found in `tool_result` blocks: toolu_x. Each",
        ),
        (
            "/messages/2/content/1/tool_use_id",
            json!("FIRST"),
            400,
            "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: FIRST. Each",
        ),
        (
            "/messages/2/content/0/content",
            picture,
            400,
            "messages.2.content.0.content.0.type: results are text here, and a block of type 'image' is none",
        ),
        (
            "/messages/2/content/0/content",
            json!(1),
            400,
            "messages.2.content.0.content: Input should be a valid string or list",
        ),
        (
            "/messages/2/content/0/is_error",
            json!("yes"),
            400,
            "messages.2.content.0.is_error: Input should be a valid boolean",
        ),
        (
            "/messages/1/content/1/id",
            json!("toolu_x"),
            400,
            "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: FIRST. Each",
        ),
        (
            "/messages",
            lost,
            400,
            "`tool_use` ids were found without `tool_result` blocks immediately after: SECOND. Each",
        ),
        (
            "/messages",
            json!([{ "role": "user", "content": "Something else." }]),
            400,
            "container: code in CONTAINER waits for the result of `",
        ),
    ]
}

/// Changes of a question, one upon the other: the later one is told first.
pub(crate) fn in_order() -> Vec<Case> {
    vec![
        ("/container", json!("container_1"), 404, "Container not found"),
        ("/messages", json!([]), 400, "messages: at least one"),
        ("/model", json!("claude-haiku-4-5"), 400, "'claude-haiku-4-5' does not support"),
        ("/tools/1/allowed_callers/0", json!("me"), 400, "tools.1.allowed_callers.0"),
        ("/odd", json!(1), 400, "odd: Extra inputs"),
        ("/model", json!("nobody"), 404, "model: nobody"),
    ]
}
