//! Whole runs: the program, a plugin in its worker, a rehearsal in its sandbox, and what they leave.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use faulty::Faulty;
use serde_json::Value;
use server::{Reply, Server, head, json};
use tempfile::TempDir;
use workbench::results::find::list_runs;
use workbench::results::format::{CallEnd, RunRecord, Stop};
use workbench::results::store::{read_ledger, read_run, read_transcript};

/// Longest time anything here may take before the test says that it hangs.
const PATIENCE: Duration = Duration::from_secs(240);

fn standin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/domains/standin")
}

/// A domain over the same plugin, whose policy is `policy`.
fn trial(home: &Path, policy: &str) -> PathBuf {
    let folder = home.join("trial");
    fs::create_dir_all(folder.join("rehearsal")).unwrap();
    let manifest = fs::read_to_string(standin().join("domain.toml")).unwrap();
    fs::write(folder.join("domain.toml"), manifest.replace("name = \"standin\"", "name = \"trial\"")).unwrap();
    fs::write(folder.join("rehearsal/loop.py"), policy).unwrap();
    folder
}

fn workbench(home: &Path, domain: &Path, mode: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.arg("run").arg(domain).args(["--mode", mode, "--format", "json", "--results"]).arg(home.join("results"));
    command
        .args(more)
        .env_remove("WORKBENCH_ROUTES")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What one run printed, and where it lies.
fn run(home: &Path, domain: &Path, mode: &str, more: &[&str]) -> (RunRecord, PathBuf) {
    let Output { stdout, stderr, .. } = workbench(home, domain, mode, more).output().unwrap();
    let record: RunRecord =
        serde_json::from_slice(&stdout).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&stderr)));
    let folder = home.join("results").join(&record.domain).join(&record.run);
    assert_eq!(read_run(&folder).unwrap(), record, "what is printed is what is kept");
    (record, folder)
}

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn tools_by_turn(record: &RunRecord) -> Vec<String> {
    record.per_turn.iter().map(|turn| turn.tools.join(" ")).collect()
}

const LAST_WORDS: &str =
    "['Cat no. 1034', 'Cat no. 1035', 'refused: object 1036 not found (404)'] str {'deep': [1, None]}";

#[test]
fn one_policy_makes_the_turns_of_loop_and_of_serial() {
    let home = home();
    let (in_loop, folder) = run(home.path(), &standin(), "loop", &["--tag", "pair"]);
    let turns = ["search_collection", "get_object get_object get_object", "query_database", "noop", ""];
    assert_eq!(tools_by_turn(&in_loop), turns);
    assert_eq!((in_loop.stop, in_loop.tool_calls, in_loop.nested_calls), (Stop::EndTurn, 6, 0));
    assert_eq!((in_loop.final_text.as_str(), in_loop.tag.as_deref()), (LAST_WORDS, Some("pair")));
    assert!(in_loop.estimated && in_loop.verify.is_some());
    assert_eq!(in_loop.source, "live", "a domain without a cassette");
    assert_eq!(in_loop.tokens_read, in_loop.per_turn.iter().map(|turn| turn.tokens_read).sum::<u64>());
    // The task, four turns of calls with their results, the last words.
    assert_eq!(read_transcript(&folder).unwrap().len(), 1 + 2 * 4 + 1);
    let refused = read_ledger(&folder).unwrap().into_iter().filter(|call| call.outcome == CallEnd::ToolError);
    assert_eq!(refused.map(|call| call.error.unwrap()).collect::<Vec<_>>(), ["object 1036 not found (404)"]);

    let (serial, _) = run(home.path(), &standin(), "serial", &[]);
    assert_eq!((serial.model_turns, serial.tool_calls), (7, 6));
    assert!(serial.per_turn.iter().all(|turn| turn.tools.len() <= 1));
    assert_eq!(serial.final_text, LAST_WORDS);
    assert!(serial.tokens_read > in_loop.tokens_read);
}

#[test]
fn code_mode_reads_what_scripts_print_and_keeps_the_rest() {
    let home = home();
    let (record, folder) = run(home.path(), &standin(), "code", &[]);
    assert_eq!(tools_by_turn(&record), ["run_python", "run_python", ""]);
    assert_eq!((record.tool_calls, record.nested_calls, record.scripts_run), (2, 8, 2));
    assert_eq!((record.final_text.as_str(), record.sandbox.as_deref()), ("5 done", Some("embedded")));
    let first = fs::read_to_string(folder.join("scripts/01.out")).unwrap();
    assert!(first.starts_with("EXIT CODE 1\n") && first.contains("KeyError: 'titel'"), "{first}");
    assert_eq!(fs::read_to_string(folder.join("scripts/02.out")).unwrap(), "5 done\n");
    let scripts: Vec<Option<u32>> = read_ledger(&folder).unwrap().into_iter().map(|call| call.script).collect();
    assert_eq!(scripts.iter().filter(|script| **script == Some(1)).count(), 1);
    assert_eq!(scripts.iter().filter(|script| **script == Some(2)).count(), 7);
}

