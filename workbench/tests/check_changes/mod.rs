//! How a large result is changed.
#![allow(clippy::unwrap_used)]

use super::case;
use super::program::Program;

/// A file with very many lists: each is looked at, none in every way, and that is told.
#[test]
fn of_very_many_changes_some_of_every_list_are_tried() {
    let manifest = r#"
[domain]
name = "case"
title = "Many lists"
plugin = "http"

[[tool]]
name = "keep"
description = "Keeps a text. Returns {file, bytes}."
arguments.text = { type = "string" }
save_text = { text = "{text}", save = "lists.json" }

[task]
persona = "You make lists."
prompt = "Make lists."

[evidence]
lists = { json = "lists.json" }

[[verify]]
name = "the last of the last"
check = "lists.l9|last|attr('k9') == 1009"
"#;
    let script = "
import json
from tools import keep
lists = {f'l{i}': [{f'k{j}': n + j for j in range(12)} for n in (0, 1000)] for i in range(12)}
keep(json.dumps(lists))
";
    let (_home, domain) = case(&[("domain.toml", manifest), ("rehearsal/code/1.py", script)]);
    let outcome = Program::new().run(&["check", domain.to_str().unwrap()]);
    for part in [
        "the result in mode code was changed in 401 ways",
        "more changes were not tried, of `lists.l0`, `lists.l0[].k0`,",
        "lists.l9[].k9`: swap the first two",
    ] {
        assert!(outcome.stdout.contains(part), "{part}: {outcome:?}");
    }
    assert!(!outcome.stdout.contains("notices nothing"), "{outcome:?}");
}
