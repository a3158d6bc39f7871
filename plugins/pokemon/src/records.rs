//! What the API records: the list of all Pokemon, and one Pokemon, type or species.

use plugin_api::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Page {
    count: u32,
    next: Option<String>,
    results: Vec<Named>,
}

/// As the API refers to another record.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Named {
    pub(crate) name: String,
}

#[derive(Serialize)]
pub(crate) struct Listed {
    total: u32,
    names: Vec<String>,
    next_offset: Option<u32>,
}

/// The names of all Pokemon, page by page, in the order of their numbers; other forms of a species stand at the end. Returns
/// {total, names, next_offset}: one page of names for get_pokemon, and the offset of the next page, null at the end.
/// A name says nothing of types or strength.
#[tool]
pub(crate) fn list_pokemon(
    host: &Host,
    /** How many names to skip: 0, or the next_offset of the page before. */
    #[default(0)]
    offset: u32,
    /** How many names to return; more than 2000 means 2000, which is all. */
    #[default(100)]
    #[range(1..)]
    limit: u32,
) -> ToolResult<Listed> {
    let limit = limit.min(2000);
    let page: Page = host.get_json("/pokemon", &[("offset", &offset), ("limit", &limit)])?.parse()?;
    let names: Vec<_> = page.results.into_iter().map(|listed| listed.name).collect();
    // The address of the next page may ask for less than this page did: only whether there is one counts. An empty page
    // before the end would send a caller round and round.
    let goes_on = page.next.is_some() && !names.is_empty();
    let end = u32::try_from(names.len()).ok().and_then(|count| offset.checked_add(count));
    Ok(Listed { total: page.count, names, next_offset: end.filter(|_| goes_on) })
}

/// Everything recorded about one Pokemon. Returns the record as JSON, 5 to 665 KB and mostly `moves`: id, name, types
/// ([{slot, type: {name, url}}], one or two), stats (always six of {base_stat, effort, stat: {name, url}}: hp, attack, defense,
/// special-attack, special-defense, speed), species ({name, url}, for get_species), sprites (front_default is the address of a
/// picture or null), abilities, moves, height (in decimetres), weight (in hectograms), base_experience (a number or null), is_default, forms, past_types and so on.
/// types is today's; past_types was before. Some forms have no moves, no abilities or no sprite.
#[tool]
pub(crate) fn get_pokemon(
    host: &Host,
    /** Its name as list_pokemon has it, such as `mr-mime`, or its number. */
    name: String,
) -> ToolResult<RawJson> {
    record(host, "pokemon", &name).map_err(|error| match error.code.as_deref() {
        Some("http_404") => error.with_help(
            "a species may have another name than its Pokemon: get_species lists the names under varieties, list_pokemon all of them",
        ),
        _ => error,
    })
}

/// Everything recorded about one type. Returns the record as JSON, 3 to 34 KB: name, damage_relations (six lists of {name, url}:
/// double_damage_from, half_damage_from, no_damage_from, which attacking types do 2, 1/2 or 0 times the damage to it; and
/// double_damage_to, half_damage_to, no_damage_to, where it attacks), pokemon ([{slot, pokemon: {name, url}}], all that have it),
/// moves, names and so on. damage_relations is today's; past_damage_relations was before. For a Pokemon with two types the
/// factors are multiplied. The types are normal, fighting, flying, poison, ground, rock, bug, ghost, steel, fire, water, grass,
/// electric, psychic, ice, dragon, dark and fairy; stellar, unknown and shadow have no damage relations.
#[tool]
pub(crate) fn get_type(
    host: &Host,
    /** Its name, such as `fire`. */
    name: String,
) -> ToolResult<RawJson> {
    record(host, "type", &name)
}

/// Everything recorded about one species. Returns the record as JSON, 3 to 77 KB: name, is_legendary, is_mythical, is_baby,
/// varieties ([{is_default, pokemon: {name, url}}]: the names to ask get_pokemon for), evolves_from_species (null for the first),
/// generation, habitat (may be null), capture_rate, egg_groups, names, genera, flavor_text_entries and so on.
#[tool]
pub(crate) fn get_species(
    host: &Host,
    /** Its name as a Pokemon record has it under species, such as `deoxys`, or its number. */
    name: String,
) -> ToolResult<RawJson> {
    record(host, "pokemon-species", &name)
}

