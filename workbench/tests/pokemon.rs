//! The team builder, through the real program: compared on its made-up records, its rules, the quirks of its API, and compared on
//! recorded real records where they lie beside this repository. Where they do not, that is said and nothing is tested.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/program.rs"]
mod program;
#[path = "support/replay.rs"]
mod replay;

use std::fs;

use program::{Program, workspace};
use replay::Replay;
use serde_json::{Value, json};

const SIX: &str = "6 Pokemon";
const SPECIES: &str = "6 different species";
const TYPES: &str = "no attacking type does double damage or more to two of them";
const LEGENDS: &str = "none legendary or mythical";
const STRONG: &str = "at least 4 with a base stat total of 450 or more";
const SPRITES: &str = "sprites saved";

/// The rules that did not pass. A fault of the network or of an expression is none of the cases here.
fn fallen(verdict: &Value) -> Vec<&str> {
    let rules = verdict["rules"].as_array().unwrap().iter().filter(|rule| rule["status"] != "pass");
    rules
        .inspect(|rule| assert_eq!(rule["status"], "fail", "{rule:#}"))
        .map(|rule| rule["name"].as_str().unwrap())
        .collect()
}

fn run_of<'a>(report: &'a Value, mode: &str) -> &'a Value {
    report["runs"].as_array().unwrap().iter().find(|run| run["mode"] == mode).unwrap()
}

#[test]
fn step_by_step_falls_short_of_the_rule_on_types_alone() {
    let program = Program::new();
    let report = program.json(&["compare", "pokemon", "--runs", "1", "--format", "json"]);
    for (mode, expected) in [("serial", &[TYPES][..]), ("loop", &[TYPES]), ("code", &[])] {
        let run = run_of(&report, mode);
        assert_eq!(fallen(&run["verify"]), expected, "{mode}: {run:#}");
        assert_eq!((&run["network_calls"], &run["source"]), (&json!(0), &json!("cassette")), "{mode}: {run:#}");
        assert_eq!((&run["stop"], &run["faults"]), (&json!("end_turn"), &Value::Null), "{mode}: {run:#}");
    }
    let [of_serial, of_loop, of_code] = ["serial", "loop", "code"].map(|mode| run_of(&report, mode));
    assert!(of_loop["final_text"].as_str().unwrap().contains("no attacking type hits two of them hard"), "{of_loop:#}");
    assert_eq!(of_loop["tool_calls"], of_serial["tool_calls"], "the same policy, one call a turn");
    assert_eq!(of_code["scripts_run"], 2, "the first one fails, the second mends it");
    let scripts = program.results().join("pokemon").join(of_code["run"].as_str().unwrap()).join("scripts");
    let first = fs::read_to_string(scripts.join("01.out")).unwrap();
    assert!(first.contains("ValueError: not enough values to unpack"), "{first}");
    let read = |run: &Value| run["tokens_read"].as_u64().unwrap();
    assert!(read(of_loop) > 50 * read(of_code) && read(of_serial) > 3 * read(of_loop), "{report:#}");

    teams_are_judged_by_their_records(&program, of_code["run"].as_str().unwrap());
}

/// Other teams in the place of the one that a run made, and the rules each of them breaks.
fn teams_are_judged_by_their_records(program: &Program, run: &str) {
    let cases = [
        ("puddlemarsh duskadder wardrobin crumbit tidalisk tarnquill", &[][..]),
        ("puddlemarsh duskadder wardrobin crumbalo tidalisk tarnquill", &[]),
        // Exactly four are strong; then three.
        ("puddlemarsh zapwick wardrobin crumbit tidalisk tarnquill", &[]),
        ("puddlemarsh zapwick wardrobin crumbit wyrmlet tarnquill", &[STRONG]),
        ("puddlemarsh duskadder wardrobin crumbit tidalisk", &[SIX, SPECIES, SPRITES]),
        ("puddlemarsh puddlemarsh wardrobin crumbit tidalisk tarnquill", &[SPECIES, TYPES]),
        // Another form is of the same species.
        ("puddlemarsh puddlemarsh-grand wardrobin crumbit tidalisk tarnquill", &[SPECIES, TYPES]),
        // Two fear fighting; mythimble fears ground as duskadder does.
        ("crumbalo duskadder wardrobin crumbit tidalisk tarnquill", &[TYPES]),
        ("puddlemarsh duskadder wardrobin crumbit tidalisk mythimble", &[TYPES, LEGENDS]),
        ("puddlemarsh duskadder wardrobin crumbit auroryx tarnquill", &[TYPES, LEGENDS]),
        ("puddlemarsh duskadder wardrobin crumbit tidalisk nosuch", &[SPECIES, TYPES, LEGENDS, STRONG]),
    ];
    let out = program.results().join("pokemon").join(run).join("out");
    let sprite = fs::read(out.join("puddlemarsh.png")).unwrap();
    for (team, expected) in cases {
        let sprites = team.split(' ').map(|name| format!("<figure><img src=\"{name}.png\"></figure>"));
        let title = "Six that stand together";
        let page = format!("<title>{title}</title><h1>{title}</h1>{}", sprites.collect::<String>());
        fs::write(out.join("team.html"), page).unwrap();
        for name in team.split(' ') {
            fs::write(out.join(format!("{name}.png")), &sprite).unwrap();
        }
        let outcome = program.run(&["verify", run, "--again", "--format", "json"]);
        let verdict = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{team}: {outcome:?}"));
        assert_eq!(fallen(&verdict), expected, "{team}: {verdict:#}");
    }
}

