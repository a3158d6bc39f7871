//! Showing downloaded pictures: a contact sheet, a gallery page.

use plugin_api::named;
use plugin_api::prelude::*;
use serde::Serialize;

use crate::objects::{Record, record_of};
use crate::text::plain;

#[derive(Serialize)]
pub(crate) struct Written {
    file: String,
    bytes: u64,
    pieces: usize,
}

impl Written {
    fn new(file: SavedFile, pieces: usize) -> Self {
        Self { file: file.file, bytes: file.bytes, pieces }
    }
}

/// Draws the downloaded images of some objects into one picture, four in a row, each with `#id` below. Call download_image
/// for each object first. Returns {file, bytes, pieces}.
#[tool]
pub(crate) fn make_contact_sheet(
    host: &Host,
    /** Name of the picture, without an extension. */
    name: String,
    /** Ids of the objects, in the order wanted. */
    object_ids: Vec<u64>,
) -> ToolResult<Written> {
    let images = images_of(host, &object_ids)?.into_iter().zip(&object_ids);
    let pictures: Vec<_> = images.map(|(image, id)| Picture { file: image.file, label: format!("#{id}") }).collect();
    host.contact_sheet(name, &pictures).map(|sheet| Written::new(sheet, pictures.len()))
}

#[derive(Serialize)]
struct Gallery {
    title: String,
    pieces: Vec<Piece>,
}

#[derive(Serialize)]
struct Piece {
    /// Beside the page, nothing remote.
    image: String,
    object_id: u64,
    title: String,
    artist: String,
    date: String,
    url: String,
    credit: String,
    department: String,
}

/// Builds a gallery page of some objects: image, title, artist, date, credit line and a link to the museum's page of each.
/// Call download_image for each object first. Returns {file, bytes, pieces}.
#[tool]
pub(crate) fn build_gallery(
    host: &Host,
    /** Name of the page, without an extension. */
    name: String,
    /** Headline of the page. */
    title: String,
    /** Ids of the objects, in the order wanted. */
    object_ids: Vec<u64>,
) -> ToolResult<Written> {
    let images = images_of(host, &object_ids)?.into_iter().zip(&object_ids);
    let pieces =
        images.map(|(image, &id)| Ok(piece(id, &image, &record_of(host, id)?))).collect::<ToolResult<Vec<_>>>()?;
    let gallery = Gallery { title, pieces };
    host.render("gallery.html", name, &gallery).map(|page| Written::new(page, gallery.pieces.len()))
}

fn piece(object_id: u64, image: &SavedFile, record: &Record) -> Piece {
    let museum_page = format!("https://www.metmuseum.org/art/collection/search/{object_id}");
    let links = record.object_url.starts_with("https://") || record.object_url.starts_with("http://");
    Piece {
        image: image.file.rsplit('/').next().unwrap_or_default().to_owned(),
        object_id,
        title: first_of([plain(&record.title), plain(&record.object_name), "Untitled".to_owned()]),
        artist: first_of([plain(&record.artist_display_name), "Unknown artist".to_owned()]),
        date: first_of([plain(&record.object_date), "undated".to_owned()]),
        url: if links { record.object_url.clone() } else { museum_page },
        credit: plain(&record.credit_line),
        department: plain(&record.department),
    }
}

