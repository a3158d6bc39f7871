//! The folder that holds the domains, the plugins and the results.

use std::fs;
use std::path::{Path, PathBuf};

use super::MANIFEST;

/// Where the workbench works. Without a workspace around it, it works in the current folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The nearest folder at or above `from` that has both `Cargo.toml` and `domains/`; `from` itself
    /// when there is none.
    pub fn discover(from: &Path) -> Self {
        let is_workspace = |folder: &&Path| folder.join("Cargo.toml").is_file() && folder.join("domains").is_dir();
        Self { root: from.ancestors().find(is_workspace).unwrap_or(from).to_owned() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Names of the domains: folders of `domains/` that hold a manifest, whether it can be read or not, sorted.
    pub fn domains(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join("domains")) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| fs::symlink_metadata(entry.path().join(MANIFEST)).is_ok())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// The folder of one domain, whether it exists or not.
    pub fn domain_folder(&self, name: &str) -> PathBuf {
        self.root.join("domains").join(name)
    }

    /// Where runs are kept, unless the command line says otherwise.
    pub fn results(&self) -> PathBuf {
        self.root.join("results")
    }
}
