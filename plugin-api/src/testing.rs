//! A host for tests: canned answers in, a record of what a tool did out.
//!
//! Calls go through the same argument checks and the same table as calls of the workbench.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::dispatch::Tools;
use crate::error::{ToolError, ToolResult};
use crate::host::{Body, Channel, Host};
use crate::wire::{HostReply, HostRequest, Picture, Reply, SavedFile, split};

/// A host that answers from a list and keeps files in memory.
///
/// An address is written as one text, `path?name=value&name=value`, with the query in the tool's
/// order and not encoded.
#[derive(Clone, Debug, Default)]
pub struct FakeHost {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    answers: BTreeMap<String, Canned>,
    /// JSON documents by their number in a call.
    given: BTreeMap<Option<u64>, Vec<u8>>,
    documents: Vec<Vec<u8>>,
    requests: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
    sheets: Vec<Sheet>,
    pages: Vec<Page>,
    log: Vec<String>,
}

#[derive(Clone, Debug)]
enum Canned {
    Document { content_type: String, bytes: Vec<u8> },
    Refusal(ToolError),
}

/// A contact sheet that a tool asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Its name as the tool gave it.
    pub name: String,
    /// Its pictures, in order.
    pub pictures: Vec<Picture>,
}

/// A page that a tool asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// File name of the template.
    pub template: String,
    /// Its name as the tool gave it.
    pub name: String,
    /// What the template was to be filled with.
    pub data: Value,
}

impl FakeHost {
    /// A host that knows no address and has no file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers `address` with a JSON document, byte for byte as `body` has it.
    #[must_use]
    pub fn json(self, address: &str, body: impl AsRef<[u8]>) -> Self {
        self.bytes(address, "application/json", body)
    }

    /// Answers `address` with a document of any type.
    #[must_use]
    pub fn bytes(self, address: &str, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let canned = Canned::Document { content_type: content_type.to_owned(), bytes: body.as_ref().to_vec() };
        self.state().answers.insert(address.to_owned(), canned);
        self
    }

    /// Answers `address` with an error, as the workbench does when the API fails.
    #[must_use]
    pub fn refuses(self, address: &str, error: impl Into<ToolError>) -> Self {
        self.state().answers.insert(address.to_owned(), Canned::Refusal(error.into()));
        self
    }

    /// Has a file in `out/` from an earlier call.
    #[must_use]
    pub fn file(self, file: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.state().files.insert(format!("out/{file}"), bytes.as_ref().to_vec());
        self
    }

    /// Calls a tool, as a model would: `arguments` is a JSON object.
    ///
    /// # Errors
    /// What the tool refuses with, or what is wrong with the arguments.
    pub fn call(&self, plugin: &dyn Tools, tool: &str, arguments: &Value) -> ToolResult<Value> {
        let answer = self.call_raw(plugin, tool, arguments)?;
        serde_json::from_slice(&answer)
            .map_err(|error| ToolError::new(format!("the answer of {tool} is not JSON: {error}")))
    }

    /// As [`call`](Self::call), with the very bytes that the workbench would get.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_raw(&self, plugin: &dyn Tools, tool: &str, arguments: &Value) -> ToolResult<Vec<u8>> {
        let message = plugin.call(tool, arguments.to_string().as_bytes(), &Host::new(self.clone()))?;
        match split(&message)? {
            (Reply::Unchanged { document }, _) => Ok(self.state().given[&Some(document)].clone()),
            (_, answer) => Ok(answer.to_vec()),
        }
    }

    /// The addresses asked for, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.state().requests.clone()
    }

    /// The bytes of a file that a tool saved, such as `out/436535.jpg`.
    #[must_use]
    pub fn content(&self, file: &str) -> Option<Vec<u8>> {
        self.state().files.get(file).cloned()
    }

    /// The names of all files, such as `out/436535.jpg`.
    #[must_use]
    pub fn files(&self) -> BTreeSet<String> {
        self.state().files.keys().cloned().collect()
    }

    /// The contact sheets asked for, in order.
    #[must_use]
    pub fn sheets(&self) -> Vec<Sheet> {
        self.state().sheets.clone()
    }

    /// The pages asked for, in order.
    #[must_use]
    pub fn pages(&self) -> Vec<Page> {
        self.state().pages.clone()
    }

    /// The lines logged, in order.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// A test that failed while it held the lock has said so itself.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Channel for FakeHost {
    fn request(&self, request: &HostRequest, body: &[u8]) -> ToolResult<(HostReply, Body)> {
        self.state().answer(request, body).map(|(reply, content)| (reply, Body::Ours(content)))
    }
}

