//! One server, asked for one model: what all conversations with it share.

use std::sync::{Mutex, PoisonError};

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, LOCATION};
use tokio::sync::OnceCell;

use super::address;
use super::complaint::Complaint;
use super::request::{Form, Parallel};
use super::servers::{Cap, Server};
use super::thinking::Thinking;
use crate::env::OPENAI_BASE_URL;
use crate::model::access::{self, AccessError};
use crate::model::exchange::{Answer, Exchange, Patience, TRIES_OF_A_LOOK};
use crate::model::provider::{ProviderKind, ProviderOptions};
use crate::model::trace::Trace;
use crate::model::types::ModelError;

/// Where a conversation is sent, below the base.
pub(super) const PATH: &str = "chat/completions";

/// Where a conversation with programs is sent, below the base.
pub(super) const PROGRAMS_PATH: &str = "responses";

/// A server and what was learned of it.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) kind: ProviderKind,
    pub(super) server: Server,
    /// Whether a user or the environment named the address.
    pub(super) is_named: bool,
    model: String,
    has_key: bool,
    /// The ways to the addresses it may have; there is at least one.
    ways: Vec<Exchange>,
    /// Which of them is the one.
    chosen: OnceCell<usize>,
    form: Mutex<Form>,
    /// What is to be said about thinking, whatever the server takes.
    pub(super) thinking: Thinking,
}

impl Endpoint {
    /// A server that is asked for `model`. Nothing is sent yet.
    pub(super) fn new(
        kind: ProviderKind,
        server: Server,
        model: &str,
        options: &ProviderOptions,
    ) -> Result<Self, AccessError> {
        let named = named_address(kind, options)?;
        let key = access::variable(server.key)?;
        if key.is_none() && server.needs_key && named.is_none() {
            return Err(AccessError::NoKey(server.key, format!("{}:{model}", kind.name())));
        }
        let has_key = key.is_some();
        let key =
            key.map(|key| access::secret("Bearer ", &key, server.key)).transpose().map_err(AccessError::BadKey)?;
        let headers: HeaderMap = key.map(|key| (AUTHORIZATION, key)).into_iter().collect();
        let is_named = named.is_some();
        let bases = named.map_or_else(|| own_addresses(&server), |base| Ok(vec![base]))?;
        let cap = Cap::at(bases.first().and_then(Url::host_str));
        let trace = Trace::of(options)?;
        let way = |base: Url| {
            Exchange::new(base, headers.clone(), Patience::default(), trace.clone()).map_err(AccessError::Setup)
        };
        let ways = bases.into_iter().map(way).collect::<Result<_, _>>()?;
        let thinking = Thinking::least(kind, model);
        let form = Form {
            cap,
            cap_is_known: false,
            parallel: if kind == ProviderKind::LlamaCpp { Parallel::Always } else { Parallel::ToForbid },
            thinking,
        };
        Ok(Self {
            kind,
            server,
            is_named,
            model: model.to_owned(),
            has_key,
            ways,
            chosen: OnceCell::new(),
            form: Mutex::new(form),
            thinking,
        })
    }

    /// The id of the model, as the server knows it.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// The way to the server: the first of its addresses at which something answers, looked for once.
    pub(super) async fn exchange(&self) -> &Exchange {
        let look = async {
            if self.ways.len() > 1 {
                for (place, way) in self.ways.iter().enumerate() {
                    if self.look(way, way.base()).get("models", None).await.is_ok() {
                        return place;
                    }
                }
            }
            0
        };
        &self.ways[*self.chosen.get_or_init(|| look).await]
    }

    /// The way to another address of the server for a quick question.
    pub(super) async fn probe(&self, base: &Url) -> Exchange {
        self.look(self.exchange().await, base)
    }

    fn look(&self, way: &Exchange, base: &Url) -> Exchange {
        // What is not there on this machine is not there a second later.
        let tries = if self.server.start.is_some() { 1 } else { TRIES_OF_A_LOOK };
        way.look(base.clone(), tries)
    }

    /// Whether a key that is sent can be read on the way.
    pub(super) fn tells_its_key(&self) -> bool {
        self.has_key && self.ways.iter().any(Exchange::sends_openly)
    }

