//! One conversation with a model behind chat completions.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::asking::Outcome;
use super::endpoint::{Endpoint, PATH};
use super::programs::Programs;
use super::reply::{Ids, Said};
use super::request::Conversation;
use super::usage::{self, Read, Reported};
use crate::model::tokens::{ConversationCount, count_blocks};
use crate::model::types::{
    Block, Message, Model, ModelError, ModelReply, ModelRequest, Retry, ScriptLanguage, THINKING_NOT_SET, Usage,
};

/// A model in one conversation.
pub(super) struct Chat {
    endpoint: Arc<Endpoint>,
    conversation: Conversation,
    ids: Ids,
    count: ConversationCount,
    retries: Vec<Retry>,
    /// The same model over the other API, once programs are wanted of it.
    programs: Option<Programs>,
}

impl Chat {
    pub(super) fn new(endpoint: Arc<Endpoint>) -> Self {
        Self {
            endpoint,
            conversation: Conversation::default(),
            ids: Ids::default(),
            count: ConversationCount::default(),
            retries: Vec::new(),
            programs: None,
        }
    }

    /// The model's answer. A server that complains about a field which servers differ in is asked again without it, and
    /// what it takes is remembered.
    async fn ask(&mut self, request: &ModelRequest<'_>) -> Result<Value, ModelError> {
        let mut form = self.endpoint.form();
        let mut first = None;
        loop {
            let body = self.conversation.body(request, self.endpoint.model(), &form);
            match self.endpoint.ask(PATH, &body, request.until, &mut self.retries).await? {
                Outcome::Served(document) => {
                    self.endpoint.remember(form);
                    return Ok(document);
                }
                Outcome::Refused(complaint, error) => match form.after(&complaint) {
                    Some(next) => {
                        form = next;
                        first.get_or_insert(error);
                    }
                    None => return Err(first.unwrap_or(error)),
                },
            }
        }
    }

    /// What the server counted; what it did not is counted here.
    fn usage(&mut self, request: &ModelRequest<'_>, document: &Value, content: &[Block]) -> Usage {
        let reported = Reported::in_document(document);
        let written = reported.written.filter(|tokens| *tokens > 0 || content.is_empty());
        let read = reported.read.unwrap_or_else(|| {
            let messages: Vec<Message> = request.messages.iter().map(as_sent).collect();
            Read { uncached: self.count.read(&ModelRequest { messages: &messages, ..*request }), ..Read::default() }
        });
        Usage {
            input_tokens: read.uncached,
            output_tokens: written.unwrap_or_else(|| count_blocks(content)),
            cache_read_tokens: read.from_cache,
            cache_write_tokens: read.to_cache,
            estimated: reported.read.is_none() || written.is_none(),
        }
    }
}

#[async_trait]
impl Model for Chat {
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        // Tools that programs may call are known to the other API alone.
        if request.has_scripts() {
            let programs = self.programs.get_or_insert_with(|| Programs::new(Arc::clone(&self.endpoint)));
            return programs.reply(request, &mut self.retries).await;
        }
        let document = self.ask(&request).await?;
        let said = Said::in_document(&document, &mut self.ids);
        let Said { content, stop_reason, stop_detail } =
            said.map_err(|problem| self.endpoint.bad_answer(PATH, &problem))?;
        let usage = self.usage(&request, &document, &content);
        let cost = Some(&document).filter(|_| self.endpoint.server.tells_costs).and_then(usage::cost);
        Ok(ModelReply { content, stop_reason, stop_detail, usage, cost, container: None })
    }

    fn script_language(&self) -> ScriptLanguage {
        ScriptLanguage::JavaScript
    }

    fn deviations(&self) -> Vec<&'static str> {
        let is_as_wished = self.endpoint.form().thinking == self.endpoint.thinking;
        if is_as_wished { Vec::new() } else { vec![THINKING_NOT_SET] }
    }

    fn take_retries(&mut self) -> Vec<Retry> {
        std::mem::take(&mut self.retries)
    }
}

/// A message without what is not sent back.
fn as_sent(message: &Message) -> Message {
    let content = message.content.iter().filter(|block| !matches!(block, Block::Other(_))).cloned().collect();
    Message { role: message.role, content }
}
