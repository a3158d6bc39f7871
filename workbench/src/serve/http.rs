//! The server's addresses: who may ask, in which version, and what answers look like on the wire.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request as HttpRequest, Response, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::body;
use super::refusal::Refusal;
use super::request::{Models, Request};
use super::turn::{Reply, Work};
use super::{Server, VERSIONS, identifier};
use crate::model::types::ModelRequest;

/// When the models of this server were made, which the API tells of each: it has no date.
const MADE: &str = "1970-01-01T00:00:00Z";

pub(super) fn routes(server: Arc<Server>) -> Router {
    Router::new()
        .route("/v1/messages", post(create))
        .route("/v1/messages/count_tokens", post(count))
        .route("/v1/models", get(list))
        .route("/v1/models/{id}", get(model))
        .fallback(nowhere)
        .method_not_allowed_fallback(otherwise)
        .with_state(server)
}

/// An answer and what the log says of it.
struct Answer {
    status: u16,
    body: Value,
    told: String,
}

impl Answer {
    fn good(body: Value, told: impl Into<String>) -> Self {
        Self { status: 200, body, told: told.into() }
    }

    fn refused(refusal: Refusal) -> Self {
        let Refusal { status, kind, message } = refusal;
        let body = json!({ "type": "error", "error": { "type": kind, "message": message } });
        Self { status, body, told: format!("{kind}: {message}") }
    }

    fn on_the_wire(self) -> Response<Body> {
        let id = identifier("req");
        let Self { status, mut body, .. } = self;
        if status != 200 {
            body["request_id"] = id.clone().into();
        }
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert("request-id", id);
        }
        if status == 529 {
            headers.insert("retry-after", HeaderValue::from_static("1"));
        }
        response
    }
}

/// Tells the log of a request, also of one whose client went away.
struct Told<'a> {
    server: &'a Server,
    what: String,
    began: Instant,
    told: Option<String>,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        let seconds = self.began.elapsed().as_secs_f64();
        let told = self.told.as_deref().unwrap_or("the client went away; what ran for it was ended");
        (self.server.log)(&format!("{} {seconds:.3} s {told}", self.what));
    }
}

/// Serves one request.
async fn served<'a>(
    server: &'a Server,
    what: &str,
    headers: &HeaderMap,
    work: impl AsyncFnOnce(usize, &str) -> Result<Answer, Refusal>,
) -> Response<Body> {
    let mut log = Told { server, what: what.to_owned(), began: Instant::now(), told: None };
    let answer = async {
        let owner = owner(server, headers)?;
        let version = version(headers)?;
        work(owner, version).await
    };
    let answer = tokio::select! {
        answer = answer => answer,
        () = server.ending.cancelled() => Err(Refusal::ending()),
    };
    let answer = answer.unwrap_or_else(Answer::refused);
    log.told = Some(format!("{} {}", answer.status, answer.told));
    answer.on_the_wire()
}

async fn create(State(server): State<Arc<Server>>, request: HttpRequest<Body>) -> Response<Body> {
    let headers = request.headers().clone();
    let (models, server) = (Arc::clone(&server), &*server);
    served(server, "POST /v1/messages", &headers, async |owner, version| {
        let body = body::receive(request, &server.memory, server.limits.body).await?;
        let _room = server.room()?;
        let version = version.to_owned();
        let (request, _share) = body.read(move |body| Request::read(body, &version, &*models)).await?;
        let model = request.model.clone();
        let reply = Work::new(server, request, owner)?.run(&*server.backend).await?;
        let told = format!(
            "{} cells={}{} in={} out={}{}",
            reply.stop_reason,
            reply.cells,
            if reply.failed_cells > 0 { format!(" failed={}", reply.failed_cells) } else { String::new() },
            reply.usage.tokens_read(),
            reply.usage.output_tokens,
            reply.container.as_deref().map(|id| format!(" {id}")).unwrap_or_default()
        );
        Ok(Answer::good(message(server, &model, reply), told))
    })
    .await
}

