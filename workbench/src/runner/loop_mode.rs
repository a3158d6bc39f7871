//! Modes `serial` and `loop`: the model calls the tools itself, and reads every result.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::join_all;
use plugin_api::wire::ToolSpec;

use super::RunError;
use super::ledger::Caller;
use super::mode_tools::{Answer, Asked, ModeTools};
use super::toolbox::Toolbox;
use crate::model::types::{Callers, ToolDefinition};

/// Offers the tools as they are.
pub(super) struct LoopTools {
    pub(super) toolbox: Arc<Toolbox>,
}

/// Tools as a model sees them.
pub(super) fn definitions(tools: &[ToolSpec]) -> Vec<ToolDefinition> {
    let definition = |tool: &ToolSpec| ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        callers: Callers::Direct,
    };
    tools.iter().map(definition).collect()
}

#[async_trait]
impl ModeTools for LoopTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        definitions(self.toolbox.tools())
    }

    /// The calls of one turn run at once.
    async fn answer(&self, turn: u32, calls: &[Asked]) -> Result<Vec<Answer>, RunError> {
        let caller = Caller { turn, script: None };
        let answers = calls.iter().map(|call| async move {
            let arguments = Bytes::from(call.input.to_string());
            match self.toolbox.call(caller, &call.name, arguments).await {
                Ok(body) => Answer::good(String::from_utf8_lossy(&body)),
                Err(failure) => Answer::failure(failure.message()),
            }
        });
        Ok(join_all(answers).await)
    }
}
