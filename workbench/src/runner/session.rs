//! The one loop of all modes: ask the model, record what it read, run what it asked for, answer,
//! until it stops or something ends it.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use super::budget::{end_of_time, out_of_time, used_up};
use super::mode_tools::{Answer, Asked, ModeTools};
use super::toolbox::Toolbox;
use super::{RunError, prompts};
use crate::events::{Event, Listener, RunKey};
use crate::model::prices::{Price, REPORTED, whole_nanodollars};
use crate::model::types::{
    Block, Message, Model, ModelError, ModelReply, ModelRequest, Retry, Role, StopReason, ToolDefinition, Usage,
};
use crate::results::format::{RetryRecord, RunRecord, Stop, Turn};
use crate::results::store::RunFolder;

/// Said of a run of mode `serial` whose model asked for several calls at once, which were all made.
const NOT_SERIAL: &str = "serial not honoured";

/// Characters of last words, and of a tool's name, that the record keeps: it must be readable whatever a model says, and
/// the transcript has all of it.
const LONGEST_WORDS: usize = 64 * 1024;
const LONGEST_NAME: usize = 200;

/// Names of calls that the turns of a record keep: a record has to be readable, whatever a model says.
pub(super) const MOST_NAMES: usize = 20_000;

/// What a conversation is held with.
pub(super) struct Session<'a> {
    pub(super) model: Box<dyn Model>,
    pub(super) price: Option<Price>,
    pub(super) mode_tools: Box<dyn ModeTools>,
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) folder: &'a RunFolder,
    pub(super) record: &'a mut RunRecord,
    pub(super) key: &'a RunKey,
    pub(super) listener: Listener,
    pub(super) interrupt: watch::Receiver<bool>,
    pub(super) clock: Instant,
    pub(super) rules: Rules,
    /// Turns in which the model spoke, which are bounded: of those in which code of its only went on the calls are.
    pub(super) spoken: u32,
    /// Names of calls that the record's turns still keep.
    pub(super) names_left: usize,
}

/// The settings of the conversation.
pub(super) struct Rules {
    pub(super) system: String,
    pub(super) turns: u32,
    pub(super) max_tokens: u32,
    pub(super) parallel_calls: bool,
}

