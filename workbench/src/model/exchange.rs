//! Requests to a provider over HTTP: retried where that helps, bounded in time and size, traced without secrets.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Url};

pub use super::access::secret;
pub use super::answer::Answer;
use super::trace::Trace;
use super::types::{ModelError, Retry};
use crate::printer::{self, line};
use crate::web::growing_waits;

/// How patient the workbench is with a provider. Source: the policy of the providers' own client libraries, with more
/// tries, since a run that fails here is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often one request is made at most.
    pub tries: usize,
    /// The first wait; each later one is twice as long, and up to as much again is added at random.
    pub first_wait: Duration,
    /// The longest wait, before the random part. A provider that asks for more than [`Self::longest_asked`] is given up.
    pub longest_wait: Duration,
    /// The longest wait a provider may ask for.
    pub longest_asked: Duration,
    /// The longest that one answer may take: a local model may have to be loaded first.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries: 6,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(16),
            longest_asked: Duration::from_secs(120),
            answer: Duration::from_secs(600),
        }
    }
}

impl Patience {
    /// The waits between tries, in order.
    pub(super) fn waits(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        growing_waits(self.tries, self.first_wait, self.longest_wait)
    }
}

/// Most tries of what is asked before the first run.
pub(super) const TRIES_OF_A_LOOK: usize = 3;

/// How long a server may take to say what it is, and to be left alone before it does.
const FIRST_SIGN: Duration = Duration::from_secs(10);

/// Bytes of an answer: far more than any model writes in one turn.
const LONGEST_ANSWER: usize = 32 << 20;

/// Letters of the shortest key that is looked for in answers.
const SHORTEST_SECRET: usize = 16;

/// Stands where a secret was.
pub(super) const HIDDEN: &str = "(hidden)";

/// The way to one provider.
#[derive(Debug)]
pub struct Exchange {
    client: Client,
    base: Url,
    headers: HeaderMap,
    /// The secrets in them, which nothing that a server sends back may carry on.
    secrets: Vec<String>,
    patience: Patience,
    trace: Option<Arc<Trace>>,
    /// Whether somebody waits for the answer before anything else is seen to happen.
    is_look: bool,
}

/// Why a try came to nothing.
struct Fault {
    reason: String,
    /// Whether another try may end otherwise.
    may_pass: bool,
}

