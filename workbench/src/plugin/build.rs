//! Finds a domain's plugin library, and builds it through cargo when its source is newer.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::SystemTime;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use tokio::process::{Child, Command};

use super::error::PluginError;
use super::kit;
use crate::domain::Domain;
use crate::env;
use crate::nearest::suggestion;
use crate::printer::shell_word;

/// Characters of a compiler's error that are shown.
const ERROR_CHARS: usize = 4000;

/// The crate that this program is made from.
const SOURCE: &str = env!("CARGO_MANIFEST_DIR");

/// The profile this program was built with, `debug` or `release`. Plugins are built with the same.
pub fn profile() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

/// The library of a domain's plugin: the one its manifest names, or that of the crate `plugins/<name>`, which is built first
/// when it is missing or older than its source. The crate is that of the nearest folder above the domain that has one, or
/// above the program, or one that goes with the program. `progress` hears what takes long. Without cargo, a library that
/// was built before is taken.
pub async fn library_for(domain: &Domain, progress: &(dyn Fn(&str) + Sync)) -> Result<PathBuf, PluginError> {
    let section = &domain.manifest.domain;
    match (&section.plugin, &section.library) {
        (Some(name), None) => built_library(name, domain, progress).await,
        (None, Some(library)) => {
            let path = domain.folder.join(library);
            if path.is_file() { Ok(path) } else { Err(PluginError::NoLibrary { path }) }
        }
        _ => Err(PluginError::Unnamed { domain: section.name.clone() }),
    }
}

/// The command that rebuilds a library, for error texts.
pub(super) fn rebuild_command(library: &Path) -> String {
    let file = library.file_name().unwrap_or_default().to_string_lossy();
    let name = file.strip_prefix(DLL_PREFIX).unwrap_or(&file);
    let name = name.strip_suffix(DLL_SUFFIX).unwrap_or(name);
    let release = if profile() == "release" { " --release" } else { "" };
    let names = [name.to_owned(), name.replace('_', "-")];
    let near = names.iter().find_map(|name| Some((name, workspace_with(name, library)?)));
    match near {
        // A name that a dependency has as well is no riddle then.
        Some((name, workspace)) => {
            let manifest = workspace.join("plugins").join(name).join("Cargo.toml");
            format!("cargo build{release} --manifest-path {}", shell_word(&manifest.to_string_lossy()))
        }
        None if kit::plugins().any(|known| known == name) => {
            format!("cargo build{release} -p {name}@{}", env!("CARGO_PKG_VERSION"))
        }
        None => format!("cargo build{release} -p {name}"),
    }
}

async fn built_library(name: &str, domain: &Domain, progress: &(dyn Fn(&str) + Sync)) -> Result<PathBuf, PluginError> {
    let secrets: Vec<&str> = domain.manifest.api.secret_variables().collect();
    let domain = domain.folder.as_path();
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.with_file_name(file_name(name));
    let near = workspace_with(name, domain).or_else(|| workspace_with(name, &program));
    if near.is_none() && beside.is_file() {
        return Ok(beside);
    }
    let workspace = match near {
        None if kit::plugins().any(|plugin| plugin == name) => {
            let unpacked = kit::cached_workspace();
            Some(unpacked.map_err(|cause| PluginError::NoKit { name: name.into(), cause })?)
        }
        near => near,
    };
    let Some(workspace) = workspace else {
        let folder = Path::new("plugins").join(name);
        let mut known = [domain, program.as_path()].map(plugins_above).concat();
        known.extend(kit::plugins().map(str::to_owned));
        let suggestion = suggestion(name, known.iter().map(String::as_str));
        return Err(PluginError::NoCrate { name: name.into(), folder, library: beside, suggestion });
    };
    let target = target_folder(&program, &workspace, Path::new(SOURCE));
    let library = target.join(profile()).join(file_name(name));
    if is_fresh(&library, &workspace, name) {
        return Ok(library);
    }
    progress(&format!("building plugin {name}…"));
    let begun = SystemTime::now();
    match run_cargo(name, &workspace, &target, &secrets).await {
        Ok(output) => {
            let built = built_file(name, &output)?;
            mark_checked(&built, begun);
            Ok(built)
        }
        Err(error) => match [&library, &beside].into_iter().find(|path| path.is_file()) {
            Some(prebuilt) => {
                progress(&format!("cargo cannot be run ({error}): taking plugin {name} as it was built before"));
                Ok(prebuilt.clone())
            }
            None => Err(PluginError::NoCargo { name: name.into(), reason: error.to_string(), library: beside.clone() }),
        },
    }
}

fn file_name(plugin: &str) -> String {
    format!("{DLL_PREFIX}{}{DLL_SUFFIX}", plugin.replace('-', "_"))
}

/// The folder above `start` that has a crate `plugins/<name>`.
fn workspace_with(name: &str, start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    start.ancestors().find(|folder| folder.join("plugins").join(name).join("Cargo.toml").is_file()).map(Path::to_owned)
}

