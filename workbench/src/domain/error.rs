//! What can be wrong with a domain, in the words of its manifest.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Why a domain cannot be used. Commands end with exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// No domain of this name, and no folder either.
    #[error("there is no domain `{name}`{}{suggestion}", listed(.known))]
    Unknown {
        /// What was asked for.
        name: String,
        /// `; did you mean …?`, or nothing.
        suggestion: String,
        /// The domains there are.
        known: Vec<String>,
    },
    /// A file of the domain cannot be read.
    #[error("{} could not be read", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The manifest is wrong.
    #[error("{}", listing(.path, .problems))]
    Invalid {
        /// The manifest.
        path: PathBuf,
        /// Its text as it was parsed; the spans of the problems refer to it.
        text: String,
        /// What is wrong with it, in the order of the text; at least one.
        problems: Vec<Problem>,
    },
}

/// One thing that is wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// Line of the start of the span, from 1.
    pub line: usize,
    /// Character in that line, from 1.
    pub column: usize,
    /// What is wrong and what to write instead.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.message)
    }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return ": start the workbench inside its workspace, or name a folder that holds a domain.toml".to_owned();
    }
    format!(" (there are: {})", known.join(", "))
}

fn listing(path: &std::path::Path, problems: &[Problem]) -> String {
    let path = path.display();
    match problems {
        [problem] => format!("{path}:{problem}"),
        _ => {
            let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {path}:{problem}")).collect();
            format!("{path} has {} problems:{}", problems.len(), lines.concat())
        }
    }
}
