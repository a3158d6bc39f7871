//! A disk that is full, limits on how long files may be and how many are open: the file is named, nothing is judged by
//! what could not be written, what was there stays whole.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/mount.rs"]
mod mount;
#[path = "support/museum.rs"]
mod museum;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mount::Mounted;
use museum::{Museum, content, litter};
use program::finish;
use serde_json::Value;
use workbench::results::attempts::is_decided;
use workbench::results::find::list_runs;
use workbench::results::store::{read_ledger, read_transcript};

/// Kilobytes of the disk, and codes a comparison may end with on it.
const SIZES: &[(u32, &[i32])] = &[
    // Not even a try at writing fits.
    (12, &[2]),
    // A folder, its record, parts of a conversation, some pictures.
    (48, &[2, 70]),
    (80, &[0, 70]),
    (160, &[0, 70]),
    (320, &[0, 70]),
    (500, &[0, 70]),
    (700, &[0, 70]),
    (900, &[0, 70]),
    // Room for all.
    (16_000, &[0]),
];

/// Bytes of each picture and of each record: what is fetched, what is made and what is judged all take their share.
const PICTURE: usize = 60_000;
const RECORD: usize = 20_000;

#[test]
fn a_full_disk_is_told_and_never_judged() {
    let museum = Museum::with(PICTURE, RECORD);
    let mut ends = Vec::new();
    for (kilobytes, codes) in SIZES {
        let Some(disk) = Mounted::tmpfs(&format!("size={kilobytes}k")) else { return };
        let results = disk.path();
        let settings = ["--modes", "loop,code", "--runs", "1"];
        let outcome = finish(&mut museum.command(results, "compare", &settings), "");
        assert!(codes.contains(&outcome.code), "{kilobytes} kB: {outcome:?}");
        if outcome.code == 70 {
            let is_clear = outcome.stderr.contains(results.to_str().unwrap())
                && outcome.stderr.contains("No space left on device")
                && outcome.stderr.contains("hint: look for a full disk");
            assert!(is_clear, "{kilobytes} kB: {outcome:?}");
        }
        assert!(![".trying-", ".saving-"].iter().any(|name| outcome.stderr.contains(name)), "{outcome:?}");
        if outcome.code == 2 {
            let is_clear = outcome.stderr.contains("cannot be written: No space left on device");
            assert!(is_clear && outcome.stderr.contains("`--results`"), "{kilobytes} kB: {outcome:?}");
        }
        is_whole_and_honest(&museum, results, *kilobytes);
        ends.push(outcome.code);
    }
    assert!([0, 2, 70].iter().all(|code| ends.contains(code)), "every end was met: {ends:?}");
}

/// Kilobytes that a file may have, and codes a comparison may end with under that limit.
const LENGTHS: &[(u32, &[i32])] = &[
    (8, &[2]),
    (20, &[0, 70]),
    (40, &[0, 70]),
    (80, &[0, 70]),
    // Longer than any file of it.
    (4_000, &[0]),
];

/// The system ends a program that writes more, unless it listens to the signal.
#[test]
fn a_limit_on_the_length_of_files_is_told_as_a_full_disk_is() {
    let museum = Museum::with(PICTURE, RECORD);
    let settings = ["--modes", "loop,code", "--runs", "1"];
    museum.compared(&museum.results("builds the plugin"), &settings);
    let mut ends = Vec::new();
    for (kilobytes, codes) in LENGTHS {
        let results = museum.results(&kilobytes.to_string());
        let mut command =
            shell(&format!("ulimit -f {}", kilobytes * 2), &museum.command(&results, "compare", &settings));
        let outcome = finish(&mut command, "");
        assert!(codes.contains(&outcome.code), "{kilobytes} kB: {outcome:?}");
        let is_told = outcome.stderr.contains("File too large") && outcome.stderr.contains(results.to_str().unwrap());
        assert!(is_told || outcome.code == 0, "{kilobytes} kB: {outcome:?}");
        is_whole_and_honest(&museum, &results, *kilobytes);
        assert_eq!(litter(&results), Vec::<PathBuf>::new(), "{kilobytes} kB");
        ends.push(outcome.code);
    }
    assert!([0, 2, 70].iter().all(|code| ends.contains(code)), "every end was met: {ends:?}");
}

