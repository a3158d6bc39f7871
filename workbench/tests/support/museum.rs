//! A small museum for tests of survival: a domain over a bundled plugin, its API on loopback, commands that are killed.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Outcome, finish};
use crate::server::{Reply, Request, Server, answer, head};

/// Longest time anything may take before a test says that it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The object that is only served while the gate is open.
const GATED: &str = "/v1/objects/4";

const MANIFEST: &str = r#"
[domain]
name = "museum"
title = "Three pieces"
plugin = "met"

[api]
base = "https://api.example"
hosts = ["api.example"]
pace = { gap_ms = 0, concurrency = 8 }

[task]
persona = "You are a curator."
prompt = "Show three pieces."

[evidence]
page = { html = "page.html" }
ids = { html = "page.html", select = "figure img", attribute = "src", pattern = '^(\d+)\.jpg$', as = "int" }
objects = { get = "/v1/objects/{{ item }}", each = "ids" }

[[verify]]
name = "three pieces"
check = "ids|length == 3"
got = "ids"

[[verify]]
name = "of three departments"
check = "objects|map(attribute='department')|unique|list|length == 3"
got = "objects|map(attribute='department')|list"
"#;

const POLICY: &str = "
import asyncio
from tools.aio import *

IDS = [1, 2, 3]

async def main():
    records = await asyncio.gather(*(get_object(i) for i in IDS))
    await asyncio.gather(*(download_image(i) for i in IDS))
    await build_gallery('page', 'Three', IDS)
    print([r['title'] for r in records])

asyncio.run(main())
";

/// The same task after a first script that fails, with one object more.
const SCRIPT: &str = "
from tools import *

IDS = [1, 2, 3]
print(get_object(4)['title'])
for i in IDS:
    download_image(i)
build_gallery('page', 'Three', IDS)
";

/// The museum, in a folder that goes with it.
pub(crate) struct Museum {
    home: TempDir,
    api: Server,
    gate: Arc<AtomicBool>,
}

impl Museum {
    pub(crate) fn open() -> Self {
        Self::with(100, 0)
    }

    /// Pictures and records of so many bytes.
    pub(crate) fn with(picture: usize, record: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        let domain = home.path().join("museum");
        fs::create_dir_all(domain.join("rehearsal/code")).unwrap();
        for (file, text) in [
            ("domain.toml", MANIFEST),
            ("smoke.py", SCRIPT),
            ("rehearsal/loop.py", POLICY),
            ("rehearsal/code/1.py", "from tools import *\nprint(get_object(4)['titel'])\n"),
            ("rehearsal/code/2.py", SCRIPT),
        ] {
            fs::write(domain.join(file), text).unwrap();
        }
        let gate = Arc::new(AtomicBool::new(true));
        let is_open = Arc::clone(&gate);
        let api = Server::start(move |request| serve(request, &is_open, picture, record));
        Self { home, api, gate }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn domain(&self) -> PathBuf {
        self.home.path().join("museum")
    }

    /// Leads requests for the museum to its API.
    pub(crate) fn route(&self) -> String {
        format!("api.example={}", self.api.url())
    }

    /// A results folder of its own.
    pub(crate) fn results(&self, name: &str) -> PathBuf {
        self.home.path().join("results").join(name)
    }

    /// Whether object 4, which only scripts ask for, is answered at all.
    pub(crate) fn open_gate(&self, open: bool) {
        self.gate.store(open, Ordering::SeqCst);
    }

    /// How often each path was asked for.
    pub(crate) fn requests(&self) -> BTreeMap<String, usize> {
        self.api.requests().into_iter().fold(BTreeMap::new(), |mut counts, request| {
            *counts.entry(request.target).or_default() += 1;
            counts
        })
    }

    /// `workbench COMMAND museum …` with the museum's own API.
    pub(crate) fn command(&self, results: &Path, command: &str, more: &[&str]) -> Command {
        let mut program = self.plain(results, &[command]);
        program.arg(self.domain()).args(["--route", &self.route()]).args(more);
        program
    }

    /// `workbench …` on these results.
    pub(crate) fn plain(&self, results: &Path, arguments: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_workbench"));
        program.args(arguments).arg("--results").arg(results).current_dir(self.home.path());
        program.env_remove("WORKBENCH_ROUTES").env_remove("WORKBENCH_RESULTS");
        program
    }

    /// A comparison to its end, which must be a good one: its report.
    pub(crate) fn compared(&self, results: &Path, more: &[&str]) -> Value {
        let outcome = finish(self.command(results, "compare", more).args(["--format", "json"]), "");
        assert_eq!(outcome.code, 0, "{more:?}: {outcome:?}");
        serde_json::from_str(&outcome.stdout).unwrap()
    }

    pub(crate) fn outcome(&self, results: &Path, arguments: &[&str]) -> Outcome {
        finish(&mut self.plain(results, arguments), "")
    }
}

fn serve(request: &Request, gate: &AtomicBool, picture: usize, record: usize) -> Reply {
    let json = ["content-type: application/json"];
    if let Some(id) = request.target.strip_prefix("/v1/objects/") {
        if request.target == GATED && !gate.load(Ordering::SeqCst) {
            return Reply::Endless(head(200, &json, Some(1 << 20)), b" ".to_vec(), Duration::from_millis(20));
        }
        let body = format!(
            r#"{{"objectID":{id},"title":"Piece {id}","department":"Department {id}","isPublicDomain":true,
            "primaryImageSmall":"https://api.example/{id}.jpg","creditLine":"{}"}}"#,
            "x".repeat(record)
        );
        return answer(200, &json, body.as_bytes());
    }
    answer(200, &["content-type: image/jpeg"], &vec![7; picture])
}

