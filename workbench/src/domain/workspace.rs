//! The folder that holds the domains, the plugins and the results.

use std::fs;
use std::path::{Path, PathBuf};

use super::MANIFEST;

/// Where the workbench works. Without a workspace around it, it works in the current folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
    /// Whether there is one; else the root is the current folder.
    is_found: bool,
}

impl Workspace {
    /// The nearest folder at or above `from` that has both `Cargo.toml` and `domains/`; `from` itself
    /// when there is none.
    pub fn discover(from: &Path) -> Self {
        let is_workspace = |folder: &&Path| folder.join("Cargo.toml").is_file() && folder.join("domains").is_dir();
        let found = from.ancestors().find(is_workspace);
        Self { root: found.unwrap_or(from).to_owned(), is_found: found.is_some() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Names of the domains: folders of `domains/` that hold a manifest, whether it can be read or not, sorted. Hidden
    /// folders are none.
    pub fn domains(&self) -> Vec<String> {
        folders_with_manifest(&self.root.join("domains"))
    }

    /// All domains that a command goes through when none is named, as a user would type them: those of the workspace by
    /// their names, and where there is no workspace also the folders in the current one, as `./name`.
    pub fn all(&self) -> Vec<String> {
        let beside = if self.is_found { Vec::new() } else { beside(&self.root) };
        self.domains().into_iter().chain(beside).collect()
    }

    /// Where those are looked for, as people read it.
    pub fn place(&self) -> String {
        let domains = self.root.join("domains");
        if self.is_found {
            domains.display().to_string()
        } else {
            format!("{} and {}", self.root.display(), domains.display())
        }
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

/// The domains in `folder` as a user types them there.
pub(super) fn beside(folder: &Path) -> Vec<String> {
    folders_with_manifest(folder).into_iter().map(|name| format!("./{name}")).collect()
}

fn folders_with_manifest(parent: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| fs::symlink_metadata(entry.path().join(MANIFEST)).is_ok())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}
