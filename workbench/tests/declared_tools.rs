//! Tools that a manifest declares: what each kind does over a real plugin and a loopback API, what is refused, and that
//! a worker which was killed still knows them. The domain is `domains/bestiary`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/patience.rs"]
mod patience;
#[path = "support/pictures.rs"]
mod pictures;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use image::ImageFormat;
use program::{Program, workspace};
use rustix::process::Signal;
use server::{Reply, Request, Server, answer, json};
use tempfile::TempDir;
use workbench::artifacts::{OutFolder, Pages};
use workbench::domain::Domain;
use workbench::plugin::{CallOutcome, ClientSettings, PluginClient, RunServices, library_for};
use workbench::web::{Source, WebClient, WebSettings};

const DOMAIN: &str = "workbench/tests/domains/bestiary";

/// The made-up API: three creatures, each with quirks that APIs have.
fn api(request: &Request) -> Reply {
    let plain = |status, text: &str| answer(status, &["content-type: text/plain"], text.as_bytes());
    let page = |names: &[&str], more: &str| {
        let results: Vec<String> = names.iter().map(|name| format!(r#"{{"name": "{name}"}}"#)).collect();
        json(&format!(r#"{{"results": [{}]{more}}}"#, results.join(", ")))
    };
    match request.target.as_str() {
        "/v1/creatures/owlbear" => json(
            "{ \"index\":\"owlbear\", \"name\":\"Owl & Bear\", \"size\":1.0, \"image\":\"https://pictures.example/o b.png\" }\n",
        ),
        "/v1/creatures/imp" => json(r#"{"index": "imp", "name": "Imp", "size": 2, "image": "/imp.png"}"#),
        "/v1/creatures/frog" => json(r#"{"index": "frog", "name": "Frog", "size": null, "image": ""}"#),
        "/v1/creatures/mist" => json(r#"{"index": "mist", "name": "Mist", "size": 3}"#),
        "/v1/creatures/page" => json(r#"{"index": "page", "name": "Page", "size": 3, "image": "/page.html"}"#),
        "/v1/creatures/drawing" => json(r#"{"index": "drawing", "name": "Drawing", "image": "/drawing.svg"}"#),
        "/v1/creatures/mislabelled" => json(r#"{"index": "mislabelled", "image": "/mislabelled"}"#),
        "/v1/creatures/noise" => json(r#"{"index": "noise", "image": "/noise.png"}"#),
        "/v1/creatures/evil" => json(r#"{"index": "evil", "image": "https://elsewhere.example/x.png"}"#),
        "/v1/creatures/html" => answer(200, &["content-type: text/html"], b"<h1>Down for maintenance</h1>"),
        "/v1/creatures/gone" => answer(410, &["content-type: application/json"], br#"{"message": "use /v2"}"#),
        "/v1/creatures/owlbear.json" => json("{}"),
        "/v1/creatures/imp/sound" => plain(200, "hiss"),
        "/o%20b.png" | "/v1/imp.png" => {
            answer(200, &["content-type: image/png"], &pictures::plain(60, 40, ImageFormat::Png))
        }
        "/v1/drawing.svg" => answer(
            200,
            &["content-type: image/svg+xml"],
            b"<?xml version=\"1.0\"?>\n<!-- drawn -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        ),
        "/v1/mislabelled" => {
            answer(200, &["content-type: application/octet-stream"], &pictures::plain(60, 40, ImageFormat::Jpeg))
        }
        "/v1/noise.png" => answer(200, &["content-type: image/png"], b"\x00\x01\x02"),
        "/v1/page.html" => answer(200, &["content-type: text/html"], b"<h1>No picture</h1>"),
        "/v1/linked" => page(&["a", "b"], r#", "next": "https://bestiary.example/v1/linked?page=2""#),
        "/v1/linked?page=2" => page(&["c"], r#", "next": "/linked?page=3""#),
        "/v1/linked?page=3" => json(r#"{"results": null, "next": null}"#),
        "/v1/linked?start=circle" => page(&["a"], r#", "next": "/linked?start=circle""#),
        "/v1/linked?start=long" => page(&["a"], r#", "next": "/long/1""#),
        "/v1/linked?start=odd" => json(r#"{"results": {"a": 1}}"#),
        "/v1/linked?start=away" => page(&["a"], r#", "next": "https://elsewhere.example/2""#),
        "/v1/counted?skip=0&take=2" => page(&["a", "b"], ""),
        "/v1/counted?skip=2&take=2" => page(&["c"], ""),
        "/v1/counted?skip=3&take=2" => page(&[], ""),
        "/v1/numbered?page=0" => page(&["a", "b"], r#", "total": 3"#),
        "/v1/numbered?page=1" => page(&["c"], r#", "total": 3"#),
        target if target.starts_with("/v1/creatures?") => json(&format!(
            r#"{{"count": 2, "asked": "{target}", "results": [
                {{"index": "owlbear", "name": "Owl & Bear", "url": "x"}}, {{"index": "imp", "name": "Imp", "url": "y"}}]}}"#
        )),
        target if target.starts_with("/v1/long/") => {
            let number: u32 = target.trim_start_matches("/v1/long/").parse().unwrap();
            page(&["x"], &format!(r#", "next": "/long/{}""#, number + 1))
        }
        _ => plain(404, "Not Found"),
    }
}

struct Bestiary {
    folder: TempDir,
    server: Server,
    client: PluginClient,
}

impl Bestiary {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(api);
        let domain = Domain::load(&workspace().join(DOMAIN)).unwrap();
        let routes = domain.manifest.api.hosts.iter().map(|host| format!("{host}={}", server.url()).parse().unwrap());
        let web = WebClient::open(WebSettings {
            api: domain.manifest.api.clone(),
            cassette: None,
            source: Source::Routes(routes.collect()),
            offline: false,
            cache: folder.path().join("cache"),
            injections: vec![],
        })
        .unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        let pages = Pages::load(&domain.folder.join("templates")).unwrap();
        let services = RunServices::new(web, OutFolder::new(&out), pages).with_expressions(domain.tool_expressions());
        let settings = ClientSettings {
            tool_seconds: 60,
            out,
            tools: domain.manifest.declared(),
            program: Some(PathBuf::from(env!("CARGO_BIN_EXE_workbench"))),
        };
        let library = library_for(&domain, &|_| ()).await.unwrap();
        let client = PluginClient::start(&library, Arc::new(services), settings).await.unwrap();
        Self { folder, server, client }
    }

    /// What a model would read.
    async fn call(&self, tool: &str, arguments: &str) -> String {
        match self.client.call(tool, arguments.to_owned().into()).await {
            CallOutcome::Answer(json) => String::from_utf8(json.to_vec()).unwrap(),
            CallOutcome::ToolError(error) => format!("ERROR: {error}"),
            other => format!("{other:?}"),
        }
    }

    fn content(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join("out").join(file)).unwrap()
    }
}

/// Calls in this order, as what is downloaded is shown later; the answers stand in the snapshot.
const CALLS: &[(&str, &str)] = &[
    ("list_creatures", "{}"),
    ("list_creatures", r#"{"limit": 1}"#),
    ("list_creatures", r#"{"limit": 0}"#),
    ("list_creatures", r#"{"limit": "many"}"#),
    ("list_creatures", r#"{"size": "huge"}"#),
    ("list_creatures", r#"{"power": 31}"#),
    ("list_creatures", r#"{"kinds": ["a", 7]}"#),
    ("list_creatures", r#"{"sise": "small"}"#),
    ("get_creature", r#"{"index": "owlbear"}"#),
    ("get_creature", "{}"),
    ("get_creature", r#"{"index": "nosuch"}"#),
    ("get_creature", r#"{"index": "gone"}"#),
    ("get_creature", r#"{"index": "html"}"#),
    ("get_creature", r#"{"index": ""}"#),
    ("get_creature", r#"{"index": ".."}"#),
    ("get_creature", r#"{"index": "../../admin"}"#),
    ("get_creature", r#"{"index": "%2e%2e/x"}"#),
    ("get_creature", r#"{"index": "imp?x=1#y"}"#),
    ("get_creature", r#"{"index": "@elsewhere.example/"}"#),
    ("get_creature", r#"{"index": "https://elsewhere.example/"}"#),
    ("get_creature", r#"{"index": "{item}"}"#),
    ("get_field", r#"{"index": "imp", "field": "size"}"#),
    ("get_field", r#"{"index": "frog", "field": "size"}"#),
    ("get_field", r#"{"index": "mist", "field": "image"}"#),
    ("get_elsewhere", r#"{"index": "owlbear"}"#),
    ("list_by_links", "{}"),
    ("list_by_links", r#"{"start": "circle"}"#),
    ("list_by_links", r#"{"start": "long"}"#),
    ("list_by_links", r#"{"start": "odd"}"#),
    ("list_by_links", r#"{"start": "away"}"#),
    ("list_by_offset", "{}"),
    ("list_by_number", "{}"),
    ("make_sheet", r#"{"indexes": ["owlbear", "imp"]}"#),
    ("make_sheet", r#"{"indexes": ["imp"]}"#),
    ("make_sheet", r#"{"indexes": []}"#),
    (
        "make_sheet",
        r#"{"indexes": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22"]}"#,
    ),
    ("download_picture", r#"{"index": "owlbear"}"#),
    ("download_picture", r#"{"index": "imp"}"#),
    ("download_picture", r#"{"index": "frog"}"#),
    ("download_picture", r#"{"index": "mist"}"#),
    ("download_picture", r#"{"index": "page"}"#),
    ("download_picture", r#"{"index": "drawing"}"#),
    ("download_picture", r#"{"index": "mislabelled"}"#),
    ("download_picture", r#"{"index": "noise"}"#),
    ("download_picture", r#"{"index": "evil"}"#),
    ("download_picture", r#"{"index": "nosuch"}"#),
    ("download_sound", r#"{"index": "imp"}"#),
    ("build_album", r#"{"indexes": ["imp", "owlbear", "frog"]}"#),
    ("build_album", r#"{"indexes": ["imp", "owlbear"]}"#),
    ("build_page", r#"{"name": "beasts", "title": "<Beasts>", "indexes": ["imp", "owlbear"]}"#),
    ("build_page", r#"{"name": "../beasts", "title": "x", "indexes": ["imp", "nosuch"]}"#),
    ("build_page", r#"{"name": "x", "title": "x", "indexes": ["gone", "imp", ".."]}"#),
    ("build_page", r#"{"name": "x", "title": "x", "indexes": []}"#),
    ("build_page", r#"{"name": "evil", "title": "x", "indexes": ["evil"]}"#),
    ("save_notes", r#"{"name": "notes", "text": "{text} <b>\nend"}"#),
    ("save_notes", r#"{"name": "/etc/passwd", "text": "x"}"#),
    ("no_such_tool", "{}"),
];

#[tokio::test]
async fn each_kind_does_what_its_declaration_says() {
    let bestiary = Bestiary::open().await;
    let mut told = String::new();
    for (tool, arguments) in CALLS {
        told.push_str(&format!("{tool} {arguments}\n    {}\n", bestiary.call(tool, arguments).await.trim_end()));
    }
    insta::assert_snapshot!("calls", told);

    let sheet = bestiary.call("make_sheet", r#"{"indexes": ["owlbear", "imp"]}"#).await;
    assert!(sheet.starts_with(r#"{"file":"out/sheet.jpg","bytes":"#) && sheet.ends_with(r#","items":2}"#), "{sheet}");
    assert_eq!(
        bestiary.content("beasts.html").trim(),
        "<title>&lt;Beasts&gt;</title>\n<p>Imp: 2</p>\n<p>Owl &amp; Bear: 1.0</p>"
    );
    assert_eq!(
        bestiary.content("album.html").trim(),
        "<img src=\"imp.png\" alt=\"imp\">\n<img src=\"owlbear.png\" alt=\"owlbear\">"
    );
    assert_eq!(bestiary.content("notes.md"), "# notes\n\n{text} <b>\nend\n");
    assert_eq!(bestiary.content("imp.txt"), "hiss");
}

#[tokio::test]
async fn a_parameter_without_a_value_is_left_out() {
    let bestiary = Bestiary::open().await;
    for (arguments, asked) in [
        ("{}", "sort=name&tame=false"),
        (r#"{"name": "", "size": null, "kinds": []}"#, "sort=name&tame=false"),
        (r#"{"name": "a&tame=1", "tame": true}"#, "name=a%26tame%3D1&sort=name&tame=true"),
        (
            r#"{"kinds": ["x", "y"], "power": 0.5, "size": "large"}"#,
            "kinds=x%2Cy&power=0.5&size=large&sort=name&tame=false",
        ),
        (r#"{"power": 1}"#, "power=1&sort=name&tame=false"),
    ] {
        bestiary.call("list_creatures", arguments).await;
        let requests = bestiary.server.requests();
        assert_eq!(requests.last().unwrap().target, format!("/v1/creatures?{asked}"), "{arguments}");
    }
}

/// A record that is not looked into is not written anew: spaces, numbers and the last line feed stay.
#[tokio::test]
async fn a_record_is_handed_on_as_it_came_and_asked_for_once() {
    let bestiary = Bestiary::open().await;
    for _ in 0..2 {
        let record = bestiary.call("get_creature", r#"{"index": "owlbear"}"#).await;
        assert!(record.starts_with("{ \"index\":\"owlbear\", ") && record.ends_with(" }\n"), "{record:?}");
    }
    assert_eq!(bestiary.server.requests().len(), 1);
}

#[tokio::test]
async fn a_worker_that_was_killed_is_told_its_tools_again() {
    let bestiary = Bestiary::open().await;
    let out = bestiary.folder.path().to_string_lossy().into_owned();
    for _ in 0..3 {
        assert_eq!(bestiary.call("list_by_number", "{}").await, "3");
        let workers = processes::children(std::process::id());
        let worker = workers.iter().find(|process| process.command.contains(&out)).expect("a worker of this test");
        worker.send(Signal::KILL);
        patience::until("the worker is gone", || !worker.is_alive()).await;
    }
    assert_eq!(bestiary.call("list_by_number", "{}").await, "3");
}

#[test]
fn a_model_and_a_script_see_them_as_any_tools() {
    let program = Program::new();
    let outcome = program.run(&["tools", DOMAIN, "--python"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    insta::assert_snapshot!("python", outcome.stdout);
    let tools = program.json(&["tools", DOMAIN]);
    insta::assert_snapshot!("schema", serde_json::to_string_pretty(&tools[0]).unwrap());
}
