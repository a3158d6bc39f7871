//! The arguments of the commands that look whether all is well: `workbench check` and `workbench doctor`.

use clap::Args;

use super::options::{Format, SourceOptions};
use super::sandbox_options::SandboxOptions;
use crate::model::provider::ModelChoice;

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

/// `workbench doctor`
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Ask for this model, too: whether key, address and model serve, and what the model allows
    #[arg(long, value_name = "MODEL")]
    pub model: Option<ModelChoice>,
    /// Another address of the model's API
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}
