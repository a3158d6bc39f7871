//! Cassettes that are broken, or made by somebody who means harm: what the real program says about each.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(target_os = "linux")]

#[path = "support/bench.rs"]
mod bench;
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use bench::{Bench, IN_PLACE};

const MANIFEST: &str = "[domain]\nname = \"case\"\ntitle = \"A case\"\nplugin = \"case\"\n\n\
                        [api]\nbase = \"https://api.example\"\nhosts = [\"api.example\"]\n";
const LINE: &str = r#"{"url":"https://api.example/x","status":200,"content_type":"application/json","body":"1.json"}"#;

/// A domain with a cassette of one entry.
fn recorded() -> Bench {
    let bench = Bench::new(MANIFEST);
    fs::create_dir_all(bench.file("cassette/bodies")).unwrap();
    fs::write(bench.file("cassette/index.jsonl"), LINE).unwrap();
    fs::write(bench.file("cassette/bodies/1.json"), "[1]").unwrap();
    bench
}

#[test]
fn a_whole_cassette_answers() {
    let outcome = recorded().run(&["fetch", "case", "/x"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "[1]"), "{outcome:#?}");
}

#[test]
fn what_is_in_the_place_of_an_index_is_named() {
    for (what, make, said) in IN_PLACE {
        if *what == "100 MB" {
            continue; // An index may be as long as that; the next test has one that is not.
        }
        let bench = recorded();
        fs::remove_file(bench.file("cassette/index.jsonl")).unwrap();
        make(&bench.file("cassette/index.jsonl"));
        let outcome = bench.run(&["fetch", "case", "/x"]);
        assert!(outcome.code == 2 && outcome.stderr.contains(said), "{what}: {outcome:#?}");
        assert!(outcome.stderr.contains("domains/case/cassette/index.jsonl: "), "{what}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: mend it, or record it again"), "{what}: {outcome:#?}");
    }
}

/// What is done to a cassette, and what is said about it.
type Damage = (fn(&Bench), &'static str);

const DAMAGES: &[Damage] = &[
    (|bench| index(bench, b""), "https://api.example/x is not recorded in the cassette"),
    (|bench| fs::remove_file(bench.file("cassette/index.jsonl")).unwrap(), "index.jsonl: No such file"),
    (|bench| replace(bench, |path| fs::write(path, "").unwrap()), "index.jsonl: Not a directory"),
    (|bench| replace(bench, |path| symlink("nothing", path).unwrap()), "index.jsonl: No such file"),
    (|bench| index(bench, b"hello\n"), "index.jsonl:1: expected value"),
    (|bench| index(bench, format!("\n[{LINE}]").as_bytes()), "index.jsonl:2: invalid type"),
    (|bench| index(bench, &LINE.as_bytes()[..60]), "index.jsonl:1: EOF while parsing"),
    (|bench| index(bench, b"{\"url\":\"https://api.example/\xe8\"}"), "index.jsonl: line 1 is not UTF-8"),
    (|bench| index(bench, &[0; 64]), "index.jsonl:1: expected value"),
    (|bench| edit(bench, "{\"url\"", "{\"format\":\"cassette/v9\",\"url\""), "index.jsonl:1: unknown field `format`"),
    (|bench| edit(bench, "200", "\"OK\""), "index.jsonl:1: invalid type: string \"OK\", expected u16"),
    (|bench| edit(bench, "200", "70000"), "index.jsonl:1: invalid value: integer `70000`"),
    (|bench| edit(bench, "https:", "file:"), "index.jsonl:1: "),
    (|bench| edit(bench, "1.json", "../../domain.toml"), "is not the name of a file in bodies/"),
    (|bench| edit(bench, "1.json", "/etc/hostname"), "is not the name of a file in bodies/"),
    (|bench| edit(bench, "1.json", "1.json\\u0000"), "is not the name of a file in bodies/"),
    (|bench| edit(bench, "1.json", ""), "is not the name of a file in bodies/"),
    (|bench| index(bench, format!("{LINE}\n{LINE}\n").as_bytes()), "is recorded twice, first on line 1"),
    (|bench| fs::remove_file(body(bench)).unwrap(), "index.jsonl:1: body bodies/1.json is missing"),
    (|bench| fs::remove_dir_all(bench.file("cassette/bodies")).unwrap(), "body bodies/1.json is missing"),
    (
        |bench| {
            fs::remove_file(body(bench)).unwrap();
            fs::create_dir(body(bench)).unwrap();
        },
        "body bodies/1.json is not a plain file",
    ),
    (
        |bench| {
            fs::remove_file(body(bench)).unwrap();
            symlink("../../domain.toml", body(bench)).unwrap();
        },
        "body bodies/1.json is not a plain file",
    ),
    (
        |bench| fs::File::create(body(bench)).unwrap().set_len(100 << 20).unwrap(),
        "more than 33554432 (`[api] body_mb`)",
    ),
    (|bench| fs::File::create(bench.file("cassette/index.jsonl")).unwrap().set_len(100 << 20).unwrap(), "longer than"),
];

#[test]
fn a_broken_cassette_is_named_with_file_and_line_and_the_network_is_not_asked_instead() {
    for (damage, said) in DAMAGES {
        let bench = recorded();
        damage(&bench);
        let outcome = bench.run(&["fetch", "case", "/x"]);
        assert!(matches!(outcome.code, 2 | 5) && outcome.stderr.contains(said), "{said}: {outcome:#?}");
        assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("could not be reached"), "{said}: {outcome:#?}");
    }
}

fn body(bench: &Bench) -> std::path::PathBuf {
    bench.file("cassette/bodies/1.json")
}

fn index(bench: &Bench, content: &[u8]) {
    fs::write(bench.file("cassette/index.jsonl"), content).unwrap();
}

fn edit(bench: &Bench, old: &str, new: &str) {
    assert!(LINE.contains(old));
    index(bench, LINE.replace(old, new).as_bytes());
}

/// Puts something else in the place of the folder.
fn replace(bench: &Bench, make: fn(&Path)) {
    fs::remove_dir_all(bench.file("cassette")).unwrap();
    make(&bench.file("cassette"));
}
