//! A stand-in for a model: scripts of the domain play its part, so that everything runs with no
//! network and no key. It never pretends to be a model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, vec};

use async_trait::async_trait;
use plugin_api::wire::ToolSpec;
use serde_json::json;

use super::policy::{Policy, PolicyScript, Step};
use super::tokens::{self, ConversationCount, count_blocks};
use super::types::{Block, Model, ModelError, ModelReply, ModelRequest, StopReason, ToolDefinition, Usage};
use crate::domain::Domain;
use crate::domain::manifest::Limits;
use crate::files;
use crate::sandbox::{Sandbox, ScriptEnd, ScriptLimits, ScriptOutcome};

/// Name of the model in records, reports and on the command line.
pub const NAME: &str = "rehearsal";

/// A policy waits for the whole run, and so is not held to the limits of one script.
const POLICY_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes kept of the last words.
const LAST_WORDS_BYTES: usize = 64 * 1024;

/// A model played by scripts. Serves one run. Its token counts are estimates.
pub struct Rehearsal {
    part: Part,
    count: ConversationCount,
}

/// Why a domain cannot be rehearsed.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// Rehearsal scripts are optional, and this domain has none for the mode.
    #[error("{domain} has no rehearsal for this mode: {} does not exist", .file.display())]
    Missing {
        /// The domain.
        domain: String,
        /// The file to write.
        file: PathBuf,
    },
    /// A script cannot be read.
    #[error("could not read {}", .path.display())]
    Unreadable {
        /// The script.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

fn missing(domain: &Domain, file: &str) -> RehearsalError {
    RehearsalError::Missing { domain: domain.name().to_owned(), file: domain.folder.join(file) }
}

fn read(path: &Path) -> Result<String, RehearsalError> {
    files::read_text(path, files::LONGEST_TEXT)
        .map_err(|source| RehearsalError::Unreadable { path: path.to_owned(), source })
}

enum Part {
    /// Starts with the first request, which brings the list of tools.
    Policy { script: PolicyScript, playing: Option<Box<Policy>> },
    /// Hands scripts to the one tool of code mode.
    Author { scripts: vec::IntoIter<String>, written: u32 },
}

impl Rehearsal {
    /// Plays the domain's policy, a script over the tools whose calls become the turns of `serial`
    /// and `loop`. What it prints are its last words. `limits` are those of the run: the policy has the memory of one
    /// script, and its time to make up its mind.
    ///
    /// # Errors
    /// When the domain has no policy, or it cannot be read.
    pub fn step_by_step(domain: &Domain, limits: &Limits, sandbox: Arc<dyn Sandbox>) -> Result<Self, RehearsalError> {
        let path = domain.rehearsal.as_ref().and_then(|scripts| scripts.loop_script.as_deref());
        let path = path.ok_or_else(|| missing(domain, "rehearsal/loop.py"))?;
        let source = read(path)?;
        let memory = limits.script_memory_mb.saturating_mul(1024 * 1024);
        let patience = Duration::from_secs(limits.script_seconds);
        let limits = ScriptLimits { time: POLICY_TIME, memory, output_bytes: LAST_WORDS_BYTES };
        let (domain, file) = (domain.name().to_owned(), domain.own(path));
        let script = PolicyScript { source, file, domain, sandbox, limits, patience };
        Ok(Self::new(Part::Policy { script, playing: None }))
    }

    /// Plays an author: hands the domain's scripts to code mode in order, failed first attempts
    /// included, and ends with what the last one printed.
    ///
    /// # Errors
    /// When the domain has no scripts, or one cannot be read.
    pub fn scripts(domain: &Domain) -> Result<Self, RehearsalError> {
        let paths = domain.rehearsal.as_ref().map(|scripts| scripts.code_scripts.as_slice()).unwrap_or_default();
        if paths.is_empty() {
            return Err(missing(domain, "rehearsal/code/1.py"));
        }
        let scripts: Vec<String> = paths.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        Ok(Self::new(Part::Author { scripts: scripts.into_iter(), written: 0 }))
    }

    /// The cells of mode `hosted`, in order, failed first attempts included.
    ///
    /// # Errors
    /// When the domain has none, or one cannot be read.
    pub fn cells(domain: &Domain) -> Result<Vec<String>, RehearsalError> {
        let paths = domain.rehearsal.as_ref().map(|scripts| scripts.hosted_scripts.as_slice()).unwrap_or_default();
        if paths.is_empty() {
            return Err(missing(domain, "rehearsal/hosted/1.py"));
        }
        paths.iter().map(|path| read(path)).collect()
    }

    fn new(part: Part) -> Self {
        tokens::prepare();
        Self { part, count: ConversationCount::default() }
    }

    async fn perform(&mut self, request: &ModelRequest<'_>) -> Result<Vec<Block>, ModelError> {
        let heard = request.messages.last().map(|message| message.content.as_slice()).unwrap_or_default();
        match &mut self.part {
            Part::Policy { script, playing } => {
                let policy = playing.get_or_insert_with(|| {
                    Box::new(Policy::start(script, request.tools.iter().map(as_spec).collect()))
                });
                policy.answer(heard);
                match policy.next(!request.parallel_calls).await.map_err(ModelError::Rehearsal)? {
                    Step::Calls(calls) => Ok(calls),
                    Step::Ended(outcome) => last_words(&outcome),
                }
            }
            Part::Author { scripts, written } => Ok(vec![match scripts.next() {
                Some(code) => hand_in(code, request.tools.first(), written),
                None => Block::Text { text: last_result(heard) },
            }]),
        }
    }
}

#[async_trait]
impl Model for Rehearsal {
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let content = self.perform(&request).await?;
        let usage = Usage {
            input_tokens: self.count.read(&request),
            output_tokens: count_blocks(&content),
            estimated: true,
            ..Usage::default()
        };
        let calls = content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        let stop_reason = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        Ok(ModelReply { content, stop_reason, stop_detail: None, usage, cost: None, container: None })
    }
}

fn as_spec(tool: &ToolDefinition) -> ToolSpec {
    ToolSpec { name: tool.name.clone(), description: tool.description.clone(), input_schema: tool.input_schema.clone() }
}

/// Code mode offers one tool, and that is where scripts go; without it they are fenced blocks.
fn hand_in(code: String, tool: Option<&ToolDefinition>, written: &mut u32) -> Block {
    *written += 1;
    match tool {
        Some(tool) => Block::ToolUse {
            id: format!("call_{written}"),
            name: tool.name.clone(),
            input: json!({ "code": code }),
            caller: None,
        },
        None => Block::Text { text: format!("~~~~python\n{}\n~~~~", code.trim_end()) },
    }
}

fn last_result(heard: &[Block]) -> String {
    let result = heard.iter().rev().find_map(|block| match block {
        Block::ToolResult { content, .. } | Block::Text { text: content } => Some(content.trim_end()),
        _ => None,
    });
    result.unwrap_or_default().to_owned()
}

fn last_words(outcome: &ScriptOutcome) -> Result<Vec<Block>, ModelError> {
    if outcome.end != ScriptEnd::Exit(0) {
        return Err(ModelError::Rehearsal(outcome.reply(LAST_WORDS_BYTES)));
    }
    Ok(vec![Block::Text { text: outcome.stdout.text.trim_end().to_owned() }])
}
