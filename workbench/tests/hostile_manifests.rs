//! Manifests and what lies beside them when they are too big, too deep, no files at all, or made by somebody who
//! means harm: what the real program says about each. What is wrong inside a manifest stands in `manifests/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
#![cfg(target_os = "linux")]

#[path = "support/bench.rs"]
mod bench;
#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/program.rs"]
mod program;

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use bench::{Bench, IN_PLACE};

const HEAD: &str = "[domain]\nname = \"case\"\ntitle = \"A case\"\nplugin = \"case\"\n";
const TASK: &str = "\n[task]\npersona = \"You help.\"\n";

#[test]
fn what_is_in_the_place_of_a_manifest_is_named() {
    for (what, make, said) in IN_PLACE {
        let bench = Bench::new(HEAD);
        fs::remove_file(bench.file("domain.toml")).unwrap();
        make(&bench.file("domain.toml"));
        for arguments in [&["show", "case"], &["show", "domains/case"], &["run", "case"], &["compare", "case"]] {
            let outcome = bench.run(arguments);
            let named = outcome.stderr.contains("domains/case/domain.toml could not be read");
            assert!(outcome.code == 2 && named && outcome.stderr.contains(said), "{what}: {outcome:#?}");
        }
        assert!(bench.run(&["list"]).stderr.contains("domain.toml could not be read"), "{what} is passed over");
    }
}

#[test]
fn what_is_in_the_place_of_a_prompt_is_named() {
    let latin = |path: &Path| fs::write(path, b"Fais-le.\nTr\xe8s bien.\n").unwrap();
    let cases = IN_PLACE.iter().copied().chain([("Latin-1", latin as fn(&Path), "line 2 is not UTF-8")]);
    for (what, make, said) in cases {
        let bench = Bench::new(&format!("{HEAD}{TASK}"));
        make(&bench.file("prompt.md"));
        let outcome = bench.run(&["show", "case"]);
        let named = outcome.stderr.contains("domains/case/prompt.md could not be read");
        assert!(outcome.code == 2 && named && outcome.stderr.contains(said), "{what}: {outcome:#?}");
    }
}

#[test]
fn what_is_in_the_place_of_a_script_is_named() {
    let scripts: [(&str, &[&str]); 3] = [
        ("rehearsal/loop.py", &["run", "case", "--mode", "loop"]),
        ("rehearsal/code/1.py", &["run", "case", "--mode", "code"]),
        ("smoke.py", &["record", "case"]),
    ];
    for (what, make, said) in IN_PLACE {
        for (file, arguments) in scripts {
            let bench = Bench::new(&format!("{HEAD}{TASK}prompt = \"Do it.\"\n"));
            fs::create_dir_all(bench.file("rehearsal/code")).unwrap();
            make(&bench.file(file));
            let outcome = bench.run(arguments);
            let named = outcome.stderr.contains(&format!("domains/case/{file}"));
            assert!(outcome.code == 2 && named && outcome.stderr.contains(said), "{what}, {file}: {outcome:#?}");
        }
    }
}

