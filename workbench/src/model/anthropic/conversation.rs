//! One run's conversation with a model of the API.

use std::sync::Arc;

use async_trait::async_trait;

use super::history::History;
use super::request::{self, Manner};
use super::{refusal, reply};
use crate::model::answer::in_short;
use crate::model::exchange::{Answer, Exchange};
use crate::model::tokens::{ConversationCount, count_blocks};
use crate::model::types::{Block, Model, ModelError, ModelReply, ModelRequest, Retry, StopReason, Usage};

/// Where messages are made, below the base.
const MESSAGES: &str = "messages";

/// Times in a row that the API may pause an answer; its own loop ends after ten steps, so more is no progress.
const MOST_PAUSES: u32 = 10;

/// Said of a run whose scripts lost what they had kept.
const LOST_CONTAINER: &str = "container lost: the provider gave another one, without what scripts had kept";

/// Whether an answer says that the request's container is no more. Earlier in 2026 that was a bare 500.
fn is_about_a_lost_container(answer: &Answer) -> bool {
    match answer.status {
        404 => answer.words().to_lowercase().contains("container"),
        500 => true,
        _ => false,
    }
}

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
    /// The container of its scripts, by the latest answer that named one.
    container: Option<String>,
    /// Whether a script waits for results, so that the container must not be lost.
    script_waits: bool,
    /// Whether one was lost, and another taken.
    lost_container: bool,
}

impl Conversation {
    pub(super) fn new(exchange: Arc<Exchange>, manner: Manner) -> Self {
        let (history, count) = (History::default(), ConversationCount::default());
        let (container, script_waits, lost_container) = (None, false, false);
        Self {
            exchange,
            manner,
            history,
            count,
            retries: Vec::new(),
            pauses: 0,
            container,
            script_waits,
            lost_container,
        }
    }

    /// The answer to a request, which is made without its container where that is gone and nothing in it is missed.
    async fn answer(&mut self, request: &ModelRequest<'_>) -> Result<Answer, ModelError> {
        loop {
            let container = self.container.as_deref().filter(|_| request.has_scripts());
            let opening = request::opening(&self.manner, request, Some(request.max_tokens), container)?;
            let body = self.history.body(&opening, self.manner.caching);
            let answer = self.exchange.post(MESSAGES, body, request.until, &mut self.retries).await?;
            match container.filter(|_| is_about_a_lost_container(&answer)) {
                None => return Ok(answer),
                // Only of the first it is sure that the container is meant, and a script that waits can have no other.
                Some(_) if self.script_waits && answer.status != 404 => return Ok(answer),
                Some(id) if self.script_waits => {
                    return Err(ModelError::Refused {
                        status: answer.status,
                        message: format!(
                            "{} answered {} ({}): the container {id} is gone while its script waits for results, and the \
                             turn is lost with it; make the run again",
                            self.exchange.address(MESSAGES),
                            answer.status,
                            answer.words()
                        ),
                    });
                }
                Some(_) => (self.container, self.lost_container) = (None, true),
            }
        }
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
        let answer = self.answer(&request).await?;
        if answer.status != 200 || answer.error_kind().is_some() {
            return Err(refusal::of(&self.exchange, MESSAGES, &answer, &self.manner.id));
        }
        let reply = reply::read(&answer.body, self.script_waits).map_err(|problem| self.bad(&problem))?;
        self.container = reply.container.or_else(|| self.container.take());
        self.script_waits = reply.content.iter().any(|it| matches!(it, Block::ToolUse { caller: Some(_), .. }));
        if self.script_waits && self.container.is_none() {
            return Err(self.bad("a script of its waits for results, and no container is named that would take them"));
        }
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
            container: self.container.clone(),
        })
    }

    fn deviations(&self) -> Vec<&'static str> {
        if self.lost_container { vec![LOST_CONTAINER] } else { Vec::new() }
    }

    fn take_retries(&mut self) -> Vec<Retry> {
        std::mem::take(&mut self.retries)
    }
}
