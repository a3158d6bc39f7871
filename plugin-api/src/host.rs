//! What the host does for a tool: fetching, saving, drawing.

use std::fmt::{self, Debug, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::abi::Lent;
use crate::error::{ToolError, ToolResult};
use crate::raw_json::RawJson;
use crate::wire::{HostReply, HostRequest, Picture, SavedFile};

/// Carries a request and its body to the host, and the reply back with its body.
pub(crate) trait Channel: Send + Sync {
    fn request(&self, request: &HostRequest, body: &[u8]) -> ToolResult<(HostReply, Body)>;
}

/// The body of a reply, in the memory of whoever made it: a big record then needs no copy.
pub(crate) enum Body {
    Ours(Vec<u8>),
    Hosts(Lent),
}

impl Body {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Ours(bytes) => bytes,
            Self::Hosts(lent) => lent.body(),
        }
    }
}

/// Which document of which call a JSON document is.
#[derive(Clone)]
pub(crate) struct Origin {
    /// The count of the call, by which it is known.
    documents: Arc<AtomicU64>,
    number: u64,
}

/// The host, as a tool sees it.
///
/// It fetches from the addresses the domain allows, and writes only into the `out/` folder of the
/// run. Its errors say what failed in words a model can act on, so most tools hand them on with `?`.
pub struct Host {
    channel: Box<dyn Channel>,
    /// JSON documents that this call has asked for: also the number of the last one.
    documents: Arc<AtomicU64>,
}

impl Host {
    pub(crate) fn new(channel: impl Channel + 'static) -> Self {
        Self { channel: Box::new(channel), documents: Arc::default() }
    }

    /// Fetches a JSON document. `path` is a path on the domain's API, or a full address on one of
    /// its hosts; the host encodes it and the query.
    ///
    /// # Errors
    /// When the address is not allowed, the API answers with an error (its own message and status
    /// are in the text), or the answer is not JSON.
    pub fn get_json(&self, path: impl AsRef<str>, query: &[(&str, &dyn Display)]) -> ToolResult<RawJson> {
        let number = self.documents.fetch_add(1, Ordering::Relaxed) + 1;
        let path = path.as_ref().to_owned();
        let request = HostRequest::GetJson { path, query: owned(query), document: Some(number) };
        match self.ask(&request, &[])? {
            (HostReply::Json, body) => {
                Ok(RawJson::fetched(body, Origin { documents: Arc::clone(&self.documents), number }))
            }
            (other, _) => Err(unexpected(&request, &other)),
        }
    }

    /// The number of a document that is the last one this call asked for, which the host so knows as the last it gave.
    ///
    /// Asked once the tool has returned, when no thread of it can use its host any more. A document that a tool has kept
    /// from another call is of another count.
    pub(crate) fn number_if_last(&self, origin: &Origin) -> Option<u64> {
        let is_ours = Arc::ptr_eq(&origin.documents, &self.documents);
        (is_ours && origin.number == self.documents.load(Ordering::Relaxed)).then_some(origin.number)
    }

    /// Fetches a document of any type. It stays with the host; what comes back names it.
    ///
    /// # Errors
    /// As [`get_json`](Self::get_json), but any content type is accepted.
    pub fn get_bytes(&self, path: impl AsRef<str>, query: &[(&str, &dyn Display)]) -> ToolResult<Document> {
        let request = HostRequest::GetBytes { path: path.as_ref().to_owned(), query: owned(query) };
        match self.ask(&request, &[])? {
            (HostReply::Bytes { handle, length, content_type }, _) => Ok(Document { handle, length, content_type }),
            (other, _) => Err(unexpected(&request, &other)),
        }
    }

    /// The bytes of a document, for a tool that must look inside.
    ///
    /// # Errors
    /// When the host no longer has the document: it keeps one until the call that fetched it ends.
    pub fn read(&self, document: &Document) -> ToolResult<Vec<u8>> {
        let request = HostRequest::Read { handle: document.handle };
        match self.ask(&request, &[])? {
            (HostReply::Content, body) => Ok(body.bytes().to_vec()),
            (other, _) => Err(unexpected(&request, &other)),
        }
    }

