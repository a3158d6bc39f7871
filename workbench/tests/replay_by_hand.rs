//! Replays of runs that were written by hand: ends of every kind, runs that were cut off, and files that are no runs.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/limited.rs"]
mod limited;
#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/program.rs"]
mod program;
#[path = "support/recorded.rs"]
mod recorded;

use std::fs;
use std::path::Path;

use limited::{Results, sparse};
use pipe::pipe;
use program::{Outcome, Program, workspace};
use recorded::{calls, change_record, messages, read, results, task, words, written};
use serde_json::{Value, json};
use workbench::model::prices::Prices;
use workbench::model::types::Usage;

fn standin() -> String {
    workspace().join("workbench/tests/domains/standin").to_str().unwrap().to_owned()
}

fn replay(program: &Program, run: &Path, more: &[&str]) -> Outcome {
    program.run(&[&["replay", run.to_str().unwrap(), "--domain", &standin()], more].concat())
}

fn noop(x: u64) -> Value {
    calls(&[("noop", json!({ "x": x }))])
}

fn noop_result(x: u64) -> Value {
    results(&[(&x.to_string(), false)])
}

const CUT: &str = "ERROR: not run: your answer was cut off at 4096 tokens, in the middle of this call. Say it shorter.";

/// What was said, how the run stopped, how its replay stops, and the last line about it.
#[test]
fn every_end_of_a_run_is_the_end_of_its_replay() {
    let thinking = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "…", "signature": "x"}]});
    let whole = [task(), noop(1), noop_result(1), words("done")];
    let mute = [task(), noop(1), noop_result(1), blocks("assistant", json!([]))];
    let table: &[(&[Value], &str, &str, &str)] = &[
        (&whole, "end_turn", "end_turn", "same: 1 result of 2 turns"),
        (&whole, "refusal", "refusal", "same: 1 result of 2 turns"),
        // A model may end without a word, and a refusal has none.
        (&mute, "end_turn", "end_turn", "same: 1 result of 2 turns"),
        (&mute, "refusal", "refusal", "same: 1 result of 2 turns"),
        (&whole, "max_tokens", "max_tokens", "same: 1 result of 2 turns"),
        // Killed while it was judged.
        (
            &whole,
            "interrupted",
            "end_turn",
            "; the run was not judged, its replay is not verified with 0 of 0 points\n",
        ),
        (&whole[..3], "interrupted", "model_error", "same: 1 result of 1 turn and 0 files; neither was judged\n"),
        (&whole[..3], "model_error", "model_error", "same: 1 result of 1 turn"),
        (&whole[..2], "interrupted", "model_error", "the record ends before the results of 1 call"),
        // Refused with calls in its words: they were not made.
        (&whole[..2], "refusal", "refusal", "the record ends before the results of 1 call"),
        (&[task(), thinking.clone(), words("done")], "end_turn", "end_turn", "same: 0 results of 2 turns"),
        (&[task(), thinking, noop(2), noop_result(2)], "max_turns", "max_turns", "same: 1 result of 2 turns"),
        (
            &[
                task(),
                calls(&[("noop", json!({"x": 3})), ("noop", json!({}))]),
                results(&[("3", false), (CUT, true)]),
                words("done"),
            ],
            "end_turn",
            "end_turn",
            "same: 2 results of 2 turns",
        ),
        (
            &[
                task(),
                calls(&[("nop", json!({"x": 3}))]),
                results(&[("ERROR: unknown tool `nop`; the tools are noop", true)]),
                words(""),
            ],
            "end_turn",
            "end_turn",
            "different: 1 of 1 result of 2 turns",
        ),
    ];
    let program = Program::new();
    for (number, (said, stop, expected, told)) in table.iter().enumerate() {
        let run = written(program.results(), &format!("case-{number}"), "loop", stop, said);
        let turns = read(&run.join("run.json"))["model_turns"].to_string();
        let limit: &[&str] = if *stop == "max_turns" { &["--loop-turns", &turns] } else { &[] };
        let outcome = replay(&program, &run, limit);
        assert!(outcome.stdout.contains(told), "{number}: {told}: {outcome:?}");
        let code = i32::from(outcome.stdout.contains("\ndifferent: "));
        let outcome = replay(&program, &run, &[limit, &["--keep", "--format", "json"]].concat());
        assert_eq!(outcome.code, code, "{number}: {outcome:?}");
        let audit: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let kept = Path::new(audit["kept"].as_str().unwrap());
        let (old, new) = (read(&run.join("run.json")), read(&kept.join("run.json")));
        assert_eq!(new["stop"], *expected, "{number}: {new:#}");
        let figures =
            ["tokens_read", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "estimated"];
        for figure in figures {
            assert_eq!(old[figure], new[figure], "{number}: {figure}");
        }
        for (old, new) in old["per_turn"].as_array().unwrap().iter().zip(new["per_turn"].as_array().unwrap()) {
            for figure in ["tokens_read", "cache_read_tokens", "cache_write_tokens"] {
                assert_eq!(old.get(figure), new.get(figure), "{number}: {figure} of each turn");
            }
        }
        assert_eq!(new["settings"], json!({"said by": "oracle:delphi-2", "thinking": "off"}));
        let said_again = messages(kept).into_iter().filter(|message| message["role"] == "assistant");
        let said = said.iter().filter(|message| message["role"] == "assistant").cloned();
        assert_eq!(said_again.collect::<Vec<_>>(), said.collect::<Vec<_>>(), "{number}: word for word");
    }
}

