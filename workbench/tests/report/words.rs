//! Words for what is one, and for what is nothing.

use serde_json::{Value, json};
use workbench::report::{five_lines, run_story, summary, table};
use workbench::results::format::{RunRecord, Verdict};

use super::{PASS, run};

#[test]
fn runs_of_which_none_is_decided_have_no_figures() {
    let cut = |mode, number| RunRecord { verify: None, ..run(mode, number, 1_000, PASS) };
    let report = summary::summarise(vec![cut("loop", 1), cut("loop", 2), cut("code", 1)]);
    let (text, lines) = (table::report(&report), five_lines::text(&report));
    assert!(!text.contains("0 of 0") && text.contains("\nloop  2 undecided "), "{text}");
    assert!(!lines.contains("0 of 0") && lines.contains("2. Passed: loop 2 undecided; code 1 undecided.\n"), "{lines}");
    assert!(lines.contains("3. The work: loop –; code –.\n"), "{lines}");
}

#[test]
fn five_lines_count_one_as_one() {
    let once = |number| RunRecord { model_turns: 1, tool_calls: 1, ..run("loop", number, 1_000, PASS) };
    let lines = five_lines::text(&summary::summarise(vec![once(1), once(2)]));
    assert!(lines.contains("3. The work: loop 1 turn, 1 call, 1.0 s.\n"), "{lines}");
    let twice = RunRecord { model_turns: 2, tool_calls: 1, ..once(2) };
    let lines = five_lines::text(&summary::summarise(vec![once(1), twice]));
    assert!(lines.contains("3. The work: loop 2 (1 to 2) turns, 1 call, 1.0 s.\n"), "{lines}");
}

/// Statuses of rules, and the last line about them.
#[test]
fn a_verdict_that_decides_nothing_says_so() {
    let table: &[(&[&str], &str)] = &[
        (&[], "not verified: there are no rules"),
        (&["error", "error"], "not verified: no rule could be decided"),
        (&["pass", "error"], "not verified: 1 of 1 points"),
    ];
    for (statuses, told) in table {
        let points = |status: &str| i32::from(status != "error");
        let rules: Vec<Value> = statuses
            .iter()
            .map(|status| json!({"name": "r", "status": status, "got": null, "points": points(status), "max_points": points(status)}))
            .collect();
        let sum: i32 = statuses.iter().map(|status| points(status)).sum();
        let verdict = json!({"ok": false, "points": sum, "max_points": sum, "rules": rules});
        let text = run_story::verdict_table(&serde_json::from_value::<Verdict>(verdict).unwrap());
        assert_eq!(text.lines().last(), Some(*told), "{statuses:?}\n{text}");
    }
}