/// Names of the crates in each `plugins/` above `start`.
fn plugins_above(start: &Path) -> Vec<String> {
    let start = start.canonicalize().unwrap_or_default();
    let plugins = start.ancestors().filter_map(|folder| folder.join("plugins").read_dir().ok()).flatten().flatten();
    let crates = plugins.filter(|entry| entry.path().join("Cargo.toml").is_file());
    crates.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Where this program was built to, so that plugin and host share what they depend on; for a program that was installed
/// elsewhere, and for another workspace than the one it is made from, the workspace's own: two plugins of one name, such as
/// those of two students, are two files.
fn target_folder(program: &Path, workspace: &Path, source: &Path) -> PathBuf {
    let own = workspace.join("target");
    if source.parent().and_then(|ours| ours.canonicalize().ok()) != workspace.canonicalize().ok() {
        return own;
    }
    // Tests lie one folder deeper, in `deps`.
    let profiles = program.ancestors().skip(1).take(2);
    let built_to = profiles.filter(|folder| folder.ends_with(profile())).find_map(Path::parent);
    built_to.filter(|target| target.join("CACHEDIR.TAG").is_file()).map_or(own, Path::to_owned)
}

/// Whether the library is there and nothing it is made of is newer. Asking cargo would tell the
/// same, but costs every command a tenth of a second or more.
fn is_fresh(library: &Path, workspace: &Path, name: &str) -> bool {
    let sources = [
        workspace.join("plugins").join(name),
        workspace.join("plugin-api"),
        workspace.join("Cargo.toml"),
        workspace.join("Cargo.lock"),
    ];
    let newest = sources.iter().filter_map(|source| newest_change(source)).max();
    changed(library) > newest && newest.is_some()
}

/// Cargo leaves a library alone when a newer file makes no difference to it. Dating it at the moment
/// cargo was asked spares later commands the question; where that fails, they ask again.
fn mark_checked(library: &Path, asked: SystemTime) {
    if changed(library).is_some_and(|built| built < asked)
        && let Ok(file) = File::options().append(true).open(library)
    {
        let _ = file.set_modified(asked);
    }
}

/// The newest change of a file, or of any file in a folder.
fn newest_change(path: &Path) -> Option<SystemTime> {
    match path.read_dir() {
        Ok(entries) => entries.flatten().filter_map(|entry| newest_change(&entry.path())).max(),
        Err(_) => changed(path),
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// An error means that cargo cannot be run at all.
async fn run_cargo(name: &str, workspace: &Path, target: &Path, secrets: &[&str]) -> io::Result<Output> {
    let mut cargo = Command::new(std::env::var_os(env::CARGO).unwrap_or_else(|| "cargo".into()));
    // Without `--locked`: a crate that was added just now must enter Cargo.lock.
    cargo.args(["build", "--message-format=json-render-diagnostics"]);
    if profile() == "release" {
        cargo.arg("--release");
    }
    // The same as `-p NAME`, but a name that a dependency has as well is no riddle.
    cargo.arg("--manifest-path").arg(workspace.join("plugins").join(name).join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target).env("CARGO_TERM_COLOR", "never").current_dir(workspace);
    // What a build runs, such as the `build.rs` of a dependency, has no business with keys.
    for key in env::KEYS.iter().chain(secrets) {
        cargo.env_remove(key);
    }
    // A group of its own, so that compilers which cargo has started end with it when the command is interrupted.
    cargo.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = cargo.spawn()?;
    let group = Group::of(&child);
    let output = child.wait_with_output().await;
    group.ended();
    output
}

/// A process group that is ended with SIGTERM when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(leader: &Child) -> Self {
        Self(leader.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that all of it has ended.
            let _ended = kill_process_group(group, Signal::TERM);
        }
    }
}

/// One line of cargo's messages, as far as it matters here.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    target: Option<CargoTarget>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct CargoTarget {
    kind: Vec<String>,
}

fn built_file(name: &str, output: &Output) -> Result<PathBuf, PluginError> {
    let failed = |message: String| PluginError::Build { name: name.to_owned(), message };
    if !output.status.success() {
        let error = first_error(&String::from_utf8_lossy(&output.stderr));
        let silence = || format!("cargo ended with {} and said nothing", output.status);
        return Err(failed(if error.is_empty() { silence() } else { error }));
    }
    let messages = output.stdout.split(|byte| *byte == b'\n');
    let libraries = messages.filter_map(|line| serde_json::from_slice::<CargoMessage>(line).ok()).filter(|message| {
        message.reason == "compiler-artifact"
            && message.target.as_ref().is_some_and(|target| target.kind.iter().any(|kind| kind == "cdylib"))
    });
    let file = libraries.flat_map(|message| message.filenames).find(|file| is_library(file));
    file.ok_or_else(|| {
        failed("it makes no library: its Cargo.toml needs `[lib]` with `crate-type = [\"cdylib\"]`".into())
    })
}

fn is_library(file: &Path) -> bool {
    file.to_string_lossy().ends_with(DLL_SUFFIX)
}

