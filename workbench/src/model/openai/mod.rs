//! Models behind the API of chat completions: OpenAI's own, OpenRouter, Ollama, llama.cpp, vLLM, and whatever else speaks
//! it at an address that the user names. `docs/models.md` tells what differs.

mod address;
mod asking;
mod chat;
mod check;
mod complaint;
mod endpoint;
mod programs;
mod reply;
mod request;
mod servers;
mod thinking;
mod usage;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use self::chat::Chat;
use self::endpoint::Endpoint;
use self::request::Conversation;
use self::servers::Server;
use super::access::AccessError;
use super::provider::{Findings, Programmatic, Provider, ProviderKind, ProviderOptions};
use super::types::{Model, ModelError, ModelRequest};

/// A model behind chat completions.
pub struct ChatCompletions {
    name: String,
    endpoint: Arc<Endpoint>,
    code_as_text: bool,
}

impl ChatCompletions {
    /// The model `id` of a provider; nothing for a provider that speaks another API. Nothing is sent yet.
    ///
    /// # Errors
    /// When the key that is needed is missing, or the address, the key or the folder of the trace is no such thing.
    pub fn of(kind: ProviderKind, id: &str, options: &ProviderOptions) -> Result<Option<Self>, AccessError> {
        let Some(server) = Server::of(kind) else { return Ok(None) };
        let endpoint = Arc::new(Endpoint::new(kind, server, id, options)?);
        Ok(Some(Self { name: format!("{}:{id}", kind.name()), endpoint, code_as_text: options.code_as_text }))
    }
}

#[async_trait]
impl Provider for ChatCompletions {
    fn name(&self) -> &str {
        &self.name
    }

    /// `thinking`; `caching`, which these servers do as they like; `address`, where it is not the provider's own.
    fn settings(&self) -> BTreeMap<String, String> {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let named = self.endpoint.bases().next().filter(|_| self.endpoint.is_named);
        let mut settings = BTreeMap::from([
            setting("thinking", self.endpoint.thinking.setting()),
            setting("caching", "the server's own"),
        ]);
        settings.extend(named.map(|base| setting("address", base.as_str())));
        settings
    }

    fn tells_costs(&self) -> bool {
        self.endpoint.server.tells_costs
    }

    /// OpenAI's Responses API has it, and what a user puts in its place may.
    async fn programmatic(&self) -> Result<Programmatic, ModelError> {
        Ok(match self.endpoint.kind {
            ProviderKind::OpenAi => Programmatic::Supported,
            _ => Programmatic::Unsupported("its API has no programmatic tool calling".to_owned()),
        })
    }

    async fn check(&self) -> Result<Findings, ModelError> {
        check::check(&self.endpoint, self.code_as_text).await
    }

    fn open(&self) -> Box<dyn Model> {
        Box::new(Chat::new(Arc::clone(&self.endpoint)))
    }

    /// Only llama.cpp counts without serving.
    async fn count(&self, request: ModelRequest<'_>) -> Result<Option<u64>, ModelError> {
        if self.endpoint.kind != ProviderKind::LlamaCpp {
            return Ok(None);
        }
        let body = Conversation::default().body(&request, self.endpoint.model(), &self.endpoint.form());
        let path = format!("{}/input_tokens", endpoint::PATH);
        let answer = self.endpoint.exchange().await.post(&path, body, request.until, &mut Vec::new()).await?;
        let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        Ok(document["input_tokens"].as_u64().filter(|_| answer.status == 200))
    }
}
