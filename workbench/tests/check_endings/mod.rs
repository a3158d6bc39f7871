//! How a rehearsal ended that did not do its task.
#![allow(clippy::unwrap_used)]

use super::program::Program;
use super::{LOOP, MANIFEST, SCRIPT, case};

/// Files of the domain, what is said, and what is not.
type Failing<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a [&'a str]);

#[test]
fn what_ends_a_rehearsal_is_told_once_and_where_it_stands() {
    let renamed = SCRIPT.replace("build_gallery(", "build_galery(");
    let forgotten = SCRIPT.replace("build_gallery(", "\n\nput_on_the_wall(");
    let unrecorded = "from tools import *\nget_object(1)\n";
    let both = MANIFEST.replace("\"/v1/departments\"", "\"/v1/objects/1\"");
    let shape = ["fan-out", "no script called", "much of what scripts fetch", "it fell short"];
    let table: &[Failing<'_>] = &[
        (
            &[("rehearsal/code/1.py", &renamed)],
            &[
                "code: its script ended in NameError: name 'build_galery' is not defined. Did you mean: 'build_gallery'? \
                 (rehearsal/code/1.py, line 6)\n    hint: mend that; `workbench run case --mode code` shows",
                "how much a script would save is not known without a rehearsal in code mode: it could not do the task",
            ],
            &shape,
        ),
        (
            &[("rehearsal/code/1.py", "raise SystemExit(3)"), ("rehearsal/code/2.py", &forgotten)],
            &[
                "code: its script ended in NameError: name 'put_on_the_wall' is not defined (rehearsal/code/2.py, line 8)",
                "hint: no tool is called `put_on_the_wall`: the tools are list_departments, ",
            ],
            &shape,
        ),
        (
            &[
                ("rehearsal/hosted/1.py", "x = 1"),
                ("rehearsal/hosted/2.py", "print(x)\nawait get_objct({'object_id': 1})"),
            ],
            &["hosted: its script ended in NameError: name 'get_objct' is not defined. Did you mean: 'get_object'? \
               (rehearsal/hosted/2.py, line 2)"],
            &["it fell short"],
        ),
        (
            &[("rehearsal/code/1.py", "from tools import *\nget_object(id=1)\n")],
            &["its script ended in TypeError: get_object() ", "hint: has the tool changed? `workbench tools "],
            &shape,
        ),
        (
            &[("rehearsal/code/1.py", "raise SystemExit('no two fit')")],
            &["code: its script ended with exit code 1: no two fit (rehearsal/code/1.py)"],
            &shape,
        ),
        // Of a script that ends well, and of one that has done all before it fails, the files are judged.
        (
            &[("rehearsal/code/1.py", &format!("{SCRIPT}\nraise SystemExit(3)"))],
            &["fan-out: download_image was called 2 times"],
            &["its script"],
        ),
        (
            &[("rehearsal/code/1.py", LOOP)],
            &["  fell short\n", "not verified: it fell short: two pieces; pictures (got "],
            &["its script"],
        ),
        (
            &[("rehearsal/code/1.py", SCRIPT), ("rehearsal/loop.py", "from tools import *\nget_object(\n")],
            &["serial, loop: its script ended in SyntaxError: '(' was never closed (rehearsal/loop.py, line 2)"],
            &["code: its script"],
        ),
        (
            &[("rehearsal/code/1.py", unrecorded), ("rehearsal/loop.py", unrecorded)],
            &[
                "short: serial, loop, code: https://collectionapi.metmuseum.org/public/collection/v1/objects/1 is not recorded",
            ],
            &shape,
        ),
        (
            &[("rehearsal/code/1.py", &renamed), ("rehearsal/loop.py", &format!("\n{renamed}"))],
            &[
                "serial, loop, code: its script ended in NameError: name 'build_galery' is not defined. Did you mean: 'build_gallery'? \
               (rehearsal/loop.py, line 7; rehearsal/code/1.py, line 6)",
            ],
            &shape,
        ),
        (
            &[("domain.toml", &both), ("rehearsal/code/1.py", unrecorded), ("rehearsal/loop.py", unrecorded)],
            &["serial, loop, code: the task could not be done, for the reason that `probes` tells"],
            &shape,
        ),
    ];
    let program = Program::new();
    for (files, parts, not) in table {
        let (_home, domain) = case(&[&[("domain.toml", MANIFEST)], *files].concat());
        let outcome = program.run(&["check", domain.to_str().unwrap()]);
        let said = &outcome.stdout.replace(domain.to_str().unwrap(), "case");
        assert_eq!(outcome.code, i32::from(said.contains("  short: ")), "{outcome:?}");
        for part in *parts {
            assert!(said.contains(part), "{part}: {said}");
        }
        for part in *not {
            assert!(!said.contains(part), "{part}: {said}");
        }
        for cause in ["is not recorded", " is not defined", "'(' was never closed", "no two fit"] {
            assert!(said.matches(cause).count() <= 1, "{cause}: {said}");
        }
    }
}

/// The rules say what is missing of a result, and not why.
#[test]
fn a_run_of_the_rehearsal_tells_how_its_script_ended() {
    let (_home, domain) = case(&[
        ("domain.toml", MANIFEST),
        ("rehearsal/code/1.py", "x = (\n"),
        ("rehearsal/hosted/1.py", "await get_object(object_id=1)\n"),
        ("rehearsal/loop.py", LOOP),
    ]);
    let program = Program::new();
    let domain = domain.to_str().unwrap();
    let outcome = program.run(&["compare", domain, "--modes", "loop,code,hosted", "--runs", "2"]);
    let code = "note: code: its script ended in SyntaxError: '(' was never closed (rehearsal/code/1.py, line 1)";
    for part in [code, "note: hosted: its script ended in TypeError: get_object"] {
        assert_eq!(outcome.stderr.matches(part).count(), 1, "{part}: {outcome:?}");
    }
    assert!(!outcome.stderr.contains("note: loop: its script"), "{outcome:?}");
    let outcome = program.run(&["run", domain, "--mode", "code"]);
    assert!(outcome.stderr.contains(code), "{outcome:?}");
}
