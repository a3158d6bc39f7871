//! One run's conversation with a model of the API.

use std::sync::Arc;

use async_trait::async_trait;

use super::history::History;
use super::request::{self, Manner};
use super::{refusal, reply};
use crate::model::answer::in_short;
use crate::model::exchange::Exchange;
use crate::model::tokens::{ConversationCount, count_blocks};
use crate::model::types::{Model, ModelError, ModelReply, ModelRequest, Retry, StopReason, Usage};

/// Where messages are made, below the base.
const MESSAGES: &str = "messages";

/// Times in a row that the API may pause an answer; its own loop ends after ten steps, so more is no progress.
const MOST_PAUSES: u32 = 10;

/// The model of one run.
pub(super) struct Conversation {
    exchange: Arc<Exchange>,
    manner: Manner,
    history: History,
    /// Counts what the API does not.
    count: ConversationCount,
    retries: Vec<Retry>,
    /// Pauses in a row.
    pauses: u32,
}

impl Conversation {
    pub(super) fn new(exchange: Arc<Exchange>, manner: Manner) -> Self {
        let (history, count) = (History::default(), ConversationCount::default());
        Self { exchange, manner, history, count, retries: Vec::new(), pauses: 0 }
    }

    fn bad(&self, problem: &str) -> ModelError {
        let address = self.exchange.address(MESSAGES);
        ModelError::BadAnswer(format!("{address}: the answer is not what the API promises: {}", in_short(problem)))
    }
}

#[async_trait]
impl Model for Conversation {
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        self.history.hear(request.messages)?;
        let opening = request::opening(&self.manner, &request, Some(request.max_tokens))?;
        let body = self.history.body(&opening, self.manner.caching);
        let answer = self.exchange.post(MESSAGES, body, request.until, &mut self.retries).await?;
        if answer.status != 200 || answer.error_kind().is_some() {
            return Err(refusal::of(&self.exchange, MESSAGES, &answer, &self.manner.id));
        }
        let reply = reply::read(&answer.body).map_err(|problem| self.bad(&problem))?;
        self.pauses = if reply.stop_reason == StopReason::Paused { self.pauses + 1 } else { 0 };
        if self.pauses > MOST_PAUSES {
            return Err(self.bad(&format!("it was paused {} times in a row", self.pauses)));
        }
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input_tokens: self.count.read(&request),
            output_tokens: count_blocks(&reply.content),
            estimated: true,
            ..Usage::default()
        });
        self.history.say(reply.raw);
        Ok(ModelReply {
            content: reply.content,
            stop_reason: reply.stop_reason,
            stop_detail: reply.stop_detail,
            usage,
            cost: None,
        })
    }

    fn take_retries(&mut self) -> Vec<Retry> {
        std::mem::take(&mut self.retries)
    }
}
