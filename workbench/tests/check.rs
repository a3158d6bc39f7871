//! `workbench check` through the real program: what it says of the bundled domains, and of domains with one defect each.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used)]

#[path = "check_changes/mod.rs"]
mod changes;
#[path = "check_endings/mod.rs"]
mod endings;
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};

use plugin_api::wire::ToolSpec;
use program::{Program, workspace};
use serde_json::{Value, json};
use tempfile::TempDir;
use workbench::check::documents::{Edit, lists};
use workbench::check::tools;
use workbench::domain::Domain;
use workbench::domain::manifest::Evidence;

const STANDIN: &str = "workbench/tests/domains/standin";

/// A sound domain but for what the cases change: its API is the bundled one's cassette.
const MANIFEST: &str = r#"
[domain]
name = "case"
title = "Two pieces"
plugin = "met"

[api]
base = "https://collectionapi.metmuseum.org/public/collection"
hosts = ["collectionapi.metmuseum.org", "images.metmuseum.org"]
probe = [{ name = "departments", get = "/v1/departments", expect = "status == 200" }]

[task]
persona = "You are a curator."
prompt = "Show two pieces."

[evidence]
ids = { html = "page.html", select = "figure img", attribute = "src", pattern = '^(\d+)\.jpg$', as = "int" }
images = { image = "{{ item }}.jpg", each = "ids" }

[[verify]]
name = "two pieces"
check = "ids|unique|list|length == 2 and ids|length == 2"

[[verify]]
name = "pictures"
check = "images|length == 2"
"#;

const SCRIPT: &str = "
from tools import *
IDS = [9000003, 9000087]
for i in IDS:
    download_image(i)
build_gallery('page', 'Two', IDS)
";

const LOOP: &str = "
from tools import *
download_image(9000003)
build_gallery('page', 'One', [9000003])
";

/// A folder `case/` with these files; `cassette` is that of the bundled domain.
fn case(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let domain = home.path().join("case");
    for mode in ["code", "hosted"] {
        fs::create_dir_all(domain.join("rehearsal").join(mode)).unwrap();
    }
    std::os::unix::fs::symlink(workspace().join("domains/met/cassette"), domain.join("cassette")).unwrap();
    for (file, text) in files {
        fs::write(domain.join(file), text).unwrap();
    }
    (home, domain)
}

/// The files below a folder of results, but for answers that are kept.
fn left(folder: &Path) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != ".cache") {
        match entry.file_type().unwrap().is_dir() {
            true => left.extend(self::left(&entry.path())),
            false => left.push(entry.path()),
        }
    }
    left
}

#[test]
fn the_bundled_domains_are_told() {
    let program = Program::new();
    let told: String = ["met", "met-control"]
        .iter()
        .map(|domain| {
            let outcome = program.run(&["check", domain]);
            assert_eq!(outcome.code, 0, "{outcome:?}");
            format!("{}\n", outcome.stdout)
        })
        .collect();
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(told) });
    assert_eq!(left(program.results()), Vec::<PathBuf>::new(), "nothing of its rehearsals is kept");
    assert!(!program.results().join(".commands").exists(), "and no folder of them");
}

/// What is written in the place of what, the exit code, the count of what is short and of warnings, and parts of what is
/// said. One note is the same in all: there is no script for serial and loop, which makes the checks quicker.
type Defect<'a> = (&'a str, &'a str, i32, [usize; 2], &'a [&'a str]);

#[test]
fn a_defect_is_told_with_a_way_to_mend_it() {
    let rule = "[[verify]]\nname = \"two pieces\"";
    let another = |check: &str| format!("[[verify]]\nname = \"new\"\ncheck = \"{check}\"\n\n{rule}");
    let (constant, lenient) = (another("1 == 1"), another("ids|length >= 0"));
    let status = "\"status == 200\"";
    let table: &[Defect<'_>] = &[
        ("", "", 0, [0, 0], &["departments: healthy, HTTP 200 from the cassette, 1,067 bytes: {\"departments\""]),
        (rule, &constant, 0, [0, 1], &["rule `new` notices nothing: it passed whatever", "mend its `check`, `1 == 1`"]),
        (rule, &lenient, 0, [0, 1], &["rule `new` only notices that a file is gone"]),
        ("ids|unique|list|length", "ids|length", 0, [0, 1], &["in `ids`: make the second like the first\n"]),
        ("[evidence]", "[evidence]\nold = { text = \"n.txt\" }", 0, [0, 1], &["no rule uses the evidence `old`"]),
        (
            status,
            "\"json.objectIDs|length > 0\"",
            1,
            [1, 0],
            &[
                "not healthy, `json.objectIDs|length > 0`: ",
                "/v1/departments answered HTTP 200",
                "/case '/v1/departments'` shows the answer",
            ],
        ),
        (
            "\"/v1/departments\"",
            "\"/v1/nothing\"",
            0,
            [0, 1],
            &["departments: not asked, ", "/v1/nothing is not recorded in the cassette", "add `--live`"],
        ),
        (
            "images|length == 2",
            "images|length == 3",
            1,
            [1, 0],
            &["the rehearsal in code mode is not verified: it fell short: pictures", "no rehearsal passes"],
        ),
    ];
    let program = Program::new();
    for (before, after, code, count, parts) in table {
        let manifest = MANIFEST.replacen(before, after, 1);
        assert!(before.is_empty() || manifest != MANIFEST, "{before}");
        // What the shape of the task needs.
        let script = format!("{SCRIPT}\nfor i in range(12):\n    get_object(9000003)\n");
        let (_home, domain) = case(&[("domain.toml", &manifest), ("rehearsal/code/1.py", &script)]);
        let outcome = program.run(&["check", domain.to_str().unwrap()]);
        assert_eq!(outcome.code, *code, "{before} {after}: {outcome:?}");
        let found = ["  short: ", "  warning: "].map(|level| outcome.stdout.matches(level).count());
        assert_eq!(found, *count, "{before} {after}: {}", outcome.stdout);
        for part in *parts {
            assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
        }
    }
}

/// Arguments, files of the domain, the exit code, and parts of what is said.
type Lack<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32, &'a [&'a str]);

