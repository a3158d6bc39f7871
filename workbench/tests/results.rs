//! The results folder: what is written can be read, whenever the writer died.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};
use workbench::results::find::{find_run, list_runs};
use workbench::results::format::{
    Budgets, CallEnd, CallRecord, RUN_FORMAT, RuleOutcome, RuleStatus, RunRecord, Stop, Turn, Verdict,
};
use workbench::results::store::{RunFolder, StoreError, read_evidence, read_ledger, read_run, read_transcript};

fn noon() -> Timestamp {
    "2026-11-29T12:00:00Z".parse().unwrap()
}

fn record(run: &str) -> RunRecord {
    RunRecord {
        format: RUN_FORMAT.to_owned(),
        run: run.to_owned(),
        domain: "met".to_owned(),
        mode: "loop".to_owned(),
        model: "rehearsal".to_owned(),
        sandbox: None,
        sandbox_settings: BTreeMap::new(),
        source: "cassette".to_owned(),
        profile: "debug".to_owned(),
        limits: [("tool_calls".to_owned(), 2000)].into(),
        budgets: Budgets { max_tokens_read: Some(9000), max_cost_usd: Some(0.25), max_seconds: None },
        settings: [("thinking".to_owned(), "off".to_owned())].into(),
        fingerprint: [("task".to_owned(), "0123456789abcdef".to_owned())].into(),
        command: "2026-11-29T12-00-00Z-4711".to_owned(),
        number: 1,
        comparison: None,
        tag: Some("first".to_owned()),
        rehearsal_of: None,
        started: noon().to_string(),
        seconds: 1.5,
        stop: Stop::Interrupted,
        stop_detail: None,
        model_turns: 1,
        tool_calls: 2,
        nested_calls: 0,
        scripts_run: 0,
        retries: 0,
        retried: Vec::new(),
        deviations: Vec::new(),
        tokens_read: 1200,
        input_tokens: 1200,
        output_tokens: 40,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        estimated: true,
        per_turn: vec![Turn {
            turn: 1,
            tokens_read: 1200,
            input_tokens: 1200,
            output_tokens: 40,
            cost_usd: Some(0.000_14),
            tools: vec!["search_collection".to_owned(), "list_departments".to_owned()],
            ..Turn::default()
        }],
        cost_usd: Some(0.000_14),
        prices: Some("2026-11-29, a list".to_owned()),
        network_calls: 0,
        cache_hits: 2,
        hosted: None,
        faults: Vec::new(),
        final_text: "Zwölf Katzen 🐈".to_owned(),
        verify: None,
    }
}

fn call(tool: &str) -> CallRecord {
    CallRecord {
        turn: 1,
        script: Some(1),
        tool: tool.to_owned(),
        arguments: json!({"object_id": 7}),
        ms: 0.25,
        bytes: 2200,
        outcome: CallEnd::Answered,
        error: None,
    }
}

/// A finished run, with its record written.
fn make(results: &Path, domain: &str, mode: &str) -> RunFolder {
    let folder = RunFolder::create(results, domain, mode, 1, noon()).unwrap();
    folder.write_record(&record(folder.name())).unwrap();
    folder
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_run_is_named_by_time_mode_and_number() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "loop");
    assert_eq!(folder.name(), "2026-11-29T12-00-00Z-loop-1");
    assert_eq!(folder.path(), results.path().join("met/2026-11-29T12-00-00Z-loop-1"));
    assert!(folder.out().is_dir());
    assert_eq!(read_run(folder.path()).unwrap(), record(folder.name()));
}

#[test]
fn runs_that_start_at_the_same_moment_never_share_a_folder() {
    let results = tempfile::tempdir().unwrap();
    let names: BTreeSet<String> = std::thread::scope(|scope| {
        let makers: Vec<_> =
            (0..16).map(|_| scope.spawn(|| make(results.path(), "met", "code").name().to_owned())).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert_eq!(names.len(), 16);
    assert_eq!(list_runs(results.path(), Some("met")).unwrap().runs.len(), 16);
}

#[test]
fn a_killed_run_reads_as_interrupted_with_all_that_was_done() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "code");
    folder.append_message(&json!({"role": "user", "content": []})).unwrap();
    folder.append_call(&call("get_object")).unwrap();
    folder.append_call(&call("download_image")).unwrap();
    folder.save_script(1, "print('über')").unwrap();
    let path = folder.path().to_owned();
    drop(folder);
    append(&path.join("ledger.jsonl"), br#"{"turn":1,"script":1,"tool":"get_o"#);
    append(&path.join("transcript.jsonl"), b"{\"role\":");

    assert_eq!(read_run(&path).unwrap().stop, Stop::Interrupted);
    let tools: Vec<String> = read_ledger(&path).unwrap().into_iter().map(|call| call.tool).collect();
    assert_eq!(tools, ["get_object", "download_image"]);
    assert_eq!(read_transcript(&path).unwrap().map(Result::unwrap).count(), 1);
    assert_eq!(fs::read_to_string(path.join("scripts/01.py")).unwrap(), "print('über')");
    assert_eq!(read_evidence(&path).unwrap(), None);
}

#[test]
fn a_transcript_of_many_large_records_can_be_read() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "loop");
    let record = "x".repeat(2 << 20);
    for _ in 0..70 {
        folder.append_message(&json!({"role": "user", "content": [record]})).unwrap();
    }
    let whole = |message: Result<Value, StoreError>| message.unwrap()["content"][0] == record;
    assert_eq!(read_transcript(folder.path()).unwrap().map(whole).filter(|whole| *whole).count(), 70);
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "code");
    folder.append_call(&call("get_object")).unwrap();
    append(&folder.path().join("ledger.jsonl"), b"garbage\n");
    let error = read_ledger(folder.path()).unwrap_err().to_string();
    assert!(error.contains("ledger.jsonl") && error.contains("line 2"), "{error}");
}

