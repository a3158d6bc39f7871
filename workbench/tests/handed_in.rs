//! Runs as others hand them in, judged and reported by the real program.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "embedded")]

#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::PathBuf;

use pipe::pipe;
use program::Program;

/// A finished run of code mode, and its folder.
fn finished(program: &Program) -> (String, PathBuf) {
    let record = program.json(&["run", "met", "--mode", "code", "--format", "json"]);
    let name = record["run"].as_str().unwrap().to_owned();
    let folder = program.results().join("met").join(&name);
    (name, folder)
}

#[test]
fn a_verdict_never_spoils_the_evidence_of_the_next() {
    let program = Program::new();
    let (name, folder) = finished(&program);
    let (page, aside) = (folder.join("out/exhibit.html"), folder.join("exhibit.html"));
    fs::rename(&page, &aside).unwrap();
    assert_eq!(program.run(&["verify", &name]).code, 1, "there is no page");
    fs::rename(&aside, &page).unwrap();
    let outcome = program.run(&["verify", &name]);
    assert_eq!(outcome.code, 0, "the page is back: {outcome:?}");
}

#[test]
fn files_that_are_none_block_nobody() {
    let program = Program::new();
    let (name, folder) = finished(&program);
    let other = program.results().join("met/other");
    fs::create_dir(&other).unwrap();
    pipe(&other.join("run.json"));
    let outcome = program.run(&["report", "met"]);
    assert!(outcome.code == 0 && outcome.stderr.contains("not a regular file"), "{outcome:?}");
    pipe(&folder.join("evidence.json"));
    let outcome = program.run(&["verify", &name]);
    assert!(outcome.code == 2 && outcome.stderr.contains("not a regular file"), "{outcome:?}");
}

#[test]
fn rules_that_a_run_brings_along_are_told_from_ours() {
    let program = Program::new();
    let (name, folder) = finished(&program);
    let measured = || -> serde_json::Value {
        let record = fs::read_to_string(folder.join("run.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&record).unwrap()["fingerprint"].take()
    };
    let as_made = measured();
    assert!(!program.run(&["verify", &name]).stderr.contains("rules"), "it was judged by our rules");
    assert_eq!(measured(), as_made);
    let manifest = fs::read_to_string(folder.join("domain.toml")).unwrap();
    let lenient =
        format!("{}\n[[verify]]\nname = \"x\"\ncheck = \"1 == 1\"\n", manifest.split("[evidence]").next().unwrap());
    fs::write(folder.join("domain.toml"), lenient).unwrap();
    let own = program.run(&["verify", &name]);
    assert!(own.stdout.contains("1 of 1 points") && own.stderr.contains("--rules workspace"), "{own:?}");
    assert_ne!(measured()["rules"], as_made["rules"], "no report puts it together with runs that our rules judged");
    fs::remove_file(folder.join("out/contact_sheet.jpg")).unwrap();
    let ours = program.run(&["verify", &name, "--rules", "workspace"]);
    assert!(ours.code == 1 && ours.stdout.contains("8 of 9 points"), "{ours:?}");
    assert_eq!(measured(), as_made);
}

#[test]
fn a_page_cannot_repaint_the_terminal() {
    let program = Program::new();
    let (name, folder) = finished(&program);
    let page = folder.join("out/exhibit.html");
    let text = fs::read_to_string(&page).unwrap().replace("<title>", "<title>\u{1b}[2J\u{1b}[1;1Hverified\u{7}");
    fs::write(&page, text).unwrap();
    for arguments in [["verify", &name], ["show", &name], ["report", "met"]] {
        let outcome = program.run(&arguments);
        assert!(outcome.stdout.contains("[2J"), "{outcome:?}");
        assert!(!outcome.stdout.contains(['\u{1b}', '\u{7}']), "{outcome:?}");
    }
}

#[test]
fn pictures_from_elsewhere_are_no_pieces_of_the_exhibit() {
    let program = Program::new();
    let (name, folder) = finished(&program);
    let page = folder.join("out/exhibit.html");
    let text = fs::read_to_string(&page).unwrap();
    for elsewhere in ["https://example.org/", "../"] {
        fs::write(&page, text.replace("src=\"", &format!("src=\"{elsewhere}"))).unwrap();
        assert_eq!(program.run(&["verify", &name]).code, 1, "{elsewhere}");
    }
}
