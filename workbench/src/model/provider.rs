//! What every provider of models can do, whatever its API.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use async_trait::async_trait;

use super::types::{Model, ModelError, ModelRequest};
use crate::env;
use crate::nearest::nearest;

/// One model of one provider, for all runs of a command: what it learns of the server on one serves the next.
#[async_trait]
pub trait Provider: Send + Sync {
    /// As records and reports name it: `anthropic:ID`.
    fn name(&self) -> &str;

    /// How it is asked, as far as that is part of the measurement: `thinking`, `caching` and so on.
    fn settings(&self) -> BTreeMap<String, String>;

    /// Whether it says itself what each request cost.
    fn tells_costs(&self) -> bool {
        false
    }

    /// Looks whether key, address and model serve, before the first run and for the doctor.
    ///
    /// # Errors
    /// When no run can be made.
    async fn check(&self) -> Result<Findings, ModelError>;

    /// Whether mode `hosted` can be asked of it. Asked before the first run of that mode.
    ///
    /// # Errors
    /// When the provider cannot be asked.
    async fn programmatic(&self) -> Result<Programmatic, ModelError> {
        Ok(Programmatic::Unsupported("its API has no programmatic tool calling".to_owned()))
    }

    /// The model for one run.
    fn open(&self) -> Box<dyn Model>;

    /// Tokens of a request as the provider counts them without serving it; `None` where it does not.
    ///
    /// # Errors
    /// As those of a request.
    async fn count(&self, request: ModelRequest<'_>) -> Result<Option<u64>, ModelError>;
}

/// What a look at a provider told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What is there, in words for people: the server, the model, what it supports.
    pub found: Vec<String>,
    /// What works, but not as a user may expect.
    pub warnings: Vec<String>,
}

/// How the user wants models to be asked; the same for every provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderOptions {
    /// Another address of the API.
    pub base_url: Option<String>,
    /// Whether prompt caching is asked for.
    pub caching: bool,
    /// Whether code mode's scripts come as fenced blocks in the model's words, not as tool calls.
    pub code_as_text: bool,
    /// A folder for what is sent and received.
    pub trace: Option<PathBuf>,
    /// Which version of the tool that runs scripts is declared in mode `hosted`.
    pub code_execution: CodeExecution,
}

/// The versions of the tool that runs the model's scripts at the provider. Source: its page on programmatic tool calling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CodeExecution {
    /// The first whose scripts may call tools.
    #[default]
    #[value(name = "20260120")]
    V20260120,
    /// The same, with a text that tells the model of the limit of 90 seconds.
    #[value(name = "20260521")]
    V20260521,
}

impl CodeExecution {
    /// As a request declares it.
    pub fn tool(self) -> &'static str {
        match self {
            Self::V20260120 => "code_execution_20260120",
            Self::V20260521 => "code_execution_20260521",
        }
    }
}

/// Whether a provider's model can write scripts that the provider runs and that call our tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Programmatic {
    /// It can, by the provider's word or ours.
    Supported,
    /// It cannot; the text says why, and goes after `cannot be asked in mode hosted: `.
    Unsupported(String),
}

/// Who serves a model. Each speaks one of two APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// The Anthropic API.
    Anthropic,
    /// The OpenAI API, and with `--base-url` any server that speaks its chat completions.
    OpenAi,
    /// A local Ollama.
    Ollama,
    /// A local llama.cpp server.
    LlamaCpp,
    /// A local vLLM.
    Vllm,
    /// OpenRouter.
    OpenRouter,
}

impl ProviderKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Anthropic, Self::OpenAi, Self::Ollama, Self::LlamaCpp, Self::Vllm, Self::OpenRouter];

    /// The word before the colon of `--model`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llamacpp",
            Self::Vllm => "vllm",
            Self::OpenRouter => "openrouter",
        }
    }

    /// The environment variable that holds its key.
    pub fn key(self) -> &'static str {
        match self {
            Self::Anthropic => env::ANTHROPIC_KEY,
            Self::OpenAi => env::OPENAI_KEY,
            Self::Ollama => env::OLLAMA_KEY,
            Self::LlamaCpp => env::LLAMACPP_KEY,
            Self::Vllm => env::VLLM_KEY,
            Self::OpenRouter => env::OPENROUTER_KEY,
        }
    }

    /// Whether it is a server on this machine, which needs no key unless it was started with one.
    pub fn is_local(self) -> bool {
        matches!(self, Self::Ollama | Self::LlamaCpp | Self::Vllm)
    }

    /// Whether it serves for money.
    pub fn is_paid(self) -> bool {
        !self.is_local()
    }
}

/// What `--model` names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// The domain's scripts.
    #[default]
    Rehearsal,
    /// The turns of a recorded run, by what a user calls it.
    Replay(String),
    /// A provider's model.
    Of(ProviderKind, String),
}

impl ModelChoice {
    /// Whether asking it costs money.
    pub fn is_paid(&self) -> bool {
        matches!(self, Self::Of(kind, _) if kind.is_paid())
    }
}

/// `--model` names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelChoiceError {
    /// There is no provider of this name.
    #[error(
        "there is no model `{0}`; `rehearsal` needs no key, `ollama:ID`, `llamacpp:ID` and `vllm:ID` are models on this \
         machine, `anthropic:ID`, `openai:ID` and `openrouter:ID` need a key, `replay:RUN` repeats a run{near}",
        near = .1.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    Unknown(String, Option<&'static str>),
    /// The part after the colon is missing.
    #[error("`{0}` does not say which model: write `{0}:ID`")]
    NoId(&'static str),
}

impl FromStr for ModelChoice {
    type Err = ModelChoiceError;

    fn from_str(text: &str) -> Result<Self, ModelChoiceError> {
        let (word, id) = text.split_once(':').unwrap_or((text, ""));
        let id = id.trim();
        let known = ProviderKind::ALL.into_iter().find(|kind| kind.name() == word);
        match (word, known) {
            ("rehearsal", _) if !text.contains(':') => Ok(Self::Rehearsal),
            ("replay", _) if id.is_empty() => Err(ModelChoiceError::NoId("replay")),
            ("replay", _) => Ok(Self::Replay(id.to_owned())),
            (_, Some(kind)) if id.is_empty() => Err(ModelChoiceError::NoId(kind.name())),
            (_, Some(kind)) => Ok(Self::Of(kind, id.to_owned())),
            _ => {
                let names = ProviderKind::ALL.map(ProviderKind::name).into_iter().chain(["rehearsal", "replay"]);
                Err(ModelChoiceError::Unknown(text.to_owned(), nearest(word, names)))
            }
        }
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rehearsal => formatter.write_str(super::rehearsal::NAME),
            Self::Replay(run) => write!(formatter, "replay:{run}"),
            Self::Of(kind, id) => write!(formatter, "{}:{id}", kind.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models() {
        let table = [
            ("rehearsal", Ok(ModelChoice::Rehearsal)),
            ("replay:2026", Ok(ModelChoice::Replay("2026".to_owned()))),
            ("anthropic:claude-haiku-5-5", Ok(ModelChoice::Of(ProviderKind::Anthropic, "claude-haiku-5-5".to_owned()))),
            ("ollama:qwen3:8b", Ok(ModelChoice::Of(ProviderKind::Ollama, "qwen3:8b".to_owned()))),
            ("openai", Err(ModelChoiceError::NoId("openai"))),
            ("replay:", Err(ModelChoiceError::NoId("replay"))),
            ("antropic:x", Err(ModelChoiceError::Unknown("antropic:x".to_owned(), Some("anthropic")))),
            ("", Err(ModelChoiceError::Unknown(String::new(), None))),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
