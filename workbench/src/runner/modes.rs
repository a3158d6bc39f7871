//! The ways a model calls tools, and the settings each one is measured with.

use std::fmt;
use std::str::FromStr;

use crate::domain::manifest::Limits;

/// How the model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// One call a turn; every result enters the conversation.
    Serial,
    /// Several calls a turn, run at once; every result enters the conversation.
    Loop,
    /// One script a turn; only what it prints enters the conversation.
    Code,
    /// As code, but the provider runs the scripts, and hands their calls to us one pause after the other.
    Hosted,
}

impl Mode {
    /// All of them, in the order tables show them.
    pub const ALL: [Self; 4] = [Self::Serial, Self::Loop, Self::Code, Self::Hosted];

    /// The word for it, everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Loop => "loop",
            Self::Code => "code",
            Self::Hosted => "hosted",
        }
    }

    /// Tokens one answer of the model may have: a script needs more room than calls do.
    pub fn max_tokens(self) -> u32 {
        match self {
            Self::Serial | Self::Loop => 4096,
            Self::Code | Self::Hosted => 8000,
        }
    }

    /// Turns a run of this mode may have.
    pub fn turns(self, limits: &Limits) -> u32 {
        match self {
            Self::Serial => limits.serial_turns,
            Self::Loop => limits.loop_turns,
            Self::Code => limits.code_turns,
            Self::Hosted => limits.hosted_turns,
        }
    }

    /// Whether one answer may hold several calls.
    pub fn parallel_calls(self) -> bool {
        self != Self::Serial
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The word names no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no mode `{0}`; the modes are serial, loop, code and hosted")]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == word).ok_or_else(|| UnknownMode(word.to_owned()))
    }
}
