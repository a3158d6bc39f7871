//! The rehearsal of mode `hosted`: the domain's scripts behind a server of our own, spoken to over HTTP like a provider.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::JoinHandle;

use crate::domain::manifest::Limits as RunLimits;
use crate::model::anthropic::Anthropic;
use crate::model::exchange::Patience;
use crate::model::provider::{Provider, ProviderOptions};
use crate::model::rehearsal;
use crate::model::types::{Model, ModelError, ModelReply, ModelRequest, Retry};
use crate::sandbox::Sandbox;
use crate::serve::backend::Cells;
use crate::serve::{Limits, Listening, Setup, secret};

/// A model played by cells, for one run. Its server is there from the first request to the end of the run.
pub(super) struct HostedRehearsal {
    setup: Option<Setup>,
    served: Option<Served>,
}

struct Served {
    conversation: Box<dyn Model>,
    server: JoinHandle<()>,
}

impl HostedRehearsal {
    /// Plays these cells in sessions of the sandbox, under the run's limit of memory.
    pub(super) fn new(cells: Vec<String>, sandbox: Arc<dyn Sandbox>, limits: &RunLimits) -> Self {
        let setup = Setup {
            backend: Arc::new(Cells::new(cells)),
            sandbox,
            models: vec![rehearsal::NAME.to_owned()],
            tokens: vec![secret(16)],
            limits: Limits { memory: limits.script_memory_mb.saturating_mul(1024 * 1024), ..Limits::default() },
            log: Box::new(|_| {}),
        };
        Self { setup: Some(setup), served: None }
    }

    async fn serve(setup: Setup) -> Result<Served, ModelError> {
        let failed = |problem: String| ModelError::Rehearsal(format!("its server could not be started: {problem}"));
        let key = setup.tokens.first().cloned().unwrap_or_default();
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listening = Listening::open(any_port, setup).await.map_err(|error| failed(error.to_string()))?;
        let address = listening.address().map_err(|error| failed(error.to_string()))?;
        let base = format!("http://{address}").parse().map_err(|error| failed(format!("{error}")))?;
        let server = tokio::spawn(listening.serve(std::future::pending()));
        let model = Anthropic::new(rehearsal::NAME, &key, &base, &ProviderOptions::default(), Patience::default())
            .map_err(|error| failed(error.to_string()))?;
        Ok(Served { conversation: model.open(), server })
    }
}

#[async_trait]
impl Model for HostedRehearsal {
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        if let Some(setup) = self.setup.take() {
            self.served = Some(Self::serve(setup).await?);
        }
        let Some(served) = &mut self.served else {
            return Err(ModelError::Rehearsal("its server is gone".to_owned()));
        };
        let mut reply = served.conversation.reply(request).await?;
        reply.usage.estimated = true;
        Ok(reply)
    }

    fn deviations(&self) -> Vec<&'static str> {
        self.served.as_ref().map(|served| served.conversation.deviations()).unwrap_or_default()
    }

    fn take_retries(&mut self) -> Vec<Retry> {
        self.served.as_mut().map(|served| served.conversation.take_retries()).unwrap_or_default()
    }
}

impl Drop for Served {
    /// The run is over, and what its cells left behind with it.
    fn drop(&mut self) {
        self.server.abort();
    }
}
