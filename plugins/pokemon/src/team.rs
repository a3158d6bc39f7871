//! Showing a team: one page of cards, one sheet of sprites.

use plugin_api::named;
use plugin_api::prelude::*;
use serde::Serialize;

use crate::sprites::{Pokemon, pokemon_of};
use crate::types::weaknesses;

/// What a bar of the page is full at: no base stat is higher.
const HIGHEST_STAT: u32 = 255;

#[derive(Serialize)]
pub(crate) struct Built {
    page: Written,
    sheet: Written,
    members: usize,
}

#[derive(Serialize)]
struct Written {
    file: String,
    bytes: u64,
}

impl From<SavedFile> for Written {
    fn from(file: SavedFile) -> Self {
        Self { file: file.file, bytes: file.bytes }
    }
}

/// What fills `team.html`.
#[derive(Serialize)]
struct Team {
    title: String,
    members: Vec<Member>,
}

#[derive(Serialize)]
struct Member {
    /// Beside the page, nothing remote.
    sprite: String,
    name: String,
    number: u64,
    types: Vec<String>,
    abilities: Vec<String>,
    stats: Vec<Bar>,
    total: u32,
    weaknesses: Vec<String>,
}

#[derive(Serialize)]
struct Bar {
    name: String,
    value: u32,
    /// How much of the bar is filled, in percent.
    percent: u32,
}

/// Builds the card page of a team, NAME.html, and a contact sheet of its sprites, NAME-sheet.jpg. Each card has the sprite, types,
/// abilities, base stats and weaknesses of one Pokemon. Call download_sprite for each first. Returns {page, sheet, members}: page
/// and sheet are {file, bytes}, members is how many there are. It shows any team, whatever rules it may break.
#[tool]
pub(crate) fn build_team_card(
    host: &Host,
    /** Name of the page, without an extension. */
    name: String,
    /** Headline of the page. */
    title: String,
    /** Names of the Pokemon, in the order wanted. */
    pokemon: Vec<String>,
) -> ToolResult<Built> {
    if pokemon.is_empty() {
        return Err(ToolError::new("pokemon is empty: there is no team to show"));
    }
    let records = pokemon.iter().map(|name| pokemon_of(host, name)).collect::<ToolResult<Vec<_>>>()?;
    let sprites = sprites_of(host, &records)?;
    let members = records.iter().zip(&sprites).map(|(record, sprite)| member(host, record, sprite));
    let team = Team { title, members: members.collect::<ToolResult<_>>()? };
    let label =
        |(record, sprite): (&Pokemon, &SavedFile)| Picture { file: sprite.file.clone(), label: record.name.clone() };
    let pictures: Vec<_> = records.iter().zip(&sprites).map(label).collect();
    let sheet = host.contact_sheet(format!("{name}-sheet"), &pictures)?;
    let page = host.render("team.html", name, &team)?;
    Ok(Built { page: page.into(), sheet: sheet.into(), members: records.len() })
}

