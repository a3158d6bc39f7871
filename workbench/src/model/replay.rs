//! A recorded run in the place of a model: what its model said is said again, turn by turn. Nobody is asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use super::transcript::{SaidTurn, Transcript, TranscriptError};
use super::types::{Model, ModelError, ModelReply, ModelRequest, StopReason, Usage};
use crate::results::format::{RunRecord, Stop, Turn};
use crate::results::store::{StoreError, read_run};

/// How the name of the model of a replayed run begins, in records and on the command line; the run's name follows.
pub const PREFIX: &str = "replay:";

/// Name of the setting that says who spoke in the run.
pub const SAID_BY: &str = "said by";

/// A run that can be said again, checked and in memory.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its folder.
    pub folder: PathBuf,
    /// Its record.
    pub record: RunRecord,
    /// What was said.
    pub transcript: Transcript,
    /// As records of its replays name their model.
    name: String,
    /// Whether a result tells that its call was not made, since the model's answer was cut off in it.
    is_cut_off: fn(&str) -> bool,
}

/// Why a run cannot be said again.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Its record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its transcript cannot be read, or is none.
    #[error("the run in {} cannot be replayed", .folder.display())]
    Transcript {
        /// Its folder.
        folder: PathBuf,
        /// What is wrong.
        source: TranscriptError,
    },
    /// Record and transcript tell different stories.
    #[error("the run in {} cannot be replayed: {reason}", .folder.display())]
    Unlike {
        /// Its folder.
        folder: PathBuf,
        /// Where they differ.
        reason: String,
    },
}

impl Recording {
    /// Reads the run in `folder`. `is_cut_off` tells the texts of results whose calls were not made, since the model's
    /// answer was cut off in them.
    ///
    /// # Errors
    /// When it is no run, its transcript is no conversation, or the two do not belong together.
    pub fn open(folder: &Path, is_cut_off: fn(&str) -> bool) -> Result<Self, RecordingError> {
        let record = read_run(folder)?;
        let transcript = Transcript::read(folder)
            .map_err(|source| RecordingError::Transcript { folder: folder.to_owned(), source })?;
        belong_together(&record, &transcript)
            .map_err(|reason| RecordingError::Unlike { folder: folder.to_owned(), reason })?;
        let name = format!("{PREFIX}{}", name_of(folder).unwrap_or_else(|| record.run.clone()));
        Ok(Self { folder: folder.to_owned(), record, transcript, name, is_cut_off })
    }

    /// As records name a model that says it again: `replay:RUN`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The run's name.
    pub fn run(&self) -> &str {
        &self.name[PREFIX.len()..]
    }

    /// Who spoke in the run: its model, or of a replay the model of the run that was replayed.
    pub fn said_by(&self) -> &str {
        self.record.settings.get(SAID_BY).unwrap_or(&self.record.model)
    }

    /// How records say who spoke in the run, and how that model was asked.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = self.record.settings.clone();
        settings.entry(SAID_BY.to_owned()).or_insert_with(|| self.record.model.clone());
        settings
    }

    /// Whether the scripts of the run stand in the model's words, and not in calls.
    pub fn has_scripts_in_words(&self) -> bool {
        self.transcript.turns.iter().any(|turn| turn.words_result.is_some())
    }

    /// Whether the last call of a turn, or the script in its words, was not made, since the model's answer was cut off in it.
    pub fn is_cut(&self, turn: &SaidTurn) -> bool {
        turn.words_result.as_ref().or(turn.results.last()).is_some_and(|result| (self.is_cut_off)(&result.text))
    }

    /// Why the model stopped on a turn, as far as the record tells.
    fn stop_reason(&self, index: usize) -> StopReason {
        let turn = &self.transcript.turns[index];
        let last = index + 1 == self.transcript.turns.len();
        match self.record.stop {
            Stop::Refusal if last => StopReason::Refusal,
            _ if self.is_cut(turn) => StopReason::MaxTokens,
            _ if turn.calls().next().is_some() || turn.words_result.is_some() => StopReason::ToolUse,
            Stop::MaxTokens if last => StopReason::MaxTokens,
            // The run may have been killed while it was judged.
            Stop::EndTurn | Stop::Interrupted if last => StopReason::EndTurn,
            _ => StopReason::Paused,
        }
    }
}

