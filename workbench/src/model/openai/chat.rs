//! One conversation with a model behind chat completions.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::Value;

use super::complaint::Complaint;
use super::endpoint::{Endpoint, PATH};
use super::programs::Programs;
use super::reply::{Ids, Said};
use super::request::{Conversation, Form};
use super::usage::{self, Read, Reported};
use crate::bounded_json;
use crate::model::exchange::{Answer, Patience};
use crate::model::tokens::{ConversationCount, count_blocks};
use crate::model::types::{
    Block, Message, Model, ModelError, ModelReply, ModelRequest, Retry, ScriptLanguage, THINKING_NOT_SET, Usage,
};

/// Memory that an answer may take, in bytes as [`bounded_json::weight`] guesses them.
const ANSWER_MEMORY: u64 = 512 << 20;

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

/// What one request came to.
enum Outcome {
    /// An answer of the model.
    Served(Value),
    /// A complaint.
    Refused(Complaint, ModelError),
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
            match self.send(request, &form).await? {
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

    /// Sends the conversation. Some gateways tell of an outage with status 200; that is tried again here, as others are
    /// by the exchange.
    async fn send(&mut self, request: &ModelRequest<'_>, form: &Form) -> Result<Outcome, ModelError> {
        let body = self.conversation.body(request, self.endpoint.model(), form);
        let mut waits = Patience::default().waits();
        loop {
            let exchange = self.endpoint.exchange().await;
            let answer = exchange.post(PATH, body.clone(), request.until, &mut self.retries).await?;
            let complaint = match read(&answer) {
                Ok(document) => return Ok(Outcome::Served(document)),
                Err(problem) => problem,
            };
            let complaint = match complaint {
                Problem::Complaint(complaint) => complaint,
                Problem::Garbage(problem) => return Err(self.endpoint.bad_answer(&problem)),
            };
            let wait = if answer.status < 300 && complaint.may_pass() { waits.next() } else { None };
            let Some(wait) = wait else {
                let error = self.endpoint.refused(&answer, &complaint);
                return Ok(Outcome::Refused(complaint, error));
            };
            if request.until.is_some_and(|until| Instant::now() + wait >= until) {
                return Err(ModelError::OutOfTime);
            }
            let cause = format!("status {} with an error: {}", answer.status, complaint.message);
            self.retries.push(Retry { cause, wait_seconds: wait.as_secs_f64() });
            tokio::time::sleep(wait).await;
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
        let Said { content, stop_reason, stop_detail } = said.map_err(|problem| self.endpoint.bad_answer(&problem))?;
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

/// Why an answer has no words of the model.
enum Problem {
    Complaint(Complaint),
    Garbage(String),
}

fn read(answer: &Answer) -> Result<Value, Problem> {
    if !(200..300).contains(&answer.status) {
        return Err(Problem::Complaint(Complaint::in_body(&answer.body)));
    }
    let document: Value = bounded_json::parse(&answer.body, ANSWER_MEMORY).map_err(|error| {
        let beginning: String = String::from_utf8_lossy(&answer.body).chars().take(80).collect();
        Problem::Garbage(format!("is no JSON document: {error}; it begins with `{}`", beginning.trim()))
    })?;
    match Complaint::in_document(&document) {
        Some(complaint) => Err(Problem::Complaint(complaint)),
        None => Ok(document),
    }
}

/// A message without what is not sent back.
fn as_sent(message: &Message) -> Message {
    let content = message.content.iter().filter(|block| !matches!(block, Block::Other(_))).cloned().collect();
    Message { role: message.role, content }
}
