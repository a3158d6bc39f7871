//! Models that cost money, against a strict server on the loopback interface: what their runs cost, the estimate before
//! them, and the budgets that end them.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/exhibit.rs"]
mod exhibit;
#[path = "support/messages_api/mod.rs"]
mod messages_api;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;

use exhibit::{MODEL, exhibit, outcome};
use messages_api::MessagesApi;
use program::{Outcome, Program};
use serde_json::{Value, json};

fn compared(program: &Program, api: &MessagesApi, more: &[&str]) -> (Outcome, Value) {
    let outcome = outcome(program, api, &[&["compare", "met", "--format", "json"], more].concat());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let report = serde_json::from_str(&outcome.stdout).unwrap();
    (outcome, report)
}

fn runs(report: &Value) -> &Vec<Value> {
    report["runs"].as_array().unwrap()
}

#[test]
fn an_estimate_comes_first_and_runs_cost_what_the_api_counted() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let (outcome, report) = compared(&program, &api, &[&MODEL[..], &["--runs", "1"]].concat());
    // The rehearsal reads 228,631 and 5,430 tokens: at 0.1 dollars a million, and some output.
    let told = "estimate for met: about $0.02";
    assert!(outcome.stderr.contains(told), "{outcome:?}");
    assert!(
        outcome.stderr.contains("(1 × loop at $0.02") && outcome.stderr.contains("1 × code at $0.00"),
        "{outcome:?}"
    );
    let before = outcome.stderr.find("met loop: ").unwrap();
    assert!(outcome.stderr.find(told).unwrap() < before, "before the first run: {outcome:?}");
    assert!(!program.results().join(".commands").exists(), "nothing of the rehearsal is kept");

    assert_eq!(runs(&report).iter().map(|run| &run["mode"]).collect::<Vec<_>>(), ["loop", "code"]);
    let mut turns = api.turns().into_iter();
    for run in runs(&report) {
        let mut sum = 0.0;
        for turn in run["per_turn"].as_array().unwrap() {
            let counted = turns.next().unwrap().counted.unwrap();
            let cost = (counted.read as f64 * 0.1 + counted.written as f64 * 0.5) / 1e6;
            assert!((turn["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9, "{turn} {counted:?}");
            sum += cost;
        }
        assert!((run["cost_usd"].as_f64().unwrap() - sum).abs() < 1e-8, "{run:#}");
        assert!(run["prices"].as_str().unwrap().starts_with("2026-10-07, https://"));
    }
    let text = program.run(&["report", "met"]).stdout;
    assert!(text.contains("cost by list prices as of 2026-10-07") && text.contains(" cost "), "{text}");

    // A rehearsal under other limits is none of what is to come.
    assert_eq!(program.run(&["run", "met", "--mode", "loop", "--loop-turns", "2"]).code, 1);
    let (other, _) = compared(&program, &api, &[&MODEL[..], &["--modes", "loop", "--runs", "1"]].concat());
    let at = |text: &str| text.lines().find(|line| line.contains("1 × loop at")).unwrap().to_owned();
    let price = |text: &str| at(text).split("1 × loop at ").nth(1).unwrap()[..7].to_owned();
    assert_eq!(price(&other.stderr), price(&outcome.stderr));
    assert!(other.stderr.contains("rehearsing met in mode loop for an estimate"), "{other:?}");

    // With rehearsals among the results none is made for the estimate.
    program.json(&["compare", "met", "--modes", "loop,code", "--runs", "1", "--format", "json"]);
    let (again, _) = compared(&program, &api, &[&MODEL[..], &["--runs", "1"]].concat());
    assert!(again.stderr.contains(told) && !again.stderr.contains("rehearsing"), "{again:?}");
    assert!(outcome.stderr.contains("rehearsing met in mode loop for an estimate"), "{outcome:?}");
}

/// A list that changed between two comparisons: what the runs cost has no median.
#[test]
fn runs_of_different_price_lists_have_no_cost_in_common() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let file = program.results().join("prices.toml");
    let entry = "[[price]]\nmodels = [\"anthropic:claude-haiku-5-5\"]\nas_of = \"2026-11-29\"\nsource = \"our contract\"\n\
                 cards = [{ input = 1, output = 1 }]\n";
    fs::write(&file, entry).unwrap();
    let arguments = [&MODEL[..], &["--modes", "loop", "--runs", "1"]].concat();
    let (_, alone) = compared(&program, &api, &arguments);
    assert!(alone["modes"][0]["cost_usd"]["median"].is_f64(), "{alone:#}");
    compared(&program, &api, &[&arguments[..], &["--prices", file.to_str().unwrap()]].concat());
    let report = program.json(&["report", "met", "--format", "json"]);
    let mode = &report["modes"][0];
    assert_eq!((&mode["n"], &mode["cost_usd"]), (&json!(2), &Value::Null), "{mode:#}");
    let text = program.run(&["report", "met"]).stdout;
    let told = "loop has no cost in common, since its runs go by other prices: 2026-10-07, https://";
    assert!(text.contains(told) && text.contains("; 2026-11-29, our contract\n"), "{text}");
}

#[test]
fn a_budget_of_money_ends_a_run_that_is_judged_as_it_stands() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let arguments = [&MODEL[..], &["--modes", "loop", "--runs", "1", "--max-cost", "0.0005"]].concat();
    let (_, report) = compared(&program, &api, &arguments);
    let run = &runs(&report)[0];
    assert_eq!((&run["stop"], &run["verify"]["ok"]), (&json!("budget"), &json!(false)), "{run:#}");
    let detail = run["stop_detail"].as_str().unwrap();
    assert!(detail.starts_with("this run may cost $0.0005 (`--max-cost`), and has cost $0.00"), "{detail}");
    assert_eq!(
        (run["budgets"].clone(), run["cost_usd"].as_f64() >= Some(0.0005)),
        (json!({"max_cost_usd": 0.0005}), true)
    );
    assert_eq!(report["modes"][0]["n"], 1, "it is decided");
}

