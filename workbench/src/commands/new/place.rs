//! Where a new domain goes: into the workspace, or into a folder of its own.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::domain::Workspace;
use crate::error::Failure;
use crate::plugin::kit;

use super::sample;
use super::scaffold::{Scaffold, Tools};

/// The folders of a new domain, as a user writes them.
pub(super) struct Place {
    /// The domain.
    pub(super) domain: PathBuf,
    /// How commands name it.
    pub(super) reference: String,
    /// The crate of its tools, when they are in Rust.
    pub(super) crate_folder: Option<PathBuf>,
    /// Whether the domain's folder is a workspace of plugins itself.
    pub(super) is_workspace: bool,
}

impl Place {
    pub(super) fn of(name: &str, workspace: &Workspace, tools: Tools) -> Self {
        let is_inside = workspace.root().join("domains").is_dir() && workspace.root().join("Cargo.toml").is_file();
        let root = shortened(workspace.root());
        let domain = if is_inside { root.join("domains").join(name) } else { Path::new(".").join(name) };
        // A workspace of domains alone has nothing to build plugins with.
        let is_workspace = tools == Tools::Rust && !workspace.root().join("plugin-api/Cargo.toml").is_file();
        let crates = if is_workspace { &domain } else { &root };
        Self {
            crate_folder: (tools == Tools::Rust).then(|| crates.join("plugins").join(name)),
            reference: if is_inside { name.to_owned() } else { domain.display().to_string() },
            domain,
            is_workspace,
        }
    }

    /// Makes the folders and all that is in them. What was made is removed when a part of it cannot be.
    pub(super) fn fill(&self, scaffold: &Scaffold<'_>) -> Result<(), Failure> {
        let beside = self.crate_folder.as_deref().filter(|_| !self.is_workspace);
        let mut made = Vec::new();
        let outcome = [Some(self.domain.as_path()), beside].into_iter().flatten().try_for_each(|folder| {
            make(folder)?;
            made.push(folder);
            Ok(())
        });
        let outcome = outcome.and_then(|()| {
            self.write(scaffold)
                .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", self.domain.display())))
        });
        if outcome.is_err() {
            for folder in made {
                // What cannot be removed either is seen by who looks at the error.
                _ = fs::remove_dir_all(folder);
            }
        }
        outcome
    }

    fn write(&self, scaffold: &Scaffold<'_>) -> io::Result<()> {
        write_all(&self.domain, scaffold.domain(&self.reference))?;
        sample::write(&self.domain.join("cassette"), scaffold.base())?;
        if self.is_workspace {
            kit::write_workspace(&self.domain)?;
        }
        match &self.crate_folder {
            Some(folder) => write_all(folder, scaffold.plugin()),
            None => Ok(()),
        }
    }
}

fn write_all(folder: &Path, files: Vec<(&'static str, String)>) -> io::Result<()> {
    for (path, content) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        fs::write(file, content)?;
    }
    Ok(())
}

/// A folder that was not there before.
fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(format!("{} is there already", folder.display()))
            .hint("nothing was changed; take another name, or remove it first"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Failure::usage(format!("{} cannot be made: {error}", folder.display())).hint(
                "go to a folder that you may write to, in a workspace to one outside of it, and give the command there",
            )
        }
        _ => Failure::usage(format!("{} cannot be made: {error}", folder.display()))
            .hint("look at the folder above it; nothing was changed"),
    })
}

/// As one would write it in the current folder.
fn shortened(root: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    if root == here { PathBuf::new() } else { root.to_owned() }
}
