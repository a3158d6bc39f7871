//! The services of one run: what its tools may fetch, save and draw.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, HostRequest, Picture, SavedFile};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::documents::Documents;
use super::evaluate::evaluate;
use super::services::HostServices;
use crate::artifacts::{OutError, OutFolder, PageError, Pages, SheetError, contact_sheet};
use crate::bounded_json::{self, ParseError};
use crate::results::faults::Faults;
use crate::results::format::Fault;
use crate::web::{Expect, WebClient, WebError};

/// Bytes of memory the data of a page may take.
const MAX_DATA: u64 = 128 << 20;

/// Serves a plugin's upcalls with the domain's web client, the run's `out/` and the page templates.
pub struct RunServices {
    web: WebClient,
    out: OutFolder,
    pages: Pages,
    /// What was fetched and not handed over.
    documents: Documents,
    /// Files that could not be written or read.
    faults: Faults,
    /// Where the manifest has an expression, by its text.
    expressions: BTreeMap<String, String>,
}

type Served = Result<(HostReply, Bytes), ToolError>;

#[async_trait]
impl HostServices for RunServices {
    async fn request(&self, call: u64, request: HostRequest, body: Bytes) -> (HostReply, Bytes) {
        self.serve(call, request, body).await.unwrap_or_else(|error| (HostReply::Error(error), Bytes::new()))
    }

    fn call_ended(&self, call: u64) {
        self.documents.forget(call);
    }
}

impl RunServices {
    /// Services for one run: what it fetches goes through `web`, what it saves into `out`.
    pub fn new(web: WebClient, out: OutFolder, pages: Pages) -> Self {
        Self {
            web,
            out,
            pages,
            documents: Documents::default(),
            faults: Faults::default(),
            expressions: BTreeMap::new(),
        }
    }

    /// The same, which says where an expression stands when it fails.
    #[must_use]
    pub fn with_expressions(self, expressions: BTreeMap<String, String>) -> Self {
        Self { expressions, ..self }
    }

    /// What tools have met that is neither their fault nor their caller's: of the API and of the disk.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = self.web.faults();
        faults.extend(self.faults.met());
        faults
    }

    async fn serve(&self, call: u64, request: HostRequest, body: Bytes) -> Served {
        match request {
            HostRequest::GetJson { path, query, .. } => {
                let answer = self.web.get(&path, &query, Expect::Json).await.map_err(web_error)?;
                Ok((HostReply::Json, answer.body))
            }
            HostRequest::GetBytes { path, query } => {
                let answer = self.web.get(&path, &query, Expect::Bytes).await.map_err(web_error)?;
                let length = answer.body.len() as u64;
                let handle = self.documents.keep(call, answer.body)?;
                Ok(bare(HostReply::Bytes { handle, length, content_type: answer.content_type }))
            }
            HostRequest::Read { handle } => Ok((HostReply::Content, self.documents.get(call, handle)?)),
            HostRequest::Save { name, extension, handle } => {
                let bytes = handle.map_or(Ok(body), |handle| self.documents.get(call, handle))?;
                self.save(name, extension, bytes).await
            }
            HostRequest::Saved { name, extension } => {
                Ok(bare(self.out.saved(&name, &extension).map_or(HostReply::Missing, HostReply::File)))
            }
            HostRequest::ContactSheet { name, pictures } => self.contact_sheet(name, pictures).await,
            HostRequest::Render { template, name } => self.render(template, name, body).await,
            HostRequest::Evaluate { expression } => {
                // An expression may take a while, and blocks.
                let place = self.expressions.get(&expression).cloned();
                let evaluated = spawn_blocking(move || evaluate(&expression, &body)).await;
                let evaluated = evaluated.map_err(|error| ToolError::new(format!("the host failed: {error}")))?;
                let placed = |error: ToolError| match place {
                    Some(place) => ToolError { message: format!("{place}: {}", error.message), ..error },
                    None => error,
                };
                Ok((HostReply::Json, evaluated.map_err(placed)?.into()))
            }
            // Kept by the client, beside what the plugin prints.
            HostRequest::Log { .. } => Ok(bare(HostReply::Done)),
        }
    }

    async fn save(&self, name: String, extension: String, bytes: Bytes) -> Served {
        let out = self.out.clone();
        self.file(move || Ok(out.save(&name, &extension, &bytes)?)).await
    }

    async fn contact_sheet(&self, name: String, pictures: Vec<Picture>) -> Served {
        let out = self.out.clone();
        self.file(move || {
            let sheet = contact_sheet(&out, &pictures)?;
            Ok(out.save(&name, "jpg", &sheet)?)
        })
        .await
    }

    async fn render(&self, template: String, name: String, body: Bytes) -> Served {
        let (out, pages) = (self.out.clone(), self.pages.clone());
        self.file(move || {
            let data: Value = bounded_json::parse(&body, MAX_DATA).map_err(|error| {
                let wrong = match error {
                    ParseError::Json(error) => format!("is not JSON: {error}"),
                    too_big @ ParseError::TooBig { .. } => format!("is too much: {too_big}"),
                };
                Unmade::Refused(ToolError::new(format!("the data of the page {template} {wrong}")))
            })?;
            let page = pages.render(&template, &data)?;
            Ok(out.save(&name, "html", page.as_bytes())?)
        })
        .await
    }

    /// Makes a file where waiting for the disk, or decoding pictures, holds nobody up.
    async fn file(&self, make: impl FnOnce() -> Result<SavedFile, Unmade> + Send + 'static) -> Served {
        let made = spawn_blocking(make).await;
        let made = made.unwrap_or_else(|error| Err(Unmade::Fault(ToolError::new(format!("the host failed: {error}")))));
        match made {
            Ok(file) => Ok(bare(HostReply::File(file))),
            Err(Unmade::Refused(error)) => Err(error),
            Err(Unmade::Fault(error)) => {
                self.faults.note(&error.to_string());
                Err(error)
            }
        }
    }
}

/// Why a file was not made.
enum Unmade {
    /// It cannot be made of what was given.
    Refused(ToolError),
    /// The disk or the host failed.
    Fault(ToolError),
}

impl From<OutError> for Unmade {
    fn from(error: OutError) -> Self {
        match error {
            OutError::Io { .. } => Self::Fault(tool_error(error)),
            OutError::Missing { .. } | OutError::TooLarge { .. } | OutError::Full { .. } => {
                Self::Refused(tool_error(error))
            }
        }
    }
}

impl From<SheetError> for Unmade {
    fn from(error: SheetError) -> Self {
        match error {
            SheetError::File(error) => error.into(),
            other => Self::Refused(tool_error(other)),
        }
    }
}

impl From<PageError> for Unmade {
    fn from(error: PageError) -> Self {
        Self::Refused(tool_error(error))
    }
}

fn bare(reply: HostReply) -> (HostReply, Bytes) {
    (reply, Bytes::new())
}

fn tool_error(error: impl std::error::Error) -> ToolError {
    ToolError::new(error.to_string())
}

/// The error's own text, which names the address and carries the API's words, with a code.
fn web_error(error: WebError) -> ToolError {
    let code = match &error {
        WebError::Status { status, .. } => format!("http_{status}"),
        WebError::BadAnswer { .. } => "bad_answer".to_owned(),
        WebError::Unreachable { .. } => "unreachable".to_owned(),
        WebError::NotAllowed { .. } => "not_allowed".to_owned(),
        WebError::NotRecorded { .. } => "not_recorded".to_owned(),
        WebError::Storage { .. } => "storage".to_owned(),
    };
    tool_error(error).with_code(code)
}
