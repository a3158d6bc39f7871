//! How little a model may think, where that is known: thinking is no part of what is compared.

use serde_json::{Map, Value, json};

use crate::model::provider::ProviderKind;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// The model does not think, and is not asked not to.
    Absent,
    /// The least effort it takes, as `reasoning_effort`.
    Effort(&'static str),
    /// Off, where the model's chat template has a switch for it.
    TemplateOff,
    /// Nothing is known, so nothing is asked for: a field that a model does not take fails its requests.
    Own,
}

impl Thinking {
    /// The least that this model allows. Source: OpenAI's model pages and what its API answered to others (gpt-5.1 to
    /// gpt-5.6, gpt-6-sol, gpt-6-luna and gpt-6.1-terra take `none`, gpt-6-astra, gpt-6.1-sol and gpt-6.2-sol refuse it,
    /// `-pro` models choose themselves); Ollama's compatibility layer (`none` is off; gpt-oss knows only levels); the
    /// chat templates of Qwen 3.
    pub(super) fn least(kind: ProviderKind, model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        if model.contains("gpt-oss") {
            return Self::Effort("low");
        }
        match kind {
            ProviderKind::Ollama => Self::Effort("none"),
            ProviderKind::LlamaCpp | ProviderKind::Vllm if model.contains("qwen3") => Self::TemplateOff,
            ProviderKind::OpenAi => of_openai(&model),
            ProviderKind::OpenRouter => model.strip_prefix("openai/").map_or(Self::Own, of_openai),
            _ => Self::Own,
        }
    }

    /// As records say it.
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Absent => "none",
            Self::Effort(effort) => effort,
            Self::TemplateOff => "off where the template can",
            Self::Own => "the model's own",
        }
    }

    /// The field of a request that asks for it.
    pub(super) fn field(self) -> Option<&'static str> {
        match self {
            Self::Effort(_) => Some("reasoning_effort"),
            Self::TemplateOff => Some("chat_template_kwargs"),
            Self::Absent | Self::Own => None,
        }
    }

    /// Adds what asks for it to a request.
    pub(super) fn ask(self, request: &mut Map<String, Value>) {
        let value = match self {
            Self::Effort(effort) => json!(effort),
            Self::TemplateOff => json!({ "enable_thinking": false }),
            Self::Absent | Self::Own => Value::Null,
        };
        request.extend(self.field().map(|field| (field.to_owned(), value)));
    }
}

fn of_openai(model: &str) -> Thinking {
    let is = |start: &str| model.starts_with(start);
    let has = |word: &str| model.contains(word);
    match () {
        () if is("gpt-3.5") || is("gpt-4") || has("-chat-latest") => Thinking::Absent,
        () if has("-pro") => Thinking::Own,
        () if is("o1") || is("o3") || is("o4") || (is("gpt-5") && has("codex")) => Thinking::Effort("low"),
        () if is("gpt-5.") || is("gpt-6-sol") || is("gpt-6-luna") || is("gpt-6.1-terra") => Thinking::Effort("none"),
        () if is("gpt-5") => Thinking::Effort("minimal"),
        () if is("gpt-6") => Thinking::Effort("low"),
        () => Thinking::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_is_known_to_be_allowed() {
        use ProviderKind::{LlamaCpp, Ollama, OpenAi, OpenRouter, Vllm};
        let table = [
            (OpenAi, "gpt-4.1-mini", Thinking::Absent),
            (OpenAi, "o3-mini", Thinking::Effort("low")),
            (OpenAi, "gpt-5-nano", Thinking::Effort("minimal")),
            (OpenAi, "gpt-5.1-codex-max", Thinking::Effort("low")),
            (OpenAi, "gpt-5.6-luna", Thinking::Effort("none")),
            (OpenAi, "gpt-5.2-pro", Thinking::Own),
            (OpenAi, "gpt-6-luna", Thinking::Effort("none")),
            (OpenAi, "gpt-6.2-sol", Thinking::Effort("low")),
            (OpenAi, "my-own-model", Thinking::Own),
            (OpenRouter, "openai/gpt-5.4", Thinking::Effort("none")),
            (OpenRouter, "qwen/qwen3-32b", Thinking::Own),
            (Ollama, "qwen3:8b", Thinking::Effort("none")),
            (Ollama, "gpt-oss:20b", Thinking::Effort("low")),
            (Vllm, "Qwen/Qwen3-8B", Thinking::TemplateOff),
            (Vllm, "mistralai/Mistral-7B", Thinking::Own),
            (LlamaCpp, "Qwen3-8B-Q4_K_M.gguf", Thinking::TemplateOff),
        ];
        for (kind, model, expected) in table {
            assert_eq!(Thinking::least(kind, model), expected, "{} {model}", kind.name());
        }
    }
}
