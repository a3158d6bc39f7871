//! `new` and `ideas` through the real program: what is made runs at once, and nothing that is there is touched. What is made
//! with `--rust` outside of a workspace is built in `first_domain.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/program.rs"]
mod program;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use program::{Outcome, finish};
use tempfile::TempDir;

/// An empty folder in which commands are given.
struct Folder(TempDir);

impl Folder {
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A workspace; with `plugin-api` when crates of plugins can be built in it.
    fn workspace(has_plugin_api: bool) -> Self {
        let folder = Self::empty();
        fs::create_dir(folder.path("domains")).unwrap();
        fs::write(folder.path("Cargo.toml"), "[workspace]\n").unwrap();
        if has_plugin_api {
            fs::create_dir(folder.path("plugin-api")).unwrap();
            fs::write(folder.path("plugin-api/Cargo.toml"), "").unwrap();
            fs::create_dir(folder.path("plugins")).unwrap();
        }
        folder
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_program(Path::new(env!("CARGO_BIN_EXE_workbench")), arguments)
    }

    fn run_program(&self, program: &Path, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("WORKBENCH_ROUTES")
            .env_remove("WORKBENCH_RESULTS");
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        finish(&mut command, "")
    }

    /// A command that must succeed; what it printed.
    fn printed(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
        outcome.stdout
    }

    /// Every file below a folder, with its content.
    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let (root, mut files, mut folders) = (self.path(folder), BTreeMap::new(), vec![self.path(folder)]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap().display().to_string();
                    files.insert(name, fs::read(path).unwrap());
                }
            }
        }
        files
    }
}

#[test]
fn a_new_domain_runs_at_once_in_every_mode() {
    for (folder, reference) in [(Folder::empty(), "./night-walk"), (Folder::workspace(false), "night-walk")] {
        folder.printed(&["new", "night-walk"]);
        let shown = folder.printed(&["show", reference]);
        assert!(shown.contains("Night walk") && shown.contains("together at least 45 km"), "{shown}");
        let smoke = folder.printed(&["smoke", reference]);
        assert!(smoke.contains("Plover Walk: 11.5 km"), "{smoke}");
        let checked = folder.printed(&["check", reference]);
        assert!(checked.contains("0 short, 0 warnings"), "{checked}");
        // Its exit code is 0 only where every run of the mode was verified.
        let required = ["--require", "serial", "--require", "loop", "--require", "code"];
        let compared = folder.printed(&[&["compare", reference, "--runs", "1"], &required[..]].concat());
        assert!(compared.contains("a script costs fewer tokens"), "{compared}");
    }
}

#[test]
fn a_script_that_breaks_is_called_by_the_file_that_can_be_opened() {
    let folder = Folder::empty();
    folder.printed(&["new", "trails"]);
    let scripts = ["smoke.py", "rehearsal/loop.py", "rehearsal/code/1.py"];
    for script in scripts.map(|script| format!("trails/{script}")).iter().map(String::as_str).chain(["mine.py"]) {
        fs::write(folder.path(script), "import sys\nfrom tools import *\nprint(sys.argv[0], __file__)\nget_trial(1)\n")
            .unwrap();
    }
    /// A command, its exit code, and what its traceback calls the script.
    const TABLE: [(&[&str], i32, &str); 7] = [
        (&["smoke", "./trails"], 1, "smoke.py"),
        (&["script", "./trails", "trails/smoke.py"], 1, "smoke.py"),
        (&["script", "./trails", "./trails/rehearsal/../rehearsal/loop.py"], 1, "rehearsal/loop.py"),
        (&["script", "./trails", "trails/rehearsal/code/1.py"], 1, "rehearsal/code/1.py"),
        (&["run", "./trails", "--mode", "loop"], 5, "rehearsal/loop.py"),
        // What a model wrote is no file of its own, also where a rehearsal stands in: the words that it reads are the same.
        (&["script", "./trails", "mine.py"], 1, "script.py"),
        (&["run", "./trails", "--mode", "code"], 1, "script.py"),
    ];
    for (arguments, code, file) in TABLE {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, code, "{arguments:?}: {outcome:?}");
        let said = outcome.stdout + &outcome.stderr;
        assert!(said.contains(&format!("File \"{file}\", line 4, in <module>\n")), "{arguments:?}: {said}");
        assert!(said.contains("    get_trial(1)\n"), "{arguments:?}: {said}");
        assert!(said.contains(&format!("{file} {file}\n")), "{arguments:?}: {said}");
    }
    let recorded = folder.run(&["record", "./trails", "--route", "api.example=http://127.0.0.1:1"]);
    for script in scripts {
        assert!(recorded.stderr.contains(&format!("File \"{script}\", line 4, in <module>")), "{recorded:?}");
    }
}

