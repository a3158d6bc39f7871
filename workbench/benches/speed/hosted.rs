//! The local server of the Messages API: what a pause of a cell costs above the tool.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::serve::backend::Cells;
use workbench::serve::{Limits, Listening, Setup};

use crate::rounds::{alternate, repeat};
use crate::stage::{Stage, program};
use crate::table::Table;

const KEY: &str = "a-key-for-this-bench";
const MODEL: &str = "bench";

/// Pauses of one cell, each of which sends the conversation so far.
const PAUSES: u32 = 50;

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let one_by_one = format!("for n in range({PAUSES}):\n    await get_order({{'id': n}})\n");
    let address = stage.runtime.block_on(serve(&one_by_one));
    workbench::web::use_ring();
    let client = Client::builder().no_proxy().build().unwrap();
    let pair = alternate(
        11,
        || stage.runtime.block_on(conversation(&client, address, PAUSES)) / PAUSES,
        || stage.runtime.block_on(bare(&client, address)),
    );
    table.against("a pause and resume through `serve` ÷ a bare request to the same server", &pair, None);
    table.alone("the same, tool left out", pair.ours, Some(Duration::from_millis(5)));
    let gathered = "import asyncio\nawait asyncio.gather(*[get_order({'id': n}) for n in range(100)])\n";
    let address = stage.runtime.block_on(serve(gathered));
    let gathered = repeat(11, || stage.runtime.block_on(conversation(&client, address, 1)));
    table.alone("a gather of 100 calls through `serve`, which is one pause", gathered, None);
}

/// A server whose model writes this cell.
async fn serve(cell: &str) -> SocketAddr {
    let setup = Setup {
        backend: Arc::new(Cells::new(vec![cell.to_owned()])),
        sandbox: Arc::new(Embedded::new(EmbeddedSettings { program: Some(program()) })),
        models: vec![MODEL.to_owned()],
        tokens: vec![KEY.to_owned()],
        limits: Limits { containers: 10_000, ..Limits::default() },
        log: Box::new(|_| {}),
    };
    let listening = Listening::open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), setup).await.unwrap();
    let address = listening.address().unwrap();
    tokio::spawn(listening.serve(std::future::pending()));
    address
}

async fn ask(client: &Client, address: SocketAddr, body: &Value) -> Value {
    let request = client.post(format!("http://{address}/v1/messages")).header("x-api-key", KEY);
    let answer = request.header("anthropic-version", "2023-06-01").json(body).send().await.unwrap();
    let status = answer.status();
    let document: Value = answer.json().await.unwrap();
    assert!(status.is_success(), "{document}");
    document
}

/// From the first pause to the end of the cell: the interpreter's start is not counted.
async fn conversation(client: &Client, address: SocketAddr, pauses: u32) -> Duration {
    let schema = json!({ "type": "object", "properties": { "id": { "type": "integer" } } });
    let tools = json!([
        { "type": "code_execution_20260120", "name": "code_execution" },
        { "name": "get_order", "input_schema": schema, "allowed_callers": ["code_execution_20260120"] },
    ]);
    let mut messages = vec![json!({ "role": "user", "content": "Go." })];
    let mut body = json!({ "model": MODEL, "max_tokens": 100, "tools": tools, "messages": messages });
    let mut reply = ask(client, address, &body).await;
    let begun = Instant::now();
    let mut paused = 0;
    while reply["stop_reason"] == "tool_use" {
        paused += 1;
        let calls = reply["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
        let result = |call: &Value| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": "{}" });
        let results: Vec<Value> = calls.map(result).collect();
        messages.push(json!({ "role": "assistant", "content": reply["content"] }));
        messages.push(json!({ "role": "user", "content": results }));
        body["messages"] = json!(messages);
        body["container"] = reply["container"]["id"].clone();
        reply = ask(client, address, &body).await;
    }
    assert_eq!(paused, pauses);
    begun.elapsed()
}

/// One request that only tells which models there are.
async fn bare(client: &Client, address: SocketAddr) -> Duration {
    let begun = Instant::now();
    for _ in 0..PAUSES {
        let request = client.get(format!("http://{address}/v1/models")).header("x-api-key", KEY);
        let answer = request.header("anthropic-version", "2023-06-01").send().await.unwrap();
        assert!(answer.status().is_success());
        _ = answer.bytes().await.unwrap();
    }
    begun.elapsed() / PAUSES
}
