//! Figures of many runs: medians, ratios, what is pooled and what is not, and how it is shown.
#![allow(clippy::unwrap_used)]

#[path = "report/apart.rs"]
mod apart;
#[path = "report/words.rs"]
mod words;

use serde_json::{Value, json};
use workbench::report::statistics::{NoInterval, Spread};
use workbench::report::{five_lines, summary, table};
use workbench::results::format::{Budgets, Hosted, RuleStatus, RunRecord, Stop};

/// A run that read `tokens`; rules as (name, status, got).
fn run(mode: &str, number: u32, tokens: u64, rules: &[(&str, &str, Value)]) -> RunRecord {
    let scripts = u32::from(mode == "code") * 2;
    let rules: Vec<Value> = rules
        .iter()
        .map(|(name, status, got)| json!({"name": name, "status": status, "got": got, "points": 0, "max_points": 1}))
        .collect();
    let ok = rules.iter().all(|rule| rule["status"] == "pass");
    serde_json::from_value(json!({
        "format": "workbench/run/v1", "run": format!("2026-01-01T00-00-00Z-{mode}-{number}"), "domain": "cats",
        "mode": mode, "model": "rehearsal", "sandbox": null, "source": "cassette", "profile": "debug", "tag": null,
        "started": "2026-01-01T00:00:00Z", "seconds": 1.0, "stop": "end_turn", "model_turns": 2, "tool_calls": 7,
        "nested_calls": scripts * 10, "scripts_run": scripts, "retries": 0, "tokens_read": tokens,
        "input_tokens": tokens, "output_tokens": 10, "cache_read_tokens": 0, "cache_write_tokens": 0,
        "estimated": true, "cost_usd": null, "final_text": "",
        "per_turn": [
            {"turn": 1, "tokens_read": 900, "input_tokens": 900, "output_tokens": 5, "tools": ["search"]},
            {"turn": 2, "tokens_read": tokens - 900, "input_tokens": tokens - 900, "output_tokens": 5, "tools": []},
        ],
        "verify": {"ok": ok, "points": 0, "max_points": 1, "rules": rules},
    }))
    .unwrap()
}

const PASS: &[(&str, &str, Value)] = &[("twelve", "pass", Value::Null)];

#[test]
fn medians_and_ratios_are_those_of_the_runs() {
    let runs = vec![
        run("loop", 1, 30_000, PASS),
        run("loop", 2, 10_000, PASS),
        run("code", 1, 2_000, PASS),
        run("code", 2, 4_000, PASS),
        run("code", 3, 3_000, PASS),
        run("loop", 3, 40_000, PASS),
        run("loop", 4, 20_000, PASS),
    ];
    let report = summary::summarise(runs);
    let [of_loop, of_code] = report.modes.as_slice() else { panic!("{:#?}", report.modes) };
    assert_eq!((of_loop.mode.as_str(), of_loop.n, of_loop.passed), ("loop", 4, 4));
    assert_eq!(of_loop.tokens_read, Some(Spread { median: 25e3, min: 10e3, max: 40e3 }));
    assert_eq!(of_code.tokens_read, Some(Spread { median: 3e3, min: 2e3, max: 4e3 }));
    assert!(!of_loop.identical);
    assert_eq!((of_loop.calls.unwrap().median, of_code.calls.unwrap().median), (7.0, 20.0));
    let [ratio] = report.ratios.as_slice() else { panic!("{:#?}", report.ratios) };
    assert_eq!((ratio.of.as_str(), ratio.to.as_str()), ("loop", "code"));
    assert!((ratio.tokens_read - 25.0 / 3.0).abs() < 1e-9);
    assert!((ratio.low - 2.5).abs() < 1e-9 && (ratio.high - 20.0).abs() < 1e-9);
    let [low, high] = ratio.interval.unwrap();
    assert!(ratio.low <= low && low < ratio.tokens_read && ratio.tokens_read < high && high <= ratio.high, "{ratio:?}");
}

