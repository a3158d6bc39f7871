//! Options that say where scripts run.

use clap::{Args, ValueEnum};

use crate::sandbox::docker::Network;

/// Where scripts run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SandboxChoice {
    /// A Python interpreter in a locked child process: no Docker, no files, the standard library
    Embedded,
    /// CPython in a container without network; `workbench sandbox build` makes its image
    Docker,
    /// Docker when its engine and image are there, else embedded; says which and why
    Auto,
}

/// Where the scripts of a command run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Sandbox of scripts")]
pub struct SandboxOptions {
    /// Where scripts run
    #[arg(long, value_name = "SANDBOX", default_value = default_sandbox())]
    pub sandbox: SandboxChoice,
    /// What a container reaches; docker only
    #[arg(long, value_name = "NETWORK", default_value = "none")]
    pub network: Network,
    /// Run all scripts of a run in one container, where a script finds the names of those before; docker only
    #[arg(long)]
    pub reuse: bool,
    /// A runtime that the engine offers, such as `runsc`; docker only
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
}

/// The sandbox that needs nothing, where this build has it.
fn default_sandbox() -> &'static str {
    if cfg!(feature = "embedded") { "embedded" } else { "docker" }
}

impl Default for SandboxOptions {
    fn default() -> Self {
        let sandbox = if cfg!(feature = "embedded") { SandboxChoice::Embedded } else { SandboxChoice::Docker };
        Self { sandbox, network: Network::default(), reuse: false, runtime: None }
    }
}

impl SandboxOptions {
    /// The first option given that means something in containers only.
    pub fn of_containers(&self) -> Option<&'static str> {
        let Self { sandbox: _, network, reuse, runtime } = self;
        let given = [(*network != Network::None, "--network"), (*reuse, "--reuse"), (runtime.is_some(), "--runtime")];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}
