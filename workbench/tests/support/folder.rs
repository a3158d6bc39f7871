//! A domain's folder for one test, gone when the test ends.

#![allow(clippy::unwrap_used, dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use workbench::domain::{Domain, ManifestError};

/// A folder `case/` with a manifest, and an `out/` beside it.
pub(crate) struct DomainFolder(TempDir);

impl DomainFolder {
    /// The name in the manifest has to be `case`.
    pub(crate) fn new(manifest: &str) -> Self {
        Self::of_bytes(manifest.as_bytes())
    }

    /// As [`DomainFolder::new`], for a manifest that may be no text.
    pub(crate) fn of_bytes(manifest: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("case")).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        fs::write(folder.path().join("case/domain.toml"), manifest).unwrap();
        Self(folder)
    }

    /// What is around both.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The domain's own folder.
    pub(crate) fn domain(&self) -> PathBuf {
        self.path().join("case")
    }

    /// Where artifacts go.
    pub(crate) fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    /// Writes one.
    pub(crate) fn artifact(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.out().join(name), content).unwrap();
    }

    /// Reads the domain.
    pub(crate) fn load(&self) -> Result<Domain, ManifestError> {
        Domain::load(&self.domain())
    }
}
