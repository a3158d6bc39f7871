//! Whether a server is there, has the model, and can do what the modes need: looked at before the first run.

use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};

use super::address::root;
use super::complaint::Complaint;
use super::endpoint::Endpoint;
use crate::model::answer::on_one_line;
use crate::model::exchange::{Answer, Patience};
use crate::model::provider::{Findings, ProviderKind};
use crate::model::types::ModelError;
use crate::nearest::suggestion;
use crate::printer;

/// Between two looks at a server that loads its model.
const WHILE_LOADING: Duration = Duration::from_millis(500);

/// Looks at the server and at the model.
pub(super) async fn check(endpoint: &Endpoint, code_as_text: bool) -> Result<Findings, ModelError> {
    let base = endpoint.exchange().await.base().clone();
    let mut look = Look { endpoint, root: root(&base), base, code_as_text, findings: Findings::default() };
    if endpoint.kind == ProviderKind::LlamaCpp {
        look.wait_until_loaded().await?;
    }
    let models = look.models().await?;
    look.findings.found.push(format!("{} at {}", endpoint.server.title, look.base));
    if endpoint.tells_its_key() {
        look.findings.warnings.push(format!("the key goes to {} without encryption", look.base));
    }
    match endpoint.kind {
        ProviderKind::Ollama => look.ollama().await?,
        ProviderKind::LlamaCpp => look.llama_cpp(&models),
        ProviderKind::OpenRouter => look.openrouter(&models).await?,
        _ => look.listed(&models)?,
    }
    Ok(look.findings)
}

struct Look<'a> {
    endpoint: &'a Endpoint,
    base: Url,
    root: Url,
    code_as_text: bool,
    findings: Findings,
}

