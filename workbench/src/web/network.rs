//! One request on the wire: paced, redirected only where it is allowed, bounded in time and size.

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{RequestBuilder, Response};
use tokio::time::{Instant, sleep, timeout};

use super::WebError;
use super::address::Address;
use super::doors::{Doors, PrivateName};
use super::entry::Entry;
use super::headers::{HeaderError, Headers};
use super::pace::Pacer;
use super::policy::{Policy, Target};
use super::proxy;
use super::retry::{RetryPolicy, is_transient, retry_after};
use super::tally::Tally;
use super::words::api_message;
use crate::domain::manifest::ApiSection;

/// Redirects followed for one request.
const HOPS: usize = 5;
/// Bytes read of the body of an error status.
const ERROR_BYTES: usize = 1 << 20;
/// Addresses given up in a row until the API counts as down, and each address is asked once only.
const PATIENCE: usize = 3;

/// The way to the API of one domain.
pub(super) struct Network {
    policy: Policy,
    pacer: Pacer,
    retry: RetryPolicy,
    retry_403: bool,
    doors: Doors,
    headers: Headers,
    request_time: Duration,
    body_bytes: usize,
    /// Addresses given up in a row.
    given_up: AtomicUsize,
}

/// What came back, of whatever status.
struct Received {
    status: u16,
    content_type: String,
    retry_after: Option<Duration>,
    body: Bytes,
}

/// Why nothing usable came back.
struct Fault {
    error: WebError,
    kind: FaultKind,
}

enum FaultKind {
    /// Another try would end the same.
    Final,
    /// No connection could be made.
    Connect,
    /// The answer broke off or did not come in time.
    Broken,
}

/// An outcome that may be better next time.
struct Trouble {
    /// `Retry-After`, or nothing.
    asked_wait: Duration,
    /// How often to try at most.
    tries: usize,
}

impl Network {
    pub(super) fn new(api: &ApiSection, policy: Policy, retry: RetryPolicy) -> Result<Self, HeaderError> {
        let headers = Headers::new(&api.headers)?;
        // Said before the first request; each is checked again when its secrets are read.
        policy.routed_to().try_for_each(|target| headers.check(target))?;
        Ok(Self {
            pacer: Pacer::new(Duration::from_millis(api.pace.gap_ms), api.pace.concurrency),
            retry,
            retry_403: api.retry_403,
            doors: Doors::new(policy.public_names()),
            headers,
            request_time: Duration::from_secs(api.request_seconds),
            body_bytes: usize::try_from(api.body_mb.saturating_mul(1 << 20)).unwrap_or(usize::MAX),
            given_up: AtomicUsize::new(0),
            policy,
        })
    }

    /// Asks for `address` until there is a final answer or patience ends; counts each request in `tally`.
    pub(super) async fn ask(&self, address: &Address, tally: &Tally) -> Result<Entry, WebError> {
        let outcome = self.tried(address, tally).await;
        tally.settled(address.key());
        outcome
    }

    async fn tried(&self, address: &Address, tally: &Tally) -> Result<Entry, WebError> {
        let began = Instant::now();
        let is_down = self.given_up.load(Ordering::Relaxed) >= PATIENCE;
        let mut waits = self.retry.waits();
        let mut tries = 0;
        loop {
            tries += 1;
            let outcome = self.attempt(address, tally).await;
            let Some(trouble) = self.trouble(&outcome) else {
                self.given_up.store(0, Ordering::Relaxed);
                return finish(outcome, tries);
            };
            let wait = waits.next().map(|wait| wait.max(trouble.asked_wait));
            let may_wait = !is_down && tries < trouble.tries;
            match wait.filter(|wait| may_wait && wait.saturating_add(began.elapsed()) <= self.retry.total) {
                Some(wait) => {
                    tally.failed(address.key(), &failure(address, &outcome));
                    sleep(wait).await;
                }
                None => {
                    self.given_up.fetch_add(1, Ordering::Relaxed);
                    return finish(outcome, tries);
                }
            }
        }
    }

    /// What speaks for another try, when something does.
    fn trouble(&self, outcome: &Result<Received, Fault>) -> Option<Trouble> {
        let (asked_wait, tries) = match outcome {
            Ok(answer) if is_transient(answer.status, self.retry_403) => {
                (answer.retry_after.unwrap_or_default(), self.retry.tries)
            }
            Err(Fault { kind: FaultKind::Broken, .. }) => (Duration::ZERO, self.retry.tries),
            Err(Fault { kind: FaultKind::Connect, .. }) => (Duration::ZERO, self.retry.connect_tries),
            _ => return None,
        };
        Some(Trouble { asked_wait, tries })
    }