/// The place of the calls among the figures.
pub(crate) const CALLS: usize = 6;

/// What a report says of each mode that does not depend on time.
pub(crate) fn figures(report: &Value) -> Vec<Value> {
    let keys = ["mode", "n", "passed", "errors", "tokens_read", "model_turns", "calls", "scripts"];
    let modes = report["modes"].as_array().unwrap();
    modes.iter().map(|mode| keys.iter().map(|key| mode[*key].clone()).collect()).collect()
}

/// The names of the runs of a report.
pub(crate) fn names(report: &Value) -> Vec<String> {
    report["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

/// Every file below a folder, with its content.
pub(crate) fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(content(&entry.path())),
            false => _ = files.insert(entry.path(), fs::read(entry.path()).unwrap()),
        }
    }
    files
}

/// What the workbench left below its results that is neither a run's nor an answer's file.
pub(crate) fn litter(results: &Path) -> Vec<PathBuf> {
    let is_ours = |path: &PathBuf| {
        path.components().any(|part| {
            let part = part.as_os_str().to_string_lossy();
            part.starts_with(".saving-") || part.starts_with(".trying-")
        })
    };
    let mut litter: Vec<PathBuf> = content(results).into_keys().filter(is_ours).collect();
    litter.extend(fs::read_dir(results.join(".commands")).into_iter().flatten().map(|entry| entry.unwrap().path()));
    litter
}

/// Waits until `is_so`.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "still not so: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// A process of the test that does not outlive it.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Its end: exit code and what it printed.
    pub(crate) fn end(mut self) -> Outcome {
        use std::io::Read as _;
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Outcome { code: self.0.wait().unwrap().code().unwrap_or(-1), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Processes as the system tells of them.
#[cfg(target_os = "linux")]
pub(crate) mod processes {
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process};

    /// A process, and when it was started, since numbers are used again.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Process {
        pub(crate) id: u32,
        started: String,
        /// The hidden subcommand of a worker.
        pub(crate) role: String,
    }

    impl Process {
        /// Whether it still runs; one that ended and was not waited for does not.
        pub(crate) fn is_alive(&self) -> bool {
            stat(self.id).is_some_and(|stat| stat.started == self.started && !"ZX".contains(&stat.state))
        }

        pub(crate) fn send(&self, signal: Signal) {
            send(self.id, signal);
        }
    }

    /// Sends a signal to a process that the test has started; one that has ended does not mind.
    pub(crate) fn send(id: u32, signal: Signal) {
        let _gone = kill_process(Pid::from_raw(i32::try_from(id).unwrap()).unwrap(), signal);
    }

    /// The processes that this one has started, and those they have.
    pub(crate) fn descendants(id: u32) -> Vec<Process> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let Some(stat) = stat(child).filter(|stat| stat.parent == id) else { continue };
            let words = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            let role = words.split(|byte| *byte == 0).nth(1).map(|word| String::from_utf8_lossy(word).into_owned());
            found.push(Process { id: child, started: stat.started, role: role.unwrap_or_default() });
            found.extend(descendants(child));
        }
        found
    }

    struct Stat {
        state: String,
        parent: u32,
        started: String,
    }

    fn stat(id: u32) -> Option<Stat> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name before it may hold anything.
        let words: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
        Some(Stat { state: words[0].to_owned(), parent: words[1].parse().ok()?, started: words[19].to_owned() })
    }
}
