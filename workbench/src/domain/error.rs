//! What can be wrong with a domain, in the words of its manifest.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::excerpt::Excerpts;

/// Why a domain cannot be used. Commands end with exit code 2.
///
/// As text a wrong manifest shows each problem with the line it is about, as the compiler does; in the alternate form
/// (`{:#}`) with colour.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// No domain of this name, and no folder either.
    Unknown {
        /// What was asked for.
        name: String,
        /// `; did you mean …?`, or nothing.
        suggestion: String,
        /// The domains there are.
        known: Vec<String>,
    },
    /// A file of the domain cannot be read.
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The manifest is wrong.
    Invalid {
        /// The manifest.
        path: PathBuf,
        /// Its text as it was parsed; the spans of the problems refer to it.
        text: String,
        /// What is wrong with it, in the order of the text; at least one.
        problems: Vec<Problem>,
    },
}

impl fmt::Display for ManifestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, suggestion, known } => {
                let name: String = name.chars().take(LONGEST_PART).collect();
                write!(formatter, "there is no domain `{}`{}{suggestion}", name.escape_debug(), listed(known))
            }
            Self::Unreadable { path, .. } => write!(formatter, "{} could not be read", shown(path)),
            Self::Invalid { path, text, problems } => {
                let excerpts = Excerpts { path: &shown(path), text, problems };
                formatter.write_str(&excerpts.draw(formatter.alternate()))
            }
        }
    }
}

/// One thing that is wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What was most likely meant, or what to write instead.
    pub help: Option<String>,
}

/// Characters of a message between two of its backticks, and in all: names and values may be of any length.
const LONGEST_PART: usize = 200;
const LONGEST_MESSAGE: usize = 800;

impl Problem {
    pub(super) fn new(span: Range<usize>, message: &str) -> Self {
        Self { span, message: shortened(message), help: None }
    }

    /// Says what was meant, or what to write instead.
    pub(super) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(shortened(&help.into()));
    }
}

/// One line. The excerpt shows where a long name or value stands; the message need not hold all of it.
fn shortened(message: &str) -> String {
    let cut = |part: &str, length: usize| match part.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &part[..end]),
        None => part.to_owned(),
    };
    let parts: Vec<String> = message.split('`').map(|part| cut(part, LONGEST_PART)).collect();
    cut(&parts.join("`"), LONGEST_MESSAGE).replace('\n', "␊")
}

/// A path on one line, whatever letters it has.
fn shown(path: &Path) -> String {
    annotate_snippets::normalize_untrusted_str(&path.display().to_string())
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return ": start the workbench inside its workspace, or name a folder that holds a domain.toml".to_owned();
    }
    format!(" (there are: {})", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_holds_the_start_of_a_long_value() {
        let long = "x".repeat(1_000);
        let told = Problem::new(0..0, &format!("unknown key `{long}` in `task`")).message;
        assert_eq!(told, format!("unknown key `{}…` in `task`", &long[..LONGEST_PART]));
        assert_eq!(Problem::new(0..0, &"`x".repeat(10_000)).message.chars().count(), LONGEST_MESSAGE + 1);
    }
}
