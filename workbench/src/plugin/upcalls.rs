//! The services of one run: what its tools may fetch, save and draw.

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, HostRequest, Picture, SavedFile};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::documents::Documents;
use super::services::HostServices;
use crate::artifacts::{OutFolder, Pages, contact_sheet};
use crate::web::{Expect, WebClient, WebError};

/// Serves a plugin's upcalls with the domain's web client, the run's `out/` and the page templates.
pub struct RunServices {
    web: WebClient,
    out: OutFolder,
    pages: Pages,
    /// What was fetched and not handed over.
    documents: Documents,
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
        Self { web, out, pages, documents: Documents::default() }
    }

    async fn serve(&self, call: u64, request: HostRequest, body: Bytes) -> Served {
        match request {
            HostRequest::GetJson { path, query } => {
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
            // Kept by the client, beside what the plugin prints.
            HostRequest::Log { .. } => Ok(bare(HostReply::Done)),
        }
    }

    async fn save(&self, name: String, extension: String, bytes: Bytes) -> Served {
        let out = self.out.clone();
        file(move || out.save(&name, &extension, &bytes).map_err(tool_error)).await
    }

    async fn contact_sheet(&self, name: String, pictures: Vec<Picture>) -> Served {
        let out = self.out.clone();
        file(move || {
            let sheet = contact_sheet(&out, &pictures).map_err(tool_error)?;
            out.save(&name, "jpg", &sheet).map_err(tool_error)
        })
        .await
    }

    async fn render(&self, template: String, name: String, body: Bytes) -> Served {
        let (out, pages) = (self.out.clone(), self.pages.clone());
        file(move || {
            let data: Value = serde_json::from_slice(&body)
                .map_err(|error| ToolError::new(format!("the data of the page {template} is not JSON: {error}")))?;
            let page = pages.render(&template, &data).map_err(tool_error)?;
            out.save(&name, "html", page.as_bytes()).map_err(tool_error)
        })
        .await
    }
}

/// Makes a file where waiting for the disk, or decoding pictures, holds nobody up.
async fn file(make: impl FnOnce() -> Result<SavedFile, ToolError> + Send + 'static) -> Served {
    let made = spawn_blocking(make).await.map_err(|error| ToolError::new(format!("the host failed: {error}")))?;
    Ok(bare(HostReply::File(made?)))
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
