//! `record` through the real program, against a server on the loopback interface.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{Outcome, finish};
use server::{Reply, Request, Server, answer, json};
use tempfile::TempDir;
use workbench::web::{Cassette, CassetteLine};

const KEY: &str = "key-that-nobody-may-read";
const COOKIE: &str = "cookie-that-nobody-may-keep";

/// A domain over the museum's plugin, whose API is a server of the test.
struct Museum {
    home: TempDir,
    server: Server,
}

impl Museum {
    fn new(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let museum = Self { home: tempfile::tempdir().unwrap(), server: Server::start(script) };
        fs::create_dir(museum.domain()).unwrap();
        let manifest = "[domain]\nname = 'small'\ntitle = 'Small'\nplugin = 'met'\n\
                        [api]\nbase = 'https://api.example/public'\nhosts = ['api.example']\npace = { gap_ms = 0 }\n\
                        headers = { x-key = 'env:WORKBENCH_TEST_KEY' }\n";
        fs::write(museum.domain().join("domain.toml"), manifest).unwrap();
        museum
    }

    fn domain(&self) -> PathBuf {
        self.home.path().join("small")
    }

    fn cassette(&self) -> PathBuf {
        self.home.path().join("recorded")
    }

    /// Records into a folder of its own; the domain's is left alone.
    fn record(&self, more: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.arg("record").arg(self.domain()).arg("--to").arg(self.cassette()).args(more);
        command.args(["--route", &format!("api.example={}", self.server.url())]).current_dir(program::workspace());
        command.env("WORKBENCH_RESULTS", self.home.path().join("results")).env("WORKBENCH_TEST_KEY", KEY);
        let outcome = finish(&mut command, "");
        assert!(!self.domain().join("cassette").exists());
        outcome
    }

    /// Path below the API's base and status of each entry, in the order of the index.
    fn entries(&self) -> Vec<(String, u16)> {
        let index = fs::read_to_string(self.cassette().join("index.jsonl")).unwrap();
        let lines = index.lines().map(|line| serde_json::from_str::<CassetteLine>(line).unwrap());
        lines.map(|line| (line.url.replace("https://api.example/public", ""), line.status)).collect()
    }
}

fn entries(entries: &[(&str, u16)]) -> Vec<(String, u16)> {
    entries.iter().map(|(path, status)| ((*path).to_owned(), *status)).collect()
}

