//! The options of `workbench serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::sandbox_options::SandboxOptions;
use crate::model::provider::ModelChoice;
use crate::serve::Limits;

/// `workbench serve`
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The domain whose `rehearsal/hosted` scripts play the model
    #[arg(conflicts_with = "turns")]
    pub domain: Option<String>,
    /// Who speaks: the domain's scripts, or any model with a server or a key; its words are sampled as the API asks
    #[arg(long, default_value = "rehearsal", value_name = "MODEL")]
    pub model: ModelChoice,
    /// Another address of that model's API
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Play the turns of this file instead: a JSON list of `{"text", "code": [..], "calls": [{"name", "input"}],
    /// "stop_reason"}`
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub turns: Option<PathBuf>,
    /// Another name to be asked under (repeatable); names that begin with `claude-haiku-4-5` have no programmatic calling
    #[arg(long = "as", value_name = "NAME")]
    pub names: Vec<String>,
    /// Where to listen; beyond this machine only when told so
    #[arg(long, default_value = "127.0.0.1:8787", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// A key that is let in (repeatable); without one, one is made and printed
    #[arg(long = "token", env = crate::env::SERVE_TOKEN, hide_env_values = true, value_delimiter = ',', value_name = "KEY")]
    pub tokens: Vec<String>,
    /// Where cells run
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// Seconds a cell may compute; its waits for results are not counted
    #[arg(long, default_value = "90", value_name = "SECONDS", value_parser = seconds(), help_heading = "Limits")]
    pub cell_seconds: Duration,
    /// Seconds a call waits for its result before it is a `TimeoutError` in the cell
    #[arg(long, default_value = "270", value_name = "SECONDS", value_parser = seconds(), help_heading = "Limits")]
    pub pending_seconds: Duration,
    /// Seconds a container lives that nobody uses
    #[arg(long, default_value = "300", value_name = "SECONDS", value_parser = seconds(), help_heading = "Limits")]
    pub idle_seconds: Duration,
    /// Seconds any container lives
    #[arg(long, default_value = "2592000", value_name = "SECONDS", value_parser = seconds(), help_heading = "Limits")]
    pub age_seconds: Duration,
    /// Megabytes of memory of a container
    #[arg(long, default_value = "512", value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1_048_576), help_heading = "Limits")]
    pub memory_mb: u64,
    /// Containers there may be at once
    #[arg(long, default_value = "100", value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Limits")]
    pub containers: u16,
    /// Requests that are served at once; one more is answered with 529
    #[arg(long, default_value = "100", value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Limits")]
    pub requests: u16,
}

impl ServeArguments {
    /// What ends what.
    pub fn limits(&self) -> Limits {
        Limits {
            cell: self.cell_seconds,
            memory: self.memory_mb << 20,
            pending: self.pending_seconds,
            idle: self.idle_seconds,
            age: self.age_seconds,
            containers: self.containers.into(),
            requests: self.requests.into(),
            ..Limits::default()
        }
    }
}

/// Whole or broken seconds, more than none and at most a hundred years.
fn seconds() -> impl clap::builder::TypedValueParser<Value = Duration> {
    use clap::builder::TypedValueParser;
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| {
        let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
        match seconds > 0.0 && seconds <= 3.2e9 {
            true => Ok(Duration::from_secs_f64(seconds)),
            false => Err(format!("`{text}` seconds cannot be: more than 0, at most 3200000000")),
        }
    })
}
