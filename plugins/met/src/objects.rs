//! One object: its record, its picture.

use plugin_api::prelude::*;
use serde::{Deserialize, Serialize};

/// The fields of a record that these tools read. All are text in the API, `""` when unknown.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) title: String,
    pub(crate) object_name: String,
    pub(crate) artist_display_name: String,
    pub(crate) object_date: String,
    pub(crate) department: String,
    pub(crate) credit_line: String,
    #[serde(rename = "objectURL")]
    pub(crate) object_url: String,
    primary_image_small: String,
    is_public_domain: bool,
}

/// Everything the museum records about one object. Returns the record as JSON with 57 fields, about 2 KB: objectID, title,
/// objectName (the kind of object), department, isPublicDomain, primaryImageSmall, artistDisplayName, objectDate,
/// objectBeginDate, objectEndDate, culture, medium, dimensions, classification, creditLine, objectURL and so on. Unknown text
/// is "", an unknown list is null (constituents, measurements, tags). title may hold HTML; the order of measurements is not fixed.
#[tool]
pub(crate) fn get_object(
    host: &Host,
    /** The museum's id of the object. */
    object_id: u64,
) -> ToolResult<RawJson> {
    let missing = |error: ToolError| match error.code.as_deref() {
        Some("http_404") => {
            error.with_help("search lists some ids that the museum does not serve: go on with the next")
        }
        _ => error,
    };
    host.get_json(format!("/v1/objects/{object_id}"), &[]).map_err(missing)
}

/// The record of an object, read.
pub(crate) fn record_of(host: &Host, object_id: u64) -> ToolResult<Record> {
    get_object(host, object_id)?.parse()
}

#[derive(Serialize)]
pub(crate) struct Downloaded {
    object_id: u64,
    file: String,
    bytes: u64,
}

/// Downloads the small web image of one object, to be shown by make_contact_sheet and build_gallery. Returns {object_id, file, bytes}.
/// Fails when the object has no image (primaryImageSmall is empty), as objects that are not public domain have none.
#[tool]
pub(crate) fn download_image(
    host: &Host,
    /** The museum's id of the object. */
    object_id: u64,
) -> ToolResult<Downloaded> {
    let record = record_of(host, object_id)?;
    let address = record.primary_image_small.trim();
    if address.is_empty() {
        let reason = if record.is_public_domain { "" } else { ": it is not public domain" };
        return Err(ToolError::new(format!("object {object_id} has no image{reason}")).with_code("no_image"));
    }
    let image = host.get_bytes(address, &[])?;
    let content_type = image.content_type();
    if !content_type.is_empty() && !content_type.starts_with("image/") {
        return Err(
            ToolError::new(format!("{address} answered {content_type}, which is no image")).with_code("no_image")
        );
    }
    let saved = host.save(object_id, "jpg", &image)?;
    Ok(Downloaded { object_id, file: saved.file, bytes: saved.bytes })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plugin_api::ToolError;
    use plugin_api::testing::FakeHost;
    use serde_json::json;

    use crate::PLUGIN;

    const ADDRESS: &str = "/v1/objects/436535";
    const IMAGE: &str = "https://images.metmuseum.org/CRDImages/ep/web-large/DT 1567.jpg";

    fn with_image(image: &str, is_public_domain: bool) -> FakeHost {
        let record = json!({"objectID": 436_535, "isPublicDomain": is_public_domain, "primaryImageSmall": image});
        FakeHost::new().json(ADDRESS, record.to_string())
    }

    #[test]
    fn a_record_is_handed_on_as_it_came() {
        // Null lists, measurements in whatever order, line feeds in texts, a final line feed.
        let record = "{\"objectID\":436535,\"tags\":null,\"measurements\":[{\"b\":29.49},{\"a\":1}],\"dimensions\":\"a\\r\\nb\"}\n";
        let host = FakeHost::new().json(ADDRESS, record);
        let answer = host.call_raw(&PLUGIN, "get_object", &json!({"object_id": 436_535}));
        assert_eq!(answer, Ok(record.as_bytes().to_vec()));
    }

    #[test]
    fn an_id_that_is_listed_but_not_served_says_go_on() {
        for message in ["HTTP 404: ObjectID not found", "HTTP 404: Not a valid object"] {
            let host = FakeHost::new().refuses(ADDRESS, ToolError::new(message).with_code("http_404"));
            let error = host.call(&PLUGIN, "get_object", &json!({"object_id": 436_535})).unwrap_err();
            assert_eq!(error.message, message);
            assert!(error.help.unwrap().contains("go on with the next"));
        }
        let host = FakeHost::new().refuses(ADDRESS, ToolError::new("HTTP 503: outage").with_code("http_503"));
        assert_eq!(host.call(&PLUGIN, "get_object", &json!({"object_id": 436_535})).unwrap_err().help, None);
    }

    #[test]
    fn the_small_image_is_saved_under_the_id() {
        // The space in the address is left to the host, which encodes it.
        let host = with_image(IMAGE, true).bytes(IMAGE, "image/jpeg", b"\xff\xd8picture");
        let answer = host.call(&PLUGIN, "download_image", &json!({"object_id": 436_535}));
        assert_eq!(answer, Ok(json!({"object_id": 436_535, "file": "out/436535.jpg", "bytes": 9})));
        assert_eq!(host.content("out/436535.jpg").unwrap(), b"\xff\xd8picture");
        assert_eq!(host.requests(), [ADDRESS, IMAGE]);
    }

    #[test]
    fn an_object_without_an_image_says_why() {
        let cases = [
            (with_image("", true), "object 436535 has no image"),
            (with_image("", false), "object 436535 has no image: it is not public domain"),
            (
                with_image("/x.jpg", true).bytes("/x.jpg", "text/html", "<html>"),
                "/x.jpg answered text/html, which is no image",
            ),
        ];
        for (host, expected) in cases {
            let error = host.call(&PLUGIN, "download_image", &json!({"object_id": 436_535})).unwrap_err();
            assert_eq!(error.message, expected);
            assert!(host.files().is_empty());
        }
    }
}