#[test]
fn the_next_steps_are_said() {
    let (alone, inside) = (Folder::empty(), Folder::workspace(true));
    assert_snapshot!("declared_tools_in_a_folder_of_their_own", alone.printed(&["new", "trails", "--http"]));
    assert_snapshot!("tools_in_rust_in_a_folder_of_their_own", alone.printed(&["new", "tours", "--rust"]));
    let printed = inside.printed(&["new", "trails", "--rust", "--api", "https://api.example:8080/"]);
    assert_snapshot!("tools_in_rust_in_a_workspace", printed);
    // Only where the crate lies is different.
    let own = Folder::empty();
    own.printed(&["new", "trails", "--rust"]);
    assert_eq!(inside.files("plugins/trails"), own.files("trails/plugins/trails"));
    assert!(own.path("trails/plugin-api/src/lib.rs").is_file() && !inside.path("domains/trails/plugin-api").exists());
    let manifest = fs::read_to_string(inside.path("domains/trails/domain.toml")).unwrap();
    assert!(manifest.contains("base  = \"https://api.example:8080\"\nhosts = [\"api.example:8080\"]\n"), "{manifest}");
    // A workspace that has only domains gives no crate a place.
    let domains = Folder::workspace(false);
    domains.printed(&["new", "trails", "--rust"]);
    assert!(domains.path("domains/trails/plugins/trails/src/lib.rs").is_file());
    for folder in [&alone, &inside, &domains] {
        for (name, content) in folder.files(".") {
            let is_ours = !name.contains("plugin-api/") && !name.ends_with("Cargo.lock");
            assert!(!is_ours || !content.contains(&b'@'), "{name} has a place that was not filled");
        }
    }
}

