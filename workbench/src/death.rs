//! Why a child process is gone, for those who decide whether to start another.

use std::fmt;
use std::process::ExitStatus;

use std::os::unix::process::ExitStatusExt as _;

use rustix::process::Signal;

/// Why a child process did not come up, or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Death {
    /// It was killed by somebody else, perhaps the system for lack of memory. That is nobody's fault in the child and may
    /// have passed, so that another child is worth a try.
    Killed,
    /// Anything else, which another child would meet as well; in a few words.
    Other(String),
}

impl Death {
    /// Whether a process that ended so was killed from outside, when nothing of ours has killed it.
    pub fn is_kill(status: ExitStatus) -> bool {
        status.signal() == Some(Signal::KILL.as_raw())
    }
}

impl fmt::Display for Death {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed => formatter.write_str("killed from outside, perhaps for lack of memory"),
            Self::Other(words) => formatter.write_str(words),
        }
    }
}

impl From<String> for Death {
    fn from(words: String) -> Self {
        Self::Other(words)
    }
}

impl From<&str> for Death {
    fn from(words: &str) -> Self {
        Self::Other(words.to_owned())
    }
}