/// One record. The API knows names in lower case, and takes others in their place; anything that is no name it would take for
/// another address.
fn record(host: &Host, kind: &str, name: &str) -> ToolResult<RawJson> {
    let lower = name.trim().to_lowercase();
    let is_name = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
    if lower.is_empty() || !lower.bytes().all(is_name) {
        let error = ToolError::new(format!("`{name}` is no name or number of this API")).with_code("bad_name");
        return Err(error.with_help("names are of letters, digits and `-`, such as `mr-mime`"));
    }
    host.get_json(format!("/{kind}/{lower}"), &[])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plugin_api::ToolError;
    use plugin_api::testing::FakeHost;
    use serde_json::json;

    use crate::PLUGIN;

    /// Each case: arguments, the address asked for, `next` and the names of the answer, the next offset.
    #[test]
    fn pages_follow_one_another_to_the_end() {
        let next = json!("https://pokeapi.co/api/v2/pokemon?offset=1340&limit=11");
        let cases = [
            (json!({}), "offset=0&limit=100", &next, vec!["a", "b"], json!(2)),
            // Near the end `next` carries a shorter limit, which is of no account.
            (json!({"offset": 1320, "limit": 20}), "offset=1320&limit=20", &next, vec!["a"; 20], json!(1340)),
            (json!({"offset": 1340, "limit": 20}), "offset=1340&limit=20", &json!(null), vec!["a"; 11], json!(null)),
            (json!({"offset": 9999}), "offset=9999&limit=100", &json!(null), vec![], json!(null)),
            (json!({"offset": 5}), "offset=5&limit=100", &next, vec![], json!(null)),
            (json!({"limit": 5000}), "offset=0&limit=2000", &json!(null), vec!["a"], json!(null)),
        ];
        for (arguments, query, next, names, next_offset) in cases {
            let results: Vec<_> = names.iter().map(|name| json!({"name": name, "url": ""})).collect();
            let body = json!({"count": 1351, "next": next, "previous": null, "results": results}).to_string();
            let host = FakeHost::new().json(&format!("/pokemon?{query}"), body);
            let listed = host.call(&PLUGIN, "list_pokemon", &arguments).unwrap();
            assert_eq!(listed, json!({"total": 1351, "names": names, "next_offset": next_offset}), "{arguments}");
        }
        // The API takes 0 for 20.
        let error = FakeHost::new().call(&PLUGIN, "list_pokemon", &json!({"limit": 0})).unwrap_err();
        assert!(error.message.contains("limit must be at least 1, not 0"), "{error}");
    }

    #[test]
    fn a_record_is_handed_on_as_it_came() {
        let record = "{\"id\":25,\"name\":\"a\",\"base_experience\":null,\"moves\":[],\"new_key\":1}\n";
        for (tool, kind) in [("get_pokemon", "pokemon"), ("get_type", "type"), ("get_species", "pokemon-species")] {
            for name in ["mr-mime", " Mr-Mime ", "MR-MIME"] {
                let host = FakeHost::new().json(&format!("/{kind}/mr-mime"), record);
                let answer = host.call_raw(&PLUGIN, tool, &json!({"name": name}));
                assert_eq!(answer, Ok(record.as_bytes().to_vec()), "{tool} {name}");
            }
        }
    }

    #[test]
    fn refusals_are_handed_on_with_status_and_words() {
        let cases = [
            ("http_404", "HTTP 404: Not Found", true),
            ("http_400", "HTTP 400: Bad Request", false),
            ("http_504", "HTTP 504: Gateway Timeout", false),
        ];
        for (code, message, has_help) in cases {
            for (tool, kind) in [("get_pokemon", "pokemon"), ("get_type", "type"), ("get_species", "pokemon-species")] {
                let refusal = ToolError::new(message).with_code(code);
                let host = FakeHost::new().refuses(&format!("/{kind}/giratina"), refusal);
                let error = host.call(&PLUGIN, tool, &json!({"name": "giratina"})).unwrap_err();
                assert_eq!((error.message.as_str(), error.code.as_deref()), (message, Some(code)));
                assert_eq!(
                    error.help.is_some_and(|help| help.contains("varieties")),
                    has_help && tool == "get_pokemon"
                );
            }
        }
    }

    #[test]
    fn what_is_no_name_is_refused_before_it_is_asked_for() {
        for name in ["", " ", "Mr. Mime", "../type/1", "a/encounters", "a?limit=1", "flabébé", "a%2fb"] {
            for tool in ["get_pokemon", "get_type", "get_species", "download_sprite"] {
                let host = FakeHost::new();
                let error = host.call(&PLUGIN, tool, &json!({"name": name})).unwrap_err();
                assert_eq!(error.message, format!("`{name}` is no name or number of this API"));
                assert!(host.requests().is_empty());
            }
        }
    }
}
