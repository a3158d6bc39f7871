//! What a tool may ask of its host: a real web client over loopback, a real folder, real pictures.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/pictures.rs"]
mod pictures;
#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/server.rs"]
mod server;

use std::io::Cursor;

use bytes::Bytes;
use image::{DynamicImage, ImageFormat};
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, HostRequest, Picture, SavedFile};
use serde_json::json;
use server::{Server, answer, json as json_reply};
use tempfile::TempDir;
use workbench::artifacts::{OutFolder, Pages};
use workbench::domain::manifest::{ApiSection, Pace};
use workbench::plugin::{HostServices, RunServices};
use workbench::web::{Source, WebClient, WebSettings};

struct Fixture {
    folder: TempDir,
    _server: Server,
    services: RunServices,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match request.target.as_str() {
        "/v1/objects/7?lang=en" => json_reply(r#"{ "objectID": 7 }"#),
        "/7.png" => answer(200, &["content-type: image/png"], &picture()),
        _ => answer(404, &["content-type: application/json"], br#"{"message": "ObjectID not found"}"#),
    });
    let host = "api.example.org";
    let api = ApiSection {
        base: Some(format!("http://{host}/v1")),
        hosts: vec![host.to_owned()],
        pace: Pace { gap_ms: 0, concurrency: 4 },
        ..ApiSection::default()
    };
    let route = format!("{host}={}", server.url()).parse().unwrap();
    let web = WebClient::open(WebSettings {
        api,
        cassette: None,
        source: Source::Routes(vec![route]),
        offline: false,
        cache: folder.path().join("cache"),
        injections: vec![],
    })
    .unwrap();
    let pages = Pages::load(&folder.path().join("templates")).unwrap();
    let services = RunServices::new(web, OutFolder::new(folder.path().join("out")), pages);
    Fixture { folder, _server: server, services }
}

fn picture() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::new_rgb8(60, 40).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn get_bytes() -> HostRequest {
    HostRequest::GetBytes { path: "http://api.example.org/7.png".to_owned(), query: vec![] }
}

fn save(name: &str, extension: &str, handle: Option<u64>) -> HostRequest {
    HostRequest::Save { name: name.to_owned(), extension: extension.to_owned(), handle }
}

fn saved(file: &str, bytes: usize) -> HostReply {
    HostReply::File(SavedFile { file: file.to_owned(), bytes: bytes as u64 })
}

impl Fixture {
    async fn ask(&self, call: u64, request: HostRequest) -> HostReply {
        self.services.request(call, request, Bytes::new()).await.0
    }

