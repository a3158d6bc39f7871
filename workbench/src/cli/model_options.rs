//! Options that say which model is asked, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::model::provider::{CodeExecution, ModelChoice, ProviderOptions};
use crate::runner::ScriptForm;

/// How the scripts of code mode come from the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CodeAs {
    /// As calls of the tool `run_python`.
    #[default]
    Tool,
    /// As fenced code blocks in its words, for models without tool support.
    Text,
}

impl CodeAs {
    /// As a run is told.
    pub fn script_form(self) -> ScriptForm {
        match self {
            Self::Tool => ScriptForm::ToolCall,
            Self::Text => ScriptForm::FencedBlock,
        }
    }
}

/// What takes the place of mode hosted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HostedFallback {
    /// The script runs in our sandbox.
    Code,
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
    /// Let the provider cache the prompt; without it what was read is what was billed. Only of `anthropic:` models: the
    /// servers of others cache as they like
    #[arg(long)]
    pub caching: bool,
    /// How the scripts of code mode come from the model
    #[arg(long, default_value = "tool", value_name = "FORM")]
    pub code_as: CodeAs,
    /// Which version of the tool that runs scripts is declared in mode hosted; only of `anthropic:` models
    #[arg(long, value_name = "VERSION", default_value = "20260120")]
    pub code_execution: CodeExecution,
    /// Make runs of this mode where mode hosted cannot be asked of the model or the domain, instead of none
    #[arg(long, value_name = "MODE")]
    pub hosted_fallback: Option<HostedFallback>,
    /// Keep each request to the model and its answer in this folder, without secrets
    #[arg(long, value_name = "FOLDER")]
    pub trace: Option<PathBuf>,
}

impl ModelOptions {
    /// For a command that looks at a model and makes no run.
    pub fn looking_at(model: ModelChoice, base_url: Option<String>) -> Self {
        Self {
            model,
            base_url,
            caching: false,
            code_as: CodeAs::Tool,
            code_execution: CodeExecution::default(),
            hosted_fallback: None,
            trace: None,
        }
    }

    /// The first option that says how a model is asked, where one was given.
    pub fn given(&self) -> Option<&'static str> {
        let given =
            [("--base-url", self.base_url.is_some()), ("--caching", self.caching), ("--trace", self.trace.is_some())];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// What a provider needs to know of them.
    pub fn of_provider(&self) -> ProviderOptions {
        ProviderOptions {
            base_url: self.base_url.clone(),
            caching: self.caching,
            code_as_text: self.code_as == CodeAs::Text,
            trace: self.trace.clone(),
            code_execution: self.code_execution,
        }
    }
}