    /// Writes a file into the run's `out/`: bytes, text, or a document the host still holds.
    ///
    /// `name` may come from a model. The host makes it a plain file name and gives it `extension`
    /// (without the dot) whatever it says; the answer tells what the file is called.
    ///
    /// # Errors
    /// When nothing usable is left of the name, or the disk refuses.
    pub fn save<'content>(
        &self,
        name: impl Display,
        extension: &str,
        content: impl Into<Content<'content>>,
    ) -> ToolResult<SavedFile> {
        let (handle, body) = match content.into() {
            Content::Document(document) => (Some(document.handle), &[][..]),
            Content::Bytes(bytes) => (None, bytes),
        };
        let request = HostRequest::Save { name: name.to_string(), extension: extension.to_owned(), handle };
        self.file(&request, body)
    }

    /// The file that [`save`](Self::save) wrote under this name in this run, if there is one.
    ///
    /// # Errors
    /// When nothing usable is left of the name, or the disk refuses.
    pub fn saved(&self, name: impl Display, extension: &str) -> ToolResult<Option<SavedFile>> {
        let request = HostRequest::Saved { name: name.to_string(), extension: extension.to_owned() };
        match self.ask(&request, &[])? {
            (HostReply::File(file), _) => Ok(Some(file)),
            (HostReply::Missing, _) => Ok(None),
            (other, _) => Err(unexpected(&request, &other)),
        }
    }

    /// Draws saved pictures, each with its label, into one JPEG.
    ///
    /// # Errors
    /// When a picture is not there or cannot be decoded, or as [`save`](Self::save).
    pub fn contact_sheet(&self, name: impl Display, pictures: &[Picture]) -> ToolResult<SavedFile> {
        self.file(&HostRequest::ContactSheet { name: name.to_string(), pictures: pictures.to_vec() }, &[])
    }

    /// Fills a page template, such as `gallery.html`, with `data` and saves the page.
    ///
    /// # Errors
    /// When there is no such template, `data` lacks what it needs, or as [`save`](Self::save).
    pub fn render(&self, template: &str, name: impl Display, data: &impl Serialize) -> ToolResult<SavedFile> {
        let body = serde_json::to_vec(data)
            .map_err(|error| ToolError::new(format!("the data of {template} cannot be written as JSON: {error}")))?;
        self.file(&HostRequest::Render { template: template.to_owned(), name: name.to_string() }, &body)
    }

    /// The value of an expression, such as `json.results|length`: those of the rules of a manifest, as strict and as
    /// limited. `names` is a JSON object of the names it may use.
    ///
    /// # Errors
    /// When it is no expression, meets something undefined, costs too much, or has no value: the code is then `undefined`.
    pub fn evaluate(&self, expression: &str, names: &impl Serialize) -> ToolResult<RawJson> {
        let body = serde_json::to_vec(names).map_err(|error| {
            ToolError::new(format!("the names of `{expression}` cannot be written as JSON: {error}"))
        })?;
        let request = HostRequest::Evaluate { expression: expression.to_owned() };
        match self.ask(&request, &body)? {
            (HostReply::Json, body) => Ok(RawJson::made(body)),
            (other, _) => Err(unexpected(&request, &other)),
        }
    }

    /// Writes a line into the log of the run. No model reads it.
    pub fn log(&self, message: impl Display) {
        // A line that is lost must not fail a tool that did its work.
        let _lost = self.ask(&HostRequest::Log { message: message.to_string() }, &[]);
    }

    fn file(&self, request: &HostRequest, body: &[u8]) -> ToolResult<SavedFile> {
        match self.ask(request, body)? {
            (HostReply::File(file), _) => Ok(file),
            (other, _) => Err(unexpected(request, &other)),
        }
    }

    fn ask(&self, request: &HostRequest, body: &[u8]) -> ToolResult<(HostReply, Body)> {
        match self.channel.request(request, body)? {
            (HostReply::Error(error), _) => Err(error),
            answered => Ok(answered),
        }
    }
}

impl Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Host")
    }
}

/// A fetched document that stays with the host; valid until the tool returns.
#[derive(Debug)]
pub struct Document {
    handle: u64,
    length: u64,
    content_type: String,
}

impl Document {
    /// Its length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Its content type, such as `image/jpeg`; empty when the API named none.
    #[must_use]
    pub fn content_type(&self) -> &str {
        &self.content_type
    }
}

/// What [`Host::save`] writes.
#[derive(Clone, Copy, Debug)]
pub enum Content<'content> {
    /// These bytes.
    Bytes(&'content [u8]),
    /// A document the host holds; its bytes do not travel.
    Document(&'content Document),
}

impl<'content, T: AsRef<[u8]> + ?Sized> From<&'content T> for Content<'content> {
    fn from(bytes: &'content T) -> Self {
        Self::Bytes(bytes.as_ref())
    }
}

impl<'content> From<&'content Document> for Content<'content> {
    fn from(document: &'content Document) -> Self {
        Self::Document(document)
    }
}

fn owned(query: &[(&str, &dyn Display)]) -> Vec<(String, String)> {
    query.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
}

fn unexpected(request: &HostRequest, reply: &HostReply) -> ToolError {
    ToolError::new(format!("the host answered {reply:?} to {request:?}: build plugin and workbench from one version"))
}
