//! The sandboxes of a command: opened as the user chose them, and closed when it ends.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::sandbox_options::{SandboxChoice, SandboxOptions};
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::printer;
use crate::runner::script_limits;
use crate::sandbox::docker::{Docker, DockerSettings, Network};
use crate::sandbox::{Sandbox, SandboxError};

use super::failures;

/// What a command has opened.
#[derive(Default)]
pub(super) struct Sandboxes {
    opened: Mutex<Vec<Arc<dyn Sandbox>>>,
}

impl Sandboxes {
    /// The sandbox the options name, for scripts under these limits; `purpose` is written on its containers.
    pub(super) async fn open(
        &self,
        options: &SandboxOptions,
        limits: &Limits,
        purpose: &str,
    ) -> Result<Arc<dyn Sandbox>, Failure> {
        let sandbox = match options.sandbox {
            SandboxChoice::Embedded => {
                if let Some(flag) = options.of_containers() {
                    return Err(Failure::usage(format!(
                        "`{flag}` is about containers, and scripts run in the embedded sandbox"
                    ))
                    .hint("add `--sandbox docker`"));
                }
                return embedded();
            }
            SandboxChoice::Docker => docker(options, limits, purpose).await.map_err(failures::sandbox)?,
            SandboxChoice::Auto => match docker(options, limits, purpose).await {
                Ok(sandbox) => {
                    printer::note("note: scripts run in containers (docker): engine and image are there");
                    sandbox
                }
                Err(error) if options.of_containers().is_some() => return Err(failures::sandbox(error)),
                Err(error) => {
                    printer::note(&format!("note: scripts run in the embedded sandbox: {error}"));
                    if let Some(hint) = error.hint() {
                        printer::note(&format!("hint: {hint}"));
                    }
                    return embedded();
                }
            },
        };
        if options.network == Network::Open {
            printer::note(
                "warning: with `--network open` a script can send what it sees anywhere, and reach what is near the \
                 engine: its gateway, other containers, the address of a cloud's metadata (docs/sandbox.md)",
            );
        }
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&sandbox));
        Ok(sandbox)
    }

    /// As [`Self::open`], for a script that comes at once: the sandbox gets ready while the plugin does.
    pub(super) async fn open_now(
        &self,
        options: &SandboxOptions,
        limits: &Limits,
        purpose: &str,
    ) -> Result<Arc<dyn Sandbox>, Failure> {
        let sandbox = self.open(options, limits, purpose).await?;
        let opened = Arc::clone(&sandbox);
        tokio::spawn(async move { opened.prepare().await });
        Ok(sandbox)
    }

    /// Waits until nothing is left of them.
    pub(super) async fn close(&self) {
        let opened = std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner));
        for sandbox in opened {
            sandbox.close().await;
        }
    }
}

async fn docker(options: &SandboxOptions, limits: &Limits, purpose: &str) -> Result<Arc<dyn Sandbox>, SandboxError> {
    let choice = DockerSettings { network: options.network, reuse: options.reuse, runtime: options.runtime.clone() };
    Ok(Arc::new(Docker::open(choice, purpose, script_limits(limits).memory).await?))
}

/// The sandbox that needs nothing.
#[cfg(feature = "embedded")]
pub(super) fn embedded() -> Result<Arc<dyn Sandbox>, Failure> {
    use crate::sandbox::embedded::{Embedded, EmbeddedSettings};
    Ok(Arc::new(Embedded::new(EmbeddedSettings::default())))
}

/// The sandbox that needs nothing.
#[cfg(not(feature = "embedded"))]
pub(super) fn embedded() -> Result<Arc<dyn Sandbox>, Failure> {
    Err(Failure::new(crate::exit::Exit::Sandbox, "this workbench was built without the embedded sandbox")
        .hint("build it with the feature `embedded`, which is on by default, or use `--sandbox docker`"))
}
