//! The example of a plugin in C, written against the header alone: it loads, answers, asks its host and refuses.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/patience.rs"]
mod patience;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use faulty::{Faulty, call_with};
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, HostRequest};
use workbench::plugin::{CallOutcome, ClientSettings, HostServices, PluginClient};

/// Knows one creature.
struct Bestiary;

#[async_trait]
impl HostServices for Bestiary {
    async fn request(&self, _call: u64, request: HostRequest, _body: Bytes) -> (HostReply, Bytes) {
        let owlbear = HostRequest::GetJson { path: "/creatures/owlbear".to_owned(), query: vec![], document: None };
        if request == owlbear {
            (HostReply::Json, Bytes::from_static(br#"{"name": "Owlbear"}"#))
        } else {
            (HostReply::Error(ToolError::new("no such creature").with_code("http_404")), Bytes::new())
        }
    }

    fn call_ended(&self, _call: u64) {}
}

#[tokio::test]
async fn a_plugin_in_c_does_all_that_one_in_rust_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("plugin-api");
    let include = format!("-I{}", root.join("include").display());
    let strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", &include];
    let plugin = Faulty::of_source(&root.join("examples/creatures.c"), &strict);
    let settings = ClientSettings {
        tool_seconds: 60,
        out: plugin.folder().join("out"),
        program: Some(env!("CARGO_BIN_EXE_workbench").into()),
        ..ClientSettings::default()
    };
    let client = PluginClient::start(&plugin.library(), Arc::new(Bestiary), settings).await.unwrap();
    let tools: Vec<&str> = client.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["get_creature", "count_letters"]);
    assert_eq!(client.tools()[0].input_schema["required"][0], "name");

    let refused = |message: &str| CallOutcome::ToolError(ToolError::new(message));
    let long = format!(r#"{{"name": "{}"}}"#, "a".repeat(300));
    let bad = "bad arguments: name must be a word of small letters and dashes";
    for (tool, arguments, expected) in [
        ("count_letters", r#"{"name": "owlbear"}"#, CallOutcome::Answer(Bytes::from_static(b"7"))),
        ("get_creature", r#"{"name":"owlbear"}"#, CallOutcome::Answer(Bytes::from_static(br#"{"name": "Owlbear"}"#))),
        (
            "get_creature",
            r#"{"name": "imp"}"#,
            CallOutcome::ToolError(ToolError::new("no such creature").with_code("http_404")),
        ),
        ("get_creature", r#"{"name": "a/../b"}"#, refused(bad)),
        ("get_creature", "{}", refused(bad)),
        ("count_letters", &long, refused(bad)),
        ("sing", r#"{"name": "owlbear"}"#, refused("unknown tool; there are get_creature, count_letters")),
    ] {
        assert_eq!(call_with(&client, tool, arguments).await, expected, "{tool} {arguments}");
    }
    client.stop().await;
}
