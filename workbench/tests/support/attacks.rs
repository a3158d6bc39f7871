//! Scripts that mean harm or are badly broken, as test cases.
//!
//! A case is a file. Lines `# key: value` at its top set its limits (`seconds`, `memory_mb`, `calls`) and say what must
//! come of it: `end`, how it ends, `says`, a part of what the caller reads, and `never`, a part that must not be in it.
//! ` | ` stands between several that are right alike. What must come of it in one sandbox alone stands behind its name:
//! `docker end`; where waits are announced, behind `announced`. A file with `cases` is as many cases.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};
use workbench::sandbox::paused::{Pause, PausedScript, PausingScript};
use workbench::sandbox::{
    AdmittedCall, Bridge, BridgeError, SCRIPT_FILE, Sandbox, ScriptLimits, ScriptOutcome, ToolForm,
};

use crate::scripts::{self, Case, LIMITS};
use crate::standin::{self, StandIn};

/// The tools of the stand-in, and two whose answers are hard to take.
struct Tools(StandIn);

#[async_trait]
impl Bridge for Tools {
    fn admit(&self, tool: String, arguments: Bytes) -> Result<AdmittedCall<'_>, BridgeError> {
        // The budget is the stand-in's; the call is ours.
        drop(self.0.admit(tool.clone(), Bytes::new())?);
        Ok(Box::pin(async move { self.call(&tool, arguments).await }))
    }

    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        let number = |name: &str| {
            let arguments: Value = serde_json::from_slice(&arguments).unwrap_or_default();
            usize::try_from(arguments[name].as_u64().unwrap_or_default()).unwrap()
        };
        match tool {
            "nested" => Ok(["[".repeat(number("depth")), "]".repeat(number("depth"))].concat().into()),
            "text" => Ok(["\"", &"x".repeat(number("megabytes") << 20), "\""].concat().into()),
            _ => self.0.call(tool, arguments).await,
        }
    }
}

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, argument: &str| ToolSpec {
        name: name.into(),
        description: "An answer that is hard to take.".into(),
        input_schema: json!({
            "type": "object", "properties": {argument: {"type": "integer"}}, "required": [argument],
        }),
    };
    let hard = [tool("nested", "depth"), tool("text", "megabytes")];
    standin::specs().into_iter().chain(hard).collect()
}

/// Runs `source` with the tools of attacks.
pub(crate) async fn run(sandbox: &dyn Sandbox, source: &str, limits: ScriptLimits, calls: usize) -> ScriptOutcome {
    scripts::run(sandbox, source, &tools(), limits, &Tools(StandIn::with_budget(calls))).await
}

/// Runs a case where waits are announced, so that its tools are coroutine functions, and answers each pause.
async fn run_announced(sandbox: Arc<dyn Sandbox>, case: &Case) -> ScriptOutcome {
    let plain = "import asyncio\n_noop = noop\ndef noop(x):\n    return asyncio.run(_noop({'x': x}))\n";
    let mut script = PausedScript::start(PausingScript {
        source: case.source.replace("from tools import noop\n", plain),
        file: SCRIPT_FILE.to_owned(),
        tools: tools().into(),
        form: ToolForm::Coroutines,
        domain: "standin".to_owned(),
        sandbox,
        limits: case.limits(LIMITS),
    });
    let bridge = Tools(StandIn::with_budget(case.calls()));
    loop {
        match script.next().await.unwrap() {
            Pause::Ended(outcome) => return outcome,
            Pause::Calls(calls) => {
                for call in calls {
                    let answer = match bridge.admit(call.tool.clone(), call.arguments().to_string().into()) {
                        Ok(made) => made.await,
                        Err(refusal) => Err(refusal),
                    };
                    call.answer(answer);
                }
            }
        }
    }
}

/// What is wrong with how a case ended.
pub(crate) async fn complaints(sandbox: &dyn Sandbox, case: &Case) -> Vec<String> {
    let outcome = run(sandbox, &case.source, case.limits(LIMITS), case.calls()).await;
    complaints_of(&outcome, sandbox.name(), case)
}

/// The same where waits are announced.
pub(crate) async fn complaints_announced(sandbox: Arc<dyn Sandbox>, case: &Case) -> Vec<String> {
    complaints_of(&run_announced(sandbox, case).await, "announced", case)
}

fn complaints_of(outcome: &ScriptOutcome, place: &str, case: &Case) -> Vec<String> {
    let (end, reply) = (format!("{:?}", outcome.end), outcome.reply(usize::MAX));
    let setting = |key: &str| case.setting(&format!("{place} {key}")).or_else(|| case.setting(key));
    let any = |key: &str, holds: &dyn Fn(&str) -> bool| setting(key).is_none_or(|all| all.split(" | ").any(holds));
    let mut wrong = Vec::new();
    if !any("end", &|wanted| end.starts_with(wanted)) {
        wrong.push("its end");
    }
    if !any("says", &|wanted| reply.contains(wanted)) {
        wrong.push("what it says");
    }
    if setting("never").is_some_and(|secret| reply.contains(secret)) {
        wrong.push("what it must never say");
    }
    // Whoever reads the reply sees that something ended it, or what it did.
    if reply == "(no output)" {
        wrong.push("that nothing is told");
    }
    let shown: String = reply.chars().take(2000).collect();
    wrong.into_iter().map(|what| format!("{}: {what}\n--- {end}\n{shown}", case.name())).collect()
}