/// Hands out a cookie with every answer, and has bad days.
fn api(request: &Request) -> Reply {
    let cookie = format!("set-cookie: session={COOKIE}");
    let headers = ["content-type: application/json", &cookie];
    match request.target.as_str() {
        "/public/v1/departments" => {
            answer(200, &headers, br#"{"departments":[{"departmentId":1,"displayName":"Cats"}]}"#)
        }
        "/public/v1/objects/1" => answer(200, &headers, br#"{"objectID":1,"title":"Cat"}"#),
        "/public/v1/objects/2" => answer(404, &headers, br#"{"message":"no such object"}"#),
        "/public/v1/search?q=cat" => answer(410, &headers, br#"{"message":"use another"}"#),
        "/public/v1/objects/4" => answer(200, &["content-type: text/html"], b"<h1>Are you a robot?</h1>"),
        "/public/v1/objects/5" => answer(200, &headers, br#"{"objectID":"#),
        "/public/v1/5.jpg" => answer(200, &["content-type: text/html"], b"<h1>Are you a robot?</h1>"),
        // Longer than anybody waits, so that it is asked for once.
        _ => answer(503, &["retry-after: 3600", &cookie], b"busy"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    inside.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_list_of_addresses_is_recorded_without_headers_and_what_may_pass_is_left_out() {
    let museum = Museum::new(api);
    let list = museum.home.path().join("urls.txt");
    let lines = "# in no order\n/v1/search?q=cat\n\n  /v1/objects/2\nhttps://api.example/public/v1/objects/3\n\
                 /v1/departments\n/v1/objects/1#top\n/v1/objects/5\n/v1/5.jpg\n";
    fs::write(&list, lines).unwrap();

    let outcome = museum.record(&["--urls", list.to_str().unwrap()]);

    assert_eq!(outcome.code, 5, "{outcome:?}");
    for left_out in [
        "objects/3 is left out: HTTP 503 may pass",
        "objects/5 is left out: HTTP 200 with unfit application/json may pass",
        "5.jpg is left out: HTTP 200 with unfit text/html may pass",
    ] {
        let warning = format!("warning: https://api.example/public/v1/{left_out}");
        assert!(outcome.stderr.contains(&warning), "{outcome:?}");
    }
    assert!(outcome.stderr.contains("4 answers recorded") && outcome.stderr.contains("now holds 4 entries"));
    let kept = [("/v1/departments", 200), ("/v1/objects/1", 200), ("/v1/objects/2", 404), ("/v1/search?q=cat", 410)];
    assert_eq!(museum.entries(), entries(&kept), "sorted by address");
    assert_eq!(museum.server.requests().len(), 7);
    assert!(museum.server.requests().iter().all(|request| request.header("x-key") == Some(KEY)));
    let cassette = Cassette::open(&museum.cassette()).unwrap();
    let gone = cassette.find("https://api.example/public/v1/search?q=cat").unwrap();
    assert_eq!(gone.body(1000).unwrap(), br#"{"message":"use another"}"#.as_slice());
    for file in files(museum.home.path()) {
        let content = String::from_utf8_lossy(&fs::read(&file).unwrap()).to_lowercase();
        for secret in [KEY, COOKIE, "set-cookie", "127.0.0.1"] {
            assert!(!content.contains(secret), "{secret} in {}", file.display());
        }
        assert!(!content.contains("x-key") || file.ends_with("domain.toml"), "{}", file.display());
    }
}

#[cfg(feature = "embedded")]
#[test]
fn what_scripts_and_probes_of_a_domain_ask_for_is_recorded() {
    let museum = Museum::new(api);
    let script = "from tools import *\n\
                  list_departments()\n\
                  for object_id in [4, 3, 2]:\n    try:\n        get_object(object_id)\n    except ToolError:\n        pass\n";
    fs::write(museum.domain().join("smoke.py"), script).unwrap();
    fs::create_dir(museum.domain().join("rehearsal")).unwrap();
    fs::write(museum.domain().join("rehearsal/loop.py"), "from tools import *\nget_object(1)\nno_such_tool()\n")
        .unwrap();
    let manifest = fs::read_to_string(museum.domain().join("domain.toml")).unwrap();
    let probe = "probe = [{ name = 'gone', get = '/v1/search?q=cat', expect = 'status == 410' }]\n";
    fs::write(museum.domain().join("domain.toml"), manifest + probe).unwrap();

    let outcome = museum.record(&[]);

    assert_eq!(outcome.code, 1, "a script broke: {outcome:?}");
    let told = "warning: rehearsal/loop.py did not end well; what it asked for until then is recorded";
    assert!(outcome.stderr.contains(told), "{outcome:?}");
    let kept = [("/v1/departments", 200), ("/v1/objects/1", 200), ("/v1/objects/2", 404), ("/v1/search?q=cat", 410)];
    assert_eq!(museum.entries(), entries(&kept), "neither the page for robots nor the bad day");
    assert_eq!(museum.server.requests().len(), 6, "each address is asked for once");
}

#[test]
fn a_later_recording_adds_and_replaces() {
    let museum = Museum::new(|request| json(&format!("[{}]", request.number)));
    for list in ["/v1/b\n/v1/a\n", "/v1/c\n/v1/b\n"] {
        let path = museum.home.path().join("urls.txt");
        fs::write(&path, list).unwrap();
        assert_eq!(museum.record(&["--urls", path.to_str().unwrap()]).code, 0);
    }
    assert_eq!(museum.entries(), entries(&[("/v1/a", 200), ("/v1/b", 200), ("/v1/c", 200)]));
    let cassette = Cassette::open(&museum.cassette()).unwrap();
    for (path, body) in [("a", "[1]"), ("b", "[3]"), ("c", "[2]")] {
        assert_eq!(cassette.find(&format!("https://api.example/public/v1/{path}")).unwrap().body(9).unwrap(), body);
    }
    assert_eq!(files(&museum.cassette().join("bodies")).len(), 3, "the replaced body is gone");
}

/// Each finds the names of those before it, of which one may fail.
#[cfg(feature = "embedded")]
#[test]
fn what_the_cells_of_mode_hosted_ask_for_is_recorded() {
    let museum = Museum::new(api);
    let cells = museum.domain().join("rehearsal/hosted");
    fs::create_dir_all(&cells).unwrap();
    fs::write(cells.join("1.py"), "import json\nseen = json.loads(await list_departments({}))\nraise SystemExit(3)")
        .unwrap();
    let last = "refused = await get_object({'object_id': 2})\n\
                assert refused.startswith('ERROR: '), refused\n\
                print(await get_object({'object_id': len(seen)}))\n";
    fs::write(cells.join("2.py"), last).unwrap();
    let outcome = museum.record(&[]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let kept = entries(&[("/v1/departments", 200), ("/v1/objects/1", 200), ("/v1/objects/2", 404)]);
    assert_eq!(museum.entries(), kept);

    fs::write(cells.join("2.py"), "await no_such_tool({})").unwrap();
    let outcome = museum.record(&[]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("warning: rehearsal/hosted/2.py did not end well"), "{outcome:?}");
}

#[cfg(feature = "embedded")]
#[test]
fn a_recording_ends_as_its_scripts_did() {
    /// The script, the exit code, and what is said.
    const TABLE: [(&str, i32, &str); 5] = [
        ("list_departments()", 0, "1 answer recorded"),
        ("list_departments()\nno_such_tool()", 1, "warning: smoke.py did not end well"),
        ("no_such_tool()", 1, "error: nothing was recorded: nothing was asked for\nhint: let `smoke.py`"),
        ("print('no call')", 1, "error: nothing was recorded: nothing was asked for"),
        ("get_object(3)", 5, "error: nothing was recorded: no request was answered"),
    ];
    let museum = Museum::new(api);
    for (script, code, said) in TABLE {
        fs::write(museum.domain().join("smoke.py"), format!("from tools import *\n{script}\n")).unwrap();
        let outcome = museum.record(&[]);
        assert_eq!(outcome.code, code, "{script}: {outcome:?}");
        assert!(outcome.stderr.contains(said), "{script}: {outcome:?}");
    }
}

#[cfg(feature = "embedded")]
#[test]
fn what_new_made_up_gives_way_to_the_first_answer_that_is_recorded() {
    const GONE: &str = "the made-up sample of `new` is gone from it (25 answers)";
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(arguments).current_dir(home.path()).env_remove("WORKBENCH_RESULTS").env_remove("WORKBENCH_ROUTES");
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        finish(&mut command, "")
    };
    assert_eq!(run(&["new", "trails", "--api", "https://api.example/park"]).code, 0);
    let cassette = home.path().join("trails/cassette");
    let samples = || Cassette::open(&cassette).unwrap().samples();
    let checked = run(&["check", "./trails"]);
    assert!(checked.stdout.contains("its cassette is the made-up sample of `workbench new`"), "{checked:?}");

    let is_down = Server::start(|_| answer(503, &["retry-after: 3600"], b"busy"));
    let outcome = run(&["record", "./trails", "--route", &format!("api.example={}", is_down.url())]);
    assert_eq!((outcome.code, samples()), (5, 25), "nothing was answered, and the domain still runs: {outcome:?}");

    // The park itself, whose rocks are stones; what is the same as in the sample is recorded all the same.
    let sample = Cassette::open(&cassette).unwrap();
    let answers: BTreeMap<String, (u16, String)> = sample
        .entries()
        .map(|line| {
            let body = sample.find(&line.url).unwrap().body(9999).unwrap().to_vec();
            (line.url.clone(), (line.status, String::from_utf8(body).unwrap().replace("rock", "stone")))
        })
        .collect();
    let park = Server::start(move |request| {
        let (status, body) = &answers[&format!("https://api.example{}", request.target)];
        answer(*status, &["content-type: application/json"], body.as_bytes())
    });
    let route = format!("api.example={}", park.url());
    for is_first in [true, false] {
        let outcome = run(&["record", "./trails", "--route", &route]);
        assert_eq!((outcome.code, samples()), (0, 0), "{outcome:?}");
        assert_eq!(outcome.stderr.contains(GONE), is_first, "{outcome:?}");
        assert!(outcome.stderr.contains("now holds 25 entries"), "{outcome:?}");
    }
    let bodies = files(&cassette.join("bodies"));
    assert_eq!(bodies.len(), 25, "no body is left of what was made up");
    assert!(bodies.iter().all(|body| !fs::read_to_string(body).unwrap().contains("rock")));
    let checked = run(&["check", "./trails"]);
    assert!(checked.code == 0 && !checked.stdout.contains("made-up"), "{checked:?}");
}