fn member(host: &Host, record: &Pokemon, sprite: &SavedFile) -> ToolResult<Member> {
    let types: Vec<String> = record.types.iter().map(|slot| slot.r#type.name.clone()).collect();
    let weaknesses = weaknesses(host, &types)?;
    let abilities = record.abilities.iter().filter_map(|slot| slot.ability.as_ref()).map(|it| it.name.clone());
    let bar = |name: &str, value: u32| Bar {
        name: name.to_owned(),
        value,
        percent: value.min(HIGHEST_STAT) * 100 / HIGHEST_STAT,
    };
    Ok(Member {
        sprite: sprite.file.rsplit('/').next().unwrap_or_default().to_owned(),
        name: record.name.clone(),
        number: record.id,
        types,
        abilities: abilities.collect(),
        stats: record.stats.iter().map(|stat| bar(&stat.stat.name, stat.base_stat)).collect(),
        total: record.stats.iter().fold(0, |total, stat| stat.base_stat.saturating_add(total)),
        weaknesses,
    })
}

/// The downloaded sprite of each Pokemon. Names every one that is missing, so that one more turn is enough.
fn sprites_of(host: &Host, records: &[Pokemon]) -> ToolResult<Vec<SavedFile>> {
    let (mut sprites, mut missing) = (Vec::new(), Vec::new());
    for record in records {
        match host.saved(&record.name, "png")? {
            Some(sprite) => sprites.push(sprite),
            None => missing.push(record.name.as_str()),
        }
    }
    let problem = match missing.as_slice() {
        [] => return Ok(sprites),
        [name] => format!("the sprite of {name} was not downloaded yet: call download_sprite for it first"),
        names => {
            format!("the sprites of {} were not downloaded yet: call download_sprite for each first", named(names))
        }
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

    fn refs(names: &str) -> Value {
        names.split_whitespace().map(|name| json!({"name": name, "url": ""})).collect()
    }

    fn with_type(host: FakeHost, name: &str, double: &str, half: &str, none: &str) -> FakeHost {
        let relations = json!({"double_damage_from": refs(double), "half_damage_from": refs(half),
            "no_damage_from": refs(none), "double_damage_to": refs("fairy")});
        host.json(&format!("/type/{name}"), json!({"name": name, "damage_relations": relations}).to_string())
    }

    /// A few types as they are.
    fn chart() -> FakeHost {
        let host = with_type(FakeHost::new(), "water", "grass electric", "steel fire water ice", "");
        let host = with_type(host, "ground", "water grass ice", "poison rock", "electric");
        let host = with_type(host, "grass", "flying poison bug fire ice", "ground water grass electric", "");
        with_type(host, "ghost", "ghost dark", "poison bug", "normal fighting")
    }

    fn record(name: &str, types: &str) -> Value {
        let types: Vec<_> = types
            .split_whitespace()
            .enumerate()
            .map(|(at, name)| json!({"slot": at + 1, "type": {"name": name}}))
            .collect();
        json!({"id": 7, "name": name, "types": types, "stats": [], "sprites": {}})
    }

    fn with(host: FakeHost, record: &Value) -> FakeHost {
        let name = record["name"].as_str().unwrap();
        host.json(&format!("/pokemon/{name}"), record.to_string()).file(&format!("{name}.png"), b"picture")
    }

    #[test]
    fn a_page_and_a_sheet_show_the_team_in_order() {
        let mut full = record("pebblepup", "water ground");
        full["base_experience"] = json!(null);
        full["abilities"] = json!([{"ability": {"name": "damp"}, "slot": 1}, {"ability": null, "slot": 2}]);
        full["stats"] =
            json!([{"base_stat": 51, "stat": {"name": "hp"}}, {"base_stat": 255, "stat": {"name": "speed"}}]);
        let host = with(with(chart(), &full), &record("oddwisp", "ghost"));
        let arguments = json!({"name": "team", "title": "Six", "pokemon": ["oddwisp", "Pebblepup"]});
        let answer = host.call(&PLUGIN, "build_team_card", &arguments);
        let file = |file: &str| json!({"file": file, "bytes": 0});
        assert_eq!(
            answer,
            Ok(json!({"page": file("out/team.html"), "sheet": file("out/team-sheet.jpg"), "members": 2}))
        );
        let picture = |name: &str| Picture { file: format!("out/{name}.png"), label: name.to_owned() };
        let pictures = vec![picture("oddwisp"), picture("pebblepup")];
        assert_eq!(host.sheets(), [Sheet { name: "team-sheet".to_owned(), pictures }]);
        let pages = host.pages();
        assert_eq!((pages[0].template.as_str(), pages[0].name.as_str()), ("team.html", "team"));
        let expected = json!({"title": "Six", "members": [
            {"sprite": "oddwisp.png", "name": "oddwisp", "number": 7, "types": ["ghost"], "abilities": [], "stats": [],
             "total": 0, "weaknesses": ["dark", "ghost"]},
            {"sprite": "pebblepup.png", "name": "pebblepup", "number": 7, "types": ["water", "ground"], "abilities": ["damp"],
             "stats": [{"name": "hp", "value": 51, "percent": 20}, {"name": "speed", "value": 255, "percent": 100}],
             "total": 306, "weaknesses": ["grass"]},
        ]});
        assert_eq!(pages[0].data, expected);
    }

    /// Factors of two types are multiplied: twice is 4, with a half it is 1, with none it is 0.
    #[test]
    fn weaknesses_are_the_product_of_both_types() {
        let cases = [
            ("water", json!(["electric", "grass"])),
            ("water ground", json!(["grass"])),
            ("ground grass", json!(["bug", "fire", "flying", "ice"])),
            ("grass ghost", json!(["dark", "fire", "flying", "ghost", "ice"])),
            ("water grass", json!(["bug", "flying", "poison"])),
            ("", json!([])),
        ];
        for (types, expected) in cases {
            let host = with(chart(), &record("one", types));
            host.call(&PLUGIN, "build_team_card", &json!({"name": "t", "title": "T", "pokemon": ["one"]})).unwrap();
            assert_eq!(host.pages()[0].data["members"][0]["weaknesses"], expected, "{types}");
        }
    }

    #[test]
    fn what_was_not_downloaded_is_named_with_the_tool_to_call() {
        let bare =
            |host: FakeHost, name: &str| host.json(&format!("/pokemon/{name}"), record(name, "ghost").to_string());
        let host = bare(bare(with(chart(), &record("one", "ghost")), "two"), "three");
        let cases = [
            (
                json!(["one", "two", "three"]),
                "the sprites of two, three were not downloaded yet: call download_sprite for each first",
            ),
            (json!(["two"]), "the sprite of two was not downloaded yet: call download_sprite for it first"),
            (json!([]), "pokemon is empty: there is no team to show"),
            (json!(["a b"]), "`a b` is no name or number of this API"),
        ];
        for (pokemon, expected) in cases {
            let arguments = json!({"name": "team", "title": "Six", "pokemon": pokemon});
            assert_eq!(host.call(&PLUGIN, "build_team_card", &arguments).unwrap_err().message, expected);
            assert!(host.sheets().is_empty() && host.pages().is_empty());
        }
    }

    /// Every Pokemon of the domain's made-up cassette.
    #[test]
    fn every_pokemon_of_the_cassette_can_be_shown() {
        let cassette = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains/pokemon/cassette");
        let index = std::fs::read_to_string(cassette.join("index.jsonl")).unwrap();
        let mut shown = 0;
        for line in index.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            if entry["status"] == 200 && entry["url"].as_str().unwrap().contains("/v2/pokemon/") {
                can_be_shown(&cassette.join("bodies").join(entry["body"].as_str().unwrap()));
                shown += 1;
            }
        }
        assert!(shown >= 60, "the cassette has shrunk to {shown} Pokemon");
    }

    /// Needs recorded answers of the real API beside the workspace; without them there is nothing to test.
    #[test]
    fn every_recorded_pokemon_can_be_shown() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/pokeapi/api/v2/pokemon");
        let Ok(files) = std::fs::read_dir(folder) else {
            eprintln!("skipped: no recorded Pokemon in {folder}");
            return;
        };
        for file in files {
            can_be_shown(&file.unwrap().path());
        }
    }

    fn can_be_shown(path: &Path) {
        let body = std::fs::read(path).unwrap();
        let name = serde_json::from_slice::<Value>(&body).unwrap()["name"].as_str().unwrap().to_owned();
        let host = FakeHost::new().json(&format!("/pokemon/{name}"), &body).file(&format!("{name}.png"), b"picture");
        let types = serde_json::from_slice::<Value>(&body).unwrap()["types"].take();
        let names = types.as_array().unwrap().iter().map(|slot| slot["type"]["name"].as_str().unwrap());
        let host = names.fold(host, |host, name| with_type(host, name, "fire", "", ""));
        host.call(&PLUGIN, "build_team_card", &json!({"name": "t", "title": "T", "pokemon": [name]})).unwrap();
        let member = host.pages().remove(0).data["members"][0].take();
        assert!(member["total"].as_u64().unwrap() >= 100, "{name}: {member}");
        assert_eq!((member["stats"].as_array().unwrap().len(), &member["weaknesses"]), (6, &json!(["fire"])), "{name}");
        assert!(matches!(member["types"].as_array().unwrap().len(), 1 | 2), "{name}: {member}");
    }
}