#[test]
fn a_run_may_be_cut_off_anywhere() {
    let program = Program::new();
    let said = [task(), noop(1), noop_result(1), noop(2), noop_result(2), words("done")];
    for kept in 0..=said.len() {
        let run = written(program.results(), &format!("cut-{kept}"), "loop", "interrupted", &said[..kept]);
        let outcome = replay(&program, &run, &[]);
        match kept {
            0 | 1 => assert!(outcome.code == 2 && outcome.stderr.contains("its model said nothing"), "{outcome:?}"),
            _ => assert!(outcome.code == 0 && outcome.stdout.contains("\nsame: "), "{kept}: {outcome:?}"),
        }
        // In the middle of a line; its figures are in the record already.
        let next = said.get(kept).map(|message| message.to_string()).unwrap_or_default();
        if kept > 1 && said.get(kept).is_some_and(|message| message["role"] == "assistant") {
            let run = written(program.results(), &format!("half-{kept}"), "loop", "interrupted", &said[..=kept]);
            let text = fs::read_to_string(run.join("transcript.jsonl")).unwrap();
            fs::write(run.join("transcript.jsonl"), &text[..text.len() - next.len() / 2]).unwrap();
            let outcome = replay(&program, &run, &[]);
            assert!(outcome.code == 0 && outcome.stdout.contains("\nsame: "), "{kept}: {outcome:?}");
            change_record(&run, |record| record["stop"] = json!("end_turn"));
            let outcome = replay(&program, &run, &[]);
            assert!(outcome.code == 2 && outcome.stderr.contains("run.json has the figures of"), "{kept}: {outcome:?}");
        }
    }
}

