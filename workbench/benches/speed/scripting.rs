//! A script in any sandbox, and when its first call came.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use workbench::runner::{Caller, ScriptBridge, script_limits};
use workbench::sandbox::{Bridge, BridgeError, SCRIPT_FILE, Sandbox, Script, ToolForm};

use crate::stage::Stage;

/// How long it takes from a script to the tool call in its first line, as the host hears it.
pub(crate) fn first_line(stage: &Stage, sandbox: &dyn Sandbox, source: &str) -> Duration {
    let bridge = Heard {
        bridge: stage.toolbox.bridge(Caller { turn: 1, script: Some(1) }, ToolForm::Functions),
        first: OnceLock::new(),
    };
    let begun = Instant::now();
    run(stage, sandbox, source, &bridge);
    bridge.first.get().unwrap().duration_since(begun)
}

/// Runs a script to its end, which must be a good one.
pub(crate) fn run(stage: &Stage, sandbox: &dyn Sandbox, source: &str, bridge: &dyn Bridge) {
    let script = Script {
        source,
        file: SCRIPT_FILE,
        tools: stage.toolbox.tools(),
        domain: stage.domain.name(),
        announce_waiting: false,
        form: ToolForm::Functions,
        limits: script_limits(&stage.domain.manifest.limits),
    };
    let outcome = stage.runtime.block_on(sandbox.run(&script, bridge)).unwrap();
    assert!(outcome.end.is_success(), "{outcome:?}");
}

/// Notes when the first call came.
struct Heard<'a> {
    bridge: ScriptBridge<'a>,
    first: OnceLock<Instant>,
}

#[async_trait]
impl Bridge for Heard<'_> {
    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        self.first.get_or_init(Instant::now);
        self.bridge.call(tool, arguments).await
    }
}