#[test]
fn a_budget_of_calls_stops_a_script_and_the_run() {
    let home = home();
    let (record, folder) = run(home.path(), &standin(), "code", &["--tool-calls", "3"]);
    assert_eq!((record.stop, record.nested_calls, record.scripts_run), (Stop::Budget, 3, 2));
    assert!(record.verify.is_some(), "it is judged as it stands");
    let output = fs::read_to_string(folder.join("scripts/02.out")).unwrap();
    assert!(output.contains("this run may make 3 tool calls"), "{output}");
}

#[test]
fn runs_of_several_processes_at_once_lie_side_by_side() {
    let home = home();
    let running: Vec<Child> =
        (0..3).map(|_| workbench(home.path(), &standin(), "loop", &[]).spawn().unwrap()).collect();
    for child in running {
        child.wait_with_output().unwrap();
    }
    let listing = list_runs(&home.path().join("results"), Some("standin")).unwrap();
    assert!(listing.skipped.is_empty());
    let words: Vec<&str> = listing.runs.iter().map(|run| run.record.final_text.as_str()).collect();
    assert_eq!(words, [LAST_WORDS; 3]);
}

#[test]
fn a_comparison_that_fails_reports_the_runs_it_has_made() {
    let home = home();
    let blocked = trial(home.path(), "print('never')");
    let results = home.path().join("results");
    let manifest = fs::read_to_string(blocked.join("domain.toml")).unwrap();
    fs::write(blocked.join("domain.toml"), manifest.replace("plugin = \"standin\"", "library = \"no.so\"")).unwrap();
    fs::write(blocked.join("no.so"), "what is no library is found when it is loaded").unwrap();

    let mut compare = Command::new(env!("CARGO_BIN_EXE_workbench"));
    compare.arg("compare").args([&standin(), &blocked, &standin()]).arg("--results").arg(&results);
    compare.args(["--modes", "loop", "--runs", "2", "--format", "json"]);
    let Output { status, stdout, stderr } = compare.output().unwrap();

    let (report, stderr): (Value, _) = (serde_json::from_slice(&stdout).unwrap(), String::from_utf8_lossy(&stderr));
    assert_eq!(status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("no.so cannot be loaded as a plugin"), "{stderr}");
    let made: Vec<&str> =
        report["runs"].as_array().unwrap().iter().map(|run| run["domain"].as_str().unwrap()).collect();
    assert_eq!(made, ["standin", "standin"]);
}

