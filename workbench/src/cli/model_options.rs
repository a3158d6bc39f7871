//! Options that say which model is asked, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::model::provider::{ModelChoice, ProviderOptions};

/// How the scripts of code mode come from the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CodeAs {
    /// As calls of the tool `run_python`.
    #[default]
    Tool,
    /// As fenced code blocks in its words, for models without tool support.
    Text,
}

/// Which model is asked, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// Who is asked: `rehearsal` is a scripted stand-in that needs no key and no network; `anthropic:ID`, `openai:ID` and
    /// `openrouter:ID` need a key, `ollama:ID`, `llamacpp:ID` and `vllm:ID` a server on this machine; `replay:RUN` says
    /// again what the model of a run said
    #[arg(long, default_value = "rehearsal", value_name = "MODEL")]
    pub model: ModelChoice,
    /// Another address of the model's API
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Let the provider cache the prompt; without it what was read is what was billed
    #[arg(long)]
    pub caching: bool,
    /// How the scripts of code mode come from the model
    #[arg(long, default_value = "tool", value_name = "FORM")]
    pub code_as: CodeAs,
    /// Keep each request to the model and its answer in this folder, without secrets
    #[arg(long, value_name = "FOLDER")]
    pub trace: Option<PathBuf>,
}

impl ModelOptions {
    /// What a provider needs to know of them.
    pub fn of_provider(&self) -> ProviderOptions {
        ProviderOptions {
            base_url: self.base_url.clone(),
            caching: self.caching,
            code_as_text: self.code_as == CodeAs::Text,
            trace: self.trace.clone(),
        }
    }
}