    async fn refusal(&self, request: HostRequest, body: &'static str) -> ToolError {
        match self.services.request(1, request, Bytes::from(body)).await.0 {
            HostReply::Error(error) => error,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn documents_come_untouched_and_failures_in_the_apis_words() {
    let fixture = fixture();
    let get = |path: &str, query: &[(&str, &str)]| HostRequest::GetJson {
        path: path.to_owned(),
        query: query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        document: None,
    };
    let (reply, body) = fixture.services.request(1, get("/objects/7", &[("lang", "en")]), Bytes::new()).await;
    assert_eq!((reply, &body[..]), (HostReply::Json, &br#"{ "objectID": 7 }"#[..]));

    let error = fixture.refusal(get("/objects/8", &[]), "").await;
    assert_eq!(error.message, "http://api.example.org/v1/objects/8 returned HTTP 404: ObjectID not found");
    assert_eq!(error.code.as_deref(), Some("http_404"));
    let error = fixture.refusal(get("http://elsewhere.example.org/", &[]), "").await;
    assert_eq!(error.code.as_deref(), Some("not_allowed"));
}

#[tokio::test]
async fn a_handle_is_of_one_call_and_goes_with_it() {
    let fixture = fixture();
    let content_type = "image/png".to_owned();
    let length = picture().len() as u64;
    assert_eq!(fixture.ask(1, get_bytes()).await, HostReply::Bytes { handle: 0, length, content_type });
    let read = HostRequest::Read { handle: 0 };
    let (reply, body) = fixture.services.request(1, read.clone(), Bytes::new()).await;
    assert_eq!((reply, &body[..]), (HostReply::Content, &picture()[..]));
    assert_eq!(fixture.ask(1, save("7", "png", Some(0))).await, saved("out/7.png", picture().len()));
    assert_eq!(std::fs::read(fixture.folder.path().join("out/7.png")).unwrap(), picture());

    assert!(matches!(fixture.ask(2, read.clone()).await, HostReply::Error(_)), "another call");
    fixture.services.call_ended(1);
    let error = fixture.refusal(read, "").await;
    assert_eq!(error.message, "this call fetched no document with the handle 0");
}

#[tokio::test]
async fn files_pages_and_sheets_are_made_in_out() {
    let fixture = fixture();
    let is_saved = HostRequest::Saved { name: "7.exe".to_owned(), extension: "png".to_owned() };
    assert_eq!(fixture.ask(1, is_saved.clone()).await, HostReply::Missing);
    let request = save("../../7.exe", "png", None);
    let reply = fixture.services.request(1, request, Bytes::from(picture())).await.0;
    assert_eq!(reply, saved("out/7.png", picture().len()));
    assert_eq!(fixture.ask(1, is_saved).await, saved("out/7.png", picture().len()));
    let other = HostRequest::Saved { name: "7".to_owned(), extension: "png".to_owned() };
    assert_eq!(fixture.ask(1, other).await, saved("out/7.png", picture().len()), "the name that was told");

    let pictures = vec![Picture { file: "out/7.png".to_owned(), label: "#7".to_owned() }];
    let sheet = HostRequest::ContactSheet { name: "contact_sheet".to_owned(), pictures };
    assert!(matches!(fixture.ask(1, sheet).await, HostReply::File(file) if file.file == "out/contact_sheet.jpg"));
    assert_eq!(image::image_dimensions(fixture.folder.path().join("out/contact_sheet.jpg")).unwrap(), (960, 262));

    let page = HostRequest::Render { template: "gallery.html".to_owned(), name: "exhibit".to_owned() };
    let data = json!({"title": "Cats in the Met", "pieces": []}).to_string();
    let reply = fixture.services.request(1, page, Bytes::from(data)).await.0;
    assert!(matches!(reply, HostReply::File(file) if file.file == "out/exhibit.html"));
}

#[tokio::test]
async fn what_cannot_be_made_is_refused_with_a_reason() {
    let fixture = fixture();
    let pictures = vec![Picture { file: "out/9.jpg".to_owned(), label: String::new() }];
    let sheet = HostRequest::ContactSheet { name: "sheet".to_owned(), pictures };
    assert_eq!(fixture.refusal(sheet, "").await.message, "out/9.jpg was not saved yet");
    let page = |template: &str| HostRequest::Render { template: template.to_owned(), name: "page".to_owned() };
    for (template, data, expected) in [
        ("nosuch.html", "{}", "there is no template nosuch.html; there are: "),
        ("gallery.html", "{}", "the page gallery.html cannot be made: line 11: "),
        ("gallery.html", "{", "the data of the page gallery.html is not JSON: "),
    ] {
        let error = fixture.refusal(page(template), data).await;
        assert!(error.message.starts_with(expected), "{error}");
    }
    assert!(!fixture.folder.path().join("out").exists(), "nothing is left behind");
    assert_eq!(fixture.services.faults(), [], "who asks for what cannot be made meets no fault");
}

#[tokio::test]
async fn a_disk_that_refuses_is_a_fault() {
    let fixture = fixture();
    std::fs::write(fixture.folder.path().join("out"), "where the folder should be").unwrap();
    let error = fixture.refusal(save("7", "png", None), "picture").await;
    assert!(error.message.starts_with("out/7.png could not be saved: "), "{error}");
    let faults = fixture.services.faults();
    assert_eq!(faults.iter().map(|fault| fault.text.as_str()).collect::<Vec<_>>(), [error.message]);
}

/// Pictures in `out/` that a tool never made well, and what a tool reads that wants them on a sheet.
#[tokio::test]
async fn hostile_pictures_are_refused() {
    let fixture = fixture();
    let out = fixture.folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let huge = "out/f.jpg cannot be drawn: it has 60000 x 60000 pixels, 10300 MB when decoded; at most 256 MB are read";
    let cases: [(Vec<u8>, &str); 9] = [
        (pictures::jpeg_claiming(60_000, 60_000), huge),
        (pictures::png_claiming(60_000, 60_000, 8), huge),
        (pictures::png_claiming(9_000, 9_000, 8), "out/f.jpg cannot be drawn: it cannot be read as a picture: "),
        (
            pictures::noise(ImageFormat::Jpeg)[..20_000].to_vec(),
            "out/f.jpg cannot be drawn: it cannot be read as a picture: ",
        ),
        (b"<html>not found</html>".to_vec(), "out/f.jpg cannot be drawn: it is no picture"),
        (vec![], "out/f.jpg cannot be drawn: it is no picture"),
        (vec![0; 65 << 20], "out/f.jpg has 68157440 bytes, over the limit of 67108864"),
        (pictures::png_with_words_of(b"zTXt", 1_000), ""),
        (pictures::png_with_pixels_for(1_000), ""),
    ];
    let sheet = |count: usize| HostRequest::ContactSheet {
        name: "sheet".to_owned(),
        pictures: vec![Picture { file: "out/f.jpg".to_owned(), label: String::new() }; count],
    };
    for (bytes, refusal) in cases {
        std::fs::write(out.join("f.jpg"), bytes).unwrap();
        match fixture.ask(1, sheet(1)).await {
            HostReply::Error(error) => assert!(!refusal.is_empty() && error.message.starts_with(refusal), "{error}"),
            reply => assert!(refusal.is_empty() && matches!(reply, HostReply::File(_)), "{refusal}: {reply:?}"),
        }
    }
    std::fs::write(out.join("f.jpg"), pictures::black(9_000, 9_000)).unwrap();
    let error = fixture.refusal(sheet(18), "").await;
    let refusal = "out/f.jpg is one too many: the pictures of a sheet may have 4096 MB in all when decoded";
    assert_eq!(error.message, refusal);
    for replace in [pipe::pipe, make_link] {
        std::fs::remove_file(out.join("f.jpg")).unwrap();
        replace(&out.join("f.jpg"));
        assert_eq!(fixture.refusal(sheet(1), "").await.message, "out/f.jpg was not saved yet");
    }
}

fn make_link(path: &std::path::Path) {
    std::os::unix::fs::symlink("/etc/passwd", path).unwrap();
}

/// What a tool hands to its host, and has it keep, is bounded.
#[tokio::test]
async fn too_much_is_refused() {
    let fixture = fixture();
    let page = || HostRequest::Render { template: "gallery.html".to_owned(), name: "page".to_owned() };
    let numbers = format!("{{\"title\": \"x\", \"pieces\": [{}0]}}", "0,".repeat(50 << 20));
    let long = json!({"title": "x".repeat(9 << 20), "pieces": []}).to_string();
    for (data, refusal) in [
        (
            numbers,
            "the data of the page gallery.html is too much: it would take some 6501 MB of memory; at most 128 MB",
        ),
        (long, "the page gallery.html cannot be made: it is longer than 8 MB"),
    ] {
        match fixture.services.request(1, page(), Bytes::from(data)).await.0 {
            HostReply::Error(error) => assert!(error.message.starts_with(refusal), "{error}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(!fixture.folder.path().join("out").exists(), "nothing is left behind");
}