#[test]
fn what_is_not_there_is_told_with_what_to_add() {
    let bare = "[domain]\nname = \"case\"\ntitle = \"Nothing\"\nplugin = \"standin\"\n";
    let task = "[task]\npersona = \"You help.\"\nprompt = \"Do it.\"\n";
    let with_task = format!("{bare}\n{task}");
    let sheet = format!("{SCRIPT}\nmake_contact_sheet('sheet', IDS)\n");
    let table: &[Lack<'_>] = &[
        (
            &[],
            &[("domain.toml", bare)],
            0,
            &[
                "the domain has no `[api]`",
                "how much a script would save is not known",
                "without a task there is nothing to rehearse",
                "there are no rules, so no run is ever verified",
            ],
        ),
        (
            &[],
            &[("domain.toml", &with_task)],
            0,
            &["there is no rehearsal, so whether the task can be done is not known"],
        ),
        (
            &[],
            &[("domain.toml", MANIFEST), ("rehearsal/loop.py", LOOP)],
            0,
            &["code: not rehearsed, there is no script for it", "hint: write `rehearsal/code/1.py`\n"],
        ),
        (
            &[],
            &[("domain.toml", MANIFEST), ("rehearsal/code/1.py", &sheet)],
            0,
            &[
                "serial, loop: not rehearsed, there is no script for it",
                "no rule notices when `sheet.jpg` is deleted",
                "no tool is called 10 times",
                "the answers of download_image are short",
            ],
        ),
        (
            &["--inject", "path=*/v1/departments,status=410,message=gone for good"],
            &[("domain.toml", MANIFEST)],
            1,
            &["departments: not healthy", "HTTP 410 from the injected fault", "gone for good"],
        ),
        (
            &["--route", "collectionapi.metmuseum.org=http://127.0.0.1:1"],
            &[("domain.toml", MANIFEST), ("rehearsal/code/1.py", SCRIPT), ("rehearsal/loop.py", LOOP)],
            1,
            &["departments: no answer", "serial, loop, code: not rehearsed, the API cannot be reached"],
        ),
        (&[], &[("domain.toml", "[domain]\nnam = \"case\"")], 2, &[]),
    ];
    let program = Program::new();
    for (arguments, files, code, parts) in table {
        let (_home, domain) = case(files);
        let outcome = program.run(&[&["check", domain.to_str().unwrap()][..], arguments].concat());
        assert_eq!(outcome.code, *code, "{outcome:?}");
        for part in *parts {
            assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
        }
    }
}

#[test]
fn programs_get_the_same_as_json() {
    let report = Program::new().json(&["check", STANDIN, "--format", "json"]);
    assert_eq!(report["format"], "workbench/check/v1");
    let sections: Vec<&str> =
        report["sections"].as_array().unwrap().iter().map(|section| section["name"].as_str().unwrap()).collect();
    assert_eq!(sections, ["manifest", "tools", "probes", "shape", "rehearsal", "rules"]);
    let findings = &report["sections"][1]["findings"];
    assert_eq!(findings[0]["level"], "warning", "{findings:#}");
    assert!(findings[0]["text"].as_str().unwrap().starts_with("`get_object` does not say what it returns"));
    assert_eq!(report["modes"][2]["passed"], Value::Null, "there are no rules");
    assert_eq!(report["modes"][2]["fault"], Value::Null);
}