/// Tokens read by the runs of loop and of code, and the line and the sentence about them.
#[test]
fn a_ratio_says_what_may_be_claimed() {
    let table: &[(&[u64], &[u64], &str)] = &[
        (
            &[40_000, 41_000, 42_000],
            &[4_000, 4_100, 4_200],
            "≈10.0 (9.52 to 10.5), 95 % interval 9.52 to 10.5\n  \
             loop read ≈10.0 × what code read: on this task a script costs fewer tokens",
        ),
        (
            &[2_000, 2_100, 2_200],
            &[2_730, 2_600, 2_860],
            "≈0.77 (0.70 to 0.85), 95 % interval 0.70 to 0.85\n  \
             code read ≈1.30 × what loop read: on this task a script costs more tokens",
        ),
        (
            &[2_000, 3_000, 4_000],
            &[2_500, 3_500, 3_000],
            "≈1.00 (0.57 to 1.60), 95 % interval 0.57 to 1.60\n  no difference can be claimed from these runs",
        ),
        (
            &[3_010, 3_020, 3_030],
            &[2_970, 2_980, 2_990],
            "≈1.01 (1.01 to 1.02), 95 % interval 1.01 to 1.02\n  \
             code read about as much as loop: on this task a script gains nothing",
        ),
        (
            &[3_000, 3_000, 3_000],
            &[3_000, 4_000, 5_000],
            "≈0.75 (0.60 to 1.00), 95 % interval 0.60 to 1.00\n  no difference can be claimed from these runs",
        ),
        (
            &[3_000, 3_000],
            &[3_000, 3_000],
            "≈1.00; no interval: that takes 3 runs of each mode\n  \
             code read about as much as loop: on this task a script gains nothing",
        ),
        (
            &[3_000, 3_000, 3_000],
            &[1_500, 1_500, 1_500],
            "≈2.00; no interval: the runs of each mode are identical\n  loop read ≈2.00 × what code read",
        ),
        (
            &[3_000, 3_200],
            &[1_500, 1_600, 1_700],
            "≈1.94 (1.76 to 2.13); no interval: that takes 3 runs of each mode\n  loop read ≈1.94 × what code read",
        ),
        (
            &[3_000, 3_200],
            &[3_100],
            "≈1.00 (0.97 to 1.03); no interval: that takes 3 runs of each mode\n  no difference can be claimed",
        ),
    ];
    for (in_loop, in_code, told) in table {
        let runs = |mode: &'static str, tokens: &[u64]| -> Vec<RunRecord> {
            (1..).zip(tokens).map(|(number, tokens)| run(mode, number, *tokens, PASS)).collect()
        };
        let text = table::report(&summary::summarise([runs("loop", in_loop), runs("code", in_code)].concat()));
        let told = format!("tokens read, loop ÷ code: {told}");
        assert!(text.contains(&told), "{in_loop:?} {in_code:?}: {told}\n{text}");
    }
}

/// Scripts that run here are held against those that the provider runs, whatever else was run.
#[test]
fn a_ratio_of_code_to_hosted_says_where_a_script_costs_less() {
    let table: &[(u64, u64, &str)] = &[
        (
            6_000,
            4_000,
            "1.50; no interval: that takes 3 runs of each mode\n  code (docker) read ≈1.50 × what hosted read: on this task \
                        a script costs fewer tokens where the provider runs it",
        ),
        (
            4_000,
            6_000,
            "0.67; no interval: that takes 3 runs of each mode\n  hosted read ≈1.50 × what code (docker) read: on this task \
                        a script costs more tokens where the provider runs it",
        ),
        (
            4_000,
            4_010,
            "1.00; no interval: that takes 3 runs of each mode\n  hosted read about as much as code (docker): on this task a \
                        script costs the same wherever it runs",
        ),
    ];
    for (in_docker, in_hosted, told) in table {
        let code = |sandbox: &str, tokens| RunRecord { sandbox: Some(sandbox.into()), ..run("code", 1, tokens, PASS) };
        let runs = vec![code("embedded", 900_000), code("docker", *in_docker), run("hosted", 1, *in_hosted, PASS)];
        let report = summary::summarise(runs);
        let sides = |ratio: &summary::Ratio| (ratio.of_sandbox.clone(), ratio.to.clone(), ratio.sandbox.clone());
        let expected = ["docker", "embedded"].map(|sandbox| (Some(sandbox.to_owned()), "hosted".to_owned(), None));
        assert_eq!(report.ratios.iter().map(sides).collect::<Vec<_>>(), expected);
        let told = format!("tokens read, code (docker) ÷ hosted: ≈{told}");
        let text = table::report(&report);
        assert!(text.contains(&told), "{told}\n{text}");
    }
}