impl Session<'_> {
    /// Talks until the end, which the record then tells. An error is a fault of ours, not an end.
    pub(super) async fn talk(&mut self, prompt: &str) -> Result<(), RunError> {
        let tools = self.mode_tools.tools();
        let mut messages = Vec::new();
        self.append_message(&mut messages, Role::User, vec![Block::Text { text: prompt.to_owned() }])?;
        let (stop, detail) = loop {
            if let Some(end) = self.exchange(&tools, &mut messages).await? {
                break end;
            }
        };
        // On disk it stays interrupted until it is judged, since a host that dies now leaves no verdict.
        self.keep_record()?;
        self.record.stop = stop;
        self.record.stop_detail = detail;
        Ok(())
    }

    /// One turn: a request, its answer, and the answers to that. Tells when it was the last.
    async fn exchange(
        &mut self,
        tools: &[ToolDefinition],
        messages: &mut Vec<Message>,
    ) -> Result<Option<(Stop, Option<String>)>, RunError> {
        if self.spoken >= self.rules.turns {
            return Ok(Some((Stop::MaxTurns, None)));
        }
        if let Some(detail) = used_up(self.record, self.clock.elapsed()) {
            return Ok(Some((Stop::Budget, Some(detail))));
        }
        let reply = self.ask(tools, messages).await;
        self.record_retries();
        let reply = match reply {
            None => return Ok(Some((Stop::Interrupted, None))),
            // A mode that fills all a model can read has come to its end; a first request that does so is a wrong choice
            // of model.
            Some(Err(ModelError::TooLong(detail))) if self.record.model_turns > 0 => {
                return Ok(Some((Stop::MaxTokens, Some(detail))));
            }
            Some(Err(ModelError::OutOfTime)) => return Ok(Some((Stop::Budget, self.time_is_up()))),
            Some(Err(error)) => return Ok(Some((Stop::ModelError, Some(error.to_string())))),
            Some(Ok(reply)) => reply,
        };
        let calls = self.mode_tools.asked(&reply.content);
        self.mode_tools.hear(&reply)?;
        let (stop_reason, detail) = (reply.stop_reason, reply.stop_detail.clone());
        self.record_turn(&reply, &calls)?;
        self.append_message(messages, Role::Assistant, reply.content)?;
        match stop_reason {
            StopReason::Refusal => {
                let detail = detail.unwrap_or_else(|| self.record.final_text.clone());
                return Ok(Some((Stop::Refusal, Some(detail))));
            }
            StopReason::Paused if calls.is_empty() => return Ok(None),
            StopReason::MaxTokens if calls.is_empty() => return Ok(Some((Stop::MaxTokens, detail))),
            _ if calls.is_empty() => return Ok(Some((Stop::EndTurn, detail))),
            _ => {}
        }
        let Some(answers) = self.answer(&calls, stop_reason == StopReason::MaxTokens).await else {
            self.keep_record()?;
            return Ok(Some((Stop::Interrupted, None)));
        };
        let results = self.mode_tools.results(calls, answers?);
        self.append_message(messages, Role::User, results)?;
        self.toolbox.ledger().check()?;
        self.keep_record()?;
        let budget = self.toolbox.budget();
        Ok(budget.is_overrun().then(|| (Stop::Budget, Some(prompts::budget_spent(budget.limit())))))
    }

    /// The model's answer; `None` when the run was interrupted first.
    async fn ask(&mut self, tools: &[ToolDefinition], messages: &[Message]) -> Option<Result<ModelReply, ModelError>> {
        let request = ModelRequest {
            system: &self.rules.system,
            tools,
            messages,
            max_tokens: self.rules.max_tokens,
            parallel_calls: self.rules.parallel_calls,
            until: end_of_time(&self.record.budgets, self.clock),
        };
        unless_interrupted(&mut self.interrupt, self.model.reply(request)).await
    }

    /// What is said when the model's side gave up at the end of the run's time.
    fn time_is_up(&self) -> Option<String> {
        self.record.budgets.max_seconds.map(|limit| out_of_time(limit, self.clock.elapsed()))
    }

    /// Answers to the calls, in their order; `None` when the run was interrupted first. When the
    /// model's words were `cut`, its last call is incomplete: it is told so, and the call not made.
    async fn answer(&mut self, calls: &[Asked], cut: bool) -> Option<Result<Vec<Answer>, RunError>> {
        let whole = if cut { &calls[..calls.len() - 1] } else { calls };
        let answers =
            unless_interrupted(&mut self.interrupt, self.mode_tools.answer(self.record.model_turns, whole)).await?;
        Some(answers.map(|mut answers| {
            if cut {
                answers.push(Answer::failure(&prompts::cut_off(self.rules.max_tokens)));
            }
            answers
        }))
    }

    /// Adds the retries of the request to the record, whatever came of it.
    fn record_retries(&mut self) {
        let turn = self.record.model_turns + 1;
        let retries = self.model.take_retries().into_iter();
        self.record.retried.extend(retries.map(|Retry { cause, wait_seconds }| RetryRecord {
            turn,
            cause,
            wait_seconds,
        }));
        self.record.retries = u32::try_from(self.record.retried.len()).unwrap_or(u32::MAX);
    }

    /// Adds an answer's figures to the record, and tells of the turn.
    fn record_turn(&mut self, reply: &ModelReply, calls: &[Asked]) -> Result<(), RunError> {
        let (record, usage) = (&mut *self.record, reply.usage);
        let not_serial = (!self.rules.parallel_calls && calls.len() > 1).then_some(NOT_SERIAL);
        for deviation in self.model.deviations().into_iter().chain(not_serial) {
            if !record.deviations.iter().any(|known| known == deviation) {
                record.deviations.push(deviation.to_owned());
            }
        }
        let cost = match &self.price {
            Some(price) => cost_of(price, &usage),
            None => reply.cost,
        };
        if self.price.is_none() && cost.is_some() {
            record.prices.get_or_insert_with(|| REPORTED.to_owned());
        }
        let before = if record.model_turns == 0 { Some(0.0) } else { record.cost_usd };
        record.cost_usd = before.zip(cost).map(|(before, cost)| whole_nanodollars(before + cost));
        record.model_turns += 1;
        // Of calls that scripts made the ledger tells; a script of the provider's is a call as in mode code.
        self.spoken += u32::from(is_spoken(&reply.content));
        let own = calls.iter().filter(|call| call.script.is_none()).map(|call| call.name.as_str());
        let mut tools: Vec<String> =
            own.chain(scripts(&reply.content)).map(|name| beginning(name, LONGEST_NAME)).collect();
        record.tool_calls = record.tool_calls.saturating_add(u32::try_from(tools.len()).unwrap_or(u32::MAX));
        tools.truncate(self.names_left);
        self.names_left -= tools.len();
        // A server may tell any figures.
        for (sum, tokens) in [
            (&mut record.tokens_read, usage.tokens_read()),
            (&mut record.input_tokens, usage.input_tokens),
            (&mut record.output_tokens, usage.output_tokens),
            (&mut record.cache_read_tokens, usage.cache_read_tokens),
            (&mut record.cache_write_tokens, usage.cache_write_tokens),
        ] {
            *sum = sum.saturating_add(tokens);
        }
        record.estimated |= usage.estimated;
        record.final_text = beginning(&words(&reply.content), LONGEST_WORDS);
        let turn = Turn {
            turn: record.model_turns,
            tokens_read: usage.tokens_read(),
            input_tokens: usage.input_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            output_tokens: usage.output_tokens,
            cost_usd: cost,
            tools,
        };
        record.per_turn.push(turn.clone());
        self.keep_record()?;
        self.listener.emit(Event::TurnEnded { key: self.key.clone(), turn, estimated: usage.estimated });
        Ok(())
    }

    fn append_message(&self, messages: &mut Vec<Message>, role: Role, content: Vec<Block>) -> Result<(), RunError> {
        let message = Message { role, content };
        self.folder.append_message(&message)?;
        messages.push(message);
        Ok(())
    }

    fn keep_record(&mut self) -> Result<(), RunError> {
        self.record.nested_calls = self.toolbox.ledger().nested_calls();
        self.record.faults = self.toolbox.ledger().faults();
        self.record.scripts_run = self.mode_tools.scripts_run();
        self.record.hosted = self.mode_tools.hosted();
        self.record.seconds = (self.clock.elapsed().as_secs_f64() * 1e3).round() / 1e3;
        Ok(self.folder.write_record(self.record)?)
    }
}

