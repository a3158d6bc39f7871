//! The error of a whole command: what `main` renders once, at the edge.
//!
//! Modules below `commands/` return errors of their own types; a command turns them into a
//! [`Failure`] by saying which exit code they mean and, where it helps, what to do about them.

use std::error::Error;
use std::fmt;

use annotate_snippets::renderer::DEFAULT_ERROR_STYLE as LOUD;

use crate::exit::Exit;
use crate::printer;

/// Why a command stopped.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What failed, with its chain of sources.
    pub error: Box<dyn Error + Send + Sync>,
    /// One way on.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure that ends the program with `exit`.
    pub fn new(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit, error: error.into(), hint: None }
    }

    /// A wrong command line or manifest.
    pub fn usage(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Exit::Usage, error)
    }

    /// The same failure with a way on.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    /// `error: …`, the chain one `caused by:` a line, one `hint:`; no final line feed. Colour only in the alternate
    /// form (`{:#}`), and where the error itself has any.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.error.to_string();
        if formatter.alternate() {
            let drawn = format!("{:#}", self.error);
            // An error that draws itself in colour answers for its own control characters.
            let text = if drawn == words { printer::plain(&words) } else { drawn };
            write!(formatter, "{LOUD}error{LOUD:#}: {text}")?;
        } else {
            write!(formatter, "error: {}", printer::plain(&words))?;
        }
        let mut source = self.error.source();
        while let Some(cause) = source {
            write!(formatter, "\n  caused by: {}", printer::plain(&cause.to_string()))?;
            source = cause.source();
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {}", printer::plain(hint)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_as_text() {
        let failure = Failure::usage("no `\u{1b}[2J` here").hint("a\nb\t\u{7}");
        assert_eq!(failure.to_string(), "error: no `\\u{1b}[2J` here\nhint: a\nb\t\\u{7}");
        assert!(format!("{failure:#}").ends_with(": no `\\u{1b}[2J` here\nhint: a\nb\t\\u{7}"));
    }
}
