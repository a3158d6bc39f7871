//! The servers that speak chat completions, as far as they differ before a word is said.

use crate::env;
use crate::model::provider::ProviderKind;

/// What is known of a kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// For people.
    pub(super) title: &'static str,
    /// Where it is when nobody says otherwise, the likeliest address first.
    pub(super) addresses: &'static [&'static str],
    /// The environment variable of its key.
    pub(super) key: &'static str,
    /// Whether nothing works at these addresses without a key.
    pub(super) needs_key: bool,
    /// Whether it tells what each request cost, in US dollars.
    pub(super) tells_costs: bool,
    /// How it is started on this machine; nothing for those that others run.
    pub(super) start: Option<&'static str>,
}

const OPENAI: Server = Server {
    title: "OpenAI",
    addresses: &["https://api.openai.com/v1"],
    key: env::OPENAI_KEY,
    needs_key: true,
    tells_costs: false,
    start: None,
};

const OPENROUTER: Server = Server {
    title: "OpenRouter",
    addresses: &["https://openrouter.ai/api/v1"],
    key: env::OPENROUTER_KEY,
    needs_key: true,
    tells_costs: true,
    start: None,
};

const OLLAMA: Server = Server {
    title: "Ollama",
    addresses: &["http://localhost:11434/v1"],
    key: env::OLLAMA_KEY,
    needs_key: false,
    tells_costs: false,
    start: Some("ollama serve"),
};

const LLAMA_CPP: Server = Server {
    title: "llama.cpp server",
    // The port was 8080 until late 2026.
    addresses: &["http://localhost:9931/v1", "http://localhost:8080/v1"],
    key: env::LLAMACPP_KEY,
    needs_key: false,
    tells_costs: false,
    start: Some("llama-server -m MODEL.gguf --jinja"),
};

const VLLM: Server = Server {
    title: "vLLM",
    addresses: &["http://localhost:8000/v1"],
    key: env::VLLM_KEY,
    needs_key: false,
    tells_costs: false,
    start: Some("vllm serve MODEL --enable-auto-tool-choice --tool-call-parser NAME"),
};

impl Server {
    /// That of a provider; nothing for one that speaks another API.
    pub(super) fn of(kind: ProviderKind) -> Option<Self> {
        match kind {
            ProviderKind::Anthropic => None,
            ProviderKind::OpenAi => Some(OPENAI),
            ProviderKind::OpenRouter => Some(OPENROUTER),
            ProviderKind::Ollama => Some(OLLAMA),
            ProviderKind::LlamaCpp => Some(LLAMA_CPP),
            ProviderKind::Vllm => Some(VLLM),
        }
    }
}

/// The field that bounds an answer's tokens. Those who know one of the two refuse or ignore the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cap {
    /// The older name, known to every other server.
    MaxTokens,
    /// OpenAI's newer name, the only one its reasoning models take.
    MaxCompletionTokens,
}

impl Cap {
    /// The one to try first at this host.
    pub(super) fn at(host: Option<&str>) -> Self {
        if host == Some("api.openai.com") { Self::MaxCompletionTokens } else { Self::MaxTokens }
    }

    /// Its name in a request.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// The other one.
    pub(super) fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}