/// What `work` comes to; `None` when the run is interrupted first. Work that is dropped ends its
/// children.
pub async fn unless_interrupted<T>(interrupt: &mut watch::Receiver<bool>, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = interrupted(interrupt) => None,
        outcome = work => Some(outcome),
    }
}

/// Comes back when the flag is up; never when nobody can raise it any more.
async fn interrupted(interrupt: &mut watch::Receiver<bool>) {
    if interrupt.wait_for(|raised| *raised).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What a request cost. Tokens that the provider did not count have no price.
fn cost_of(price: &Price, usage: &Usage) -> Option<f64> {
    if usage.estimated { None } else { price.cost(usage) }
}

/// At most so many characters of a text, and a sign where it goes on.
fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether the model said any of this. Calls that its scripts make, and what these come to, it did not.
fn is_spoken(content: &[Block]) -> bool {
    let is_of_a_script = |block: &Block| match block {
        Block::ToolUse { caller, .. } => caller.is_some(),
        Block::Other(block) => {
            block["type"].as_str().is_some_and(|kind| kind.ends_with("_tool_result") || kind == "program_output")
        }
        Block::Text { .. } | Block::ToolResult { .. } => false,
    };
    content.is_empty() || !content.iter().all(is_of_a_script)
}

/// The tools that the provider runs itself for the model.
fn scripts(content: &[Block]) -> impl Iterator<Item = &str> {
    content.iter().filter_map(|block| match block {
        Block::Other(block) if block["type"] == "server_tool_use" => block["name"].as_str(),
        Block::Other(block) if block["type"] == "program" => Some("program"),
        _ => None,
    })
}

fn words(content: &[Block]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}