#[test]
fn what_cannot_be_made_is_told_and_nothing_is_changed() {
    /// Arguments, and what is said.
    const TABLE: &[(&[&str], &str)] = &[
        (&["Trails"], "error: `Trails` is no name of a domain\nhint: use lower-case letters, digits and `-`\n"),
        (&["-trails"], "unexpected argument"),
        (&["../trails"], "error: `../trails` is no name of a domain"),
        (&[""], "error: `` is no name of a domain"),
        (&["match", "--rust"], "error: `match` is no name of a Rust crate\nhint: begin with a letter"),
        (&["plugin-api", "--rust"], "error: `plugin-api` is no name of a Rust crate"),
        (&["2048", "--rust"], "error: `2048` is no name of a Rust crate"),
        (&["new", "--rust", "--http"], "cannot be used with"),
        (
            &["new", "--api", "ftp://api.example"],
            "error: `--api ftp://api.example` is no http or https address\nhint: ",
        ),
        (&["new", "--api", "api.example"], "error: `--api api.example` is no http or https address"),
        (&["new", "--api", "https://api.example/?key=1"], "must end with its path, without `?` and `#`"),
        (&["new", "--api", "https://me@api.example"], "error: https://api.example/ is not allowed: "),
        (&["new", "--api", "http://api.example"], "error: `--api http://api.example` is `http`"),
        (&["there"], "error: domains/there is there already\nhint: nothing was changed; "),
        (&["crate", "--rust"], "`crate` is no name of a Rust crate"),
        (&["library", "--rust"], "error: plugins/library is there already\nhint: nothing was changed; "),
    ];
    let folder = Folder::workspace(true);
    for there in ["domains/there", "plugins/library"] {
        fs::create_dir(folder.path(there)).unwrap();
        fs::write(folder.path(there).join("mine.txt"), "mine").unwrap();
    }
    let before = folder.files(".");
    for (arguments, expected) in TABLE {
        let outcome = folder.run(&[&["new"], *arguments].concat());
        assert_eq!(outcome.code, 2, "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(expected) && outcome.stdout.is_empty(), "{arguments:?}: {outcome:?}");
        assert_eq!(folder.files("."), before, "{arguments:?}");
        assert!(!folder.path("domains/new").exists() && !folder.path("domains/library").exists(), "{arguments:?}");
    }
}

#[test]
fn an_installed_program_brings_along_what_declared_tools_are_read_by() {
    let folder = Folder::empty();
    let program = folder.path("workbench");
    // As `cargo install` leaves it: no workspace above it, no library beside it.
    if fs::hard_link(env!("CARGO_BIN_EXE_workbench"), &program).is_err() {
        fs::copy(env!("CARGO_BIN_EXE_workbench"), &program).unwrap();
    }
    folder.printed(&["new", "trails"]);
    for _ in ["built, unless an earlier test run has", "taken as it is"] {
        let outcome = folder.run_program(&program, &["call", "./trails", "get_trail", "number=3"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stdout.contains("\"region\":\"lakes\""), "{outcome:?}");
    }
    let outcome = folder.run_program(&program, &["call", "./trails", "get_trail", "number=3"]);
    assert!(!outcome.stderr.contains("building"), "{outcome:?}");

    // Where nothing can be kept, that is said.
    let mut command = Command::new(&program);
    command.args(["call", "./trails", "get_trail", "number=3"]).current_dir(folder.path(""));
    let outcome = finish(command.env("XDG_CACHE_HOME", "/dev/null"), "");
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(
        outcome.stderr.contains("cannot be unpacked: ") && outcome.stderr.contains("XDG_CACHE_HOME"),
        "{outcome:?}"
    );
}

#[test]
fn the_prompt_for_ideas_has_its_columns_and_its_references() {
    let printed = Folder::empty().printed(&["ideas"]);
    for part in [
        "| name | API and endpoints | task | checkable requirements | artifact | why the data is large |",
        "five ideas",
        "at least 10 calls with a fan-out",
        "2 KB or more",
        "one line of code",
        "no alternatives",
        "5 to 7 tools",
        "`[[tool]]` entries",
        "`curl` line",
        "- Museum curator: ",
        "- Pokemon team: ",
    ] {
        assert!(printed.to_lowercase().contains(&part.to_lowercase()), "{part} is missing:\n{printed}");
    }
}

#[test]
fn what_the_prompt_for_ideas_shows_can_be_pasted() {
    let folder = Folder::empty();
    let prompt = folder.printed(&["ideas"]);
    let (_, block) = prompt.split_once("```toml\n").unwrap();
    let (entries, _) = block.split_once("```\n").unwrap();
    folder.printed(&["new", "pasted"]);
    let manifest = format!("[domain]\nname = \"pasted\"\ntitle = \"Pasted\"\nplugin = \"http\"\n{entries}");
    fs::write(folder.path("pasted/domain.toml"), manifest).unwrap();
    let shown = folder.printed(&["tools", "./pasted", "--python"]);
    for tool in ["list_trails(region: str, limit: int = 100)", "get_trail(", "download_picture(", "build_page("] {
        assert!(shown.contains(&format!("def {tool}")), "{tool}: {shown}");
    }
    // What it asks of a record is what the sample has.
    let called = folder.printed(&["call", "./pasted", "get_trail", "number=3"]);
    assert!(called.contains("\"region\":\"lakes\""), "{called}");
}