impl Exchange {
    /// A way to the API below `base`, whose path is kept; `headers` go with every request, and those that hold a secret
    /// are marked as sensitive.
    ///
    /// # Errors
    /// When no HTTP client can be made, which is a text for people.
    pub fn new(base: Url, headers: HeaderMap, patience: Patience, trace: Option<Arc<Trace>>) -> Result<Self, String> {
        crate::web::use_ring();
        let mut builder = Client::builder()
            .user_agent(concat!("workbench/", env!("CARGO_PKG_VERSION")))
            // A key must not follow a redirect to another host.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(Duration::from_secs(15));
        if base.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        if is_local(&base) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| format!("no HTTP client could be made: {}", innermost(&error)))?;
        Ok(Self { client, base, secrets: secrets(&headers), headers, patience, trace, is_look: false })
    }

    /// The way to an address of the same server for what is asked before the first run: in a few tries and a few seconds, and
    /// a server that keeps one waiting is told of.
    pub(super) fn look(&self, base: Url, tries: usize) -> Self {
        let patience = Patience {
            tries: self.patience.tries.min(tries),
            answer: self.patience.answer.min(FIRST_SIGN),
            longest_asked: FIRST_SIGN,
            ..self.patience
        };
        Self {
            client: self.client.clone(),
            base,
            headers: self.headers.clone(),
            secrets: self.secrets.clone(),
            patience,
            trace: self.trace.clone(),
            is_look: true,
        }
    }

    /// The address below which all requests go.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Whether what is sent, the key included, can be read on the way.
    pub fn sends_openly(&self) -> bool {
        self.base.scheme() == "http" && !is_local(&self.base)
    }

    /// The address of `path` below the base, for error texts, too.
    pub fn address(&self, path: &str) -> Url {
        let mut address = self.base.clone();
        address.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        address
    }

    /// Asks for `path` below the base.
    ///
    /// # Errors
    /// When no answer came in the patience there is.
    pub async fn get(&self, path: &str, until: Option<Instant>) -> Result<Answer, ModelError> {
        self.ask(Method::GET, path, None, until, &mut Vec::new()).await
    }

    /// Sends a JSON document to `path` below the base; each retry is noted in `retries` before its wait.
    ///
    /// # Errors
    /// When no answer came in the patience there is, or before `until`.
    pub async fn post(
        &self,
        path: &str,
        body: Bytes,
        until: Option<Instant>,
        retries: &mut Vec<Retry>,
    ) -> Result<Answer, ModelError> {
        self.ask(Method::POST, path, Some(body), until, retries).await
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        until: Option<Instant>,
        retries: &mut Vec<Retry>,
    ) -> Result<Answer, ModelError> {
        let mut waits = self.patience.waits().take(self.patience.tries.saturating_sub(1));
        let mut was_misread = false;
        loop {
            let time = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if time.is_zero() {
                return Err(ModelError::OutOfTime);
            }
            let outcome = self.attempt(&method, path, body.clone(), time.min(self.patience.answer)).await;
            let (cause, asked) = match &outcome {
                Ok(answer) if answer.may_pass() => (answer.told(), answer.asked_wait()),
                Ok(answer) if answer.status == 200 && method == Method::POST => match answer.misread() {
                    None => return outcome.map_err(|fault| self.unreachable(path, &fault.reason)),
                    Some(problem) if was_misread => {
                        return Err(ModelError::BadAnswer(format!("{}: {problem}", self.address(path))));
                    }
                    Some(problem) => {
                        was_misread = true;
                        (problem, None)
                    }
                },
                Err(fault) if fault.may_pass => (fault.reason.clone(), None),
                _ => return outcome.map_err(|fault| self.unreachable(path, &fault.reason)),
            };
            let wait =
                waits.next().map(|wait| asked.unwrap_or(wait)).filter(|wait| *wait <= self.patience.longest_asked);
            if until.is_some_and(|until| Instant::now() + wait.unwrap_or_default() >= until) {
                return Err(ModelError::OutOfTime);
            }
            let Some(wait) = wait else {
                return outcome.map_err(|fault| self.unreachable(path, &fault.reason));
            };
            if self.is_look {
                printer::note(&format!("{} is asked again: {}", self.address(path), line(&cause)));
            }
            retries.push(Retry { cause, wait_seconds: wait.as_secs_f64() });
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, method: &Method, path: &str, body: Option<Bytes>, time: Duration) -> Result<Answer, Fault> {
        let address = self.address(path);
        let mut request = self.client.request(method.clone(), address.clone()).headers(self.headers.clone());
        let number = self.trace.as_ref().map(|trace| trace.request(method, &address, &self.headers, body.as_deref()));
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let outcome = match tokio::time::timeout(time, receive(request)).await {
            Ok(outcome) => outcome.map(|answer| self.without_secrets(answer)),
            Err(_) => {
                Err(Fault { reason: format!("no whole answer within {} seconds", time.as_secs()), may_pass: true })
            }
        };
        if let (Some(trace), Some(number)) = (&self.trace, number) {
            match &outcome {
                Ok(answer) => trace.answer(number, answer.status, &answer.headers, &answer.body),
                Err(fault) => trace.fault(number, &fault.reason),
            }
        }
        outcome
    }

    /// The answer without our key: some servers repeat it in their words, which end up in errors and files.
    fn without_secrets(&self, mut answer: Answer) -> Answer {
        for secret in self.secrets.iter().map(String::as_bytes) {
            if let Some(body) = without(&answer.body, secret) {
                answer.body = body.into();
            }
            for value in answer.headers.values_mut().filter(|value| without(value.as_bytes(), secret).is_some()) {
                *value = HeaderValue::from_static(HIDDEN);
            }
        }
        answer
    }

    fn unreachable(&self, path: &str, reason: &str) -> ModelError {
        ModelError::Unreachable(format!("{} could not be asked: {reason}", self.address(path)))
    }
}

