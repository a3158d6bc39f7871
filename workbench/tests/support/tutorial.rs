//! Plays a page of `docs/` as a reader would: writes the files it shows, runs its commands, and compares what it says they
//! print.
//!
//! A block with a path behind its language (` ```toml tour/domain.toml `) is that file. A block `sh` is run by a shell that ends at
//! the first failure. Each line of a block `text` stands in what the commands before it printed, however it is spaced there.
//! Blocks of other kinds, such as `console`, are read by people alone.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::program::{finish, workspace};

/// A page, played in an empty folder.
pub(crate) struct Tutorial {
    folder: TempDir,
    page: String,
}

/// A fenced block: the words behind its fence, and its lines.
struct Block<'a> {
    kind: &'a str,
    file: Option<&'a str>,
    text: String,
}

impl Tutorial {
    pub(crate) fn of(page: &str) -> Self {
        let page = fs::read_to_string(workspace().join("docs").join(page)).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), page }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Plays it to its end; `set_up` prepares a block of commands that is about to run. Returns the number of such blocks.
    pub(crate) fn play(&self, set_up: impl Fn(&str, &mut Command)) -> usize {
        let (mut played, mut printed) = (0, String::new());
        for Block { kind, file, text } in blocks(&self.page) {
            match (kind, file) {
                (_, Some(file)) => {
                    let path = self.folder().join(file);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
                ("sh", None) => {
                    let mut shell = self.shell(&text);
                    set_up(&text, &mut shell);
                    let outcome = finish(&mut shell, "");
                    assert_eq!(outcome.code, 0, "{text}\n{}\n{}", outcome.stdout, outcome.stderr);
                    printed = spaced(&outcome.stdout);
                    played += 1;
                }
                ("text", None) => {
                    for line in text.lines() {
                        assert!(
                            printed.contains(&spaced(line)),
                            "the page says `{line}`, and this was printed:\n{printed}"
                        );
                    }
                }
                _ => {}
            }
        }
        played
    }

    fn shell(&self, commands: &str) -> Command {
        let programs = Path::new(env!("CARGO_BIN_EXE_workbench")).parent().unwrap().to_owned();
        let path = env::var_os("PATH").unwrap();
        let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", commands]).current_dir(self.folder()).env("PATH", path);
        for variable in ["WORKBENCH_ROUTES", "WORKBENCH_RESULTS", "CARGO_TARGET_DIR"] {
            shell.env_remove(variable);
        }
        // What is needed was fetched when this test was built.
        shell.env("CARGO_NET_OFFLINE", "true");
        shell
    }
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(words) = line.strip_prefix("```") {
            let mut words = words.split_whitespace();
            let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            blocks.push(Block { kind: words.next().unwrap_or_default(), file: words.next(), text });
        }
    }
    blocks
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