    async fn attempt(&self, address: &Address, tally: &Tally) -> Result<Received, Fault> {
        let _slot = self.pacer.slot().await;
        let request = self.prepare(address, address)?;
        let start = self.pacer.start().await;
        tally.asked(address.key());
        match timeout(self.request_time, self.follow(address, request, start, tally)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let reason = format!("no complete answer within {} seconds", self.request_time.as_secs());
                Err(Fault { error: unreachable(address, reason), kind: FaultKind::Broken })
            }
        }
    }

    /// Sends a request that may start now, and follows its redirects, each of which must be allowed
    /// and is paced.
    async fn follow(
        &self,
        address: &Address,
        mut request: RequestBuilder,
        mut start: Instant,
        tally: &Tally,
    ) -> Result<Received, Fault> {
        let mut hop = address.clone();
        for _ in 0..=HOPS {
            tally.sent();
            let response = request.send().await.map_err(|error| self.broken_request(address, &hop, &error))?;
            self.pacer.answered(start);
            let Some(location) = redirect(&response) else { return self.receive(address, response).await };
            let next = hop.redirected(&location).and_then(|next| self.policy.admit(next));
            let next = next.map_err(|error| refused_redirect(&hop, error))?;
            request = self.prepare(address, &next)?;
            hop = next;
            start = self.pacer.start().await;
        }
        Err(bad_answer(address, format!("redirected more than {HOPS} times, last to {}", hop.shown())))
    }

    /// All that can be done before a request's start, so that the gap holds on the wire.
    fn prepare(&self, address: &Address, hop: &Address) -> Result<RequestBuilder, Fault> {
        let target = self.policy.target(hop);
        let client = self.doors.client(target.door).map_err(|error| {
            Fault::last(unreachable(address, format!("no HTTP client could be made: {}", root_cause(&error))))
        })?;
        let headers =
            self.headers.read(&target.url).map_err(|error| Fault::last(unreachable(address, error.to_string())))?;
        Ok(client.get(target.url).headers(headers))
    }

    fn broken_request(&self, address: &Address, hop: &Address, error: &reqwest::Error) -> Fault {
        if let Some(private) = causes(error).find_map(|cause| cause.downcast_ref::<PrivateName>()) {
            return Fault::last(unreachable(hop, private.to_string()));
        }
        let certificate = causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>());
        let kind = match (error.is_connect(), certificate) {
            (_, Some(_)) => FaultKind::Final,
            (true, None) => FaultKind::Connect,
            (false, None) => FaultKind::Broken,
        };
        let mut reason = if error.is_timeout() { "no connection in time".to_owned() } else { root_cause(error) };
        let Target { url, door } = self.policy.target(hop);
        if error.is_connect() && door.proxy {
            reason.push_str(&proxy::hint(url.scheme()).unwrap_or_default());
        }
        Fault { error: unreachable(address, reason), kind }
    }

    /// Reads the body, decompressed, up to the limit.
    async fn receive(&self, address: &Address, mut response: Response) -> Result<Received, Fault> {
        let status = response.status().as_u16();
        let limit = if status == 200 { self.body_bytes } else { ERROR_BYTES };
        let content_type = header(response.headers(), CONTENT_TYPE).unwrap_or_default();
        let retry_after =
            header(response.headers(), RETRY_AFTER).and_then(|value| retry_after(&value, SystemTime::now()));
        // What was asked for is decoded and no longer named here.
        if let Some(encoding) = header(response.headers(), CONTENT_ENCODING).filter(|name| name != "identity")
            && status == 200
        {
            return Err(bad_answer(address, format!("answered in the encoding `{encoding}`, which was not asked for")));
        }
        let mut body = BytesMut::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() <= limit => body.extend_from_slice(&chunk),
                Ok(Some(_)) if status == 200 => {
                    let reason = format!("answered with more than {} MB (`[api] body_mb`)", limit >> 20);
                    return Err(bad_answer(address, reason));
                }
                // What an error status says is worth having even when it is too long or breaks off.
                Ok(Some(_)) | Ok(None) => break,
                Err(_) if status != 200 => break,
                Err(error) => {
                    let reason =
                        format!("sent an answer that broke off after {} bytes: {}", body.len(), root_cause(&error));
                    return Err(Fault { kind: FaultKind::Broken, ..bad_answer(address, reason) });
                }
            }
        }
        Ok(Received { status, content_type, retry_after, body: body.freeze() })
    }
}

impl Fault {
    fn last(error: WebError) -> Self {
        Self { error, kind: FaultKind::Final }
    }
}

/// What an outcome that is tried again would have told.
fn failure(address: &Address, outcome: &Result<Received, Fault>) -> WebError {
    match outcome {
        Ok(answer) => {
            WebError::Status { url: address.shown(), status: answer.status, message: api_message(&answer.body) }
        }
        Err(fault) => fault.error.clone(),
    }
}

/// The outcome for the caller, with the number of tries where there were several.
fn finish(outcome: Result<Received, Fault>, tries: usize) -> Result<Entry, WebError> {
    match outcome {
        Ok(answer) => Ok(Entry::checked(answer.status, answer.content_type, answer.body).tried(tries)),
        Err(Fault { mut error, .. }) => {
            if let WebError::Unreachable { reason, .. } | WebError::BadAnswer { reason, .. } = &mut error
                && tries > 1
            {
                reason.push_str(&format!(" (tried {tries} times)"));
            }
            Err(error)
        }
    }
}

fn redirect(response: &Response) -> Option<String> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    if is_redirect { header(response.headers(), LOCATION) } else { None }
}

/// Where it leads must not be asked for: that is the answer's fault, not the asker's.
fn refused_redirect(hop: &Address, error: WebError) -> Fault {
    match error {
        WebError::NotAllowed { url, reason } => {
            bad_answer(hop, format!("redirects to {url}, which is not allowed: {reason}"))
        }
        other => Fault::last(other),
    }
}

fn header(headers: &HeaderMap, name: reqwest::header::HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn unreachable(address: &Address, reason: String) -> WebError {
    WebError::Unreachable { url: address.shown(), reason }
}

fn bad_answer(address: &Address, reason: String) -> Fault {
    Fault::last(WebError::BadAnswer { url: address.shown(), reason })
}

/// The chain of an error, also through the errors that `io::Error` wraps and hides.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// The innermost words: the outer ones only repeat the address.
fn root_cause(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(String::new, |cause| cause.to_string())
}