#[test]
fn fewer_tokens_for_less_work_are_told() {
    let fail: &[(&str, &str, Value)] = &[("twelve", "fail", Value::Null)];
    let runs = |first, second| {
        let runs = vec![run("loop", 1, 30_000, first), run("code", 1, 3_000, second), run("code", 2, 3_000, PASS)];
        table::report(&summary::summarise(runs))
    };
    let text = runs(PASS, fail);
    assert!(text.contains("a script costs fewer tokens; code passed 1 of 2, loop 1 of 1\n"), "{text}");
    assert!(!runs(fail, PASS).contains("; code passed"));
    assert!(!runs(PASS, PASS).contains("; code passed"));
    let nobody = vec![run("loop", 1, 30_000, fail), run("code", 1, 3_000, fail)];
    let text = table::report(&summary::summarise(nobody));
    assert!(text.contains("a script costs fewer tokens; no run of either passed\n"), "{text}");
}

#[test]
fn an_interval_that_is_missing_says_why() {
    let of = |numbers: std::ops::RangeInclusive<u32>, step: u64| -> Value {
        let both = numbers.flat_map(|number| {
            let more = u64::from(number) * step;
            [run("loop", number, 30_000 + more, PASS), run("code", number, 3_000 + more, PASS)]
        });
        serde_json::to_value(summary::summarise(both.collect())).unwrap()["ratios"][0].clone()
    };
    assert_eq!(of(1..=2, 7)["no_interval"], json!("too_few_runs"));
    assert_eq!(of(1..=3, 0)["no_interval"], json!(NoInterval::IdenticalRuns));
    let ratio = of(1..=3, 7);
    assert_eq!((ratio["interval"].as_array().unwrap().len(), ratio.get("no_interval")), (2, None));
    assert_eq!(of(1..=2, 7)["interval"], Value::Null);
}

#[test]
fn chances_that_several_runs_pass() {
    let fail: &[(&str, &str, Value)] = &[("twelve", "fail", Value::Null)];
    let runs = vec![run("code", 1, 3_000, PASS), run("code", 2, 3_000, fail), run("code", 3, 3_000, PASS)];
    let report = summary::summarise(runs);
    let rounded: Vec<f64> = report.modes[0].pass_hat_k.iter().map(|chance| (chance * 1e3).round()).collect();
    assert_eq!(rounded, [667.0, 333.0, 0.0]);
    let text = table::report(&report);
    assert!(text.contains("code, chance that all pass (pass^k): 0.67 of 1, 0.33 of 2, 0.00 of 3\n"), "{text}");
    let text = table::report(&summary::summarise(vec![run("code", 1, 3_000, PASS), run("code", 2, 3_000, PASS)]));
    assert!(!text.contains("pass^k"), "all passed: that is plain\n{text}");
}

#[test]
fn runs_made_differently_are_never_pooled() {
    let changes: [fn(&mut RunRecord); 10] = [
        |run| run.fingerprint = [("rules".to_owned(), "b".to_owned())].into(),
        |run| run.budgets = Budgets { max_cost_usd: Some(0.5), ..Budgets::default() },
        |run| run.settings = [("thinking".to_owned(), "off".to_owned())].into(),
        |run| run.domain = "dogs".into(),
        |run| run.model = "other:1".into(),
        |run| run.source = "live".into(),
        |run| run.profile = "release".into(),
        |run| run.sandbox = Some("docker".into()),
        |run| run.limits = [("tool_calls".to_owned(), 3)].into(),
        |run| run.mode = "serial".into(),
    ];
    for change in changes {
        let mut other = run("code", 2, 5_000, PASS);
        change(&mut other);
        let report = summary::summarise(vec![run("code", 1, 5_000, PASS), other]);
        assert_eq!(report.modes.len(), 2, "{:#?}", report.modes);
    }
    let report = summary::summarise(vec![run("code", 1, 5_000, PASS), run("code", 2, 5_000, PASS)]);
    assert_eq!(report.modes.len(), 1);
}

#[test]
fn modes_made_differently_have_no_ratio() {
    let changes: [fn(&mut RunRecord); 8] = [
        |run| run.fingerprint = [("task".to_owned(), "b".to_owned())].into(),
        |run| run.budgets = Budgets { max_seconds: Some(60), ..Budgets::default() },
        |run| run.settings = [("caching".to_owned(), "on".to_owned())].into(),
        |run| run.domain = "dogs".into(),
        |run| run.model = "other:1".into(),
        |run| run.source = "live".into(),
        |run| run.profile = "release".into(),
        |run| run.limits = [("tool_calls".to_owned(), 3)].into(),
    ];
    for change in changes {
        let mut other = run("code", 1, 5_000, PASS);
        change(&mut other);
        let report = summary::summarise(vec![run("loop", 1, 50_000, PASS), other]);
        assert_eq!(report.ratios, [], "{:#?}", report.modes);
    }
}

