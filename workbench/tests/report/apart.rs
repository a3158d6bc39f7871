//! How runs that were made otherwise are told apart in words.

use workbench::report::{summary, table};
use workbench::results::format::{Budgets, RunRecord};

use super::{PASS, run};

#[test]
fn limits_that_set_runs_apart_are_named() {
    let limits = |calls| [("loop_turns".to_owned(), 60), ("tool_calls".to_owned(), calls)].into();
    let runs = [2000, 3].map(|calls| RunRecord { limits: limits(calls), ..run("loop", 1, 5_000, PASS) });
    let text = table::report(&summary::summarise(runs.into()));
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("cats")).collect();
    assert_eq!(
        heads,
        [
            "cats · rehearsal · cassette · debug build · tool_calls 2000",
            "cats · rehearsal · cassette · debug build · tool_calls 3"
        ]
    );
}

#[test]
fn settings_and_budgets_that_set_runs_apart_are_named() {
    let asked = |thinking: &str| {
        [("thinking".to_owned(), thinking.to_owned()), ("caching".to_owned(), "off".to_owned())].into()
    };
    let budgets = Budgets { max_cost_usd: Some(0.25), max_tokens_read: Some(9_000), max_seconds: None };
    let runs = vec![
        RunRecord { settings: asked("off"), ..run("loop", 1, 5_000, PASS) },
        RunRecord { settings: asked("low"), ..run("loop", 2, 5_000, PASS) },
        RunRecord { settings: asked("off"), budgets, ..run("loop", 3, 5_000, PASS) },
    ];
    let text = table::report(&summary::summarise(runs));
    let heads: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("cats · rehearsal · cassette")).collect();
    assert_eq!(
        heads,
        [
            " · debug build · thinking off",
            " · debug build · thinking low",
            " · debug build · max_tokens_read 9000 · max_cost_usd 0.25 · thinking off"
        ]
    );
}

/// Parts of the fingerprint of each run, and the titles of the tables and the note that come of them.
#[test]
fn versions_of_a_domain_that_set_runs_apart_are_named() {
    const NOTE: &str = "cats was changed between these runs (";
    type Case<'a> = (&'a [&'a str], &'a [&'a str], &'a str);
    let table: &[Case<'_>] = &[
        (&["task=a rules=b", "task=a rules=b"], &[""], ""),
        (
            &["task=a rules=b", "task=a rules=c", "task=a rules=b"],
            &[" · rules as of 2026-01-01T00:00:01Z", " · rules as of 2026-01-01T00:00:02Z"],
            "rules",
        ),
        (
            &["task=a rules=b tools=x", "task=c rules=b tools=y", "task=c rules=d tools=y"],
            &[
                " · rules, task, tools as of 2026-01-01T00:00:01Z",
                " · rules as of 2026-01-01T00:00:01Z · task, tools as of 2026-01-01T00:00:02Z",
                " · rules as of 2026-01-01T00:00:03Z · task, tools as of 2026-01-01T00:00:02Z",
            ],
            "rules, task, tools",
        ),
        // Runs of a workbench that kept no fingerprint.
        (
            &["", "task=a rules=b", ""],
            &[" · rules, task not recorded", " · rules, task as of 2026-01-01T00:00:02Z"],
            "rules, task",
        ),
    ];
    for (versions, apart, changed) in table {
        let runs = (1..).zip(*versions).map(|(number, parts)| RunRecord {
            fingerprint: parts
                .split_whitespace()
                .filter_map(|part| part.split_once('='))
                .map(|(part, digest)| (part.to_owned(), digest.to_owned()))
                .collect(),
            started: format!("2026-01-01T00:00:0{number}.250Z"),
            ..run("code", number, 5_000, PASS)
        });
        let text = table::report(&summary::summarise(runs.collect()));
        let heads: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("cats · rehearsal · cassette · debug build")).collect();
        assert_eq!(heads, *apart, "{versions:?}\n{text}");
        let note = text.lines().find_map(|line| line.strip_prefix(NOTE)).and_then(|rest| rest.split_once("): "));
        assert_eq!(note.map_or("", |(parts, _)| parts), *changed, "{versions:?}\n{text}");
    }
    // Another model has no scripts that could have changed.
    let parts = |words: &[&str]| words.iter().map(|part| ((*part).to_owned(), "a".to_owned())).collect();
    let asked = RunRecord { model: "other:1".into(), fingerprint: parts(&["task"]), ..run("code", 1, 5_000, PASS) };
    let rehearsed = RunRecord { fingerprint: parts(&["task", "rehearsal"]), ..run("code", 2, 5_000, PASS) };
    let text = table::report(&summary::summarise(vec![asked, rehearsed]));
    assert!(!text.contains(NOTE) && !text.contains("as of"), "{text}");
}
