//! The sources of `plugin-api` and of the plugins that go with the program, compiled in: plugins can be built where the
//! workspace of the workbench is not at hand.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::env;
use crate::files::write_whole;

/// Path below the workspace, and content.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/kit.rs"));

/// Digits of the content's digest in the name of the cache's folder.
const DIGITS: usize = 12;

/// What stands above the manifest of such a workspace.
const HEADING: &str =
    "# A workspace of its own: `plugins/` has the tools, `plugin-api/` is a copy of what they are written with.\n\n";

/// The names of the plugins in it.
pub(super) fn plugins() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_prefix("plugins/")?.strip_suffix("/Cargo.toml"))
}

/// Writes into `folder` what makes a workspace of it in which crates `plugins/NAME` can be built: manifest, lock file,
/// toolchain and `plugin-api`. The plugins that go with the program are left out.
///
/// # Errors
/// When a file cannot be written.
pub fn write_workspace(folder: &Path) -> io::Result<()> {
    write(folder, FILES.iter().filter(|(path, _)| !path.starts_with("plugins/")))
}

/// The workspace with the plugins that go with the program, in the cache of the user; written when it is not there yet.
pub(super) fn cached_workspace() -> io::Result<PathBuf> {
    let cache = cache_folder().ok_or_else(|| io::Error::other("there is no home folder to keep them in"))?;
    let digest = FILES.iter().fold(Sha256::new(), |digest, (path, content)| {
        digest.chain_update(path).chain_update([0]).chain_update(content).chain_update([0])
    });
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = cache.join(format!("plugins-{}-{}", env!("CARGO_PKG_VERSION"), &digest[..DIGITS]));
    if folder.is_dir() {
        return Ok(folder);
    }
    fs::create_dir_all(&cache)?;
    let unfinished = tempfile::tempdir_in(&cache)?;
    write(unfinished.path(), FILES.iter())?;
    match fs::rename(unfinished.path(), &folder) {
        // Another command was quicker; what it wrote is the same.
        Err(_) if folder.is_dir() => {}
        outcome => outcome?,
    }
    Ok(folder)
}

fn write<'a>(folder: &Path, files: impl Iterator<Item = &'a (&'a str, &'a str)>) -> io::Result<()> {
    for (path, content) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        match *path {
            "Cargo.toml" => write_whole(&file, manifest(content)?.as_bytes())?,
            _ => write_whole(&file, content.as_bytes())?,
        }
    }
    Ok(())
}

/// The manifest of the workbench's own workspace, as far as it speaks of plugins.
fn manifest(ours: &str) -> io::Result<String> {
    let ours: Table = ours.parse().map_err(io::Error::other)?;
    let names = |names: &[&str]| Value::Array(names.iter().map(|name| Value::String((*name).to_owned())).collect());
    let mut workspace = ours.get("workspace").and_then(Value::as_table).cloned().unwrap_or_default();
    workspace.remove("exclude");
    workspace.insert("members".to_owned(), names(&["plugin-api", "plugin-api/macros", "plugins/*"]));
    workspace.insert("default-members".to_owned(), names(&["plugins/*"]));
    let manifest = Table::from_iter([("workspace".to_owned(), Value::Table(workspace))]);
    Ok(format!("{HEADING}{}", toml::to_string(&manifest).map_err(io::Error::other)?))
}

/// Where the program keeps what can be made again.
fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os(env::CACHE_FOLDER).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = named.or_else(|| Some(std::env::home_dir()?.join(".cache")))?;
    Some(cache.join("workbench"))
}
