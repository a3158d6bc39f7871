//! `[[tool]]`: a tool that a manifest declares, as types. The plugin that serves such tools gets them as JSON, with the
//! keys of the manifest.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

/// The plugin whose tools a manifest declares.
pub const PLUGIN: &str = "http";

/// `[[tool]]`: exactly one of `get`, `download`, `contact_sheet`, `page` and `save_text` says what it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredTool {
    /// What a model and a script call.
    pub name: String,
    /// What it does and what it returns.
    pub description: String,
    /// What it takes.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub arguments: Arguments,
    /// Reads a record: a path on the base, or a full address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// Parameters of `get`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Expression that makes the answer of what was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pick: Option<String>,
    /// Reads page after page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    /// Saves a file of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<Download>,
    /// Draws downloaded pictures into one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_sheet: Option<ContactSheet>,
    /// Fills a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    /// Saves a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_text: Option<SaveText>,
}

/// What a declared tool does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<'a> {
    /// Reads a record, or pages of them.
    Get(&'a str),
    /// Saves a file of the API.
    Download(&'a Download),
    /// Draws downloaded pictures into one.
    ContactSheet(&'a ContactSheet),
    /// Fills a template.
    Page(&'a Page),
    /// Saves a text.
    SaveText(&'a SaveText),
}

impl DeclaredTool {
    /// The keys of which one says what a tool does.
    pub const ACTIONS: [&str; 5] = ["get", "download", "contact_sheet", "page", "save_text"];

    /// All that it is said to do; exactly one of them, which is checked when a domain is loaded.
    pub fn actions(&self) -> Vec<Action<'_>> {
        let given = [
            self.get.as_deref().map(Action::Get),
            self.download.as_ref().map(Action::Download),
            self.contact_sheet.as_ref().map(Action::ContactSheet),
            self.page.as_ref().map(Action::Page),
            self.save_text.as_ref().map(Action::SaveText),
        ];
        given.into_iter().flatten().collect()
    }
}

/// `pages`: exactly one of `next`, `offset` and `number` says how the next page is found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    /// Expression: the list of one page.
    pub items: String,
    /// Expression: address of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Parameter that counts the items to skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// Parameter that counts pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Number of the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Parameter for the length of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The length of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Expression: how many items there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// Pages that are read.
    #[serde(default = "Pages::default_at_most")]
    pub at_most: u64,
}

impl Pages {
    /// Pages that are read unless the manifest says otherwise.
    pub fn default_at_most() -> u64 {
        100
    }
}

/// `download`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Download {
    /// The file, or the record that tells its address.
    pub get: String,
    /// Parameters of `get`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Expression over the record: the address of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Name of the file, with its extension.
    pub save: String,
}

/// `contact_sheet`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContactSheet {
    /// The argument that lists what is shown.
    pub each: String,
    /// Name of each picture, as it was downloaded.
    pub picture: String,
    /// What stands below each.
    #[serde(default = "item")]
    pub label: String,
    /// Name of the sheet.
    pub save: String,
}

/// `page`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// A file of the domain's `templates/`.
    pub template: String,
    /// The argument that lists what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// The record of each item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// Parameters of `get`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Name of the picture of each, as it was downloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// Name of the page.
    pub save: String,
}

/// `save_text`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveText {
    /// What is written.
    pub text: String,
    /// Name of the file, with its extension.
    pub save: String,
}

/// The arguments of a tool by name, in the order of the manifest: a model sees them so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments(pub Vec<(String, Argument)>);

impl Arguments {
    /// Whether the tool takes none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The argument of this name.
    pub fn get(&self, name: &str) -> Option<&Argument> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, argument)| argument)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, argument)| (name, argument)))
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Arguments;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Arguments, M::Error> {
                let mut arguments = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    arguments.push(entry);
                }
                Ok(Arguments(arguments))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// An argument: its type, and what is accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// What it is.
    pub r#type: Kind,
    /// What a model reads.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its value when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether it may be left out and then has no value.
    #[serde(default)]
    pub optional: bool,
    /// The least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// The greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// The texts that are accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<String>>,
}

/// `type`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A text.
    #[serde(rename = "string")]
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    #[serde(rename = "list of string")]
    ListOfText,
    /// A list of whole numbers.
    #[serde(rename = "list of integer")]
    ListOfInteger,
    /// A list of numbers.
    #[serde(rename = "list of number")]
    ListOfNumber,
    /// A list of true or false.
    #[serde(rename = "list of boolean")]
    ListOfBoolean,
}

impl Kind {
    /// What a list of this kind has; nothing when it is no list.
    pub fn items(self) -> Option<Self> {
        match self {
            Self::Text | Self::Integer | Self::Number | Self::Boolean => None,
            Self::ListOfText => Some(Self::Text),
            Self::ListOfInteger => Some(Self::Integer),
            Self::ListOfNumber => Some(Self::Number),
            Self::ListOfBoolean => Some(Self::Boolean),
        }
    }
}

fn item() -> String {
    "{item}".to_owned()
}