#[test]
fn an_injected_fault_is_not_the_verifiers() {
    let home = home();
    let api = Server::start(|_| json(r#"{"n": 1}"#));
    let folder = trial(home.path(), "print('done')");
    let mut manifest = fs::read_to_string(folder.join("domain.toml")).unwrap();
    manifest.push_str(
        "[api]\nbase = 'https://api.example'\nhosts = ['api.example']\n[evidence]\nrecord = { get = '/record' }\n\
         [[verify]]\nname = 'the record'\ncheck = 'record.n == 1'\n",
    );
    fs::write(folder.join("domain.toml"), manifest).unwrap();
    let route = format!("api.example={}", api.url());
    let (record, _) = run(home.path(), &folder, "loop", &["--route", &route, "--inject", "path=*,status=503"]);
    let verdict = record.verify.unwrap();
    assert!(verdict.ok, "{verdict:?}");
    assert_eq!((record.network_calls, record.source), (1, format!("{route}, inject path=*,status=503")));
}

/// Makes one call and then thinks for ever.
const THINKER: &str = "
from tools import *

noop(x=1)
while True:
    pass
";

/// A process that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// A run that has made its first call and will not end by itself, and its folder.
fn endless(home: &Path) -> (Running, PathBuf) {
    let domain = trial(home, THINKER);
    begun(home, &domain, &[], |folder| !read_ledger(folder).unwrap().is_empty())
}

/// A run under way that has come as far as `far` says, and its folder.
fn begun(home: &Path, domain: &Path, more: &[&str], far: impl Fn(&Path) -> bool) -> (Running, PathBuf) {
    let running = Running(workbench(home, domain, "loop", more).spawn().unwrap());
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let listing = list_runs(&home.join("results"), Some("trial")).unwrap();
        if let Some(run) = listing.runs.into_iter().find(|run| far(&run.folder)) {
            return (running, run.folder);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the run does not come that far");
}

#[cfg(target_os = "linux")]
fn interrupted((mut running, folder): (Running, PathBuf)) -> RunRecord {
    use rustix::process::{Pid, Signal, kill_process};

    kill_process(Pid::from_child(&running.0), Signal::INT).unwrap();
    assert_eq!(running.0.wait().unwrap().code(), Some(130));
    let record = read_run(&folder).unwrap();
    assert_eq!((record.stop, &record.verify), (Stop::Interrupted, &None));
    assert!(folder.join("out").is_dir());
    record
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_run_that_is_kept_and_not_judged() {
    let home = home();
    assert_eq!(interrupted(endless(home.path())).model_turns, 1);
}

/// Has the tools of a domain come from this library.
fn serve_by(plugin: &Faulty, domain: &Path) {
    fs::copy(plugin.library(), domain.join("libfaulty.so")).unwrap();
    let manifest = fs::read_to_string(domain.join("domain.toml")).unwrap();
    let manifest = manifest.replace("plugin = \"standin\"", "library = \"libfaulty.so\"");
    fs::write(domain.join("domain.toml"), manifest).unwrap();
}

#[test]
fn what_a_plugin_prints_is_shown_by_hand_and_kept_with_a_run() {
    let plugin = Faulty::compiled(&[]);
    let home = home();
    let policy = "from tools import *\nlog()\n";
    let domain = trial(home.path(), policy);
    serve_by(&plugin, &domain);
    let mut call = Command::new(env!("CARGO_BIN_EXE_workbench"));
    call.args(["call"]).arg(&domain).args(["log", "--results"]).arg(home.path().join("results"));
    let Output { status, stderr, .. } = call.output().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(String::from_utf8_lossy(&stderr).contains("a line for the log"), "{stderr:?}");
    let (_, folder) = run(home.path(), &domain, "loop", &[]);
    assert!(fs::read_to_string(folder.join("plugin.log")).unwrap().contains("a line for the log"));
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_run_whose_plugin_does_not_start() {
    let silent = Faulty::compiled(&["-DNO_GREETING"]);
    let home = home();
    let domain = trial(home.path(), "print('never')");
    serve_by(&silent, &domain);
    let record = interrupted(begun(home.path(), &domain, &[], |_| true));
    assert_eq!(record.model_turns, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_run_that_is_being_judged() {
    let home = home();
    let domain = trial(home.path(), "print('done')");
    let mut manifest = fs::read_to_string(domain.join("domain.toml")).unwrap();
    manifest.push_str(
        "[api]\nbase = \"https://api.example.org\"\nhosts = [\"api.example.org\"]\n\
         [evidence]\nrecord = { get = \"/record\" }\n[[verify]]\nname = \"it is there\"\ncheck = \"record.id == 1\"\n",
    );
    fs::write(domain.join("domain.toml"), manifest).unwrap();
    // A body that never ends.
    let server = Server::start(|_| {
        let headers = ["content-type: application/json"];
        Reply::Endless(head(200, &headers, Some(1 << 20)), b" ".to_vec(), Duration::from_millis(20))
    });
    let route = format!("api.example.org={}", server.url());
    let judging = begun(home.path(), &domain, &["--route", &route], |_| !server.requests().is_empty());
    let record = interrupted(judging);
    assert_eq!((record.model_turns, record.final_text.as_str()), (1, "done"));
}

#[test]
fn a_killed_host_leaves_a_run_that_says_what_was_done() {
    let home = home();
    let (running, folder) = endless(home.path());
    drop(running);
    let record = read_run(&folder).unwrap();
    assert_eq!((record.stop, record.model_turns, record.tool_calls), (Stop::Interrupted, 1, 1));
    assert_eq!(read_ledger(&folder).unwrap()[0].tool, "noop");
}

/// An empty cache is made for one command, and goes with it however it is asked to end.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_is_asked_to_end_takes_its_cache_along() {
    use rustix::process::{Pid, Signal, kill_process};

    for (command, signal) in [("script", Signal::INT), ("script", Signal::TERM), ("run", Signal::TERM)] {
        let home = home();
        let (results, thinker) = (home.path().join("results"), home.path().join("thinker.py"));
        fs::write(&thinker, THINKER).unwrap();
        let mut program = match command {
            "run" => workbench(home.path(), &trial(home.path(), THINKER), "loop", &["--fresh"]),
            _ => {
                let mut program = Command::new(env!("CARGO_BIN_EXE_workbench"));
                program.arg("script").arg(standin()).arg(&thinker).arg("--fresh").arg("--results").arg(&results);
                program
            }
        };
        let mut running = Running(program.stdin(Stdio::null()).spawn().unwrap());
        let (caches, begun) = (results.join(".commands"), Instant::now());
        let held = || fs::read_dir(&caches).map_or(0, Iterator::count);
        while held() == 0 {
            assert!(begun.elapsed() < PATIENCE, "no cache is made");
            std::thread::sleep(Duration::from_millis(20));
        }
        // Long enough for the program to listen; it thinks for two minutes.
        std::thread::sleep(Duration::from_secs(1));
        kill_process(Pid::from_child(&running.0), signal).unwrap();
        assert_eq!(running.0.wait().unwrap().code(), Some(130), "{command} {signal:?}");
        assert_eq!(held(), 0, "{command} {signal:?}");
    }
}
