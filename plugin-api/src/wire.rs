//! What crosses the boundary between host and plugin, as types.
//!
//! Every message, in either direction, is one line of JSON (the *head*), a line feed, and then a
//! *body* of raw bytes, which may be empty. Heads are the types below; the body is never parsed on
//! the way. So a record a tool hands on unread costs no parse, and bytes need no base64.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ToolError;

/// The version of this module's messages. Additions that a side may ignore keep it; see [`Hello::features`].
pub const WIRE_VERSION: u32 = 2;

/// The Rust compiler that built this crate, in its own words, such as `rustc 1.95.0 (59807616e 2026-04-14)`.
pub const COMPILER: &str = env!("PLUGIN_API_COMPILER");

/// What the host says in [`Hello::features`] when it answers [`HostRequest::Evaluate`].
pub const EVALUATE: &str = "evaluate";

/// First message of both sides: who speaks, and what it understands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`WIRE_VERSION`] of the speaker.
    pub wire: u32,
    /// Version of the `plugin-api` crate, for error texts.
    pub plugin_api: String,
    /// Name of the plugin; empty from the host.
    #[serde(default)]
    pub name: String,
    /// Capabilities beyond [`WIRE_VERSION`]. Unknown ones are kept and ignored.
    #[serde(default)]
    pub features: Vec<String>,
    /// [`COMPILER`] of the speaker; empty from a plugin in another language.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub compiler: String,
    /// From the host: the tools that the domain's manifest declares, a list with an object for each `[[tool]]`. Nothing
    /// when it declares none. A plugin whose tools are its own ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Value>,
}

/// What the host asks of a plugin: the head of the bytes given to `workbench_call`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Body: none. Answered by [`Reply::Hello`].
    Hello(Hello),
    /// Body: none. Answered by [`Reply::Tools`].
    Describe,
    /// Body: the arguments, a JSON object. Answered by [`Reply::Answer`], [`Reply::Unchanged`] or [`Reply::Error`].
    Call {
        /// Name of the tool.
        tool: String,
    },
}

/// What a plugin answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Hello`].
    Hello(Hello),
    /// To [`Request::Describe`].
    Tools(Vec<ToolSpec>),
    /// To [`Request::Call`]; the body is the tool's answer as JSON.
    Answer,
    /// To [`Request::Call`]; the answer is the last JSON document that the host gave this call, untouched. Body: none, as the
    /// host has the document and takes its own.
    Unchanged {
        /// The number under which it was asked for, see [`HostRequest::GetJson`]. Another than that of the last document
        /// is refused, so the host never hands on what the plugin did not mean.
        document: u64,
    },
    /// The tool refused, or failed in a way it knows.
    Error(ToolError),
    /// The plugin's code panicked; the text is the panic's own.
    Panic {
        /// Text and place of the panic.
        message: String,
    },
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name a model calls.
    pub name: String,
    /// The doc comment of the function: what the tool does and what it returns.
    pub description: String,
    /// JSON schema of the arguments: an object with `properties`, `required` and
    /// `additionalProperties: false`.
    pub input_schema: Value,
}

