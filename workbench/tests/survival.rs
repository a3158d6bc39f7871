//! `kill -9` of the host, of a worker, of both, at any moment of a comparison, and what is left to go on with.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/museum.rs"]
mod museum;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use museum::processes::{Process, descendants, send};
use museum::{CALLS, Museum, Running, content, figures, litter, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use workbench::results::attempts::is_decided;
use workbench::results::find::{StoredRun, list_runs};
use workbench::results::format::Stop;
use workbench::results::store::read_ledger;

/// Kills in all, and how many are tried at once, each of these in results of its own.
const MOMENTS: u64 = 50;
const BATCHES: u64 = 5;

/// What is compared: small, with every kind of worker in it.
const SETTINGS: [&str; 4] = ["--modes", "loop,code", "--runs", "1"];

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Host,
    Worker,
    Both,
}

/// Numbers that follow from a seed: the moments of a failure can be had again.
struct Dice(u64);

impl Dice {
    fn next(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

#[test]
fn a_comparison_survives_a_kill_at_any_moment() {
    let seed = std::env::var("SURVIVAL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_129);
    let museum = Museum::open();
    let undisturbed = figures(&museum.compared(&museum.results("undisturbed"), &SETTINGS));
    let cut_off: usize = std::thread::scope(|scope| {
        let batch = |batch| {
            let (museum, undisturbed) = (&museum, &undisturbed);
            scope.spawn(move || Batch::new(museum, undisturbed, batch).go_on(seed))
        };
        let batches: Vec<_> = (0..BATCHES).map(batch).collect();
        batches.into_iter().map(|batch| batch.join().unwrap()).sum()
    });
    assert!(cut_off > 0, "every kill came too late");
}

/// One results folder that is killed in again and again.
struct Batch<'a> {
    museum: &'a Museum,
    undisturbed: &'a [Value],
    number: u64,
    results: PathBuf,
}

impl<'a> Batch<'a> {
    fn new(museum: &'a Museum, undisturbed: &'a [Value], number: u64) -> Self {
        Self { museum, undisturbed, number, results: museum.results(&format!("batch-{number}")) }
    }

    /// Kills again and again; how many comparisons that left something to be made.
    fn go_on(&self, seed: u64) -> usize {
        let (mut dice, mut cut_off) = (Dice(seed + self.number), 0);
        let begun = Instant::now();
        self.museum.compared(&self.results, &SETTINGS);
        let whole = begun.elapsed();
        for round in 0..MOMENTS / BATCHES {
            let victim = [Victim::Host, Victim::Worker, Victim::Both][dice.next(3) as usize];
            // Spread over the whole comparison: each round has a part of it.
            let part = (round * 1000 + dice.next(1000)) * BATCHES / MOMENTS;
            let moment = whole.mul_f64(part as f64 / 1000.0);
            // Stands in every message; `SURVIVAL_SEED` repeats the moments.
            let tag = format!("{victim:?} of batch {} at {part} of 1000, seed {seed}", self.number);
            if round % 2 == 0 {
                // So that answers are under way, too.
                _ = fs::remove_dir_all(self.results.join(".cache"));
            }
            cut_off += usize::from(self.kill(victim, moment, &tag, &mut dice) > 0);
        }
        let cached = self.museum.compared(&self.results, &[&SETTINGS[..], &["--offline"]].concat());
        assert_eq!(figures(&cached), self.undisturbed, "the cache is whole");
        assert!(cached["runs"].as_array().unwrap().iter().all(|run| run["network_calls"] == 0));
        cut_off
    }

    /// One comparison that is killed in, and then gone on with; how many runs were left to be made.
    fn kill(&self, victim: Victim, moment: Duration, tag: &str, dice: &mut Dice) -> usize {
        let settings = [&SETTINGS[..], &["--tag", tag]].concat();
        let mut command = self.museum.command(&self.results, "compare", &settings);
        let host = Running::start(command.args(["--format", "json"]));
        std::thread::sleep(moment);
        // A host that stands still starts nobody unseen.
        send(host.0.id(), Signal::STOP);
        let workers = descendants(host.0.id());
        let killed: Vec<&Process> = match victim {
            Victim::Worker if workers.is_empty() => Vec::new(),
            Victim::Worker => vec![&workers[dice.next(workers.len() as u64) as usize]],
            Victim::Both => workers.iter().collect(),
            Victim::Host => Vec::new(),
        };
        killed.iter().for_each(|worker| worker.send(Signal::KILL));
        if victim != Victim::Worker {
            send(host.0.id(), Signal::KILL);
        }
        send(host.0.id(), Signal::CONT);
        let outcome = host.end();
        wait_until(&format!("{tag}: no worker lives on"), || workers.iter().all(|worker| !worker.is_alive()));
        self.is_readable(tag);
        if victim == Victim::Worker {
            assert_eq!(outcome.code, 0, "{tag}: {outcome:?}");
            let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
            // Who plays the model is no worker of the run: without it there is no verdict, and so no wrong one.
            let was_model = report["runs"].as_array().unwrap().iter().any(|run| run["stop"] == "model_error");
            let of_scripts = killed.iter().any(|worker| worker.role.contains("script"));
            assert!(!was_model || of_scripts, "{tag}: {outcome:?}");
            if !was_model {
                self.lost_no_verdict(&report, tag);
            }
        }
        self.is_resumed(&settings, tag)
    }

    /// Verdicts and what the model read are those of an undisturbed comparison. Only where workers alone were killed may
    /// there be more calls: a script that gets a second try makes its calls again.
    fn lost_no_verdict(&self, report: &Value, tag: &str) {
        let figures = |figures: &[Value]| -> Vec<Value> {
            let mut figures = figures.to_vec();
            figures.iter_mut().filter(|_| tag.starts_with("Worker")).for_each(|mode| mode[CALLS] = Value::Null);
            figures
        };
        let found = museum::figures(report);
        assert_eq!(figures(&found), figures(self.undisturbed), "{tag}: {report:#}");
    }

    fn runs(&self, tag: &str) -> Vec<StoredRun> {
        let listing = list_runs(&self.results, Some("museum")).unwrap();
        assert!(listing.skipped.is_empty(), "{tag}: {:?}", listing.skipped);
        listing.runs.into_iter().filter(|run| run.record.tag.as_deref() == Some(tag)).collect()
    }

    /// Every command that reads results does so, and says what was cut off.
    fn is_readable(&self, tag: &str) {
        let runs = self.runs(tag);
        let report = self.museum.outcome(&self.results, &["report", "museum", "--tag", tag]);
        assert_eq!(report.code, if runs.is_empty() { 2 } else { 0 }, "{tag}: {report:?}");
        for run in runs.iter().filter(|run| !is_decided(&run.record)) {
            let show = self.museum.outcome(&self.results, &["show", &format!("museum/{}", run.record.run)]);
            assert_eq!(show.code, 0, "{tag}: {show:?}");
            let is_said = show.stdout.contains("stop interrupted");
            assert!(is_said || run.record.stop == Stop::ModelError, "{tag}: {show:?}");
        }
    }

    /// The same command line with `--resume` makes what is missing and nothing else; how many runs that is.
    fn is_resumed(&self, settings: &[&str], tag: &str) -> usize {
        let before = self.runs(tag);
        let decided: BTreeSet<&Path> =
            before.iter().filter(|run| is_decided(&run.record)).map(|run| run.folder.as_path()).collect();
        let kept: Vec<_> = decided.iter().map(|folder| content(folder)).collect();
        // Without a run there is no comparison yet.
        let resumed = if before.is_empty() { settings.to_vec() } else { [settings, &["--resume"]].concat() };
        let report = self.museum.compared(&self.results, &resumed);
        self.lost_no_verdict(&report, tag);
        assert_eq!(decided.iter().map(|folder| content(folder)).collect::<Vec<_>>(), kept, "{tag}: finished runs stay");
        let after = self.runs(tag);
        assert_eq!(after.len() - before.len(), 2 - decided.len(), "{tag}: no finished run is repeated");
        assert!(after.iter().all(|run| run.record.command == after[0].record.command), "{tag}");
        assert_eq!(litter(&self.results), Vec::<PathBuf>::new(), "{tag}");
        2 - decided.len()
    }
}

/// A cassette is whole after each kill, and recorded to its end by the next command.
#[test]
fn a_cassette_survives_kills() {
    let museum = Museum::open();
    let (results, whole, killed) =
        (museum.results("record"), museum.home().join("whole"), museum.home().join("killed"));
    let record = |to: &Path| museum.command(&results, "record", &["--to", to.to_str().unwrap()]);
    let begun = Instant::now();
    assert_eq!(program::finish(&mut record(&whole), "").code, 0);
    let (time, mut dice) = (begun.elapsed(), Dice(7));
    for part in 0..8 {
        let host = Running::start(&mut record(&killed));
        std::thread::sleep(time.mul_f64((part as f64 + dice.next(100) as f64 / 100.0) / 8.0));
        drop(host);
        if killed.join("index.jsonl").exists() {
            let cassette = workbench::web::Cassette::open(&killed).unwrap();
            for line in cassette.entries() {
                cassette.find(&line.url).unwrap().body(1 << 20).unwrap();
            }
        }
    }
    assert_eq!(program::finish(&mut record(&killed), "").code, 0);
    let files = |folder: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        let inside = |path: PathBuf| path.strip_prefix(folder).unwrap().to_owned();
        content(folder).into_iter().map(|(path, bytes)| (inside(path), bytes)).collect()
    };
    assert_eq!(files(&killed), files(&whole));
    assert_eq!(litter(&results), Vec::<PathBuf>::new());
}

/// Both are right, they share what they fetch, and neither gets in the other's way.
#[test]
fn two_comparisons_at_once_are_both_right() {
    let alone = Museum::open();
    let expected = figures(&alone.compared(&alone.results("alone"), &["--runs", "2"]));
    let museum = Museum::open();
    let results = museum.results("shared");
    let start = || {
        let mut command = museum.command(&results, "compare", &["--runs", "2", "--jobs", "2", "--format", "json"]);
        Running::start(&mut command)
    };
    let both = [start(), start()];
    let reports = both.map(|running| {
        let outcome = running.end();
        assert_eq!(outcome.code, 0, "{outcome:?}");
        serde_json::from_str::<Value>(&outcome.stdout).unwrap()
    });
    let names: BTreeSet<String> = reports.iter().flat_map(museum::names).collect();
    assert_eq!(names.len(), 12, "each run has a folder of its own");
    for report in &reports {
        assert_eq!(figures(report), expected, "{report:#}");
    }
    for (path, times) in museum.requests() {
        assert!(times <= 2, "{path} was asked for {times} times by two commands");
    }
    let together = museum.compared(&results, &["--runs", "2", "--offline"]);
    assert_eq!(figures(&together), expected, "the cache is whole");
    assert_eq!(litter(&results), Vec::<PathBuf>::new());
}

/// The second death is the script's own end; the model reads of it, and the run goes on.
#[test]
fn a_script_whose_interpreter_is_killed_has_a_second_try() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let endless = "from tools import *\nget_object(1)\nwhile True:\n    pass\n";
    fs::write(museum.domain().join("rehearsal/code/1.py"), endless).unwrap();
    let host = Running::start(&mut museum.command(&results, "run", &["--mode", "code"]));
    let calls = || {
        let runs = list_runs(&results, None).unwrap().runs;
        runs.first().map_or(0, |run| read_ledger(&run.folder).unwrap().len())
    };
    for tries in 1..=2 {
        wait_until("the script has made its call", || calls() == tries);
        let workers = descendants(host.0.id());
        let of_scripts: Vec<_> = workers.iter().filter(|worker| worker.role.contains("script")).collect();
        let [interpreter] = of_scripts[..] else { panic!("{workers:?}") };
        interpreter.send(Signal::KILL);
    }
    let outcome = host.end();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let run = &list_runs(&results, None).unwrap().runs[0];
    let output = fs::read_to_string(run.folder.join("scripts/01.out")).unwrap();
    assert!(output.starts_with("CRASHED") && output.contains("killed from outside"), "{output}");
    let of_first = read_ledger(&run.folder).unwrap().iter().filter(|call| call.script == Some(1)).count();
    assert_eq!((of_first, run.record.scripts_run), (2, 2), "every call is in the ledger");
}