/// Name of a folder, whatever path leads to it.
fn name_of(folder: &Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    folder.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// A record has the figures of each turn before the turn is in the transcript, so a killed run may have those of one
/// more.
fn belong_together(record: &RunRecord, transcript: &Transcript) -> Result<(), String> {
    if transcript.turns.is_empty() {
        return Err("its model said nothing".to_owned());
    }
    let (said, told) = (transcript.turns.len(), record.per_turn.len());
    if said != told && !(record.stop == Stop::Interrupted && said + 1 == told) {
        return Err(format!("run.json has the figures of {told} turns, and transcript.jsonl has {said}"));
    }
    let is_whole = |turn: &Turn| {
        let parts = [turn.input_tokens, turn.cache_read_tokens, turn.cache_write_tokens];
        parts.iter().try_fold(0, |sum: u64, part| sum.checked_add(*part)) == Some(turn.tokens_read)
    };
    if !record.per_turn.iter().all(is_whole) {
        return Err("the figures of its turns in run.json are not those of a run".to_owned());
    }
    // What a report shows are the sums, so that they must be those of what is replayed.
    let sum =
        |figure: fn(&Turn) -> u64| record.per_turn.iter().try_fold(0, |sum: u64, turn| sum.checked_add(figure(turn)));
    let sums = [
        ("model_turns", u64::from(record.model_turns), sum(|_| 1)),
        ("tool_calls", u64::from(record.tool_calls), sum(|turn| turn.tools.len() as u64)),
        ("tokens_read", record.tokens_read, sum(|turn| turn.tokens_read)),
        ("input_tokens", record.input_tokens, sum(|turn| turn.input_tokens)),
        ("output_tokens", record.output_tokens, sum(|turn| turn.output_tokens)),
        ("cache_read_tokens", record.cache_read_tokens, sum(|turn| turn.cache_read_tokens)),
        ("cache_write_tokens", record.cache_write_tokens, sum(|turn| turn.cache_write_tokens)),
    ];
    for (name, told, sum) in sums {
        match sum {
            None => return Err("the figures of its turns in run.json are not those of a run".to_owned()),
            Some(sum) if sum != told => {
                return Err(format!("`{name}` in run.json is {told}, and its turns have {sum} in all"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A model that says again what that of a recorded run said. Serves one run.
pub struct Replay {
    recording: Arc<Recording>,
    next: usize,
}

impl Replay {
    /// Begins with the run's first turn.
    pub fn new(recording: Arc<Recording>) -> Self {
        Self { recording, next: 0 }
    }

    /// The figures of a turn.
    fn usage(&self, index: usize) -> Usage {
        let record = &self.recording.record;
        let turn = &record.per_turn[index];
        Usage {
            input_tokens: turn.input_tokens,
            output_tokens: turn.output_tokens,
            cache_read_tokens: turn.cache_read_tokens,
            cache_write_tokens: turn.cache_write_tokens,
            estimated: record.estimated,
        }
    }
}

#[async_trait]
impl Model for Replay {
    /// Whatever is asked: the next answer of the record.
    async fn reply(&mut self, _request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let index = self.next;
        let Some(turn) = self.recording.transcript.turns.get(index) else {
            return Err(ModelError::RecordEnds { turns: index });
        };
        let content = turn.said.clone();
        self.next += 1;
        let usage = self.usage(index);
        let stop_reason = self.recording.stop_reason(index);
        // Of a run that was interrupted it tells of the interruption.
        let is_end =
            self.next == self.recording.transcript.turns.len() && self.recording.record.stop != Stop::Interrupted;
        let stop_detail = self.recording.record.stop_detail.clone().filter(|_| is_end);
        Ok(ModelReply { content, stop_reason, stop_detail, usage, cost: None, container: None })
    }
}
