//! Rules about the source itself, as tests: the layers, the sizes, the words.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the host, top first: a module uses only those below it. Modules on one line may use each other.
const LAYERS: &[&[&str]] = &[
    &["cli", "commands"],
    &["serve"],
    &["check"],
    &["report"],
    &["runner"],
    &["verify"],
    &["model"],
    &["sandbox"],
    &["plugin"],
    &["artifacts"],
    &["web"],
    &["domain"],
    &["results", "events"],
    &[
        "expression",
        "lockdown",
        "files",
        "bounded_json",
        "frames",
        "death",
        "nearest",
        "env",
        "printer",
        "error",
        "exit",
    ],
];

/// About 400: a file that has grown past this is two files.
const LONGEST_FILE: usize = 420;

/// The only files with `unsafe` in them.
const UNSAFE_FILES: &[&str] = &["plugin-api/src/abi.rs", "plugin-api/src/plugin.rs", "workbench/src/plugin/library.rs"];

#[test]
fn lower_modules_never_use_higher_ones() {
    let mut wrong = Vec::new();
    for file in rust_files("workbench/src") {
        let module = module_of(&file);
        let Some(layer) = layer_of(&module) else { continue };
        for (number, line) in code_of(&file).lines().enumerate() {
            for used in used_modules(line) {
                if layer_of(&used).is_some_and(|other| other < layer) {
                    wrong.push(format!("{}:{}: `{module}` uses `{used}`", file.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "a lower module uses a higher one:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_of_the_host_has_a_layer() {
    let missing: Vec<String> = rust_files("workbench/src")
        .iter()
        .map(|file| module_of(file))
        .filter(|module| !matches!(module.as_str(), "lib" | "main") && layer_of(module).is_none())
        .collect();
    assert!(missing.is_empty(), "name these in LAYERS and in ARCHITECTURE.md: {missing:?}");
}

#[test]
fn files_open_with_their_purpose_and_can_be_read_in_one_sitting() {
    let mut wrong = Vec::new();
    for file in source_files() {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{}: {lines} lines", file.display()));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: no `//!` line", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_code_stands_only_where_architecture_says() {
    let root = workspace();
    let wrong: Vec<String> = source_files()
        .iter()
        // What stands there must not compile.
        .filter(|file| !file.starts_with(root.join("plugin-api/tests/signatures")))
        .filter(|file| !UNSAFE_FILES.iter().any(|known| **file == root.join(known)))
        .filter(|file| code_of(file).lines().any(|line| contains_word(line, concat!("un", "safe"))))
        .map(|file| file.display().to_string())
        .collect();
    assert!(wrong.is_empty(), "only the files listed above may hold it, not {wrong:?}");
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for file in UNSAFE_FILES {
        assert!(architecture.contains(file), "ARCHITECTURE.md does not name {file}");
        assert!(root.join(file).is_file(), "{file} is gone");
    }
}

#[test]
fn the_host_names_no_domain_and_no_plugin() {
    let root = workspace();
    let names: Vec<String> = ["domains", "plugins"]
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name == "met"), "no domain was found: {names:?}");
    // Its tools stand in a manifest, which the host checks.
    let names: Vec<String> = names.into_iter().filter(|name| name != "http").collect();
    let mut wrong = Vec::new();
    for file in rust_files("workbench/src") {
        // Examples in help texts may name a domain: they must run as they stand.
        if file.ends_with("cli/mod.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            // Of one it is a word of English, too.
            let names_it = |name: &String| match name.as_str() {
                "met" => !line.trim_start().starts_with("//") && line.contains("\"met\""),
                name => line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).any(|word| word == name),
            };
            if names.iter().any(names_it) {
                wrong.push(format!("{}:{}: {line}", file.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn paths_in_architecture_exist() {
    let root = workspace();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains('/') && !word.contains(char::is_whitespace) && !word.contains(['<', '*', '$']))
        .collect();
    assert!(paths.len() > 10, "ARCHITECTURE.md names only {paths:?}");
    let gone: Vec<&&str> = paths.iter().filter(|path| !root.join(path).exists()).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md names what is not there: {gone:?}");
}

#[test]
fn every_direct_dependency_has_its_reason() {
    let root = workspace();
    let mut wrong = Vec::new();
    for manifest in ["workbench", "plugin-api", "plugin-api/macros"] {
        let text = fs::read_to_string(root.join(manifest).join("Cargo.toml")).unwrap();
        let mut in_dependencies = false;
        let (mut before, mut section_has_reason) = ("", false);
        for line in text.lines() {
            if line.starts_with('[') {
                in_dependencies = line.ends_with("dependencies]");
                section_has_reason = before.starts_with('#');
            } else if in_dependencies
                && !line.is_empty()
                && !line.starts_with('#')
                && !line.contains('#')
                && !before.starts_with('#')
                && !section_has_reason
            {
                wrong.push(format!("{manifest}: {line}"));
            }
            before = line;
        }
    }
    assert!(wrong.is_empty(), "say in a comment why:\n{}", wrong.join("\n"));
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn source_files() -> Vec<PathBuf> {
    ["workbench", "plugin-api", "plugins"].iter().flat_map(|folder| rust_files(folder)).collect()
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![workspace().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The top module a file of the host belongs to: `src/web/cache.rs` is of `web`.
fn module_of(file: &Path) -> String {
    let inside = file.strip_prefix(workspace().join("workbench/src")).unwrap();
    inside.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The file without comments and without its tests, which may use anything.
fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

fn used_modules(line: &str) -> Vec<String> {
    line.match_indices("crate::")
        .map(|(at, word)| {
            line[at + word.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
        })
        .collect()
}

fn contains_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|found| found == word)
}
