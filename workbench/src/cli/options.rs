//! Options that several commands share.

use clap::{Args, ValueEnum};

use crate::domain::manifest::Limits;
use crate::web::{Injection, Route};

/// How a command prints its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs; the fields are in `docs/results-format.md`.
    Json,
}

/// Where answers of an API come from: one source a command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source of data")]
pub struct SourceOptions {
    /// Ask the API itself, not the cassette
    #[arg(long, conflicts_with = "offline")]
    pub live: bool,
    /// Send a host's requests elsewhere (a mirror, a test server): HOST=URL; repeatable. Ignores the cassette
    #[arg(long = "route", value_name = "HOST=URL", env = crate::env::ROUTES, value_delimiter = ',')]
    pub routes: Vec<Route>,
    /// Never touch the network; what neither cassette nor cache holds is an error that names it
    #[arg(long)]
    pub offline: bool,
    /// Start from one empty cache for this command
    #[arg(long)]
    pub fresh: bool,
    /// Put a fault in the way: path=GLOB,status=410[,message=TEXT] or path=GLOB,swallow=BODY; repeatable
    #[arg(long = "inject", value_name = "RULE")]
    pub injections: Vec<Injection>,
}

/// The manifest's `[limits]`, each under its own name.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits (default: the domain's)")]
pub struct LimitOptions {
    /// Model turns in mode serial
    #[arg(long, value_name = "N")]
    pub serial_turns: Option<u32>,
    /// Model turns in mode loop
    #[arg(long, value_name = "N")]
    pub loop_turns: Option<u32>,
    /// Model turns in mode code
    #[arg(long, value_name = "N")]
    pub code_turns: Option<u32>,
    /// Wall seconds of one script
    #[arg(long, value_name = "N")]
    pub script_seconds: Option<u64>,
    /// Memory of one script in megabytes
    #[arg(long, value_name = "N")]
    pub script_memory_mb: Option<u64>,
    /// Seconds of one tool call, without its waits for the API
    #[arg(long, value_name = "N")]
    pub tool_seconds: Option<u64>,
    /// Tool calls of one run, those of scripts included
    #[arg(long, value_name = "N")]
    pub tool_calls: Option<u32>,
    /// Characters of a script's output that a model reads
    #[arg(long, value_name = "N")]
    pub output_chars: Option<usize>,
}

/// How a run is made.
#[derive(Clone, Debug, Args)]
pub struct RunOptions {
    /// Who is asked; `rehearsal` is a scripted stand-in that needs no key and no network
    #[arg(long, default_value = "rehearsal")]
    pub model: String,
    /// A word kept with the run, to find it again
    #[arg(long)]
    pub tag: Option<String>,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the run
    #[command(flatten)]
    pub limits: LimitOptions,
}

impl LimitOptions {
    /// The domain's limits, with those given here in their place.
    pub fn over(&self, domain: &Limits) -> Limits {
        Limits {
            serial_turns: self.serial_turns.unwrap_or(domain.serial_turns),
            loop_turns: self.loop_turns.unwrap_or(domain.loop_turns),
            code_turns: self.code_turns.unwrap_or(domain.code_turns),
            hosted_turns: domain.hosted_turns,
            script_seconds: self.script_seconds.unwrap_or(domain.script_seconds),
            script_memory_mb: self.script_memory_mb.unwrap_or(domain.script_memory_mb),
            tool_seconds: self.tool_seconds.unwrap_or(domain.tool_seconds),
            tool_calls: self.tool_calls.unwrap_or(domain.tool_calls),
            output_chars: self.output_chars.unwrap_or(domain.output_chars),
        }
    }
}
