//! `workbench new`

use clap::Args;

/// `workbench new`
#[derive(Debug, Args)]
pub struct NewArguments {
    /// Name of the domain and of its folder: lower-case letters, digits and `-`
    pub name: String,
    /// Declare the tools in the manifest, with no code; this is what happens without an option
    #[arg(long, conflicts_with = "rust")]
    pub http: bool,
    /// Write the tools in Rust, in a plugin crate of the domain's own
    #[arg(long)]
    pub rust: bool,
    /// Base address of the API that the tools will read; without it a made-up one
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
}
