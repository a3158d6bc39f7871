//! Tools that read: a record, pages of records, a file.

use std::fmt::Display;

use plugin_api::{Document, Host, RawJson, SavedFile, ToolError, ToolResult};
use serde::Serialize;
use serde_json::Value;

use crate::declaration::{Download, Get, Request};
use crate::pages;
use crate::template::{self, Names};

/// Extensions of pictures; a file that is to have one must be one.
const PICTURES: [&str; 5] = ["jpg", "jpeg", "png", "gif", "webp"];
/// Bytes of a body in which a drawing says that it is one.
const BEGINNING: usize = 1_000;

/// What expressions read.
#[derive(Serialize)]
struct Expressible<'call, T: Serialize> {
    json: &'call T,
    arguments: &'call serde_json::Map<String, Value>,
}

/// The value of an expression over `json` and the arguments.
pub(crate) fn evaluate(host: &Host, expression: &str, json: &impl Serialize, names: Names<'_>) -> ToolResult<RawJson> {
    host.evaluate(expression, &Expressible { json, arguments: names.arguments() })
}

/// A request with its placeholders filled.
pub(crate) struct Filled {
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
}

impl Filled {
    pub(crate) fn new(request: &Request, names: Names<'_>) -> ToolResult<Self> {
        let query = request.query.iter();
        Ok(Self {
            path: template::path(&request.get, names)?,
            query: query.filter_map(|(name, value)| Some((name.clone(), template::parameter(value, names)?))).collect(),
        })
    }

    pub(crate) fn json(&self, host: &Host) -> ToolResult<RawJson> {
        host.get_json(&self.path, &self.parameters())
    }

    fn bytes(&self, host: &Host) -> ToolResult<Document> {
        host.get_bytes(&self.path, &self.parameters())
    }

    fn parameters(&self) -> Vec<(&str, &dyn Display)> {
        self.query.iter().map(|(name, value)| (name.as_str(), value as &dyn Display)).collect()
    }
}

/// `get`: a record as it came, or what `pick` makes of it.
pub(crate) fn get(host: &Host, get: &Get, names: Names<'_>) -> ToolResult<RawJson> {
    let request = Filled::new(&get.request, names)?;
    match (&get.pages, &get.pick) {
        (None, None) => request.json(host),
        (None, Some(pick)) => evaluate(host, pick, &request.json(host)?, names),
        (Some(pages), pick) => {
            let items = pages::read_all(host, request, pages, names)?;
            match pick {
                Some(pick) => evaluate(host, pick, &items, names),
                None => RawJson::of(&items),
            }
        }
    }
}

/// A file that was written.
#[derive(Serialize)]
pub(crate) struct Written {
    file: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<usize>,
}

impl Written {
    /// The answer of a tool that shows `items`, where it shows any.
    pub(crate) fn answer(file: SavedFile, items: Option<usize>) -> ToolResult<RawJson> {
        RawJson::of(&Self { file: file.file, bytes: file.bytes, items })
    }
}

/// `download`: the file, or the one that a record links to.
pub(crate) fn download(host: &Host, download: &Download, names: Names<'_>) -> ToolResult<RawJson> {
    let request = Filled::new(&download.request, names)?;
    let (document, address) = match &download.link {
        None => (request.bytes(host)?, request.path),
        Some(link) => {
            let address = linked(host, link, &request, names)?;
            (host.get_bytes(&address, &[])?, address)
        }
    };
    let (name, extension) = file_name(&download.save, names);
    if PICTURES.contains(&extension)
        && let Some(other) = other_than_picture(&host.read(&document)?, document.content_type())
    {
        let message =
            format!("{address} answered {other}, which is no JPEG, PNG, GIF or WebP image: nothing was saved");
        return Err(ToolError::new(message).with_code("no_image").with_help("go on with another"));
    }
    Written::answer(host.save(name, extension, &document)?, None)
}

/// What a body is, when its bytes are not those of a picture that can be shown; servers call drawings and pages images.
fn other_than_picture(bytes: &[u8], content_type: &str) -> Option<String> {
    let is_picture = matches!(
        bytes,
        [0xff, 0xd8, 0xff, ..]
            | [0x89, b'P', b'N', b'G', ..]
            | [b'G', b'I', b'F', b'8', ..]
            | [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..]
    );
    if is_picture {
        return None;
    }
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(BEGINNING)]).to_lowercase();
    Some(match content_type {
        _ if beginning.contains("<svg") && !beginning.contains("<html") => "an SVG drawing".to_owned(),
        "" if bytes.is_empty() => "nothing".to_owned(),
        "" => "something else".to_owned(),
        image if image.starts_with("image/") => format!("something else under the name of {image}"),
        other => other.to_owned(),
    })
}

/// Where a record says that the file is.
fn linked(host: &Host, link: &str, request: &Filled, names: Names<'_>) -> ToolResult<String> {
    let value = match evaluate(host, link, &request.json(host)?, names) {
        Ok(value) => value.parse()?,
        Err(error) if error.code.as_deref() == Some("undefined") => Value::Null,
        Err(error) => return Err(error),
    };
    match value {
        Value::String(address) if !address.trim().is_empty() => Ok(address.trim().to_owned()),
        Value::String(_) | Value::Null => {
            let message = format!("the record {} links to no file: it has no `{link}`", request.path);
            Err(ToolError::new(message).with_code("no_link").with_help("go on with another"))
        }
        other => Err(ToolError::new(format!("`{link}` is no address in the record {}: {other}", request.path))),
    }
}

/// Name and extension of a file. The extension is fixed: the host has checked that no placeholder stands in it.
pub(crate) fn file_name<'tool>(template: &'tool str, names: Names<'_>) -> (String, &'tool str) {
    let (name, extension) = template.rsplit_once('.').unwrap_or((template, "txt"));
    (template::text(name, names), extension)
}
