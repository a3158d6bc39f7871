//! Why a plugin cannot be used at all. What goes wrong in a single call is a `CallOutcome`.

use std::io;
use std::path::PathBuf;

use plugin_api::abi::ABI_VERSION;
use plugin_api::wire::{COMPILER, WIRE_VERSION};

use crate::death::Death;
use crate::env::CACHE_FOLDER;

/// Why a plugin cannot be built, loaded or started.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The manifest names no plugin, or two.
    #[error("the domain {domain} must name one of `plugin` and `library` in its domain.toml")]
    Unnamed {
        /// The domain.
        domain: String,
    },
    /// There is no library under the path a manifest gives.
    #[error("the plugin library {} does not exist", path.display())]
    NoLibrary {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A manifest names a plugin whose crate is not in the workspace.
    #[error("there is no plugin {name}: neither its crate {} nor a built library {} exists{suggestion}", folder.display(), library.display())]
    NoCrate {
        /// The plugin.
        name: String,
        /// Where its crate would be.
        folder: PathBuf,
        /// Where its library would be.
        library: PathBuf,
        /// `; did you mean …?`, or nothing.
        suggestion: String,
    },
    /// The sources of a plugin that goes with the program cannot be unpacked.
    #[error("the sources of the plugin {name} cannot be unpacked: {cause}; name another folder in `{CACHE_FOLDER}`")]
    NoKit {
        /// The plugin.
        name: String,
        /// What happened.
        cause: io::Error,
    },
    /// The plugin is not built, and there is no cargo to build it.
    #[error("the plugin {name} is not built and cargo cannot be run: {reason}; install Rust, or copy a built library to {}", library.display())]
    NoCargo {
        /// The plugin.
        name: String,
        /// Why cargo cannot be run.
        reason: String,
        /// Where a built library is looked for.
        library: PathBuf,
    },
    /// The plugin does not compile.
    #[error("the plugin {name} could not be built: {message}")]
    Build {
        /// The plugin.
        name: String,
        /// The compiler's first error.
        message: String,
    },
    /// The library cannot be loaded, or is no plugin.
    #[error("{} cannot be loaded as a plugin: {reason}", library.display())]
    Load {
        /// The library.
        library: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The library was built for another version of the C boundary.
    #[error("{} speaks plugin ABI {theirs}, this workbench speaks {ABI_VERSION}; rebuild it: {rebuild}", library.display())]
    Abi {
        /// The library.
        library: PathBuf,
        /// Its version.
        theirs: u32,
        /// The command that rebuilds it.
        rebuild: String,
    },
    /// The library was built for another version of the messages.
    #[error(
        "{} speaks plugin messages {theirs} (plugin-api {plugin_api}), this workbench speaks {WIRE_VERSION}; rebuild it: {rebuild}",
        library.display()
    )]
    Wire {
        /// The library.
        library: PathBuf,
        /// Its version.
        theirs: u32,
        /// The crate it was built with.
        plugin_api: String,
        /// The command that rebuilds it.
        rebuild: String,
    },
    /// The library was built by another Rust compiler: it is stale, or comes from elsewhere.
    #[error("{} was built by {theirs}, this workbench by {COMPILER}; rebuild it: {rebuild}", library.display())]
    Compiler {
        /// The library.
        library: PathBuf,
        /// The compiler's own words.
        theirs: String,
        /// The command that rebuilds it.
        rebuild: String,
    },
    /// A tool or an argument has a name that no script can call.
    #[error("the plugin {} cannot be used: {reason}; {help}", library.display())]
    Names {
        /// The library.
        library: PathBuf,
        /// Which name, and what is wrong with it.
        reason: String,
        /// What to do.
        help: String,
    },
    /// The worker did not come up, or died before the plugin had said what it is.
    #[error("the plugin {} did not start: {reason}", library.display())]
    Start {
        /// The library.
        library: PathBuf,
        /// What happened.
        reason: Death,
    },
}
