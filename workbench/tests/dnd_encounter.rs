//! The domain whose tools are declared in its manifest: its rehearsal and rules, and its page over records of every kind, made up,
//! odd and real. The real ones lie beside this repository on some machines; where they do not, that is said.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
#![cfg(feature = "embedded")]

#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{Program, workspace};
use scraper::{Html, Selector};
use serde_json::{Value, json};
use tempfile::TempDir;

const MONSTERS: &str = "https://www.dnd5eapi.co/api/2014/monsters";
const SUM: &str = "9,000 to 9,200 XP, and the sheet says so";
const TITLE: &str = "Night at the Old Bridge";

fn bundled() -> PathBuf {
    workspace().join("domains/dnd-encounter")
}

/// The domain over records of a test.
struct Domain(TempDir);

impl Domain {
    /// Lists are made of the records: all, and those of each challenge rating that the rehearsal asks for.
    fn over(records: &[Value]) -> Self {
        let domain = Self(tempfile::tempdir().unwrap());
        let files = ["domain.toml", "templates/encounter.html", "rehearsal/loop.py"];
        for file in files.into_iter().chain(["rehearsal/code/1.py", "rehearsal/code/2.py"]) {
            let to = domain.folder().join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(bundled().join(file), to).unwrap();
        }
        let mut answers = vec![(MONSTERS.to_owned(), list(records, None))];
        for rating in [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0] {
            answers.push((format!("{MONSTERS}?challenge_rating={rating}"), list(records, Some(rating))));
        }
        let one = |record: &Value| (format!("{MONSTERS}/{}", record["index"].as_str().unwrap()), record.clone());
        answers.extend(records.iter().map(one));
        domain.record(answers);
        domain
    }

    fn record(&self, mut answers: Vec<(String, Value)>) {
        answers.sort_by(|one, other| one.0.cmp(&other.0));
        let cassette = self.folder().join("cassette");
        fs::create_dir_all(cassette.join("bodies")).unwrap();
        let mut lines = String::new();
        for (number, (url, body)) in answers.into_iter().enumerate() {
            let file = format!("{number}.json");
            fs::write(cassette.join("bodies").join(&file), body.to_string()).unwrap();
            let entry = json!({"url": url, "status": 200, "content_type": "application/json", "body": file});
            lines += &format!("{entry}\n");
        }
        fs::write(cassette.join("index.jsonl"), lines).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("dnd-encounter")
    }
}

fn list(records: &[Value], rating: Option<f64>) -> Value {
    let of = |record: &&Value| rating.is_none_or(|rating| record["challenge_rating"].as_f64() == Some(rating));
    let short = |record: &Value| json!({"index": record["index"], "name": record["name"], "url": record["url"]});
    let found: Vec<Value> = records.iter().filter(of).map(short).collect();
    json!({"count": found.len(), "results": found})
}

/// Every record that the bundled cassette has, by index.
fn made_up() -> Vec<Value> {
    let cassette = bundled().join("cassette");
    let index = fs::read_to_string(cassette.join("index.jsonl")).unwrap();
    let entries = index.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_monsters = entries.filter(|entry| {
        entry["status"] == 200 && entry["url"].as_str().unwrap().strip_prefix(MONSTERS).unwrap().starts_with('/')
    });
    of_monsters.map(|entry| read(&cassette.join("bodies").join(entry["body"].as_str().unwrap()))).collect()
}