/// What is secret in headers: the last word of each value that is marked so, without `Bearer`. Short ones are what
/// servers on this machine are given, such as `token`, and are words of any answer.
fn secrets(headers: &HeaderMap) -> Vec<String> {
    let marked = headers.values().filter(|value| value.is_sensitive()).filter_map(|value| value.to_str().ok());
    let words = marked.filter_map(|value| value.rsplit(' ').next());
    words.filter(|word| word.len() >= SHORTEST_SECRET).map(str::to_owned).collect()
}

/// The text with each `secret` hidden; nothing where there is none.
fn without(text: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let (mut clean, mut rest) = (Vec::new(), 0);
    let mut place = 0;
    while place < text.len() {
        match length_of(secret, &text[place..]) {
            Some(length) => {
                clean.extend_from_slice(&text[rest..place]);
                clean.extend_from_slice(HIDDEN.as_bytes());
                place += length;
                rest = place;
            }
            None => place += 1,
        }
    }
    (rest > 0).then(|| [&clean, &text[rest..]].concat())
}

/// How many bytes `secret` takes at the beginning of a text, as it is or with escapes of JSON, in which some servers write
/// `/`, `+` and others; nothing where it does not stand there.
fn length_of(secret: &[u8], text: &[u8]) -> Option<usize> {
    secret.iter().try_fold(0, |length, letter| {
        let rest = &text[length..];
        let escape = match rest {
            [b'\\', b'u', digits @ ..] => digits
                .get(..4)
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .filter(|code| *code == u32::from(*letter))
                .map(|_| 6),
            [b'\\', escaped @ (b'/' | b'"' | b'\\'), ..] if escaped == letter => Some(2),
            _ => None,
        };
        let plain = || rest.first().filter(|first| *first == letter).map(|_| 1);
        escape.or_else(plain).map(|more| length + more)
    })
}

/// Reads the whole answer, bounded.
async fn receive(request: reqwest::RequestBuilder) -> Result<Answer, Fault> {
    let broken = |error: &reqwest::Error| Fault { reason: innermost(error), may_pass: !is_certificate(error) };
    let mut response = request.send().await.map_err(|error| broken(&error))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            let reason = format!("the answer is longer than {} MB", LONGEST_ANSWER >> 20);
            return Err(Fault { reason, may_pass: false });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, body: body.freeze() })
}

/// Whether an address is on this machine, where no proxy leads.
fn is_local(base: &Url) -> bool {
    match base.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A certificate that is not trusted now is not trusted a second later.
fn is_certificate(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.is::<rustls::Error>())
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// The innermost words: the outer ones only repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(String::new, |cause| cause.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_kept_waiting_before_the_first_run() {
        let address: Url = "http://127.0.0.1/v1".parse().unwrap();
        let quick = Patience { tries: 2, answer: Duration::from_millis(50), ..Patience::default() };
        for (patience, tries, seconds) in [(Patience::default(), 3, 10.0), (quick, 2, 0.05)] {
            let way = Exchange::new(address.clone(), HeaderMap::new(), patience, None).unwrap();
            let look = way.look(address.clone(), TRIES_OF_A_LOOK).patience;
            assert_eq!((look.tries, look.answer.as_secs_f64()), (tries, seconds));
            assert_eq!(look.longest_asked, Duration::from_secs(10));
        }
    }

    #[test]
    fn a_secret_is_hidden_however_it_is_written() {
        let hidden = |text: &[u8]| without(text, b"sk-a/b+c").map(|text| String::from_utf8_lossy(&text).into_owned());
        let table: &[(&[u8], Option<&str>)] = &[
            (b"", None),
            (b"sk-a/b+", None),
            (b"sk-a/b+C", None),
            (b"\\u00", None),
            (b"sk-a/b+c", Some("(hidden)")),
            (b"<sk-a/b+csk-a/b+c>", Some("<(hidden)(hidden)>")),
            (br"a key sk-a\/b+c.", Some("a key (hidden).")),
            (br"sk\u002Da\u002fb\u002bc", Some("(hidden)")),
            (br"\u0073\u006b\u002d\u0061\u002f\u0062\u002b\u0063", Some("(hidden)")),
            (b"\xffsk-a/b+c", Some("\u{fffd}(hidden)")),
        ];
        for (text, expected) in table {
            assert_eq!(hidden(text).as_deref(), *expected, "{}", String::from_utf8_lossy(text));
        }
    }
}
