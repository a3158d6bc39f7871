//! What a container reaches.

use std::fmt;

use clap::ValueEnum;

/// What a container reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Network {
    /// Nothing: tools are called through the host.
    #[default]
    None,
    /// What the engine's default network reaches: the internet, and whatever is near the engine.
    Open,
}

impl Network {
    /// As the command line and results say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Open => "open",
        }
    }

    /// As the engine says it.
    pub(super) fn mode(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Open => "bridge",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
