//! Failures of the layers below as those of a command, with the exit code they end it with.

use rustix::io::Errno;

use crate::error::Failure;
use crate::exit::Exit;
use crate::model::types::ModelError;
use crate::plugin::PluginError;
use crate::results::store::StoreError;
use crate::sandbox::SandboxError;
use crate::web::WebError;

/// A plugin's failure as that of a command.
pub(super) fn plugin(error: PluginError) -> Failure {
    Failure::new(Exit::Plugin, error)
}

/// A sandbox's failure as that of a command.
pub(super) fn sandbox(error: SandboxError) -> Failure {
    let hint = error.hint();
    let failure = Failure::new(Exit::Sandbox, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// What went wrong with results as the failure of a command: what a user named wrongly, or a file system that
/// refuses what it granted before.
pub(super) fn store(error: StoreError) -> Failure {
    match error {
        StoreError::Io { action: "read", .. } => Failure::usage(error),
        // A path that is too long was named by the user.
        StoreError::Io { ref source, .. } if source.kind() == std::io::ErrorKind::InvalidFilename => {
            Failure::usage(error).hint("choose another results folder with `--results`")
        }
        StoreError::Io { .. } => Failure::new(Exit::Bug, error).hint(
            "look for a full disk, a limit on files (`ulimit -f`), rights that changed, or a folder that was removed; \
             `compare --resume` makes the runs that are missing",
        ),
        _ => Failure::usage(error),
    }
}

/// The same failure with a way on where the system grants too few open files, whatever met that.
pub(super) fn of_open_files(failure: Failure) -> Failure {
    // Workers that did not start tell it in words.
    let is_it = failure.to_string().contains(&std::io::Error::from(Errno::MFILE).to_string());
    if is_it { failure.hint("raise the limit of open files (`ulimit -n`), or lower `--jobs`") } else { failure }
}

/// A failed request as the failure of a command.
pub(super) fn network(error: WebError) -> Failure {
    match error {
        WebError::NotAllowed { .. } => Failure::usage(error),
        _ => Failure::new(Exit::Network, error),
    }
}

/// A model that cannot be asked, as the failure of a command.
pub(super) fn model(error: ModelError) -> Failure {
    Failure::new(Exit::Network, error)
}
