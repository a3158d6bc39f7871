//! A made-up museum of 130 objects, in which every field follows from the id.

use plugin_api::prelude::*;
use serde::Serialize;

const TOTAL: i64 = 130;
const FIRST_ID: i64 = 1000;
const DEPARTMENTS: [&str; 4] = ["Egyptian Art", "Asian Art", "European Paintings", "Islamic Art"];

#[derive(Serialize)]
pub(crate) struct Found {
    object_ids: Vec<i64>,
    next_offset: Option<i64>,
    total: i64,
}

/// A page of the ids of all objects, whatever is searched for. Returns `object_ids`, `next_offset`
/// (null at the end) and `total`.
#[tool]
pub(crate) fn search_collection(
    /** Ignored. */
    #[default("")]
    query: String,
    /** How many ids to skip. */
    #[default(0)]
    #[range(-10_000..=10_000)]
    offset: i64,
    /** How many ids to return. */
    #[default(20)]
    limit: i64,
    /** Ignored. */
    department: Option<RawJson>,
) -> ToolResult<Found> {
    let _ignored = (query, department);
    let end = offset.saturating_add(limit);
    let object_ids = (offset..end.min(TOTAL)).map(|index| FIRST_ID + index).collect();
    Ok(Found { object_ids, next_offset: (end < TOTAL).then_some(end), total: TOTAL })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    #[serde(rename = "objectID")]
    object_id: i64,
    title: String,
    department: &'static str,
    object_date: String,
    object_begin_date: i64,
    artist_display_name: &'static str,
    medium: &'static str,
    is_public_domain: bool,
    primary_image: String,
    tags: Option<[Tag; 2]>,
    dimensions: String,
}

#[derive(Serialize)]
pub(crate) struct Tag {
    term: &'static str,
}

/// The record of one object. Fails for every 37th id, as an API does for objects it lists but does
/// not serve.
#[tool]
pub(crate) fn get_object(
    /** The object's id. */
    object_id: i64,
) -> ToolResult<Record> {
    if object_id % 37 == 0 {
        return Err(format!("object {object_id} not found (404)").into());
    }
    let is_even = object_id.rem_euclid(2) == 0;
    let kind = object_id.rem_euclid(4);
    let year = 1500 + object_id.rem_euclid(400);
    let pick = |words: [&'static str; 4]| {
        words.into_iter().zip(0..).find(|(_, index)| *index == kind).map_or("", |(word, _)| word)
    };
    Ok(Record {
        object_id,
        title: if kind == 0 { "Seated Cat".to_owned() } else { format!("Cat no. {object_id}") },
        department: pick(DEPARTMENTS),
        object_date: match kind {
            0 => format!("ca. {year}"),
            1 => format!("{year}-{}", year + 5),
            2 => "18th century".to_owned(),
            _ => year.to_string(),
        },
        object_begin_date: year,
        artist_display_name: pick(["Unknown", "Hiroshige", "", "Manet"]),
        medium: if is_even { "Woodblock print, ink on paper" } else { "Bronze; gilt" },
        is_public_domain: is_even,
        primary_image: if object_id % 3 == 0 { String::new() } else { format!("https://img/{object_id}.jpg") },
        tags: (!is_even).then_some([Tag { term: "Cats" }, Tag { term: "Women" }]),
        dimensions: format!("H. {}.5 x W. {} cm", object_id.rem_euclid(50), object_id.rem_euclid(30)),
    })
}

#[derive(Serialize)]
pub(crate) struct Downloaded {
    path: String,
    bytes: i64,
}

/// Pretends to download an object's image. Returns its path and its length in bytes. Fails for every fifth id.
#[tool]
pub(crate) fn download_image(
    /** The object's id. */
    object_id: i64,
    /** Where to; by default a name made of the id. */
    path: Option<String>,
) -> ToolResult<Downloaded> {
    if object_id % 5 == 0 {
        return Err(format!("object {object_id} has no public image (HTTP 403)").into());
    }
    let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| format!("/img/{object_id}.jpg"));
    Ok(Downloaded { path, bytes: object_id.saturating_mul(17).saturating_add(12_345) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plugin_api::testing::FakeHost;
    use serde_json::{Value, json};

    use crate::PLUGIN;

    fn call(tool: &str, arguments: &Value) -> Result<Value, String> {
        FakeHost::new().call(&PLUGIN, tool, arguments).map_err(|error| error.message)
    }

    #[test]
    fn pages_end_at_130_objects() {
        let cases = [
            (json!({}), 1000, 20, json!(20)),
            (json!({"query": "cat", "offset": 100, "limit": 29, "department": "Asian Art"}), 1100, 29, json!(129)),
            (json!({"offset": 100, "limit": 30}), 1100, 30, json!(null)),
            (json!({"offset": 120, "limit": 100}), 1120, 10, json!(null)),
            (json!({"offset": 500}), 0, 0, json!(null)),
        ];
        for (arguments, first, count, next_offset) in cases {
            let ids: Vec<i64> = (first..first + count).collect();
            let expected = json!({"object_ids": ids, "next_offset": next_offset, "total": 130});
            assert_eq!(call("search_collection", &arguments), Ok(expected));
        }
    }

    #[test]
    fn every_field_follows_from_the_id() {
        let even = json!({
            "objectID": 1004, "title": "Seated Cat", "department": "Egyptian Art", "objectDate": "ca. 1704",
            "objectBeginDate": 1704, "artistDisplayName": "Unknown", "medium": "Woodblock print, ink on paper",
            "isPublicDomain": true, "primaryImage": "https://img/1004.jpg", "tags": null, "dimensions": "H. 4.5 x W. 14 cm",
        });
        let odd = json!({
            "objectID": 1005, "title": "Cat no. 1005", "department": "Asian Art", "objectDate": "1705-1710",
            "objectBeginDate": 1705, "artistDisplayName": "Hiroshige", "medium": "Bronze; gilt",
            "isPublicDomain": false, "primaryImage": "", "tags": [{"term": "Cats"}, {"term": "Women"}],
            "dimensions": "H. 5.5 x W. 15 cm",
        });
        assert_eq!(call("get_object", &json!({"object_id": 1004})), Ok(even));
        assert_eq!(call("get_object", &json!({"object_id": 1005})), Ok(odd));
        assert_eq!(call("get_object", &json!({"object_id": 999})), Err("object 999 not found (404)".to_owned()));
    }

    #[test]
    fn an_image_has_a_path_and_a_length() {
        let cases = [
            (json!({"object_id": 1001}), Ok(json!({"path": "/img/1001.jpg", "bytes": 29_362}))),
            (json!({"object_id": 1001, "path": "a.jpg"}), Ok(json!({"path": "a.jpg", "bytes": 29_362}))),
            (json!({"object_id": 1005}), Err("object 1005 has no public image (HTTP 403)".to_owned())),
        ];
        for (arguments, expected) in cases {
            assert_eq!(call("download_image", &arguments), expected);
        }
    }
}
