//! The tools as a model or a script reaches them: every call is counted, made and written down here.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::Value;

use super::budget::CallBudget;
use super::ledger::{Caller, Ledger, OpenCall};
use super::mode_tools::malformed;
use super::prompts;
use crate::plugin::CallOutcome;
use crate::results::format::CallEnd;
use crate::sandbox::{AdmittedCall, Bridge, BridgeError, ToolForm};

/// Something that has tools and runs them: a plugin in its worker.
#[async_trait]
pub trait ToolServer: Send + Sync {
    /// What it offers.
    fn tools(&self) -> &[ToolSpec];

    /// Runs one tool; `arguments` is JSON as the caller wrote it. Many calls may be under way.
    async fn call(&self, tool: &str, arguments: Bytes) -> CallOutcome;

    /// Saves a file that a script left where it ran, as if a tool had saved it. An error says why not.
    async fn keep(&self, name: &str, content: Bytes) -> Result<(), String> {
        let _ = (name, content);
        Err("no file is kept here".to_owned())
    }
}

/// The tools of a run, within its budget, with its ledger.
pub struct Toolbox {
    server: Arc<dyn ToolServer>,
    budget: CallBudget,
    ledger: Ledger,
}

/// Why a call has no answer. The text is what the caller reads, without `ERROR: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// This call failed; others may not.
    Failed(String),
    /// The run has no calls left.
    BudgetSpent(String),
}

impl CallFailure {
    /// The text.
    pub fn message(&self) -> &str {
        match self {
            Self::Failed(message) | Self::BudgetSpent(message) => message,
        }
    }
}

impl Toolbox {
    /// Offers the server's tools for at most `calls` calls.
    pub fn new(server: Arc<dyn ToolServer>, calls: u32, ledger: Ledger) -> Self {
        Self { server, budget: CallBudget::new(calls), ledger }
    }

    /// The tools.
    pub fn tools(&self) -> &[ToolSpec] {
        self.server.tools()
    }

    /// What the run may still use.
    pub fn budget(&self) -> &CallBudget {
        &self.budget
    }

    /// The ledger of its calls.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Makes one call. The answer is JSON, as the tool gave it.
    pub async fn call(&self, caller: Caller, tool: &str, arguments: Bytes) -> Result<Bytes, CallFailure> {
        self.admit(caller, tool, arguments)?.await
    }

    /// Takes a call out of the budget and opens its line in the ledger, at once. The future makes it; when it is
    /// dropped before its end, and be it before its beginning, the line says that the call was abandoned.
    pub fn admit(
        &self,
        caller: Caller,
        tool: &str,
        arguments: Bytes,
    ) -> Result<impl Future<Output = Result<Bytes, CallFailure>> + use<'_>, CallFailure> {
        if let Err(spent) = self.budget.take() {
            let message = prompts::budget_spent(self.budget.limit());
            // A script may ask ten thousand times more; once is enough for the ledger.
            if spent.first {
                self.ledger.open(caller, tool, &arguments).failed(CallEnd::Refused, &message);
            }
            return Err(CallFailure::BudgetSpent(message));
        }
        let (line, tool) = (self.ledger.open(caller, tool, &arguments), tool.to_owned());
        Ok(async move { self.make(line, &tool, arguments).await })
    }

    async fn make(&self, line: OpenCall<'_>, tool: &str, arguments: Bytes) -> Result<Bytes, CallFailure> {
        if !self.tools().iter().any(|known| known.name == tool) {
            let message = prompts::unknown_tool(tool, self.tools().iter().map(|known| known.name.as_str()));
            line.failed(CallEnd::Refused, &message);
            return Err(CallFailure::Failed(message));
        }
        if let Some(message) = malformed_json(&arguments) {
            line.failed(CallEnd::Refused, &message);
            return Err(CallFailure::Failed(message));
        }
        let (end, message) = match self.server.call(tool, arguments).await {
            CallOutcome::Answer(body) => {
                line.answered(body.len());
                return Ok(body);
            }
            CallOutcome::ToolError(error) => (CallEnd::ToolError, error.to_string()),
            CallOutcome::Crashed(cause) => (CallEnd::Crashed, prompts::crashed(tool, &cause)),
            CallOutcome::TimedOut(seconds) => (CallEnd::TimedOut, prompts::timed_out(tool, seconds)),
        };
        line.failed(end, &message);
        Err(CallFailure::Failed(message))
    }

    /// The same tools for a script, which finds them in this form.
    pub fn bridge(&self, caller: Caller, form: ToolForm) -> ScriptBridge<'_> {
        ScriptBridge { toolbox: self, caller, form }
    }
}

/// What is wrong with the form of arguments, which are JSON, but perhaps no object. A script's always are.
fn malformed_json(arguments: &[u8]) -> Option<String> {
    if arguments.first() == Some(&b'{') {
        return None;
    }
    serde_json::from_slice(arguments).ok().and_then(|input| malformed(&input))
}

/// What a script calls.
pub struct ScriptBridge<'a> {
    toolbox: &'a Toolbox,
    caller: Caller,
    form: ToolForm,
}

#[async_trait]
impl Bridge for ScriptBridge<'_> {
    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        self.admit(tool.to_owned(), arguments)?.await
    }

    fn admit(&self, tool: String, arguments: Bytes) -> Result<AdmittedCall<'_>, BridgeError> {
        let call = self.toolbox.admit(self.caller, &tool, arguments).map_err(as_script_reads)?;
        Ok(match self.form {
            ToolForm::Functions => Box::pin(async move { call.await.map_err(as_script_reads) }),
            ToolForm::Coroutines => Box::pin(async move { Ok(as_cell_reads(call.await)) }),
        })
    }

    async fn keep(&self, name: &str, content: Bytes) -> Result<(), String> {
        self.toolbox.server.keep(name, content).await
    }
}

/// A text, be it an answer or a failure, as mode hosted hands it over.
fn as_cell_reads(answer: Result<Bytes, CallFailure>) -> Bytes {
    let text = match answer {
        Ok(body) => String::from_utf8_lossy(&body).into_owned(),
        Err(failure) => prompts::failure(failure.message()),
    };
    Value::from(text).to_string().into()
}

fn as_script_reads(failure: CallFailure) -> BridgeError {
    match failure {
        CallFailure::Failed(message) => BridgeError::Tool(message),
        CallFailure::BudgetSpent(message) => BridgeError::Stop(message),
    }
}