fn first_of<const COUNT: usize>(texts: [String; COUNT]) -> String {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// The downloaded image of each object. Names every one that is missing, so that one more turn is enough.
fn images_of(host: &Host, object_ids: &[u64]) -> ToolResult<Vec<SavedFile>> {
    if object_ids.is_empty() {
        return Err(ToolError::new("object_ids is empty: there is nothing to show"));
    }
    let (mut images, mut missing) = (Vec::new(), Vec::new());
    for id in object_ids {
        match host.saved(id, "jpg")? {
            Some(image) => images.push(image),
            None => missing.push(id.to_string()),
        }
    }
    let problem = match missing.as_slice() {
        [] => return Ok(images),
        [id] => format!("the image of {id} was not downloaded yet: call download_image for it first"),
        ids => format!("the images of {} were not downloaded yet: call download_image for each first", named(ids)),
    };
    Err(ToolError::new(problem).with_code("not_downloaded"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::path::Path;

    use plugin_api::Picture;
    use plugin_api::testing::{FakeHost, Sheet};
    use serde_json::{Value, json};

    use crate::PLUGIN;

    fn museum(records: &[(u64, Value)]) -> FakeHost {
        records.iter().fold(FakeHost::new(), |host, (id, record)| {
            host.json(&format!("/v1/objects/{id}"), record.to_string()).file(&format!("{id}.jpg"), b"picture")
        })
    }

    #[test]
    fn a_sheet_has_a_labelled_cell_for_each_object_in_order() {
        let host = museum(&[(2, json!({})), (1, json!({}))]);
        let arguments = json!({"name": "contact_sheet", "object_ids": [2, 1]});
        let answer = host.call(&PLUGIN, "make_contact_sheet", &arguments);
        assert_eq!(answer, Ok(json!({"file": "out/contact_sheet.jpg", "bytes": 0, "pieces": 2})));
        let picture = |id: u64| Picture { file: format!("out/{id}.jpg"), label: format!("#{id}") };
        assert_eq!(host.sheets(), [Sheet { name: "contact_sheet".to_owned(), pictures: vec![picture(2), picture(1)] }]);
        assert!(host.requests().is_empty(), "a sheet needs no record");
    }

    #[test]
    fn a_gallery_shows_plain_texts_and_fills_what_is_unknown() {
        let full = json!({
            "title": "<i>Tsuba</i> &amp; \r\nblade", "objectName": "Sword guard", "artistDisplayName": "Hirata Dōnin",
            "objectDate": "ca. 1615", "department": "Asian Art", "creditLine": "Bequest, 1936",
            "objectURL": "https://www.metmuseum.org/art/collection/search/1", "tags": null, "measurements": null,
        });
        let bare = json!({
            "title": "", "objectName": "Amulet", "artistDisplayName": "", "objectDate": "", "department": "Egyptian Art",
            "creditLine": "", "objectURL": "javascript:alert(1)",
        });
        let host = museum(&[(1, full), (2, bare), (3, json!({"title": " ", "objectName": ""}))]);
        let arguments = json!({"name": "exhibit", "title": "Cats", "object_ids": [1, 2, 3]});
        let answer = host.call(&PLUGIN, "build_gallery", &arguments);
        assert_eq!(answer, Ok(json!({"file": "out/exhibit.html", "bytes": 0, "pieces": 3})));
        let pages = host.pages();
        assert_eq!((pages[0].template.as_str(), pages[0].name.as_str()), ("gallery.html", "exhibit"));
        let page_of = |id: u64| format!("https://www.metmuseum.org/art/collection/search/{id}");
        let expected = json!({"title": "Cats", "pieces": [
            {"image": "1.jpg", "object_id": 1, "title": "Tsuba & blade", "artist": "Hirata Dōnin", "date": "ca. 1615",
             "url": page_of(1), "credit": "Bequest, 1936", "department": "Asian Art"},
            {"image": "2.jpg", "object_id": 2, "title": "Amulet", "artist": "Unknown artist", "date": "undated",
             "url": page_of(2), "credit": "", "department": "Egyptian Art"},
            {"image": "3.jpg", "object_id": 3, "title": "Untitled", "artist": "Unknown artist", "date": "undated",
             "url": page_of(3), "credit": "", "department": ""},
        ]});
        assert_eq!(pages[0].data, expected);
    }

    #[test]
    fn what_was_not_downloaded_is_named_with_the_tool_to_call() {
        for (tool, mut arguments) in [
            ("make_contact_sheet", json!({"name": "sheet"})),
            ("build_gallery", json!({"name": "page", "title": "Cats"})),
        ] {
            let host = museum(&[(1, json!({}))]);
            arguments["object_ids"] = json!([5, 1, 6]);
            let error = host.call(&PLUGIN, tool, &arguments).unwrap_err();
            assert_eq!(error.message, "the images of 5, 6 were not downloaded yet: call download_image for each first");
            arguments["object_ids"] = json!([5]);
            let error = host.call(&PLUGIN, tool, &arguments).unwrap_err();
            assert_eq!(error.message, "the image of 5 was not downloaded yet: call download_image for it first");
            arguments["object_ids"] = json!([]);
            let error = host.call(&PLUGIN, tool, &arguments).unwrap_err();
            assert_eq!(error.message, "object_ids is empty: there is nothing to show");
            assert!(host.sheets().is_empty() && host.pages().is_empty());
        }
    }

    /// Every object of the domain's made-up catalogue, as its cassette holds it.
    #[test]
    fn every_object_of_the_cassette_can_be_shown() {
        let cassette = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains/met/cassette");
        let index = std::fs::read_to_string(cassette.join("index.jsonl")).unwrap();
        let mut shown = 0;
        for line in index.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            if entry["status"] == 200 && entry["url"].as_str().unwrap().contains("/v1/objects/") {
                can_be_shown(&cassette.join("bodies").join(entry["body"].as_str().unwrap()));
                shown += 1;
            }
        }
        assert!(shown >= 120, "the catalogue has shrunk to {shown} objects");
    }

    /// Needs recorded answers of the real API beside the workspace; without them there is nothing to test.
    #[test]
    fn every_recorded_object_can_be_shown() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/met/public/collection/v1/objects");
        let Ok(files) = std::fs::read_dir(folder) else {
            eprintln!("skipped: no recorded objects in {folder}");
            return;
        };
        for file in files {
            can_be_shown(&file.unwrap().path());
        }
    }

    fn can_be_shown(record: &Path) {
        let body = std::fs::read(record).unwrap();
        let id = serde_json::from_slice::<Value>(&body).unwrap()["objectID"].as_u64().unwrap();
        let host = FakeHost::new().json(&format!("/v1/objects/{id}"), &body).file(&format!("{id}.jpg"), b"picture");
        let arguments = json!({"name": "page", "title": "All", "object_ids": [id]});
        host.call(&PLUGIN, "build_gallery", &arguments).unwrap();
        let piece = host.pages().remove(0).data["pieces"].take();
        for field in ["title", "artist", "date", "url", "department"] {
            let text = piece[0][field].as_str().unwrap();
            assert!(!text.is_empty() && !text.contains(['<', '\n', '\r']), "{id}: {field}: {text:?}");
        }
    }
}
