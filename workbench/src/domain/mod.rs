//! A domain: the folder that says what is compared. Reads `domain.toml`, finds the folder, checks it.

pub mod authority;
pub mod base;
pub mod declared;
mod error;
mod excerpt;
mod expressions;
pub mod fingerprint;
pub mod header;
mod lint;
mod lint_arguments;
mod lint_tools;
mod load;
pub mod manifest;
mod placeholders;
mod shape;
mod text;
pub mod tool_names;
mod workspace;

pub use error::{ManifestError, Problem};
pub use lint::is_short_name;
pub use load::{Domain, Rehearsal};
pub use workspace::Workspace;

/// Name of the manifest in a domain's folder.
pub const MANIFEST: &str = "domain.toml";