impl Look<'_> {
    /// A llama.cpp server answers while it loads its model, and serves nothing until then.
    async fn wait_until_loaded(&self) -> Result<(), ModelError> {
        let probe = self.endpoint.probe(&self.root).await;
        let mut waits = Patience::default().answer.as_millis() / WHILE_LOADING.as_millis();
        let mut is_told = false;
        loop {
            match probe.get("health", None).await {
                Ok(answer) if answer.status == 503 && waits > 0 => {}
                Ok(answer) if answer.status == 503 => {
                    let minutes = Patience::default().answer.as_secs() / 60;
                    let said = format!("{} still loads its model after {minutes} minutes", self.root);
                    return Err(ModelError::Unreachable(said));
                }
                Ok(_) => return Ok(()),
                Err(error) => return Err(self.absent(&error)),
            }
            if !is_told {
                printer::note(&format!("{} loads its model", self.root));
                is_told = true;
            }
            waits -= 1;
            tokio::time::sleep(WHILE_LOADING).await;
        }
    }

    /// The models that the server lists; nothing where it has no such list.
    async fn models(&self) -> Result<Vec<Value>, ModelError> {
        let answer =
            self.endpoint.probe(&self.base).await.get("models", None).await.map_err(|error| self.absent(&error))?;
        match answer.status {
            200 => {}
            404 | 405 | 501 => return Ok(Vec::new()),
            _ => return Err(self.refused(&answer, "models")),
        }
        let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        Ok(document["data"].as_array().cloned().unwrap_or_default())
    }

    /// Nothing answers: how the server is started, where it is one that the user starts.
    fn absent(&self, error: &ModelError) -> ModelError {
        let server = self.endpoint.server;
        let Some(start) = server.start else { return ModelError::Unreachable(error.to_string()) };
        let places: Vec<&str> = self.endpoint.bases().map(Url::as_str).collect();
        ModelError::Unreachable(format!(
            "no {} answers at {}; start it with `{start}`, or name its address with `--base-url` ({error})",
            server.title,
            places.join(" or "),
        ))
    }

    fn refused(&self, answer: &Answer, path: &str) -> ModelError {
        let (status, complaint) = (answer.status, Complaint::in_body(&answer.body));
        let way_on = self.endpoint.way_on(path, status, &complaint);
        let message = format!("{}/{path} answered {status}: {}{way_on}", self.base, complaint.message);
        ModelError::Refused { status, message }
    }

    /// The model must be on the list of OpenAI and vLLM; a gateway that a user names may serve more than it lists.
    fn listed(&mut self, models: &[Value]) -> Result<(), ModelError> {
        let model = self.endpoint.model();
        let names = names(models);
        if names.contains(&model) {
            self.findings.found.push(format!("model `{model}`"));
            return Ok(());
        }
        if names.is_empty() {
            self.findings.found.push(format!("model `{model}`, and no list of models to find it in"));
            return Ok(());
        }
        let near = suggestion(model, names.iter().copied());
        let missing = format!("{} lists no model `{model}`{near}", self.base);
        if self.endpoint.kind == ProviderKind::OpenAi && self.endpoint.is_named {
            self.findings.warnings.push(missing);
            return Ok(());
        }
        let some =
            if names.len() <= 8 { on_one_line(&format!("; it has {}", names.join(", "))) } else { String::new() };
        Err(ModelError::Refused { status: 404, message: missing + &some })
    }

    async fn ollama(&mut self) -> Result<(), ModelError> {
        let model = self.endpoint.model();
        let probe = self.endpoint.probe(&self.root).await;
        let body = json!({ "model": model }).to_string().into();
        let answer = probe.post("api/show", body, None, &mut Vec::new()).await?;
        // A gateway in front of it may have no such page.
        if answer.status == 404 && Complaint::in_body(&answer.body).message.contains("model") {
            let message = format!("Ollama at {} has no model `{model}`; get it with `ollama pull {model}`", self.root);
            return Err(ModelError::Refused { status: 404, message });
        }
        let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let can: Option<Vec<&str>> =
            document["capabilities"].as_array().map(|list| list.iter().filter_map(Value::as_str).collect());
        match can {
            Some(can) => {
                self.findings.found.push(format!("model `{model}`: {}", can.join(", ")));
                self.tools(can.contains(&"tools"))?;
            }
            None => self.findings.found.push(format!("model `{model}`")),
        }
        self.findings.warnings.push(
            "Ollama reads at most its context length and cuts longer prompts without a word; start it with \
             `OLLAMA_CONTEXT_LENGTH=65536` or more"
                .to_owned(),
        );
        Ok(())
    }

    /// With one model, the server takes any name for it.
    fn llama_cpp(&mut self, models: &[Value]) {
        let (model, names) = (self.endpoint.model(), names(models));
        match names.as_slice() {
            [only] if *only != model => {
                let warning = format!("the server has one model, `{only}`, and answers with it, whatever `{model}` is");
                self.findings.warnings.push(warning);
            }
            _ => self.findings.found.push(format!("model `{model}`")),
        }
    }

    /// The list is public, so the key is looked at by itself.
    async fn openrouter(&mut self, models: &[Value]) -> Result<(), ModelError> {
        let answer = self.endpoint.probe(&self.base).await.get("key", None).await?;
        if matches!(answer.status, 401 | 403) {
            return Err(self.refused(&answer, "key"));
        }
        self.listed(models)?;
        let model = self.endpoint.model();
        let entry = models.iter().find(|entry| entry["id"] == model);
        match entry.and_then(|entry| entry["supported_parameters"].as_array()) {
            Some(parameters) => self.tools(parameters.iter().any(|name| name == "tools")),
            None => Ok(()),
        }
    }

    /// Without tool support only mode code can be run, and only by words.
    fn tools(&mut self, are_supported: bool) -> Result<(), ModelError> {
        let model = self.endpoint.model();
        match (are_supported, self.code_as_text) {
            (true, _) => Ok(()),
            (false, true) => {
                let warning = format!("`{model}` has no tool support: only mode code can be run with it");
                self.findings.warnings.push(warning);
                Ok(())
            }
            (false, false) => {
                let message = format!(
                    "`{model}` has no tool support; `--modes code --code-as text` takes its scripts from its words"
                );
                Err(ModelError::Refused { status: 400, message })
            }
        }
    }
}

fn names(models: &[Value]) -> Vec<&str> {
    models.iter().filter_map(|model| model["id"].as_str()).collect()
}