#[test]
fn each_sandbox_and_each_profile_has_its_own_ratio() {
    let in_docker = || RunRecord { sandbox: Some("docker".into()), ..run("code", 1, 2_500, PASS) };
    let in_release = |mode, tokens| RunRecord { profile: "release".into(), ..run(mode, 1, tokens, PASS) };
    let report = summary::summarise(vec![
        run("loop", 1, 50_000, PASS),
        RunRecord { sandbox: Some("embedded".into()), ..run("code", 1, 5_000, PASS) },
        in_docker(),
        in_release("loop", 40_000),
        in_release("code", 1_000),
    ]);
    let ratios: Vec<(&str, Option<&str>, f64)> = report
        .ratios
        .iter()
        .map(|ratio| (ratio.setting.profile.as_str(), ratio.sandbox.as_deref(), ratio.tokens_read))
        .collect();
    assert_eq!(ratios, [("debug", Some("docker"), 20.0), ("debug", Some("embedded"), 10.0), ("release", None, 40.0)]);
    let json = serde_json::to_value(&report.ratios[0]).unwrap();
    assert_eq!((&json["profile"], &json["sandbox"]), (&json!("debug"), &json!("docker")));
    insta::assert_snapshot!(table::report(&report));
}

/// What a fault, a missing verdict or a hand cut off says nothing about a mode.
#[test]
fn figures_are_those_of_decided_runs() {
    let cuts: [fn(&mut RunRecord); 4] = [
        |run| run.verify = None,
        |run| run.verify.as_mut().unwrap().rules[0].status = RuleStatus::Error,
        |run| run.stop = Stop::Interrupted,
        |run| run.stop = Stop::ModelError,
    ];
    for cut in cuts {
        let mut undecided = run("loop", 1, 900, PASS);
        cut(&mut undecided);
        let runs = vec![undecided.clone(), run("loop", 2, 30_000, PASS), run("code", 1, 3_000, PASS)];
        let report = summary::summarise(runs);
        let of_loop = &report.modes[0];
        assert_eq!((of_loop.n, of_loop.passed, of_loop.errors), (1, 1, 1));
        assert_eq!(of_loop.tokens_read, Some(Spread { median: 30e3, min: 30e3, max: 30e3 }));
        assert_eq!((report.ratios[0].low, report.ratios[0].high), (10.0, 10.0));

        let report = summary::summarise(vec![undecided, run("code", 1, 3_000, PASS)]);
        let of_loop = serde_json::to_value(&report.modes[0]).unwrap();
        assert_eq!((&of_loop["n"], &of_loop["passed"], &of_loop["errors"]), (&json!(0), &json!(0), &json!(1)));
        for figure in ["tokens_read", "model_turns", "calls", "scripts", "seconds", "cost_usd"] {
            assert_eq!(of_loop[figure], Value::Null, "{figure}");
        }
        assert_eq!(report.ratios, []);
        let text = table::report(&report);
        assert!(!text.contains("\n\n\n"), "{text}");
    }
}

#[test]
fn runs_are_identical_when_every_turn_and_every_rule_is() {
    let twice = |change: fn(&mut RunRecord)| {
        let mut second = run("loop", 2, 5_000, PASS);
        change(&mut second);
        summary::summarise(vec![run("loop", 1, 5_000, PASS), second]).modes[0].identical
    };
    assert!(twice(|run| run.seconds = 9.0));
    assert!(!twice(|run| run.per_turn.swap(0, 1)));
    assert!(!twice(|run| run.per_turn[0].tools = vec!["get_object".into()]));
    assert!(!twice(|run| run.verify.as_mut().unwrap().rules[0].status = RuleStatus::Fail));
    assert!(!twice(|run| run.verify = None), "one decided run is alone");
    assert!(!summary::summarise(vec![run("loop", 1, 5_000, PASS)]).modes[0].identical);
}