/// The first error of the compiler, up to the blank line that ends it, and how many follow. An error of
/// cargo itself comes whole, since its cause stands last.
fn first_error(stderr: &str) -> String {
    let is_error = |line: &&str| line.starts_with("error") && !line.contains("could not compile");
    let first: Vec<&str> =
        stderr.lines().skip_while(|line| !is_error(line)).take_while(|line| !line.trim().is_empty()).collect();
    let mut text =
        if first.is_empty() || stderr.contains("\nCaused by:") { stderr.trim().to_owned() } else { first.join("\n") };
    text = text.chars().take(ERROR_CHARS).collect();
    let others = stderr.lines().filter(is_error).count().saturating_sub(1);
    if others > 0 {
        text.push_str(&format!("\n(and {others} more; `cargo build` in the plugin's folder shows all)"));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::{DLL_SUFFIX, first_error, is_fresh, profile, rebuild_command, target_folder};

    #[test]
    fn a_library_is_fresh_while_nothing_it_is_made_of_is_newer() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        let files =
            ["plugins/met/src/text.rs", "plugins/met/Cargo.toml", "plugin-api/src/lib.rs", "Cargo.toml", "Cargo.lock"];
        let touch = |file: &str, seconds: u64| {
            fs::create_dir_all(workspace.join(file).parent().unwrap()).unwrap();
            let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::create(workspace.join(file)).unwrap().set_modified(changed).unwrap();
        };
        let library = workspace.join("libmet.so");
        for file in files {
            touch(file, 100);
        }
        // That their folders have changed just now must not count.
        assert!(!is_fresh(&library, workspace, "met"), "it is not there");
        touch("libmet.so", 101);
        assert!(is_fresh(&library, workspace, "met"));
        for file in files {
            touch(file, 102);
            assert!(!is_fresh(&library, workspace, "met"), "{file}");
            touch(file, 100);
        }
        assert!(is_fresh(&library, workspace, "met"));
    }

    #[test]
    fn plugins_are_built_beside_the_program_that_was_built() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = &folder.path().join("workspace");
        let source = &workspace.join("workbench");
        let target_folder = |program: &Path, workspace: &Path| target_folder(program, workspace, source);
        fs::create_dir_all(source).unwrap();
        let target = folder.path().join("target");
        let built = target.join(profile());
        fs::create_dir_all(&built).unwrap();
        assert_eq!(target_folder(&built.join("workbench"), workspace), workspace.join("target"), "not made by cargo");
        fs::write(target.join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(target_folder(&built.join("workbench"), workspace), target);
        assert_eq!(target_folder(&built.join("deps").join("workbench-0123"), workspace), target);
        assert_eq!(target_folder(Path::new("/usr/bin/workbench"), workspace), workspace.join("target"));
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        assert_eq!(target_folder(&built.join("workbench"), &other), other.join("target"), "not made from it");
    }

    /// A command that works as it is told, for a plugin whose name a dependency has as well, too.
    #[test]
    fn a_library_is_rebuilt_by_its_crate() {
        let folder = tempfile::tempdir().unwrap();
        let crates = folder.path().canonicalize().unwrap().join("my plugins");
        for name in ["http", "my-tools"] {
            fs::create_dir_all(crates.join("plugins").join(name)).unwrap();
            fs::write(crates.join("plugins").join(name).join("Cargo.toml"), "").unwrap();
        }
        let release = if profile() == "release" { " --release" } else { "" };
        for (library, name) in [("libhttp", "http"), ("libmy_tools", "my-tools")] {
            let library = crates.join("target").join(profile()).join(format!("{library}{DLL_SUFFIX}"));
            fs::create_dir_all(library.parent().unwrap()).unwrap();
            fs::write(&library, "").unwrap();
            let manifest = crates.join("plugins").join(name).join("Cargo.toml");
            let told = format!("cargo build{release} --manifest-path '{}'", manifest.display());
            assert_eq!(rebuild_command(&library), told);
        }
        let elsewhere = folder.path().join(format!("libhttp{DLL_SUFFIX}"));
        fs::write(&elsewhere, "").unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(rebuild_command(&elsewhere), format!("cargo build{release} -p http@{version}"));
        assert_eq!(rebuild_command(Path::new("libcats.so")), format!("cargo build{release} -p cats"));
    }

    #[test]
    fn the_first_error_is_shown_and_others_are_counted() {
        let one = "   Compiling met\nwarning: unused\n\nerror[E0425]: cannot find `x`\n --> src/lib.rs:1:1\n  |\n\n";
        let last = "error: could not compile `met` (lib) due to 2 previous errors\n";
        let shown = "error[E0425]: cannot find `x`\n --> src/lib.rs:1:1\n  |";
        assert_eq!(first_error(&format!("{one}{last}")), shown);
        let two = format!("{one}error: no rules expected `;`\n\n{last}");
        let more = "\n(and 1 more; `cargo build` in the plugin's folder shows all)";
        assert_eq!(first_error(&two), format!("{shown}{more}"));
        let cargo = "error: failed to parse manifest at `Cargo.toml`\n\nCaused by:\n  can't find library `met`\n";
        assert_eq!(first_error(cargo), cargo.trim());
        assert_eq!(first_error(" linker not found \n"), "linker not found");
    }
}