#[test]
fn verdict_and_evidence_lie_beside_the_record_and_nothing_else_does() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "loop");
    let rule = RuleOutcome {
        name: "exactly 12 pieces".to_owned(),
        status: RuleStatus::Fail,
        got: json!(11),
        points: 0.0,
        max_points: 1.0,
    };
    let verdict = Verdict { ok: false, points: 0.0, max_points: 1.0, rules: vec![rule] };
    folder.write_verdict(&verdict, &json!({"ids": [1, 2]})).unwrap();
    folder.write_record(&record(folder.name())).unwrap();
    assert_eq!(read_evidence(folder.path()).unwrap(), Some(json!({"ids": [1, 2]})));

    let files: BTreeSet<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let expected = ["evidence.json", "ledger.jsonl", "out", "run.json", "scripts", "transcript.jsonl", "verify.json"];
    assert_eq!(files.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn a_run_is_found_by_every_name_a_user_has_for_it() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "loop");
    make(results.path(), "met", "code");
    make(results.path(), "zoo", "code");
    let by_path = folder.path().to_str().unwrap().to_owned();
    for asked in [
        "2026-11-29T12-00-00Z-loop-1",
        "met/2026-11-29T12-00-00Z-loop-1",
        "met/2026-11-29T12-00-00Z-loop-1/",
        "met/2026-11-29T12-00-00Z-l",
        &by_path,
        &format!("{by_path}/run.json"),
    ] {
        assert_eq!(find_run(results.path(), asked).unwrap(), folder.path(), "{asked}");
    }
}

#[test]
fn a_name_that_fits_no_run_or_several_is_told_so() {
    let results = tempfile::tempdir().unwrap();
    make(results.path(), "met", "loop");
    make(results.path(), "met", "code");

    let unknown = find_run(results.path(), "2026-11-29T12-00-00Z-loob-1").unwrap_err();
    let StoreError::Unknown { nearest, .. } = &unknown else { panic!("{unknown}") };
    assert_eq!(nearest[0], "met/2026-11-29T12-00-00Z-loop-1");
    let several = find_run(results.path(), "2026").unwrap_err();
    let StoreError::Ambiguous { runs, .. } = &several else { panic!("{several}") };
    assert_eq!(runs.len(), 2);
    let none = find_run(&results.path().join("nowhere"), "x").unwrap_err().to_string();
    assert!(none.contains("it holds no runs"), "{none}");
    assert!(find_run(results.path(), "").is_err());
}

#[test]
fn a_folder_that_was_a_run_is_told_from_none() {
    let results = tempfile::tempdir().unwrap();
    let folder = make(results.path(), "met", "loop");
    fs::remove_file(folder.path().join("run.json")).unwrap();
    let path = folder.path().to_str().unwrap();
    for asked in [path, folder.name(), &format!("met/{}", folder.name())] {
        let error = find_run(results.path(), asked).unwrap_err().to_string();
        assert!(error.contains(path) && error.contains("it holds no run.json"), "{asked}: {error}");
    }
    assert!(matches!(find_run(results.path(), "met"), Err(StoreError::Unknown { .. })));
}

#[test]
fn folders_that_are_no_runs_are_passed_over_and_broken_ones_are_named() {
    let results = tempfile::tempdir().unwrap();
    let good = make(results.path(), "met", "loop");
    for (folder, record) in
        [("met/broken", "{"), ("met/newer", r#"{"format":"workbench/run/v9"}"#), ("met/foreign", r#"{"a":1}"#)]
    {
        fs::create_dir_all(results.path().join(folder)).unwrap();
        fs::write(results.path().join(folder).join("run.json"), record).unwrap();
    }
    fs::create_dir_all(results.path().join(".cache/met")).unwrap();
    fs::create_dir_all(results.path().join("met/empty")).unwrap();
    fs::write(results.path().join("README.md"), "").unwrap();

    let listing = list_runs(results.path(), None).unwrap();
    assert_eq!(listing.runs.iter().map(|run| run.folder.as_path()).collect::<Vec<_>>(), [good.path()]);
    let skipped: Vec<String> = listing.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    assert!(skipped.iter().any(|text| text.contains("newer") && text.contains("workbench/run/v9")), "{skipped:?}");
    assert!(list_runs(&results.path().join("nowhere"), None).unwrap().runs.is_empty());
}
