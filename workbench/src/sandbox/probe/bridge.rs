//! The host's side of a probe: one tool, a limit of calls, and a folder for what it leaves.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};

use crate::artifacts::OutFolder;
use crate::sandbox::{AdmittedCall, Bridge, BridgeError};

/// The one tool there is.
const ECHO: &str = "echo";

/// Answers the calls of one probe.
pub(super) struct ProbeBridge {
    calls: AtomicU64,
    most_calls: u64,
    out: OutFolder,
    _folder: tempfile::TempDir,
}

impl ProbeBridge {
    /// One that stops the script at the call after `most_calls`.
    pub(super) fn new(most_calls: u64) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let out = OutFolder::new(folder.path().join("out"));
        Ok(Self { calls: AtomicU64::new(0), most_calls, out, _folder: folder })
    }

    /// The files that came to lie in the folder.
    pub(super) fn kept(&self) -> String {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.out.path()).into_iter().flatten().flatten() {
            let name = entry.file_name().display().to_string();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            names.push(if is_file { name } else { format!("{name}, which is no file") });
        }
        names.sort();
        if names.is_empty() { "kept nothing".to_owned() } else { format!("kept {}", names.join(", ")) }
    }
}

#[async_trait]
impl Bridge for ProbeBridge {
    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        let refusal = |text: String| Err(BridgeError::Tool(text));
        if tool != ECHO {
            return refusal(format!("there is no tool `{tool}`"));
        }
        match serde_json::from_slice::<Value>(&arguments) {
            Ok(arguments) => Ok(arguments["text"].to_string().into()),
            Err(error) => refusal(format!("the arguments are no JSON: {error}")),
        }
    }

    fn admit(&self, tool: String, arguments: Bytes) -> Result<AdmittedCall<'_>, BridgeError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.most_calls {
            return Err(BridgeError::Stop(format!("it made {} calls", self.most_calls)));
        }
        Ok(Box::pin(async move { self.call(&tool, arguments).await }))
    }

    async fn keep(&self, name: &str, content: Bytes) -> Result<(), String> {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        self.out.save(name, extension, &content).map(|_| ()).map_err(|error| error.to_string())
    }
}

/// What a plugin would say about the tool.
pub(super) fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: ECHO.to_owned(),
        description: "Returns its text.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
    }]
}
