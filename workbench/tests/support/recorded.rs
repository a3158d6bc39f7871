//! Runs as others may hand them in: folders that were written or changed by hand.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A file of JSON, read.
pub(crate) fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Changes a record.
pub(crate) fn change_record(run: &Path, change: impl FnOnce(&mut Value)) {
    let path = run.join("run.json");
    let mut record = read(&path);
    change(&mut record);
    fs::write(path, record.to_string()).unwrap();
}

/// Replaces a text in a file of a run; it must be there.
pub(crate) fn replace(run: &Path, file: &str, old: &str, new: &str) {
    let path = run.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{file} has no {old}: {text}");
    fs::write(path, text.replacen(old, new, 1)).unwrap();
}

/// The messages of a run.
pub(crate) fn messages(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("transcript.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The task, as a message.
pub(crate) fn task() -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": "Call noop once and say that you did."}]})
}

/// Words of the model.
pub(crate) fn words(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

/// Calls of the model, as tool and arguments; their ids are their places.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let blocks = calls.iter().enumerate().map(
        |(place, (name, input))| json!({"type": "tool_use", "id": format!("id{place}"), "name": name, "input": input}),
    );
    json!({"role": "assistant", "content": blocks.collect::<Value>()})
}

/// Results of such calls, as text and whether it is an error.
pub(crate) fn results(results: &[(&str, bool)]) -> Value {
    let blocks = results.iter().enumerate().map(|(place, (text, is_error))| {
        json!({"type": "tool_result", "tool_use_id": format!("id{place}"), "content": text, "is_error": is_error})
    });
    json!({"role": "user", "content": blocks.collect::<Value>()})
}

/// The blocks of a kind in a message.
fn blocks<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    message["content"].as_array().into_iter().flatten().filter(move |block| block["type"] == kind)
}

/// Makes the folder of a run of the stand-in tools in which this was said, and which ended so.
pub(crate) fn written(results: &Path, name: &str, mode: &str, stop: &str, messages: &[Value]) -> PathBuf {
    let folder = results.join("standin").join(name);
    fs::create_dir_all(folder.join("out")).unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/domains/standin/domain.toml");
    fs::copy(manifest, folder.join("domain.toml")).unwrap();
    let said: Vec<&Value> = messages.iter().filter(|message| message["role"] == "assistant").collect();
    // The first writes to a cache, the others read from it.
    let turn = |(place, said): (usize, &&Value)| {
        let number = place + 1;
        let cache = if number == 1 { "cache_write_tokens" } else { "cache_read_tokens" };
        let tools: Vec<&Value> = blocks(said, "tool_use").map(|block| &block["name"]).collect();
        json!({"turn": number, "tokens_read": 100 * number, "input_tokens": 100 * number - 30, cache: 30, "output_tokens": 7, "tools": tools})
    };
    let turns: Vec<Value> = said.iter().enumerate().map(turn).collect();
    let of_turn = |key: &str| turns.iter().map(|turn| turn[key].as_u64().unwrap_or(0)).sum::<u64>();
    let calls: Vec<&Value> = said.iter().flat_map(|said| blocks(said, "tool_use")).collect();
    let scripts = calls.iter().filter(|call| call["input"]["code"].is_string() && mode == "code").count();
    let last_words: Vec<&str> =
        said.last().iter().flat_map(|said| blocks(said, "text")).filter_map(|block| block["text"].as_str()).collect();
    let was_judged = !["interrupted", "model_error"].contains(&stop);
    let record = json!({
        "format": "workbench/run/v1", "run": name, "domain": "standin", "mode": mode, "model": "oracle:delphi-2",
        "sandbox": if mode == "code" { json!("embedded") } else { Value::Null }, "source": "live", "profile": "debug",
        "tag": null, "settings": {"thinking": "off"}, "started": "2026-01-01T00:00:00Z", "seconds": 1.0, "stop": stop,
        "stop_detail": "in its words", "model_turns": said.len(), "tool_calls": calls.len(), "nested_calls": 0, "scripts_run": scripts,
        "retries": 0, "tokens_read": of_turn("tokens_read"), "input_tokens": of_turn("input_tokens"),
        "output_tokens": of_turn("output_tokens"), "cache_read_tokens": of_turn("cache_read_tokens"), "cache_write_tokens": of_turn("cache_write_tokens"),
        "estimated": false, "per_turn": turns, "cost_usd": null, "final_text": last_words.join("\n"),
        // There are no rules.
        "verify": if was_judged { json!({"ok": false, "points": 0.0, "max_points": 0.0, "rules": []}) } else { Value::Null },
    });
    fs::write(folder.join("run.json"), record.to_string()).unwrap();
    fs::write(folder.join("ledger.jsonl"), "").unwrap();
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    fs::write(folder.join("transcript.jsonl"), lines).unwrap();
    folder
}