/// Name, description and schema of a tool, and what is said of it; nothing of a sound one.
#[test]
fn tools_are_held_against_what_providers_and_python_take() {
    let schema = |properties: Value| json!({"type": "object", "properties": properties});
    let (plain, returns) = (schema(json!({})), "Does it. Returns the sum.");
    let long = "x".repeat(65);
    let table = [
        ("add", returns, plain.clone(), ""),
        ("add", " ", plain.clone(), "short: `add` has no description"),
        ("add", "Adds.", plain.clone(), "warning: `add` does not say what it returns"),
        ("add it", returns, plain.clone(), "short: `add it` is no name that the APIs of models take"),
        (&long, returns, plain.clone(), "is no name that the APIs of models take"),
        ("add-it", returns, plain.clone(), "warning: Python cannot say `add-it`: in code mode it is `add_it`"),
        ("import", returns, plain.clone(), "warning: Python cannot say `import`: in code mode it is `import_`"),
        ("sum", returns, plain.clone(), "warning: `sum` has another meaning in a script"),
        ("run_python", returns, plain.clone(), "warning: `run_python` has another meaning"),
        ("other-one", returns, plain.clone(), "short: `other_one` and `other-one` are both `other_one`"),
        ("add", returns, json!({}), "short: the schema of `add` is not of `type` `object`"),
        ("add", returns, schema(json!({"from": {"type": "string"}})), "Python cannot say the argument `from` of `add`"),
        ("add", returns, schema(json!({"a": schema(json!({}))})), "the argument `a` of `add` is an object of its own"),
        ("add", returns, schema(json!({"a": {"$ref": "#"}})), "the schema of `add` has a `$ref`"),
        ("add", &format!("Returns {}", "many words ".repeat(6_000)), plain.clone(), "10,000 is much"),
    ];
    let (_home, folder) = case(&[("domain.toml", MANIFEST)]);
    let domain = Domain::load(&folder).unwrap();
    for (name, description, schema, expected) in table {
        let tool = |name: &str, description: &str, schema: Value| ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: schema,
        };
        let offered = [tool("other_one", returns, plain.clone()), tool(name, description, schema)];
        let findings = tools::section(&domain, &offered).findings;
        let told: Vec<String> =
            findings.iter().map(|finding| format!("{}: {}", finding.level.name(), finding.text)).collect();
        assert_eq!(told.is_empty(), expected.is_empty(), "{name}: {told:?}");
        assert!(told.iter().all(|told| told.contains(expected)), "{name}: {told:?}");
    }
}

/// Evidence, the file's content, edits, and what the evidence's lists are then.
#[test]
fn a_list_can_be_changed_in_every_kind_of_file() {
    let page = Evidence {
        html: Some("f".into()),
        select: Some("img".into()),
        attribute: Some("src".into()),
        pattern: Some(r"^(\d+)\.jpg$".into()),
        ..Evidence::default()
    };
    let texts = Evidence { attribute: None, pattern: None, select: Some("li".into()), ..page.clone() };
    let whole = Evidence { select: None, ..texts.clone() };
    let json = Evidence { json: Some("f".into()), ..Evidence::default() };
    let lines = Evidence { text: Some("f".into()), ..Evidence::default() };
    let edits = [Edit::Set(0, "9".into()), Edit::Double(0), Edit::Remove(1)];
    let pictures = "<p><img src=1.jpg><img src=x.png><img src=2.jpg>";
    let table = [
        (&page, pictures, 0, "[\"9\", \"9\"]"),
        (&texts, "<ul><li>a <b>b</b><li>c</ul>", 0, "[\"9\", \"9\"]"),
        (&whole, "<title>a</title><h1>b</h1><h2>c</h2>", 1, "[\"9\", \"9\"]"),
        (&json, "[1, 2]", 0, "[\"9\", \"9\"]"),
        (&json, r#"{"team": [{"id": 1}, {"id": 2}]}"#, 1, "[\"9\", \"9\"]"),
        (&lines, "a\nb\n", 0, "[\"9\", \"9\"]"),
    ];
    for (evidence, content, number, expected) in table {
        let out = tempfile::tempdir().unwrap();
        fs::write(out.path().join("f"), content).unwrap();
        let list = lists("e", evidence, out.path()).remove(number);
        fs::write(out.path().join("f"), list.edited(&edits).unwrap()).unwrap();
        let values = lists("e", evidence, out.path()).remove(number).values;
        assert_eq!(format!("{values:?}"), expected, "{content}");
    }
}
