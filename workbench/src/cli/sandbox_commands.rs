//! The commands about sandboxes.

use clap::{Args, Subcommand};

use super::options::Format;
use super::sandbox_options::SandboxOptions;

/// `workbench sandbox`
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Build the image that scripts run in
    #[command(after_help = "Examples:\n  workbench sandbox build\n  \
workbench sandbox build --base registry.example/python:3.12-slim")]
    Build(SandboxBuildArguments),
    /// Show engine, image, and what the engine has of ours
    #[command(after_help = "Example:\n  workbench sandbox status")]
    Status(SandboxStatusArguments),
    /// Remove the containers and volumes that killed commands left
    #[command(after_help = "Example:\n  workbench sandbox clean")]
    Clean(SandboxCleanArguments),
}

/// `workbench sandbox build`
#[derive(Debug, Args)]
pub struct SandboxBuildArguments {
    /// What to build it from, instead of the official image of Python: any image with a shell, find, timeout and
    /// Python 3.9 or newer
    #[arg(long, value_name = "IMAGE")]
    pub base: Option<String>,
}

/// `workbench sandbox status`
#[derive(Debug, Args)]
pub struct SandboxStatusArguments {
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench sandbox clean`
#[derive(Debug, Args)]
pub struct SandboxCleanArguments {
    /// All of them: those in use, and those that other machines and users made on the same engine, too
    #[arg(long)]
    pub all: bool,
}

/// `workbench probe`
#[derive(Debug, Args)]
pub struct ProbeArguments {
    /// An address that answers 200, for the probe of the network; nothing else is ever asked for anything
    #[arg(long, value_name = "URL")]
    pub url: Option<url::Url>,
    /// Where scripts run
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}