/// A shell hands out fewer open files than the system grants, and so many runs at once need more than it hands out.
#[test]
fn all_open_files_that_the_system_grants_are_taken() {
    let museum = Museum::open();
    museum.compared(&museum.results("builds the plugin"), &["--modes", "loop,code", "--runs", "1"]);
    let settings = ["--modes", "loop,code", "--runs", "8", "--jobs", "16"];
    for (limit, is_enough) in [("ulimit -S -n 40", true), ("ulimit -n 40", false)] {
        let results = museum.results(limit);
        let outcome = finish(&mut shell(limit, &museum.command(&results, "compare", &settings)), "");
        let hint = "hint: raise the limit of open files (`ulimit -n`), or lower `--jobs`";
        assert_eq!((outcome.code == 0, outcome.stderr.contains(hint)), (is_enough, !is_enough), "{limit}: {outcome:?}");
    }
}

/// The command, run by a shell that does something first.
fn shell(first: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{first} && exec \"$0\" \"$@\"")).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

/// What was made before a disk was full can be read and reported, and goes on when there is room again.
#[test]
fn earlier_results_stay_whole_and_go_on_when_there_is_room() {
    let museum = Museum::with(PICTURE, RECORD);
    let Some(disk) = Mounted::tmpfs("size=4000k") else { return };
    let results = disk.path();
    let settings = ["--modes", "loop,code", "--runs", "1"];
    museum.compared(results, &settings);
    let before = content(&results.join("museum"));
    let filler = results.join("filler");
    fill(&filler, 200_000);
    let settings = ["--modes", "loop,code", "--runs", "1", "--tag", "second"];
    let outcome = finish(&mut museum.command(results, "compare", &settings), "");
    assert_eq!(outcome.code, 70, "{outcome:?}");
    let after = content(&results.join("museum"));
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "what was there is as it was");
    is_whole_and_honest(&museum, results, 4000);
    fs::remove_file(filler).unwrap();
    let report = museum.compared(results, &[&settings[..], &["--resume"]].concat());
    let modes = report["modes"].as_array().unwrap();
    assert!(modes.iter().all(|mode| mode["passed"] == 1 && mode["errors"] == 0), "{report:#}");
}

/// Answers that cannot be kept are a fault of the disk, whoever asked: what comes of it is no verdict.
#[test]
fn a_full_cache_never_becomes_a_wrong_answer() {
    let museum = Museum::with(PICTURE, RECORD);
    for kilobytes in [4, 40, 100, 200] {
        let results = museum.results(&kilobytes.to_string());
        let cache = results.join(".cache");
        fs::create_dir_all(&cache).unwrap();
        let Some(_disk) = Mounted::tmpfs_at(&cache, &format!("size={kilobytes}k")) else { return };
        let settings = ["--modes", "loop,code", "--runs", "1", "--format", "json"];
        let outcome = finish(&mut museum.command(&results, "compare", &settings), "");
        assert_eq!(outcome.code, 0, "{kilobytes} kB: {outcome:?}");
        is_whole_and_honest(&museum, &results, kilobytes);
        let runs = list_runs(&results, None).unwrap().runs;
        let faults: Vec<String> =
            runs.iter().flat_map(|run| &run.record.faults).map(|fault| fault.text.clone()).collect();
        assert!(faults.iter().any(|text| text.contains("No space left on device")), "{kilobytes} kB: {faults:?}");
        assert!(runs.iter().any(|run| !is_decided(&run.record)), "{kilobytes} kB: {runs:#?}");
    }
}

/// Takes all the room but `left` bytes.
fn fill(path: &Path, left: u64) {
    use std::io::Write as _;
    let mut file = fs::File::create(path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length - left).unwrap();
}

/// Every file that is there is whole, and no run was judged by what the disk had no room for.
fn is_whole_and_honest(museum: &Museum, results: &Path, kilobytes: u32) {
    let listing = list_runs(results, None).unwrap();
    assert!(listing.skipped.is_empty(), "{kilobytes} kB: {:?}", listing.skipped);
    for run in &listing.runs {
        read_ledger(&run.folder).unwrap();
        assert!(read_transcript(&run.folder).unwrap().all(|message| message.is_ok()));
        let verdict = run.record.verify.as_ref();
        assert!(!is_decided(&run.record) || verdict.is_some_and(|verdict| verdict.ok), "{kilobytes} kB: {run:#?}");
        let show = museum.outcome(results, &["show", run.folder.to_str().unwrap()]);
        assert_eq!(show.code, 0, "{kilobytes} kB: {show:?}");
    }
    if !listing.runs.is_empty() {
        let report = museum.outcome(results, &["report", "museum", "--format", "json"]);
        assert_eq!(report.code, 0, "{kilobytes} kB: {report:?}");
        serde_json::from_str::<Value>(&report.stdout).unwrap();
    }
}