#[test]
fn a_comparison_that_has_cost_enough_starts_no_more_and_goes_on_with_more_money() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let arguments = [&MODEL[..], &["--modes", "loop,code", "--runs", "2"]].concat();
    let (stopped, report) = compared(&program, &api, &[&arguments[..], &["--max-total-cost", "0.0001"]].concat());
    assert_eq!(runs(&report).len(), 1);
    assert_eq!(runs(&report)[0]["stop"], "end_turn", "no run is cut off");
    assert!(stopped.stderr.contains("stopped: the comparison may cost $0.0001"), "{stopped:?}");
    assert!(stopped.stderr.contains("3 runs were not started"), "{stopped:?}");
    let (stopped, report) =
        compared(&program, &api, &[&arguments[..], &["--resume", "--max-total-cost", "0.0001"]].concat());
    assert_eq!((runs(&report).len(), stopped.stderr.contains("3 runs were not started")), (1, true), "{stopped:?}");
    let (whole, report) = compared(&program, &api, &[&arguments[..], &["--resume", "--max-total-cost", "9"]].concat());
    assert_eq!((runs(&report).len(), whole.stderr.contains("stopped")), (4, false), "{whole:?}");
    assert!(whole.stderr.contains("estimate for met: about $0.0"), "of what is left: {whole:?}");
}

#[test]
fn a_model_without_a_price_has_no_cost_and_no_budget_of_money() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let model = ["--model", "anthropic:next-2", "--modes", "code", "--runs", "1"];
    let (outcome, report) = compared(&program, &api, &model);
    assert!(outcome.stderr.contains("no estimate: no price is known of anthropic:next-2"), "{outcome:?}");
    assert_eq!((&runs(&report)[0]["cost_usd"], runs(&report)[0].get("prices")), (&Value::Null, None));
    for flag in ["--max-cost", "--max-total-cost"] {
        let refused = exhibit::outcome(&program, &api, &[&["compare", "met", flag, "1"][..], &model].concat());
        let told = format!("`{flag}` needs a price, and none is known of `anthropic:next-2`");
        assert!(refused.code == 2 && refused.stderr.contains(&told), "{refused:?}");
    }
    let file = program.results().join("prices.toml");
    let entry = "[[price]]\nmodels = [\"anthropic:next-2\"]\nas_of = \"2026-11-29\"\nsource = \"our contract\"\n\
                 cards = [{ input = 100, output = 100 }]\n";
    fs::write(&file, entry).unwrap();
    let (outcome, report) = compared(&program, &api, &[&model[..], &["--prices", file.to_str().unwrap()]].concat());
    assert!(outcome.stderr.contains("estimate for met: about $0."), "{outcome:?}");
    assert_eq!(runs(&report)[0]["prices"], "2026-11-29, our contract");
    assert!(runs(&report)[0]["cost_usd"].as_f64() > Some(0.1), "{report:#}");
}

/// The server is not even asked whether it has the model.
#[test]
fn nothing_is_sent_before_what_is_wrong_is_told() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let table: &[(&[&str], &str)] = &[
        (&["compare", "nowhere"], "no domain"),
        (&["compare", "met", "met-control", "nowhere"], "no domain"),
        (&["compare", "met", "--prices", "nowhere.toml"], "nowhere.toml could not be read"),
        (&["compare", "met", "--modes", "loop", "--code-as", "text"], "`--code-as text` is about mode code"),
        (&["compare", "met", "--route", "elsewhere.example=http://127.0.0.1:1"], "elsewhere.example"),
        (&["compare", "met", "--max-cost", "1", "--model", "anthropic:next-2"], "`--max-cost` needs a price"),
        (
            &["compare", "met", "--max-total-cost", "1", "--model", "anthropic:next-2"],
            "`--max-total-cost` needs a price",
        ),
        (
            &["run", "met", "--max-cost", "1", "--caching", "--model", "anthropic:claude-fable-5-2"],
            "needs a whole price",
        ),
    ];
    for (arguments, told) in table {
        let model = if arguments.contains(&"--model") { &[][..] } else { &MODEL[..] };
        let refused = exhibit::outcome(&program, &api, &[arguments, model].concat());
        assert!(refused.code == 2 && refused.stderr.contains(told), "{arguments:?}: {refused:?}");
        assert_eq!(api.requests().len(), 0, "{arguments:?}");
    }
}

#[test]
fn a_model_that_does_not_answer_in_time_ends_the_run_by_its_budget() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    api.hold_after(Some(1));
    let arguments = [&MODEL[..], &["--modes", "loop", "--runs", "1", "--max-seconds", "3"]].concat();
    let (_, report) = compared(&program, &api, &arguments);
    let run = &runs(&report)[0];
    assert_eq!((&run["stop"], &run["model_turns"]), (&json!("budget"), &json!(1)), "{run:#}");
    let detail = run["stop_detail"].as_str().unwrap();
    assert!(detail.starts_with("this run may take 3 seconds (`--max-seconds`), and has taken "), "{detail}");
}