#[test]
fn a_file_nobody_may_read_is_named() {
    let bench = Bench::new(HEAD);
    fs::set_permissions(bench.file("domain.toml"), fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(bench.file("domain.toml")).is_ok() {
        eprintln!("skipped: root may read every file");
        return;
    }
    let outcome = bench.run(&["show", "case"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("Permission denied"), "{outcome:#?}");
}

#[test]
fn a_prompt_of_two_megabytes_is_a_prompt() {
    let prompt = "Do it well. ".repeat((2 << 20) / 12);
    let beside = Bench::new(&format!("{HEAD}{TASK}"));
    fs::write(beside.file("prompt.md"), &prompt).unwrap();
    let inside = Bench::new(&format!("{HEAD}{TASK}prompt = \"{prompt}\"\n"));
    for bench in [beside, inside] {
        let outcome = bench.run(&["show", "case"]);
        assert!(outcome.code == 0 && outcome.stdout.contains(prompt.trim_end()), "{}", outcome.stderr);
    }
}

/// Manifests of a size that no file of `manifests/` should have; what is said first, and in how many lines at most.
#[test]
fn a_manifest_out_of_all_bounds_is_told_in_a_few_lines() {
    let long = "x".repeat(1 << 20);
    let rules = |rule: &str| {
        (0..10_000).map(|number| format!("\n[[verify]]\nname = \"rule {number}\"\n{rule}\n")).collect::<String>()
    };
    let table = [
        (format!("{HEAD}{TASK}promt = \"{long}\"\n"), "unknown key `promt` in `task`", 8),
        (format!("{HEAD}{TASK}{long} = 1\n"), "unknown key `xxx", 8),
        (format!("{HEAD}{TASK}prompt = \"{long}\n"), "invalid basic string", 8),
        (format!("{HEAD}[limits]\nloop_turns = \"{long}\"\n"), "`limits.loop_turns` wants a whole number", 8),
        (format!("{HEAD}[[verify]]\nname = \"x\"\ncheck = \"{long} == 1\"\n"), "unknown name `xxx", 8),
        (format!("{HEAD}[[verify]]\nname = \"x\"\ncheck = \"'{long}' == y\"\n"), "unknown name `y`", 8),
        (format!("{HEAD}[evidence]\n{long} = {{}}\n"), "it must name one source", 8),
        (
            format!("{HEAD}[api]\nhosts = {}{}\n", "[".repeat(10_000), "]".repeat(10_000)),
            "this is nested too deeply",
            8,
        ),
        (
            format!("{HEAD}[evidence]\nids = {}1{}\n", "{ a = ".repeat(10_000), " }".repeat(10_000)),
            "this is nested too deeply",
            8,
        ),
        (format!("{HEAD}[evidence]\nids{} = 1\n", ".a".repeat(10_000)), "this is nested too deeply", 8),
        (format!("{HEAD}[{}a]\n", "a.".repeat(10_000)), "this is nested too deeply", 8),
        (format!("{HEAD}{}", "x = [\n".repeat(10_000)), "", 250),
        (format!("{HEAD}{}", "x = \"\n".repeat(10_000)), "", 250),
        (format!("{HEAD}{}", rules("chek = \"true\"")), "lacks the key `check`", 250),
        (format!("{HEAD}{}", rules("check = \"idz == 1\"")), "unknown name `idz`", 250),
        (format!("{HEAD}{}", "[[verify]]\n".repeat(20_000)), "lacks the key", 250),
    ];
    for (manifest, said, lines) in table {
        let outcome = Bench::new(&manifest).run(&["show", "domains/case"]);
        let told = &outcome.stderr;
        let start: String = told.chars().take(2_000).collect();
        assert!(outcome.code == 2 && told.contains(said), "{said}: {start}");
        assert!(told.lines().count() <= lines && told.len() < 40_000, "{} lines: {start}", told.lines().count());
    }
}

#[test]
fn ten_thousand_good_rules_are_no_problem() {
    let rules: String =
        (0..10_000).map(|number| format!("\n[[verify]]\nname = \"rule {number}\"\ncheck = \"true\"\n")).collect();
    let outcome = Bench::new(&format!("{HEAD}{rules}")).run(&["show", "case"]);
    assert!(outcome.code == 0 && outcome.stdout.contains("rule 9999 (1 point)"), "{}", outcome.stderr);
}

/// Nothing is built and no folder is made for a domain that cannot be used.
#[test]
fn a_wrong_manifest_leaves_nothing_behind() {
    let bench = Bench::new(&HEAD.replace("plugin", "plugn"));
    for arguments in [
        &["run", "case"][..],
        &["compare", "case"],
        &["smoke", "case"],
        &["call", "case", "tool"],
        &["fetch", "case", "/"],
        &["record", "case"],
        &["tools", "case"],
        &["script", "case", "-"],
    ] {
        let outcome = bench.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.starts_with("error: unknown key `plugn` in `domain`\n"), "{arguments:?}: {outcome:#?}");
        assert!(outcome.stdout.is_empty(), "{arguments:?}: {outcome:#?}");
    }
    let mut left: Vec<_> = fs::read_dir(bench.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["Cargo.toml", "domains"]);
}

#[test]
fn colour_is_for_terminals_and_changes_no_word() {
    let bench = Bench::new(&HEAD.replace("plugin", "plugn"));
    let plain = bench.run(&["show", "case"]).stderr;
    assert!(!plain.contains('\u{1b}'));
    let mut command = bench.command(&["show", "case"]);
    let coloured = program::finish(command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR"), "").stderr;
    assert!(coloured.starts_with("\u{1b}["), "{coloured:?}");
    let mut words = String::new();
    for (index, part) in coloured.split("\u{1b}[").enumerate() {
        words.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(words, plain);
}