/// What a plugin asks of the host while one of its tools runs (an *upcall*).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostRequest {
    /// Fetch a JSON document. Answered by [`HostReply::Json`].
    GetJson {
        /// A path on the domain's `[api] base`, or a full address on one of its `hosts`.
        path: String,
        /// Query parameters, in order, not yet encoded.
        query: Vec<(String, String)>,
        /// A number by which [`Reply::Unchanged`] may name the document, higher than those before it in the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document: Option<u64>,
    },
    /// Fetch a document of any type. Answered by [`HostReply::Bytes`]: the body stays with the host.
    GetBytes {
        /// As in [`HostRequest::GetJson`].
        path: String,
        /// As in [`HostRequest::GetJson`].
        query: Vec<(String, String)>,
    },
    /// The bytes behind a handle. Answered by [`HostReply::Content`].
    Read {
        /// From [`HostReply::Bytes`].
        handle: u64,
    },
    /// Write a file into the run's `out/`. Answered by [`HostReply::File`].
    Save {
        /// Name as a model gave it: untrusted, made safe by the host.
        name: String,
        /// Extension the file gets whatever `name` says, without the dot.
        extension: String,
        /// What to write: a handle from [`HostReply::Bytes`], or nothing when the bytes are the body.
        handle: Option<u64>,
    },
    /// Whether a file is there. Answered by [`HostReply::File`] or [`HostReply::Missing`].
    Saved {
        /// As in [`HostRequest::Save`].
        name: String,
        /// As in [`HostRequest::Save`].
        extension: String,
    },
    /// Draw saved pictures into one. Answered by [`HostReply::File`].
    ContactSheet {
        /// Name of the sheet, untrusted; it is saved as a JPEG.
        name: String,
        /// The pictures, in order.
        pictures: Vec<Picture>,
    },
    /// Fill a page template with data and save it. Body: the data, a JSON object. Answered by [`HostReply::File`].
    Render {
        /// File name of the template, such as `gallery.html`.
        template: String,
        /// Name of the page, untrusted; it is saved as `.html`.
        name: String,
    },
    /// The value of an expression, as in the rules of a manifest. Body: the names it may use, a JSON object. Answered by
    /// [`HostReply::Json`]. Only a host that says so in [`Hello::features`] knows this, see [`EVALUATE`].
    Evaluate {
        /// Such as `json.results|length`.
        expression: String,
    },
    /// A line for the log of the run.
    Log {
        /// The line.
        message: String,
    },
}

/// One cell of a contact sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Saved file, relative to the run, such as `out/436535.jpg`.
    pub file: String,
    /// What stands below the picture.
    pub label: String,
}

/// What the host answers to a [`HostRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostReply {
    /// The body is a JSON document, already checked.
    Json,
    /// The document was fetched and stays with the host.
    Bytes {
        /// Names the document in later requests of the same call.
        handle: u64,
        /// Its length in bytes.
        length: u64,
        /// Its content type, such as `image/jpeg`; empty when the API named none.
        content_type: String,
    },
    /// The body is what was asked for.
    Content,
    /// A file of the run.
    File(SavedFile),
    /// There is no such file.
    Missing,
    /// Nothing to say.
    Done,
    /// The host refused or failed; a tool may hand this on as it is.
    Error(ToolError),
}

/// A file in the run's `out/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// Relative to the run, such as `out/436535.jpg`.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A head and a body as one message.
#[must_use]
pub fn join(head: &impl Serialize, body: &[u8]) -> Vec<u8> {
    // Heads are the enums above: strings, numbers and lists of these, which always are JSON. Were
    // one not, the empty head is refused by the other side with a text.
    let mut message = serde_json::to_vec(head).unwrap_or_default();
    message.reserve_exact(body.len() + 1);
    message.push(b'\n');
    message.extend_from_slice(body);
    message
}

/// What stands before the body of a [`Reply::Answer`], so that an answer can be written behind it and needs no copy.
pub(crate) const ANSWER_HEAD: &[u8] = b"\"answer\"\n";

/// The head and the body of a message; the body is not looked at.
///
/// # Errors
/// A text that says what is wrong with the head.
pub fn split<T: DeserializeOwned>(message: &[u8]) -> Result<(T, &[u8]), String> {
    let end = message.iter().position(|&byte| byte == b'\n').ok_or("a message has no line feed behind its head")?;
    let (head, body) = (&message[..end], &message[end + 1..]);
    let head = serde_json::from_slice(head).map_err(|error| {
        let shown: String = String::from_utf8_lossy(head).chars().take(200).collect();
        format!("the head of a message is not understood: {error}: {shown}")
    })?;
    Ok((head, body))
}
