//! `domain.toml` as types, with every default. `docs/manifest.md` tells the keys with examples.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::declared::DeclaredTool;
use super::header;
use crate::expression;

/// The whole manifest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Who it is and which plugin serves it.
    pub domain: DomainSection,
    /// The API its tools read; a domain without one fetches nothing.
    #[serde(default)]
    pub api: ApiSection,
    /// Tools that are declared here and implemented nowhere, in the order a model sees them.
    #[serde(default)]
    pub tool: Vec<DeclaredTool>,
    /// Who may call a tool in mode `hosted`, by its name; scripts alone where nothing is said.
    #[serde(default)]
    pub callers: BTreeMap<String, Callers>,
    /// What the model is asked to do. A domain without a task has tools, but cannot be run.
    pub task: Option<TaskSection>,
    /// What ends a run, a script or a call.
    #[serde(default)]
    pub limits: Limits,
    /// What verify reads, by name. An entry may use another through `each`, in any order.
    #[serde(default)]
    pub evidence: BTreeMap<String, Evidence>,
    /// The rules, in the order they are shown.
    #[serde(default)]
    pub verify: Vec<Rule>,
}

impl Manifest {
    /// The declared tools as the plugin gets them; nothing when there are none.
    pub fn declared(&self) -> Option<serde_json::Value> {
        // Texts, numbers and lists of these always are JSON.
        (!self.tool.is_empty()).then(|| serde_json::to_value(&self.tool).unwrap_or_default())
    }
}

/// Who may call a tool, where the provider runs scripts of the model's. It steers a model and authorises nothing: a call
/// from elsewhere may still come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Callers {
    /// The model itself.
    #[default]
    Direct,
    /// Its scripts.
    Code,
    /// Either, which the provider advises against.
    Both,
}

/// `[domain]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainSection {
    /// Short name: lower-case letters, digits, `-`. Also the folder's name.
    pub name: String,
    /// What people read.
    pub title: String,
    /// Crate `plugins/<plugin>` of the domain's folder or of one above it.
    pub plugin: Option<String>,
    /// A prebuilt library instead, relative to the manifest.
    pub library: Option<String>,
    /// Whether what its tools return must not be kept by a provider: then mode `hosted`, whose containers keep what they
    /// see for up to 30 days, is refused.
    #[serde(default)]
    pub zero_data_retention: bool,
}

/// `[api]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApiSection {
    /// Where relative paths of the tools start.
    pub base: Option<String>,
    /// Hosts that may be reached, with the port where it is not the usual one; nothing else is.
    pub hosts: Vec<String>,
    /// How fast the API is asked.
    pub pace: Pace,
    /// Whether 403 means "too fast" and is tried again.
    pub retry_403: bool,
    /// Requests that show whether the API is healthy.
    pub probe: Vec<Probe>,
    /// Headers sent to `hosts`; a value `env:NAME` is read when a request is made and never stored.
    pub headers: BTreeMap<String, String>,
    /// Seconds one request may take, redirects included.
    pub request_seconds: u64,
    /// Megabytes a body may have, after decompression.
    pub body_mb: u64,
}

/// `[api] pace`: one gap for the whole domain, all its hosts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Milliseconds between the starts of two requests.
    pub gap_ms: u64,
    /// Requests under way at once.
    pub concurrency: usize,
}

/// `[[api.probe]]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What people read.
    pub name: String,
    /// Path on `base`, query included.
    pub get: String,
    /// Expression over `status`, `json` and `text` that must be true.
    pub expect: String,
}

/// `[task]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSection {
    /// One sentence: who the assistant is.
    pub persona: String,
    /// What it is asked to do; without it, the file `prompt.md` beside the manifest.
    pub prompt: Option<String>,
    /// What the rehearsal repeats, such as `the lesson's runs`; said under its figures.
    pub rehearsal_of: Option<String>,
}

/// `[limits]`; commands that make runs take every one under the same name, others those that count there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Model turns of a run in mode `serial`.
    pub serial_turns: u32,
    /// Model turns of a run in mode `loop`.
    pub loop_turns: u32,
    /// Model turns of a run in mode `code`.
    pub code_turns: u32,
    /// Model turns of a run in mode `hosted`.
    pub hosted_turns: u32,
    /// Wall seconds of one script, waiting for its tool calls included.
    pub script_seconds: u64,
    /// Address space of one script in megabytes.
    pub script_memory_mb: u64,
    /// Seconds of one tool call; the clock stands while the tool waits for the host.
    pub tool_seconds: u64,
    /// Tool calls of one run, those of scripts included.
    pub tool_calls: u32,
    /// Characters of a script's output that come back, counted from its end.
    pub output_chars: usize,
}