/// The recorded real records, by index; none where they are not.
fn real() -> Option<Vec<Value>> {
    let folder = workspace().join("../shared/data/dnd5e/api/2014/monsters");
    let Ok(files) = fs::read_dir(&folder) else {
        eprintln!("skipped: there are no recorded monsters in {}", folder.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort_unstable();
    Some(paths.iter().map(|path| read(path)).collect())
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The rules that did not pass.
fn fallen(verdict: &Value) -> Vec<&str> {
    let rules = verdict["rules"].as_array().unwrap().iter();
    rules.filter(|rule| rule["status"] != "pass").map(|rule| rule["name"].as_str().unwrap()).collect()
}

/// One comparison, in which the rehearsal must end as its files say.
fn compare(domain: &str) {
    let program = Program::new();
    let report = program.json(&["compare", domain, "--runs", "1", "--format", "json"]);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(run["stop"], "end_turn", "{run:#}");
        let words = run["final_text"].as_str().unwrap();
        if run["mode"] == "code" {
            assert_eq!(run["verify"]["ok"], true, "{run:#}");
            assert_eq!(run["scripts_run"], 2, "the first one fails, the second mends it");
            let transcript =
                fs::read_to_string(program.results().join(run_folder(run)).join("transcript.jsonl")).unwrap();
            assert!(transcript.contains("KeyError: 'swarm of Tiny beasts'"), "{transcript}");
        } else {
            assert_eq!(fallen(&run["verify"]), [SUM], "{run:#}");
            assert!(words.contains("is ready: 5 monsters of 5 types, 9,"), "it is sure of itself: {words}");
        }
    }
}

fn run_folder(run: &Value) -> PathBuf {
    Path::new("dnd-encounter").join(run["run"].as_str().unwrap())
}

#[test]
fn code_passes_where_the_loop_adds_up_from_memory() {
    compare("dnd-encounter");
}

#[test]
fn over_real_records_the_rehearsal_ends_alike() {
    let Some(records) = real() else { return };
    compare(Domain::over(&records).folder().to_str().unwrap());
}

/// A name, which of the made-up records are there, and whether five of them meet the requirements.
type Case<'a> = (&'a str, &'a dyn Fn(&Value) -> bool, bool);

#[test]
fn other_bestiaries_end_alike_or_are_said_to_have_too_little() {
    let program = Program::new();
    let is_leader = |record: &Value| !record["legendary_actions"].as_array().unwrap().is_empty();
    let is_stag = |record: &Value| record["index"] == "stag-of-the-first-frost";
    let cases: [Case<'_>; 3] = [
        ("one cheap leader", &|record| !is_leader(record) || is_stag(record), true),
        ("no leader", &|record| !is_leader(record), false),
        ("little worth", &|record| record["xp"].as_u64().unwrap() < 1000 || is_stag(record), false),
    ];
    for (case, keep, is_enough) in cases {
        let records: Vec<Value> = made_up().into_iter().filter(keep).collect();
        let domain = Domain::over(&records);
        for mode in ["loop", "code"] {
            let folder = domain.folder();
            let outcome = program.run(&["run", folder.to_str().unwrap(), "--mode", mode, "--format", "json"]);
            let run: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{case}: {outcome:?}"));
            let words = run["final_text"].as_str().unwrap();
            assert_eq!(run["stop"], "end_turn", "{case}: {run:#}");
            let fell = fallen(&run["verify"]);
            match (is_enough, mode) {
                (true, "code") => assert!(fell.is_empty(), "{case}: {run:#}"),
                (true, _) => assert_eq!(fell, [SUM], "{case}: {run:#}"),
                (false, "code") => assert!(words.contains("No encounter: no five of"), "{case}: {words}"),
                (false, _) => assert!(words.starts_with("I could not plan the encounter"), "{case}: {words}"),
            }
        }
    }
}

#[test]
fn an_unknown_monster_is_told_although_the_api_answers_with_a_page() {
    let outcome = Program::new().run(&["call", "dnd-encounter", "get_monster", "index=no-such-monster"]);
    assert_eq!(outcome.stdout.trim(), format!("ERROR: {MONSTERS}/no-such-monster returned HTTP 404"));
    assert_eq!(outcome.code, 1);
}

/// The page of these monsters, all on one; it must show each, fetch nothing and run nothing.
fn page(domain: &str, records: &[Value]) -> Html {
    let program = Program::new();
    let indexes: Vec<&str> = records.iter().map(|record| record["index"].as_str().unwrap()).collect();
    let arguments = json!({"indexes": indexes, "title": "<i>All</i> & \"more\"", "name": "all"}).to_string();
    let outcome = program.run(&["call", domain, "build_encounter_page", &arguments]);
    assert_eq!(outcome.code, 0, "{indexes:?}: {outcome:?}");
    let text = fs::read_to_string(program.results().join("dnd-encounter/by-hand/out/all.html")).unwrap();
    let page = Html::parse_document(&text);
    let shown: Vec<&str> = select(&page, "article").iter().filter_map(|article| article.attr("data-index")).collect();
    assert_eq!(shown, indexes);
    let names: Vec<String> = select(&page, "h2").iter().map(|heading| heading.text().collect()).collect();
    let expected: Vec<&str> = records.iter().map(|record| record["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, expected);
    assert_eq!(select(&page, "h1")[0].text().collect::<String>(), "<i>All</i> & \"more\"");
    let active = select(&page, "script, img, link, iframe, object, embed, a, form, [src], [href], [style], [onerror]");
    assert!(active.is_empty(), "{:?}", active[0].html());
    assert!(!text.contains("url(") && !text.contains("@import"), "a style that fetches");
    page
}

fn select<'page>(page: &'page Html, selector: &str) -> Vec<scraper::ElementRef<'page>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

/// As many as a page has room for, by the steps it may take.
const ON_A_PAGE: usize = 50;

#[test]
fn the_page_copes_with_every_made_up_record() {
    let records = made_up();
    assert!(records.len() > 120, "the cassette is gone");
    for some in records.chunks(ON_A_PAGE) {
        page("dnd-encounter", some);
    }
}

#[test]
fn the_page_copes_with_every_real_record() {
    let Some(records) = real() else { return };
    let domain = Domain::over(&records);
    for some in records.chunks(ON_A_PAGE) {
        page(domain.folder().to_str().unwrap(), some);
    }
}

/// A record as odd as the API's oddest, or odder, and what its stat block must say.
fn odd() -> Vec<(Value, &'static [&'static str])> {
    let kind = |name: &str| json!({"index": name.to_lowercase(), "name": name});
    let blow = |dice: &str, notes: &str| json!({"option_type": "damage", "damage_type": kind("Slashing"), "damage_dice": dice, "notes": notes});
    let choice = json!({"choose": 1, "type": "damage", "from": {"options": [blow("1d8+3", "One handed"), blow("1d10+3", "Two handed")]}});
    let several = |action: Value| json!([{"name": "Multiattack", "desc": "Often.", "damage": [], "actions": [action]}]);
    let action = |count: Value| json!({"action_name": "Bite", "count": count, "type": "melee"});
    let options =
        json!([{"option_type": "multiple", "items": [action(json!(2)), action(json!("1"))]}, action(json!(3))]);
    let breaths = json!([{"name": "Cold Breath", "damage": [blow("9d8", "at night")]}, {"name": "Slow Breath"}]);
    vec![
        (json!({"name": "Bare"}), &["Bare", "none"]),
        (
            json!({"name": null, "actions": null, "languages": null, "desc": null, "speed": null, "forms": null}),
            &["none"],
        ),
        (json!({"name": "<img src=x onerror=alert(1)> & \"Co\", Wet Form (Sick)"}), &["alert(1)"]),
        (
            json!({"name": "Choice", "actions": [{"name": "Sword", "desc": "Cuts.", "attack_bonus": 5, "damage": [choice], "actions": []}]}),
            &["+5 to hit", "1d8+3 slashing one handed or 1d10+3 slashing two handed"],
        ),
        (json!({"name": "Number", "actions": several(action(json!(3)))}), &["Bite × 3"]),
        (json!({"name": "Text", "actions": several(action(json!("Number of Heads")))}), &["Bite × number of heads"]),
        (
            json!({"name": "Options", "actions": [{"name": "Both", "action_options": {"from": {"options": options}}}]}),
            &["Bite × 2 and Bite × 1", "or Bite × 3"],
        ),
        (
            json!({"name": "Breaths", "actions": [{"name": "Breath", "options": {"from": {"options": breaths}}}]}),
            &["Cold Breath, 9d8 slashing at night", "or Slow Breath"],
        ),
        (json!({"name": "Silent", "languages": "", "actions": []}), &["Languages none"]),
        (json!({"name": "Hoverer", "speed": {"fly": "50 ft.", "hover": true}}), &["fly 50 ft. (hovers)"]),
        (json!({"name": "Forms", "forms": [kind("Forms, Mist Form")]}), &["Other forms Forms, Mist Form"]),
        (json!({"name": "Told", "desc": ["One **bold**.", "Two."]}), &["One bold.", "Two."]),
        (
            json!({"name": "Worth", "challenge_rating": 0.125, "xp": 155_000, "proficiency_bonus": 2, "strength": 1}),
            &["1/8 (155,000 XP), proficiency +2", "1 (−5)"],
        ),
    ]
}

#[test]
fn the_page_copes_with_odd_records() {
    let odd = odd();
    let mut records: Vec<Value> = odd.iter().map(|(record, _)| record.clone()).collect();
    for (number, record) in records.iter_mut().enumerate() {
        record["index"] = json!(format!("odd-{number}"));
        if record["name"].is_null() {
            record["name"] = json!("");
        }
    }
    let page = page(Domain::over(&records).folder().to_str().unwrap(), &records);
    for (article, (record, words)) in select(&page, "article").iter().zip(&odd) {
        let text = article.text().collect::<Vec<_>>().join(" ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in *words {
            assert!(text.contains(words), "{record}: no `{words}` in: {text}");
        }
    }
}

/// Something done to the sheet or the page of an encounter that passed, and the rules that must notice.
type Change = (&'static str, fn(&str) -> String, &'static [&'static str]);

const LINES: &str = "a line for each monster in the sheet, and the sum";
const CHANGES: [Change; 9] = [
    ("encounter.md", |_| " \n\n".to_owned(), &[SUM, LINES]),
    ("encounter.md", |sheet| sheet.lines().skip(1).collect::<Vec<_>>().join("\n"), &[LINES]),
    ("encounter.md", |sheet| format!("{}\n{sheet}", sheet.lines().next().unwrap()), &[LINES]),
    ("encounter.md", |sheet| sheet.replacen(" | ", " | not ", 1), &[LINES]),
    ("encounter.md", |sheet| sheet.replace("sum | 9", "sum | 8"), &[SUM]),
    (
        "encounter.md",
        |sheet| sheet.lines().map(|line| format!("  {line}\r\n\n")).collect::<String>().replace("\n\n", "\n"),
        &[],
    ),
    (
        "encounter.html",
        |page| page.replacen("data-index", "data-place", 1),
        &["5 monsters", "5 different types", SUM, "a holder of legendary actions", LINES],
    ),
    ("encounter.html", |page| twice(page), &["5 monsters", SUM, LINES]),
    ("encounter.html", |page| page.replace(TITLE, "Day"), &["page has the title"]),
];

/// The page with its first monster once more, at its end.
fn twice(page: &str) -> String {
    let start = page.find("<article").unwrap();
    let end = page.find("</article>").unwrap();
    page.replace("</main>", &format!("{}</article></main>", &page[start..end]))
}

#[test]
fn the_rules_notice_what_is_changed() {
    let program = Program::new();
    let run = program.json(&["run", "dnd-encounter", "--mode", "code", "--format", "json"]);
    let out = program.results().join(run_folder(&run)).join("out");
    for (number, (file, change, expected)) in CHANGES.iter().enumerate() {
        let whole = fs::read_to_string(out.join(file)).unwrap();
        let changed = change(&whole);
        assert_ne!(changed, whole, "change {number} of {file} changes nothing");
        fs::write(out.join(file), changed).unwrap();
        let outcome = program.run(&["verify", run["run"].as_str().unwrap(), "--format", "json"]);
        let verdict: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
        assert_eq!(fallen(&verdict), *expected, "change {number} of {file}: {verdict:#}");
        fs::write(out.join(file), whole).unwrap();
    }
}

#[test]
fn the_tables_give_the_cassette_that_is_here() {
    let home = tempfile::tempdir().unwrap();
    let script = bundled().join("compose/compose.py");
    let Ok(outcome) = Command::new("python3").args(["-B".as_ref(), script.as_path(), home.path()]).output() else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(outcome.status.success(), "{outcome:?}");
    let index = |folder: &Path| fs::read_to_string(folder.join("index.jsonl")).unwrap();
    let here = bundled().join("cassette");
    assert_eq!(index(home.path()), index(&here), "compose it anew");
    for entry in index(&here).lines() {
        let body = Path::new("bodies").join(serde_json::from_str::<Value>(entry).unwrap()["body"].as_str().unwrap());
        assert_eq!(fs::read(home.path().join(&body)).unwrap(), fs::read(here.join(&body)).unwrap(), "{entry}");
    }
}