async fn count(State(server): State<Arc<Server>>, request: HttpRequest<Body>) -> Response<Body> {
    let headers = request.headers().clone();
    let (models, server) = (Arc::clone(&server), &*server);
    served(server, "POST /v1/messages/count_tokens", &headers, async |_, _| {
        let body = body::receive(request, &server.memory, server.limits.body).await?;
        let _room = server.room()?;
        let (conversation, _share) = body.read(move |body| Request::read_to_count(body, &*models)).await?;
        let counted = server.backend.count(ModelRequest {
            system: &conversation.system,
            tools: &conversation.tools,
            messages: &conversation.messages,
            max_tokens: 1,
            parallel_calls: true,
            until: None,
        });
        let tokens = counted.await.map_err(|error| Refusal::of_the_model(&error))?;
        Ok(Answer::good(json!({ "input_tokens": tokens }), format!("{tokens} tokens")))
    })
    .await
}

async fn list(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response<Body> {
    let server = &*server;
    served(server, "GET /v1/models", &headers, async |_, _| {
        let _room = server.room()?;
        let data: Vec<Value> = server.models.iter().map(|id| description(server, id)).collect();
        let ends = [server.models.first(), server.models.last()];
        let body = json!({ "data": data, "has_more": false, "first_id": ends[0], "last_id": ends[1] });
        Ok(Answer::good(body, ""))
    })
    .await
}

async fn model(
    State(server): State<Arc<Server>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response<Body> {
    let server = &*server;
    served(server, "GET /v1/models/ID", &headers, async |_, _| {
        let _room = server.room()?;
        let Path(id) = id.map_err(|_| Refusal::nowhere())?;
        match server.calls_from_code(&id) {
            Some(_) => Ok(Answer::good(description(server, &id), id)),
            None => Err(Refusal::no_model(&id)),
        }
    })
    .await
}

async fn nowhere(State(server): State<Arc<Server>>, request: HttpRequest<Body>) -> Response<Body> {
    served(&server, &line_of(&request), request.headers(), async |_, _| Err(Refusal::nowhere())).await
}

async fn otherwise(State(server): State<Arc<Server>>, request: HttpRequest<Body>) -> Response<Body> {
    served(&server, &line_of(&request), request.headers(), async |_, _| Err(Refusal::method())).await
}

/// What a request asks for, as the log has it.
fn line_of(request: &HttpRequest<Body>) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

/// The number of the key that asks.
fn owner(server: &Server, headers: &HeaderMap) -> Result<usize, Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let Some(key) = text("x-api-key").or(bearer) else {
        return Err(Refusal::unauthorized("x-api-key header is required"));
    };
    // All of them and all their letters are compared, so that the time it takes tells nothing.
    let known = server.tokens.iter().enumerate().filter(|(_, token)| alike(token, key));
    let place = known.fold(None, |_, (place, _)| Some(place));
    place.ok_or_else(|| Refusal::unauthorized("invalid x-api-key"))
}

fn alike(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && differences == 0
}

fn version(headers: &HeaderMap) -> Result<&'static str, Refusal> {
    let name = HeaderName::from_static("anthropic-version");
    let Some(given) = headers.get(name) else {
        return Err(Refusal::invalid("anthropic-version: header is required"));
    };
    let known = VERSIONS.into_iter().find(|version| given.as_bytes() == version.as_bytes());
    known.ok_or_else(|| {
        let given = String::from_utf8_lossy(given.as_bytes());
        Refusal::invalid(format!("anthropic-version: \"{given}\" is not a valid version"))
    })
}

/// The answer as the API has it.
fn message(server: &Server, model: &str, reply: Reply) -> Value {
    let Reply { content, stop_reason, stop_details, container, usage, cells, failed_cells: _ } = reply;
    let details = stop_details
        .filter(|_| stop_reason == "refusal")
        .map(|explanation| json!({ "type": "refusal", "category": null, "explanation": explanation }));
    json!({
        "id": identifier("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "stop_details": details,
        "container": container.map(|id| json!({ "id": id, "expires_at": server.containers.expires() })),
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
            "cache_read_input_tokens": usage.cache_read_tokens,
            // The counters of the web tools, which are not here, have to be there for the types of clients.
            "server_tool_use": (cells > 0).then(|| {
                json!({ "code_execution_requests": cells, "web_search_requests": 0, "web_fetch_requests": 0 })
            }),
            "service_tier": "standard",
        },
    })
}

fn description(server: &Server, id: &str) -> Value {
    let programmatic = server.calls_from_code(id) == Some(true);
    json!({
        "type": "model",
        "id": id,
        "display_name": id,
        "created_at": MADE,
        "lifecycle": "active",
        "capabilities": {
            "code_execution": { "supported": programmatic },
            "server_tools": { "supported": true, "code_execution": { "supported": true } },
        },
    })
}