    /// The addresses it may have.
    pub(super) fn bases(&self) -> impl Iterator<Item = &Url> {
        self.ways.iter().map(Exchange::base)
    }

    /// How requests are written, as far as is known by now.
    pub(super) fn form(&self) -> Form {
        *self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a form that the server took, for all later requests.
    pub(super) fn remember(&self, form: Form) {
        *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form;
    }

    /// An answer that is none.
    pub(super) fn bad_answer(&self, path: &str, problem: &str) -> ModelError {
        ModelError::BadAnswer(format!("the answer of {} {problem}", self.address(path)))
    }

    /// An answer that is a complaint, with a way on where there is one.
    pub(super) fn refused(&self, path: &str, answer: &Answer, complaint: &Complaint) -> ModelError {
        let status = answer.status;
        let moved = answer.headers.get(LOCATION).and_then(|to| to.to_str().ok()).filter(|_| status < 400);
        let said = match (status, moved) {
            (_, Some(to)) => format!("{status}: it is at {to} now; name that address with `--base-url`"),
            (200..300, None) => format!("{status} with an error: {}", complaint.message),
            (_, None) => format!("{status}: {}", complaint.message),
        };
        let message = format!("{} answered {said}{}", self.address(path), self.way_on(path, status, complaint));
        if complaint.is_too_long() {
            return ModelError::TooLong(message);
        }
        ModelError::Refused { status: complaint.status().unwrap_or(status), message }
    }

    /// What helps, to be said behind a complaint.
    pub(super) fn way_on(&self, path: &str, status: u16, complaint: &Complaint) -> String {
        let variable = self.server.key;
        match status {
            401 if self.has_key => format!("; the key in `{variable}` is not accepted"),
            401 => format!("; it wants a key, in the environment variable `{variable}`"),
            404 if path == PROGRAMS_PATH => {
                "; it has no such model, or no Responses API: mode hosted needs both".to_owned()
            }
            404 if self.kind == ProviderKind::Ollama => format!("; `ollama pull {}` gets a model", self.model),
            _ if complaint.is_about_tools() => "; `--code-as text` needs no tool support, in mode code".to_owned(),
            _ => String::new(),
        }
    }

    fn address(&self, path: &str) -> Url {
        self.ways[self.chosen.get().copied().unwrap_or(0)].address(path)
    }
}

/// The address a user or the environment names; `--base-url` wins.
fn named_address(kind: ProviderKind, options: &ProviderOptions) -> Result<Option<Url>, AccessError> {
    let of = |place: &str, text: &str| address::base(text, place).map(Some);
    match &options.base_url {
        Some(text) => of("`--base-url`", text),
        None if kind == ProviderKind::OpenAi => match access::variable(OPENAI_BASE_URL)? {
            Some(text) => of(&format!("`{OPENAI_BASE_URL}`"), &text),
            None => Ok(None),
        },
        None => Ok(None),
    }
}

fn own_addresses(server: &Server) -> Result<Vec<Url>, AccessError> {
    server.addresses.iter().map(|text| address::base(text, text)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// llama.cpp changed its port: whichever answers is the one.
    #[tokio::test]
    async fn the_address_at_which_something_answers_is_taken() {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let somebody = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").unwrap();
        });
        let addresses = [nobody, somebody].map(|at| &*format!("http://{at}/v1").leak()).to_vec().leak();
        let server = Server { addresses, ..Server::of(ProviderKind::LlamaCpp).unwrap() };
        let endpoint = Endpoint::new(ProviderKind::LlamaCpp, server, "m", &ProviderOptions::default()).unwrap();
        assert_eq!(endpoint.exchange().await.base().port(), Some(somebody.port()));
        assert_eq!(endpoint.exchange().await.base().port(), Some(somebody.port()), "it is looked for once");
    }

    #[test]
    fn addresses_that_are_known_are_whole() {
        for kind in ProviderKind::ALL {
            let Some(server) = Server::of(kind) else { continue };
            for (base, text) in own_addresses(&server).unwrap().iter().zip(server.addresses) {
                assert_eq!(base.as_str(), *text);
            }
        }
        let openai = own_addresses(&Server::of(ProviderKind::OpenAi).unwrap()).unwrap();
        assert_eq!(Cap::at(openai[0].host_str()), Cap::MaxCompletionTokens);
    }
}
