//! Landlock: which files a plugin worker may read and write, and that it reaches no network and no other process.
//!
//! What the kernel does not know yet is left out, not refused: the filter of system calls stands beside it.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope, make_bitflags, path_beneath_rules,
};

/// The newest rules that were tried.
const NEWEST: ABI = ABI::V6;

/// Where the system's loader looks for what a library links, and its index of them. The last two are for systems that
/// keep each package in a folder of its own.
const SYSTEM_LIBRARIES: [&str; 8] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store", "/gnu/store"];

/// Making, filling and removing files and folders. Not reading: what a tool wants back it asks its host for, and a
/// library that a plugin left there cannot be loaded.
const WRITING: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir});

/// Leaves this thread, and all it starts from now on, `library` with the libraries beside it and those of the system
/// to read, and `out` to write to, if it is there.
pub(super) fn allow_only(library: &Path, out: &Path) -> io::Result<()> {
    restrict(library, out).map_err(io::Error::other)
}

fn restrict(library: &Path, out: &Path) -> Result<(), RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM_LIBRARIES, AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(libraries_beside(library), AccessFs::ReadFile))?
        .add_rules(path_beneath_rules([library], AccessFs::ReadFile))?
        .add_rules(path_beneath_rules([out], WRITING))?
        .restrict_self()?;
    Ok(())
}

/// Libraries in the same folder, which a plugin may link. Not the folder: it may be a home.
fn libraries_beside(library: &Path) -> Vec<PathBuf> {
    let entries = library.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_library(path)).collect()
}

/// `libx.so` and `libx.so.1.2`.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}

/// Whether this system has rules for files.
pub(super) fn holds_files() -> bool {
    can(|rules| rules.handle_access(AccessFs::from_all(ABI::V1)))
}

/// Whether this system has rules for network and signals.
pub(super) fn holds_network_and_signals() -> bool {
    can(|rules| rules.handle_access(AccessNet::from_all(NEWEST))?.scope(Scope::from_all(NEWEST)))
}

/// Asks the kernel for rules and does not put them in force.
fn can(ask: impl FnOnce(Ruleset) -> Result<Ruleset, RulesetError>) -> bool {
    ask(Ruleset::default().set_compatibility(CompatLevel::HardRequirement)).and_then(Ruleset::create).is_ok()
}
