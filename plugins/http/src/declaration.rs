//! A `[[tool]]` of the manifest as the host hands it over. It has been checked there; `docs/manifest.md` tells the keys.

use std::collections::BTreeMap;

use plugin_api::declared::{DeclaredParameter, DeclaredTool, Kind};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    description: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(flatten)]
    pub(crate) action: Action,
}

/// What a tool does.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Action {
    Download { download: Download },
    ContactSheet { contact_sheet: ContactSheet },
    Page { page: Page },
    SaveText { save_text: SaveText },
    Get(Get),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Get {
    #[serde(flatten)]
    pub(crate) request: Request,
    pub(crate) pick: Option<String>,
    pub(crate) pages: Option<Pages>,
}

/// Templates of an address and of its parameters.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) get: String,
    #[serde(default)]
    pub(crate) query: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Pages {
    pub(crate) items: String,
    pub(crate) next: Option<String>,
    pub(crate) offset: Option<String>,
    pub(crate) number: Option<String>,
    pub(crate) first: Option<u64>,
    pub(crate) limit: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) total: Option<String>,
    pub(crate) at_most: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Download {
    #[serde(flatten)]
    pub(crate) request: Request,
    pub(crate) link: Option<String>,
    pub(crate) save: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ContactSheet {
    pub(crate) each: String,
    pub(crate) picture: String,
    pub(crate) label: String,
    pub(crate) save: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    pub(crate) template: String,
    pub(crate) each: Option<String>,
    #[serde(flatten)]
    pub(crate) request: Option<Request>,
    pub(crate) picture: Option<String>,
    pub(crate) save: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SaveText {
    pub(crate) text: String,
    pub(crate) save: String,
}

#[derive(Debug, Deserialize)]
struct Argument {
    r#type: String,
    #[serde(default)]
    description: String,
    default: Option<Value>,
    #[serde(default)]
    optional: bool,
    minimum: Option<Value>,
    maximum: Option<Value>,
    one_of: Option<Vec<String>>,
}

impl Declaration {
    /// The tool as a model sees it.
    pub(crate) fn tool(&self) -> Result<DeclaredTool, String> {
        let parameters = self.arguments.iter().map(|(name, argument)| {
            let argument = Argument::deserialize(argument).map_err(|error| error.to_string());
            let parameter = argument.and_then(|argument| argument.parameter(name));
            parameter.map_err(|error| format!("the argument {name} of {}: {error}", self.name))
        });
        Ok(DeclaredTool {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: parameters.collect::<Result<_, _>>()?,
        })
    }
}

impl Argument {
    fn parameter(self, name: &str) -> Result<DeclaredParameter, String> {
        let (is_list, kind) = match self.r#type.strip_prefix("list of ") {
            Some(kind) => (true, kind),
            None => (false, self.r#type.as_str()),
        };
        let kind = match (kind, self.one_of) {
            ("string", Some(words)) => Kind::OneOf(words),
            ("string", None) => Kind::Text,
            ("integer", None) => Kind::Integer,
            ("number", None) => Kind::Number,
            ("boolean", None) => Kind::Boolean,
            _ => return Err(format!("`{}` is no type, or none that goes with its other keys", self.r#type)),
        };
        Ok(DeclaredParameter {
            name: name.to_owned(),
            description: self.description,
            kind: if is_list { Kind::List(Box::new(kind)) } else { kind },
            default: self.default,
            optional: self.optional,
            minimum: self.minimum,
            maximum: self.maximum,
        })
    }
}
