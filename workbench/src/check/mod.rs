//! Whether a domain is worth comparing, and whether its rules judge: what `workbench check` looks at, and what it says.
//! `docs/check.md` tells each finding, its threshold and where that comes from.

mod candidates;
pub mod documents;
pub mod manifest;
pub mod modes;
mod mutations;
pub mod probes;
pub mod rules;
pub mod shape;
pub mod text;
pub mod tools;

use serde::Serialize;

use self::modes::ModeOutcome;
use self::rules::Mutated;

/// Value of `format` in `check --format json`.
pub const CHECK_FORMAT: &str = "workbench/check/v1";

/// What was found of one domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`CHECK_FORMAT`].
    pub format: &'static str,
    /// Name of the domain.
    pub domain: String,
    /// Where its data came from: `cassette`, `live` or the routes.
    pub source: String,
    /// What was looked at, in this order.
    pub sections: Vec<Section>,
    /// The rehearsals that were made.
    pub modes: Vec<ModeOutcome>,
    /// What was done to a result that had passed, and which rules noticed.
    pub mutations: Vec<Mutated>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// `manifest`, `tools`, `probes`, `shape`, `rehearsal` or `rules`.
    pub name: &'static str,
    /// What is so, a line each.
    pub facts: Vec<String>,
    /// What should be otherwise, or could not be looked at.
    pub findings: Vec<Finding>,
}

/// Something that should be otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// What it is, and what it means.
    pub text: String,
    /// What to do about it.
    pub hint: String,
}

/// How much a finding matters, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A comparison of this domain would say nothing.
    Short,
    /// It would say less than it could.
    Warning,
    /// Something was not there to be looked at, or is only worth knowing.
    Note,
}

impl Level {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Short, Self::Warning, Self::Note];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Report {
    /// How many findings of this level there are.
    pub fn count(&self, level: Level) -> usize {
        self.sections.iter().flat_map(|section| &section.findings).filter(|finding| finding.level == level).count()
    }
}

impl Section {
    fn new(name: &'static str) -> Self {
        Self { name, facts: Vec::new(), findings: Vec::new() }
    }

    fn fact(&mut self, text: impl Into<String>) {
        self.facts.push(text.into());
    }

    fn find(&mut self, level: Level, text: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding { level, text: text.into(), hint: hint.into() });
    }

    fn note(&mut self, text: impl Into<String>, hint: impl Into<String>) {
        self.find(Level::Note, text, hint);
    }

    fn warn(&mut self, text: impl Into<String>, hint: impl Into<String>) {
        self.find(Level::Warning, text, hint);
    }

    fn short(&mut self, text: impl Into<String>, hint: impl Into<String>) {
        self.find(Level::Short, text, hint);
    }
}

/// Names in backticks, joined with commas; of many only the first.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const NAMED: usize = 5;
    let names: Vec<&str> = names.into_iter().collect();
    let first: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    first.join(", ") + &more
}