#[test]
fn a_report_of_a_model_that_costs_money() {
    let asked = |mode, number, tokens, cost| RunRecord {
        model: "anthropic:claude-haiku-5-5".into(),
        estimated: false,
        cost_usd: cost,
        prices: Some("2026-10-07, https://prices.example".into()),
        settings: [("thinking".to_owned(), "off".to_owned())].into(),
        ..run(mode, number, tokens, PASS)
    };
    let strange = || vec!["serial not honoured".to_owned()];
    let used = Hosted { container_seconds: 300.0, container_cost_usd: Some(0.004_17), ..Hosted::default() };
    let report = summary::summarise(vec![
        RunRecord { deviations: strange(), ..asked("serial", 1, 61_000, None) },
        RunRecord { deviations: strange(), retries: 2, ..asked("serial", 2, 60_000, Some(0.006)) },
        asked("loop", 1, 31_000, Some(0.003_1)),
        RunRecord { stop: Stop::ModelError, verify: None, retries: 5, ..asked("loop", 2, 1_000, Some(0.000_1)) },
        asked("loop", 3, 30_000, Some(1.25)),
        asked("code", 1, 3_000, Some(0.000_01)),
        RunRecord { hosted: Some(used), ..asked("hosted", 1, 4_000, Some(0.000_02)) },
    ]);
    insta::assert_snapshot!(table::report(&report));
    let modes = serde_json::to_value(&report.modes).unwrap();
    let of = |place: usize, name: &str| modes[place][name].clone();
    assert_eq!((of(0, "cost_usd"), of(0, "deviations")), (Value::Null, json!({"serial not honoured": 2})));
    assert_eq!(of(1, "cost_usd"), json!({"median": (0.003_1 + 1.25) / 2.0, "min": 0.003_1, "max": 1.25}));
    assert_eq!((of(0, "retries"), of(1, "retries"), of(2, "retries")), (json!(2), json!(5), json!(0)));
    assert_eq!(of(0, "settings"), json!({"thinking": "off"}));
    assert_eq!((of(3, "container_seconds")["median"].clone(), of(2, "container_seconds")), (json!(300.0), Value::Null));
}

#[test]
fn a_report_on_a_terminal() {
    let missing = || json!("page.html is missing");
    let mut cut = run("serial", 1, 1_000, PASS);
    cut.verify = None;
    cut.stop_detail = Some("the rehearsal script failed:\n  File 1\nNameError: no such tool".into());
    let page = ["one", "two", "three", "four"].map(|name| (name, "fail", missing()));
    let report = summary::summarise(vec![
        run("code", 1, 4_000, PASS),
        cut,
        run("loop", 1, 1_234_567, &page),
        run("loop", 2, 1_000_000, &[page[0].clone(), ("sheet", "error", json!("the API is down"))]),
    ]);
    insta::assert_snapshot!(table::report(&report));
}

#[test]
fn several_domains_stand_beside_each_other() {
    let of = |domain: &str, run: RunRecord| RunRecord { domain: domain.to_owned(), ..run };
    let short: &[(&str, &str, Value)] = &[("twelve", "fail", json!(9))];
    let mut cut = run("code", 1, 1_000, PASS);
    cut.verify = None;
    let mut runs = vec![of("cats", run("serial", 1, 90_000, PASS)), of("dogs", cut)];
    for (number, tokens) in [(1, 40_000), (2, 41_000), (3, 43_000)] {
        runs.push(of("cats", run("loop", number, tokens, short)));
        runs.push(of("cats", run("code", number, tokens / 10, PASS)));
        runs.push(of("dogs", run("loop", number, tokens * 10, PASS)));
    }
    let text = table::report(&summary::summarise(runs.clone()));
    let (_, matrix) = text.split_once("all domains").unwrap();
    insta::assert_snapshot!(format!("all domains{matrix}"));
    runs.retain(|run| run.domain == "cats");
    let alone = table::report(&summary::summarise(runs));
    assert!(!alone.contains("all domains"), "{alone}");
}

#[test]
fn five_lines_have_their_figures() {
    let short: &[(&str, &str, Value)] = &[("twelve", "fail", json!(9))];
    let mut runs = Vec::new();
    for (number, tokens) in [(1, 40_000), (2, 41_000), (3, 43_000)] {
        runs.push(RunRecord { final_text: "All done.".to_owned(), ..run("loop", number, tokens, short) });
        runs.push(run("code", number, tokens / 10, PASS));
    }
    insta::assert_snapshot!(five_lines::text(&summary::summarise(runs)));
}

#[test]
fn one_turn_is_no_turns() {
    for (number, words) in [(0, "0 turns, 0 calls"), (1, "1 turn, 1 call"), (2, "2 turns, 2 calls")] {
        let run = RunRecord { model_turns: number, tool_calls: number, ..run("loop", 1, 1_000, PASS) };
        assert!(table::run_line(&run).contains(words), "{}", table::run_line(&run));
    }
}

#[test]
fn numbers_have_their_thousands_apart() {
    for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (267_531, "267,531"), (1_000_000, "1,000,000")] {
        assert_eq!(table::grouped(number), text);
    }
}
