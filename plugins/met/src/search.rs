//! Finding objects: departments and the paged search.

use plugin_api::prelude::*;
use serde::{Deserialize, Serialize};

/// The museum pages no further than this, however many objects match.
const REACHABLE: u32 = 10_000;
/// The longest page the museum answers.
const LONGEST_PAGE: u32 = 500;

#[derive(Deserialize)]
struct DepartmentList {
    departments: Vec<ListedDepartment>,
}

#[derive(Deserialize)]
struct ListedDepartment {
    #[serde(rename = "departmentId")]
    department_id: u32,
    #[serde(rename = "displayName")]
    name: String,
}

#[derive(Serialize)]
pub(crate) struct Department {
    department_id: u32,
    name: String,
}

/// The departments of the museum. Returns a list of {department_id, name}; the id narrows a search.
/// A record may call its department by another name (`The American Wing` is listed as
/// `American Decorative Arts`), so do not join the two by name.
#[tool]
pub(crate) fn list_departments(host: &Host) -> ToolResult<Vec<Department>> {
    let list: DepartmentList = host.get_json("/v1/departments", &[])?.parse()?;
    let departments = list.departments.into_iter();
    Ok(departments.map(|listed| Department { department_id: listed.department_id, name: listed.name }).collect())
}

#[derive(Deserialize)]
struct Hits {
    total: u32,
    /// Null when nothing matches.
    #[serde(rename = "objectIDs")]
    object_ids: Option<Vec<u64>>,
}

#[derive(Serialize)]
pub(crate) struct Found {
    total: u32,
    object_ids: Vec<u64>,
    next_offset: Option<u32>,
}

/// Searches the collection for objects marked as public domain and with an image. The query matches any field, so not every
/// object found is about it. Returns {total, object_ids, next_offset}: one page of ids, the best matches first, and the offset of
/// the next page, null at the end. The museum's marks are not reliable: get_object may fail for an id, or show
/// isPublicDomain false or no image, so check isPublicDomain and primaryImageSmall of each record.
#[tool]
pub(crate) fn search_collection(
    host: &Host,
    /** Words to look for, such as `cat`. */
    query: String,
    /** Only this department, an id of list_departments; 0 means all. */
    #[default(0)]
    department_id: u32,
    /** How many matches to skip: 0, or the next_offset of the page before. */
    #[default(0)]
    offset: u32,
    /** How many ids to return; more than 500 means 500. */
    #[default(100)]
    #[range(1..)]
    limit: u32,
) -> ToolResult<Found> {
    if offset >= REACHABLE {
        let message = format!("offset {offset} is too far: the museum's search ends at {REACHABLE} matches");
        return Err(ToolError::new(message).with_help("narrow the query, or search one department at a time"));
    }
    let limit = limit.min(LONGEST_PAGE).min(REACHABLE - offset);
    let hits: Hits = ask(host, query.trim(), department_id, offset, limit)?.parse()?;
    let object_ids = hits.object_ids.unwrap_or_default();
    let end = offset + limit;
    // An empty page before the end would send a caller round and round.
    let goes_on = end < hits.total.min(REACHABLE) && !object_ids.is_empty();
    Ok(Found { total: hits.total, object_ids, next_offset: goes_on.then_some(end) })
}

fn ask(host: &Host, query: &str, department_id: u32, offset: u32, limit: u32) -> ToolResult<RawJson> {
    let mut parameters: Vec<(&str, &dyn std::fmt::Display)> = vec![("isPublicDomain", &true), ("hasImages", &true)];
    if department_id != 0 {
        parameters.push(("departmentId", &department_id));
    }
    parameters.push(("offset", &offset));
    parameters.push(("limit", &limit));
    // Their order here is of no account, although it has changed results of this API before: the host
    // sorts them by name. With nothing to look for `q` is left out: that lists a department.
    if !query.is_empty() {
        parameters.push(("q", &query));
    }
    host.get_json("/v1.1/search", &parameters)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plugin_api::testing::FakeHost;
    use serde_json::json;

    use crate::PLUGIN;

    const CATS: &str = "/v1.1/search?isPublicDomain=true&hasImages=true";

    #[test]
    fn departments_have_the_names_that_a_search_takes() {
        let body = r#"{"departments":[{"departmentId":1,"displayName":"American Decorative Arts"}]}"#;
        let answer = FakeHost::new().json("/v1/departments", body).call(&PLUGIN, "list_departments", &json!({}));
        assert_eq!(answer, Ok(json!([{"department_id": 1, "name": "American Decorative Arts"}])));
    }

    /// Each case: arguments, the address asked for, total and ids of the answer, the next offset.
    #[test]
    fn pages_follow_one_another_to_the_end() {
        let cases = [
            (json!({"query": "cat"}), "&offset=0&limit=100&q=cat", 250, "[1,2]", json!(100)),
            (json!({"query": " cat "}), "&offset=0&limit=100&q=cat", 250, "[1,2]", json!(100)),
            (json!({"query": "cat", "offset": 200}), "&offset=200&limit=100&q=cat", 250, "[3]", json!(null)),
            (json!({"query": "cat", "offset": 150}), "&offset=150&limit=100&q=cat", 250, "[3]", json!(null)),
            (json!({"query": "cat", "limit": 5000}), "&offset=0&limit=500&q=cat", 501, "[1]", json!(500)),
            (
                json!({"query": "cat", "offset": 9900, "limit": 500}),
                "&offset=9900&limit=100&q=cat",
                51_452,
                "[1]",
                json!(null),
            ),
            (
                json!({"query": "cat", "department_id": 6}),
                "&departmentId=6&offset=0&limit=100&q=cat",
                3,
                "[1]",
                json!(null),
            ),
            (json!({"query": "cat", "department_id": 0}), "&offset=0&limit=100&q=cat", 3, "[1]", json!(null)),
            (json!({"query": "", "department_id": 6}), "&departmentId=6&offset=0&limit=100", 3, "[1]", json!(null)),
            (json!({"query": "gnu"}), "&offset=0&limit=100&q=gnu", 0, "null", json!(null)),
            (json!({"query": "cat"}), "&offset=0&limit=100&q=cat", 250, "[]", json!(null)),
        ];
        for (arguments, query, total, ids, next_offset) in cases {
            let body = format!(r#"{{"total":{total},"objectIDs":{ids}}}"#);
            let host = FakeHost::new().json(&format!("{CATS}{query}"), body);
            let found = host.call(&PLUGIN, "search_collection", &arguments).unwrap();
            let ids: serde_json::Value = serde_json::from_str(ids).unwrap();
            let ids = if ids.is_null() { json!([]) } else { ids };
            assert_eq!(found, json!({"total": total, "object_ids": ids, "next_offset": next_offset}), "{arguments}");
        }
    }

    #[test]
    fn what_cannot_be_reached_is_refused_before_it_is_asked_for() {
        let cases = [
            (json!({"query": "cat", "offset": 10_000}), "offset 10000 is too far: the museum's search ends at 10000"),
            (
                json!({"query": "cat", "limit": 0}),
                "bad arguments for search_collection: limit must be at least 1, not 0",
            ),
            (
                json!({"query": "cat", "department": 6}),
                "bad arguments for search_collection: unknown argument `department`",
            ),
            (json!({}), "bad arguments for search_collection: query is missing"),
        ];
        for (arguments, expected) in cases {
            let host = FakeHost::new();
            let error = host.call(&PLUGIN, "search_collection", &arguments).unwrap_err();
            assert!(error.message.starts_with(expected), "{error}");
            assert!(host.requests().is_empty());
        }
    }
}
