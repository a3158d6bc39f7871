//! The arguments of `workbench check`.

use clap::Args;

use super::options::{Format, SourceOptions};
use super::sandbox_options::SandboxOptions;

/// `workbench check`
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// A domain's name or folder
    pub domain: String,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// Where scripts run
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}