impl Limits {
    /// Each limit with its key.
    pub fn entries(&self) -> [(&'static str, u64); 9] {
        [
            ("serial_turns", u64::from(self.serial_turns)),
            ("loop_turns", u64::from(self.loop_turns)),
            ("code_turns", u64::from(self.code_turns)),
            ("hosted_turns", u64::from(self.hosted_turns)),
            ("script_seconds", self.script_seconds),
            ("script_memory_mb", self.script_memory_mb),
            ("tool_seconds", self.tool_seconds),
            ("tool_calls", u64::from(self.tool_calls)),
            ("output_chars", self.output_chars as u64),
        ]
    }
}

/// One entry of `[evidence]`: exactly one of the first seven keys says what is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evidence {
    /// A page: the whole of it, or what `select` finds in it.
    pub html: Option<String>,
    /// A picture: its file name, width, height, bytes and format.
    pub image: Option<String>,
    /// A path of the API; the verifier fetches the record itself.
    pub get: Option<String>,
    /// A JSON file.
    pub json: Option<String>,
    /// A text file.
    pub text: Option<String>,
    /// Any file: its name and bytes.
    pub file: Option<String>,
    /// Nothing is read: an expression over other evidence, and over `item` where there is `each`.
    pub value: Option<String>,
    /// Name of a list among the evidence: the entry is read once for each `{{ item }}` of it.
    pub each: Option<String>,
    /// CSS selector: which elements of the page are read.
    pub select: Option<String>,
    /// The attribute that is read of each element, instead of its text.
    pub attribute: Option<String>,
    /// Regular expression: what is kept of each text, group 1 or the whole match. Texts without a
    /// match are left out.
    pub pattern: Option<String>,
    /// What each text becomes.
    pub r#as: Option<Conversion>,
}

/// Where an entry of `[evidence]` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// A page of the run's `out/`.
    Html(&'a str),
    /// A picture of the run's `out/`.
    Image(&'a str),
    /// A path of the API.
    Get(&'a str),
    /// A JSON file of the run's `out/`.
    Json(&'a str),
    /// A text file of the run's `out/`.
    Text(&'a str),
    /// Any file of the run's `out/`.
    File(&'a str),
    /// An expression over other evidence.
    Value(&'a str),
}

impl Evidence {
    /// What is read; nothing unless exactly one source is given, which is checked when a domain is
    /// loaded.
    pub fn source(&self) -> Option<Source<'_>> {
        let given = [
            self.html.as_deref().map(Source::Html),
            self.image.as_deref().map(Source::Image),
            self.get.as_deref().map(Source::Get),
            self.json.as_deref().map(Source::Json),
            self.text.as_deref().map(Source::Text),
            self.file.as_deref().map(Source::File),
            self.value.as_deref().map(Source::Value),
        ];
        let mut given = given.into_iter().flatten();
        given.next().filter(|_| given.next().is_none())
    }

    /// The other evidence it needs: the list of `each`, and what its `value` reads.
    pub fn needs(&self) -> BTreeSet<String> {
        // An expression that is none is told when a domain is loaded.
        let read = self.value.as_deref().map(|value| expression::reads(value).unwrap_or_default());
        let read = read.into_iter().flatten().filter(|name| name != "item");
        read.chain(self.each.clone()).collect()
    }
}

impl<'a> Source<'a> {
    /// The key of the manifest.
    pub fn key(self) -> &'static str {
        match self {
            Self::Html(_) => "html",
            Self::Image(_) => "image",
            Self::Get(_) => "get",
            Self::Json(_) => "json",
            Self::Text(_) => "text",
            Self::File(_) => "file",
            Self::Value(_) => "value",
        }
    }

    /// The template of the file's name or of the path, or the expression.
    pub fn template(self) -> &'a str {
        match self {
            Self::Html(name)
            | Self::Image(name)
            | Self::Get(name)
            | Self::Json(name)
            | Self::Text(name)
            | Self::File(name)
            | Self::Value(name) => name,
        }
    }
}

/// `as`: what a text of a page becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conversion {
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// It stays text.
    #[default]
    Text,
}

/// `[[verify]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What people read.
    pub name: String,
    /// Expression over the evidence that must be true.
    pub check: String,
    /// Expression whose value is shown beside the rule.
    pub got: Option<String>,
    /// Points it is worth.
    #[serde(default = "default_points")]
    pub points: f64,
}

impl ApiSection {
    /// The environment variables that its headers are read from.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        self.headers.values().filter_map(|value| value.strip_prefix(header::VARIABLE))
    }
}

impl Default for ApiSection {
    fn default() -> Self {
        Self {
            base: None,
            hosts: Vec::new(),
            pace: Pace::default(),
            retry_403: false,
            probe: Vec::new(),
            headers: BTreeMap::new(),
            request_seconds: 60,
            body_mb: 32,
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self { gap_ms: 150, concurrency: 4 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            serial_turns: 200,
            loop_turns: 60,
            code_turns: 8,
            hosted_turns: 60,
            script_seconds: 120,
            script_memory_mb: 512,
            tool_seconds: 60,
            tool_calls: 2000,
            output_chars: 6000,
        }
    }
}

fn default_points() -> f64 {
    1.0
}