#[test]
fn a_long_run_is_replayed_where_that_is_allowed() {
    let program = Program::new();
    let mut said = vec![task()];
    for x in 0..300 {
        said.extend([noop(x), noop_result(if x == 250 { 1 } else { x })]);
    }
    said.push(words("done"));
    let run = written(program.results(), "long", "serial", "end_turn", &said);
    let outcome = replay(&program, &run, &["--serial-turns", "301"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let told = "turn 251, call 1: noop {\"x\":250}\n  differs after 0 letters\n  record  1\n  now     250\n";
    assert!(outcome.stdout.contains(told), "{outcome:?}");
    assert!(outcome.stdout.contains("different: 1 of 300 results of 301 turns\n"), "{outcome:?}");
    let outcome = replay(&program, &run, &[]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stdout.contains("the replay ended after turn 200 of 301\n"), "{outcome:?}");
    assert!(
        outcome.stdout.contains("different: 0 of 200 results of 301 turns, 100 results not reached\n"),
        "{outcome:?}"
    );
}

/// How a transcript is made, and what is said of it.
type Hostile = (fn(&Path), &'static str);

fn says(path: &Path, messages: &[Value]) {
    fs::write(path, messages.iter().map(|message| format!("{message}\n")).collect::<String>()).unwrap();
}

fn blocks(role: &str, blocks: Value) -> Value {
    json!({"role": role, "content": blocks})
}

#[rustfmt::skip]
const HOSTILE: &[Hostile] = &[
    (|path| sparse(path, 500), "line 1: it is longer than 128 MB"),
    (|path| pipe(path), "it is not a regular file"),
    (|path| { fs::remove_file(path).unwrap(); std::os::unix::fs::symlink("/etc/passwd", path).unwrap() }, "it is not a regular file"),
    (|path| fs::remove_file(path).unwrap(), "could not read"),
    (|path| fs::write(path, "\0\0\n").unwrap(), "line 1: expected value"),
    (|path| fs::write(path, format!("{}\n", "[".repeat(100_000))).unwrap(), "line 1: recursion limit exceeded"),
    (|path| fs::write(path, format!("[{}0]\n", "0,".repeat(10 << 20))).unwrap(), "at most 512 MB are spent on it"),
    (|path| fs::write(path, format!("{{\"role\":\"user\",\"content\":[{}0]}}\n", "0,".repeat(3 << 20))).unwrap(), "message 1 and those before it would take more than 256 MB"),
    (|path| fs::write(path, "{}\n").unwrap(), "message 1 is none: missing field `role`"),
    (|path| fs::write(path, "{\"role\":\"system\",\"content\":[]}\n").unwrap(), "message 1 is none: unknown variant `system`"),
    (|path| says(path, &[words("done")]), "message 1 is the model's, and nobody has asked it yet"),
    (|path| says(path, &[task(), task()]), "message 2 is the user's, and so is the one before it"),
    (|path| says(path, &[noop_result(1)]), "message 1 is the task, and holds more than words"),
    (|path| says(path, &[task(), words("done"), task(), task()]), "message 4 is the user's, and the model's answer before it has no calls"),
    (|path| says(path, &[task(), noop(1), noop(2)]), "message 3 is the model's, and the calls of its answer before are without results"),
    (|path| says(path, &[task(), noop(1), noop_result(1), noop_result(1)]), "message 4 is the user's, and the model's answer before it has no calls that are without results"),
    (|path| says(path, &[task(), noop(1), results(&[("1", false), ("2", false)])]), "message 3 has 2 results for 1 calls"),
    (|path| says(path, &[task(), noop(1), blocks("user", json!([]))]), "message 3 has 0 results for 1 calls"),
    (|path| says(path, &[task(), noop(1), blocks("user", json!([{"type": "tool_result", "tool_use_id": "x", "content": "1"}]))]), "message 3 has a result of the call `x` in the place of that of `id0`"),
    (|path| says(path, &[task(), noop(1), blocks("user", json!([{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]))]), "message 3 has something else in the place of the result of the call `id0`"),
    (|path| says(path, &[task(), noop(1), task()]), "message 3 has 0 results for 1 calls"),
    (|path| says(path, &[task(), noop_result(1)]), "message 2 is the user's, and so is the one before it"),
    (|path| says(path, &[task(), blocks("assistant", json!([{"type": "tool_result", "tool_use_id": "x", "content": "1"}]))]), "message 2 is the model's, and holds the result of a call"),
    (|path| says(path, &[task(), blocks("assistant", json!([{"type": "tool_use", "name": "noop", "input": {}}]))]), "message 2 has a block of tool_use that is not whole"),
    (|path| says(path, &[task(), blocks("assistant", json!([{"type": "text", "text": 5}]))]), "message 2 has a block of text that is not whole"),
    (|path| says(path, &[task(), blocks("assistant", json!(["done"]))]), "message 2 has a block of no type that is not whole"),
    (|path| says(path, &[task(), words("\u{1b}[2J")]), "run.json has the figures of 3 turns, and transcript.jsonl has 1"),
];

#[test]
fn a_transcript_that_is_none_is_refused_in_clear_words() {
    let limited = Results::new();
    let said = [task(), noop(1), noop_result(1), noop(2), noop_result(2), words("done")];
    let mut wrong = Vec::new();
    for (number, (make, told)) in HOSTILE.iter().enumerate() {
        let home = tempfile::tempdir().unwrap();
        let run = written(home.path(), "case", "loop", "end_turn", &said);
        make(&run.join("transcript.jsonl"));
        let path = run.to_str().unwrap();
        let model = format!("replay:{path}");
        for words in [
            &["replay", path, "--domain", &standin()][..],
            &["run", &standin(), "--mode", "loop", "--model", &model],
            &["record", &standin(), "--from", path],
        ] {
            let outcome = limited.workbench(&[], words);
            if outcome.code != 2 || !outcome.stderr.contains(told) || outcome.stderr.contains('\u{1b}') {
                wrong.push(format!("{number}, {}: {told}\n{outcome:?}", words[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The prices of one model that come with the workbench, as records name them.
const HAIKU: &str = "2026-10-07, ";

/// Makes it the record of a model whose turns have their cost, by prices of this name.
fn priced(record: &mut Value, prices: &str, cost: Option<f64>) {
    let known = Prices::load(None).unwrap();
    let price = known.of("anthropic:claude-haiku-5-5").unwrap();
    record["model"] = json!("anthropic:claude-haiku-5-5");
    record["prices"] = json!(if prices == HAIKU { price.origin() } else { prices.to_owned() });
    let mut sum = 0.0;
    for turn in record["per_turn"].as_array_mut().unwrap() {
        let tokens = |key: &str| turn[key].as_u64().unwrap_or(0);
        let usage = Usage {
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
            cache_read_tokens: tokens("cache_read_tokens"),
            cache_write_tokens: tokens("cache_write_tokens"),
            estimated: false,
        };
        let cost = price.cost(&usage).unwrap();
        turn["cost_usd"] = json!(cost);
        sum += cost;
    }
    record["cost_usd"] = json!(cost.unwrap_or(sum));
}

/// How a record is changed, exit code, and what is said.
type Record = (fn(&mut Value), i32, &'static str);

#[rustfmt::skip]
const RECORDS: &[Record] = &[
    (|record| record["per_turn"][0]["tokens_read"] = json!(u64::MAX), 2, "the figures of its turns in run.json are not those of a run"),
    (|record| record["per_turn"][0]["output_tokens"] = json!(u64::MAX), 2, "the figures of its turns in run.json are not those of a run"),
    (|record| record["per_turn"][1]["input_tokens"] = json!(5000), 2, "the figures of its turns in run.json are not those of a run"),
    (|record| record["tokens_read"] = json!(5), 2, "`tokens_read` in run.json is 5, and its turns have 600 in all"),
    (|record| record["input_tokens"] = json!(0), 2, "`input_tokens` in run.json is 0, and its turns have 510 in all"),
    (|record| record["output_tokens"] = json!(1), 2, "`output_tokens` in run.json is 1, and its turns have 21 in all"),
    (|record| record["cache_read_tokens"] = json!(1), 2, "`cache_read_tokens` in run.json is 1, and its turns have 60 in all"),
    (|record| record["model_turns"] = json!(1), 2, "`model_turns` in run.json is 1, and its turns have 3 in all"),
    (|record| record["tool_calls"] = json!(9), 2, "`tool_calls` in run.json is 9, and its turns have 2 in all"),
    (|record| record["per_turn"] = json!([]), 2, "run.json has the figures of 0 turns, and transcript.jsonl has 3"),
    (|record| record["mode"] = json!("hostde"), 2, "there is no mode `hostde`"),
    (|record| record["mode"] = json!("code"), 1, "unknown tool `noop`; the tools are run_python"),
    (|record| record["domain"] = json!("\u{1b}[2J"), 2, "is a run of the domain `\\u{1b}[2J`, not of `standin`"),
    (|record| record["source"] = json!("cassette"), 2, "the run got its data from a cassette, and the workspace has none of standin"),
    (|record| record["source"] = json!("nonsense"), 2, "says that its data came from nonsense, and may have been handed in"),
    (|record| record["run"] = json!("another"), 0, "replay of case ·"),
    (|record| record["limits"] = json!({"tool_calls": 0, "loop_turns": 0}), 1, "the replay ended after turn 1 of 3"),
    (|record| record["nested_calls"] = json!(12), 1, "\nnested_calls is 12 in run.json, and must be 0\n"),
    (|record| record["scripts_run"] = json!(1), 1, "\nscripts_run is 1 in run.json, and must be 0\n"),
    (|record| record["deviations"] = json!(["serial\u{1b}"]), 1, "\ndeviations is [\"serial\\u001b\"] in run.json, and must be []\n"),
    // What only its server knew.
    (|record| record["deviations"] = json!(["thinking not set: the server refused the wish"]), 0, "same: "),
    (|record| record["final_text"] = json!("All is well"), 1, "\nfinal_text is \"All is well\" in run.json, and must be \"done\"\n"),
    (|record| record["per_turn"][1]["tools"] = json!(["noop2"]), 1, "\nper_turn[1].tools is [\"noop2\"] in run.json, and must be [\"noop\"]\n"),
    (|record| record["retries"] = json!(3), 1, "\nretries is 3 in run.json, and must be 0\n"),
    (|record| record["model"] = json!("rehearsal"), 1, "\nestimated is false in run.json, and must be true\n"),
    (|record| record["cost_usd"] = json!(0.5), 1, "\ncost_usd is 0.5 in run.json, and must be null\n\nnot checked, since no replay tells: seconds, network_calls, cache_hits, tokens, estimated, retries\ndifferent: 0 of 2 results of 3 turns, 1 figure\n"),
    // Prices that are known, and others.
    (|record| priced(record, HAIKU, None), 0, "same: "),
    (|record| priced(record, HAIKU, Some(0.001)), 1, "\ncost_usd is 0.001 in run.json, and must be 0.00"),
    (|record| { priced(record, HAIKU, None); record["per_turn"][1]["cost_usd"] = json!(0); }, 1, "\nper_turn[1].cost_usd is 0.0 in run.json, and must be 0.0000"),
    (|record| { priced(record, HAIKU, None); record["estimated"] = json!(true); }, 1, "\ncost_usd is 0.00"),
    (|record| priced(record, "2020-01-01, our contract", None), 0, "tokens, estimated, retries, cost_usd\nsame: "),
    (|record| priced(record, "2020-01-01, our contract", Some(7.0)), 1, "\ncost_usd is 7.0 in run.json, and must be 0.00"),
    (|record| record["model"] = json!("\u{1b}[2J"), 0, "said by \\u{1b}[2J"),
];

#[test]
fn a_record_that_does_not_fit_is_refused_or_told() {
    let program = Program::new();
    let said = [task(), noop(1), noop_result(1), noop(2), noop_result(2), words("done")];
    let run = written(program.results(), "case", "loop", "end_turn", &said);
    let original = fs::read_to_string(run.join("run.json")).unwrap();
    for (number, (change, code, told)) in RECORDS.iter().enumerate() {
        change_record(&run, change);
        let outcome = replay(&program, &run, &[]);
        let is_told = outcome.stdout.contains(told) || outcome.stderr.contains(told);
        assert!(outcome.code == *code && is_told, "{number}, {told}: {outcome:?}");
        assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'), "{outcome:?}");
        fs::write(run.join("run.json"), &original).unwrap();
    }
    // Prices that the user brings.
    change_record(&run, |record| priced(record, "2020-01-01, our contract", None));
    let file = program.results().join("prices.toml");
    let prices = "[[price]]\nmodels = [\"anthropic:claude-haiku-5-5\"]\nas_of = \"2020-01-01\"\nsource = \"our contract\"\ncards = [{ input = 7, output = 7, cache_read = 7, cache_write_5m = 7 }]\n";
    fs::write(&file, prices).unwrap();
    let outcome = replay(&program, &run, &["--prices", file.to_str().unwrap()]);
    assert!(outcome.code == 1 && outcome.stdout.contains("\nper_turn[0].cost_usd is 0.0000"), "{outcome:?}");
    assert!(!outcome.stdout.contains("retries, cost_usd\n"), "{outcome:?}");
    let outcome = replay(&program, &run, &["--prices", "nowhere.toml"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("nowhere.toml could not be read"), "{outcome:?}");
    fs::write(run.join("run.json"), &original).unwrap();

    fs::remove_file(run.join("domain.toml")).unwrap();
    let outcome = replay(&program, &run, &[]);
    assert!(outcome.code == 2 && outcome.stderr.contains("domain.toml could not be read"), "{outcome:?}");
}