impl State {
    fn answer(&mut self, request: &HostRequest, body: &[u8]) -> ToolResult<(HostReply, Vec<u8>)> {
        let mut content = Vec::new();
        let reply = match request {
            HostRequest::GetJson { path, query, document } => {
                (_, content) = self.fetch(path, query)?;
                self.given.insert(*document, content.clone());
                HostReply::Json
            }
            HostRequest::GetBytes { path, query } => {
                let (content_type, bytes) = self.fetch(path, query)?;
                let (handle, length) = (self.documents.len() as u64, bytes.len() as u64);
                self.documents.push(bytes);
                HostReply::Bytes { handle, length, content_type }
            }
            HostRequest::Read { handle } => {
                content = self.document(*handle)?;
                HostReply::Content
            }
            HostRequest::Save { name, extension, handle } => {
                let bytes = handle.map_or_else(|| Ok(body.to_vec()), |handle| self.document(handle))?;
                HostReply::File(self.write(name, extension, bytes))
            }
            HostRequest::Saved { name, extension } => {
                let file = format!("out/{name}.{extension}");
                match self.files.get(&file) {
                    Some(bytes) => HostReply::File(SavedFile { file, bytes: bytes.len() as u64 }),
                    None => HostReply::Missing,
                }
            }
            HostRequest::ContactSheet { name, pictures } => {
                self.sheets.push(Sheet { name: name.clone(), pictures: pictures.clone() });
                HostReply::File(self.write(name, "jpg", Vec::new()))
            }
            HostRequest::Render { template, name } => {
                let data = serde_json::from_slice(body).map_err(|error| ToolError::new(error.to_string()))?;
                self.pages.push(Page { template: template.clone(), name: name.clone(), data });
                HostReply::File(self.write(name, "html", Vec::new()))
            }
            HostRequest::Evaluate { expression } => {
                let names: Value = serde_json::from_slice(body).map_err(|error| ToolError::new(error.to_string()))?;
                content = value_at(&names, expression)?.to_string().into_bytes();
                HostReply::Json
            }
            HostRequest::Log { message } => {
                self.log.push(message.clone());
                HostReply::Done
            }
        };
        Ok((reply, content))
    }

    fn fetch(&mut self, path: &str, query: &[(String, String)]) -> ToolResult<(String, Vec<u8>)> {
        let pairs: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let address = if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) };
        self.requests.push(address.clone());
        match self.answers.get(&address) {
            Some(Canned::Document { content_type, bytes }) => Ok((content_type.clone(), bytes.clone())),
            Some(Canned::Refusal(error)) => Err(error.clone()),
            None => {
                let known: Vec<_> = self.answers.keys().map(String::as_str).collect();
                Err(ToolError::new(format!("the test has no answer for {address}; it has {}", known.join(", "))))
            }
        }
    }

    fn document(&self, handle: u64) -> ToolResult<Vec<u8>> {
        let index = usize::try_from(handle).unwrap_or(usize::MAX);
        self.documents.get(index).cloned().ok_or_else(|| ToolError::new(format!("there is no document {handle}")))
    }

    fn write(&mut self, name: &str, extension: &str, bytes: Vec<u8>) -> SavedFile {
        let (file, length) = (format!("out/{name}.{extension}"), bytes.len() as u64);
        self.files.insert(file.clone(), bytes);
        SavedFile { file, bytes: length }
    }
}

/// The value of an expression that is a path, such as `json.results`; a test has no engine for more.
fn value_at(names: &Value, expression: &str) -> ToolResult<Value> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    if !expression.chars().all(is_path) {
        return Err(ToolError::new(format!("the test evaluates paths such as `json.results`, not `{expression}`")));
    }
    let value = names.pointer(&format!("/{}", expression.replace('.', "/"))).cloned();
    value.ok_or_else(|| ToolError::new(format!("`{expression}` is undefined")).with_code("undefined"))
}