/// What a tool of the domain answers on the made-up records, which keep the habits of the API: each case is a call, and how its
/// answer begins.
#[test]
fn quirks_of_the_api_are_told_or_passed_over() {
    let program = Program::new();
    let cases: [(&[&str], i32, &str); 10] = [
        (
            &["get_pokemon", "name=nosuch"],
            1,
            "pokemon/nosuch returned HTTP 404: Not Found (a species may have another name",
        ),
        (&["get_type", "name=nosuch"], 1, "type/nosuch returned HTTP 404: Not Found"),
        (&["get_species", "name=nosuch"], 1, "pokemon-species/nosuch returned HTTP 404: Not Found"),
        // The species is known, its default Pokemon has another name.
        (&["get_pokemon", "name=mosaicat"], 1, "pokemon/mosaicat returned HTTP 404: Not Found"),
        (&["get_species", "name=mosaicat"], 0, "\"name\":\"mosaicat-morning\""),
        (&["get_pokemon", "name=Oddwarden-Attic"], 0, "\"base_experience\":null"),
        (
            &["download_sprite", "name=gustaloft-grand"],
            1,
            "gustaloft-grand has no sprite: sprites.front_default is null",
        ),
        (
            &["build_team_card", "name=t", "title=T", "pokemon=[\"crumbit\"]"],
            1,
            "the sprite of crumbit was not downloaded yet",
        ),
        (&["list_pokemon", "offset=60", "limit=20"], 0, "\"next_offset\":null"),
        (&["list_pokemon", "offset=50", "limit=25"], 0, "\"next_offset\":75"),
    ];
    for (call, code, words) in cases {
        let outcome = program.run(&[&["call", "pokemon"], call].concat());
        let answer = outcome.stdout.replace("\": ", "\":");
        assert_eq!((outcome.code, answer.contains(words)), (code, true), "{call:?}: {outcome:?}");
    }
}

/// The verdicts are right on real records too, of which a tenth is served: the rest is refused as unknown.
#[test]
fn a_comparison_on_recorded_real_records_ends_alike() {
    let Some(server) = Replay::start(&[]) else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pokemon");
    let bundled = workspace().join("domains/pokemon");
    for part in ["rehearsal/loop.py", "rehearsal/code/1.py", "rehearsal/code/2.py"] {
        let to = folder.join(part);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(bundled.join(part), to).unwrap();
    }
    // Nobody is to be spared here.
    let manifest = fs::read_to_string(bundled.join("domain.toml")).unwrap();
    let hurried = manifest.replace("gap_ms = 150", "gap_ms = 0");
    assert_ne!(hurried, manifest);
    fs::write(folder.join("domain.toml"), hurried).unwrap();

    let routes = ["pokeapi.co", "raw.githubusercontent.com"].map(|host| format!("{host}={}", server.url));
    let program = Program::new();
    let domain = folder.to_str().unwrap();
    let arguments = ["compare", domain, "--modes", "loop,code", "--runs", "1", "--format", "json"];
    let report = program.json(&[&arguments[..], &["--route", &routes[0], "--route", &routes[1]]].concat());
    for (mode, expected) in [("loop", &[TYPES][..]), ("code", &[])] {
        let run = run_of(&report, mode);
        assert_eq!(fallen(&run["verify"]), expected, "{mode}: {run:#}");
    }

    // A real record without a sprite, and the end of the real list.
    let cases = [
        ("download_sprite", "name=miraidon-glide-mode", 1, "miraidon-glide-mode has no sprite"),
        ("get_pokemon", "name=giratina", 1, "/pokemon/giratina returned HTTP 404: Not Found"),
        ("list_pokemon", "offset=1340", 0, "\"next_offset\":null"),
    ];
    for (tool, argument, code, words) in cases {
        let outcome = program.run(&["call", domain, tool, argument, "--route", &routes[0], "--route", &routes[1]]);
        let answer = outcome.stdout.replace("\": ", "\":");
        assert_eq!((outcome.code, answer.contains(words)), (code, true), "{tool}: {outcome:?}");
    }
}
