//! The picture of a Pokemon, and the record it stands in.

use plugin_api::prelude::*;
use serde::{Deserialize, Serialize};

use crate::records::{Named, get_pokemon};

/// The fields of a record that these tools read.
#[derive(Debug, Deserialize)]
pub(crate) struct Pokemon {
    pub(crate) id: u64,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) abilities: Vec<Ability>,
    pub(crate) stats: Vec<Stat>,
    pub(crate) types: Vec<TypeSlot>,
    #[serde(default)]
    sprites: Sprites,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ability {
    /// Null where a slot is empty.
    pub(crate) ability: Option<Named>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Stat {
    pub(crate) base_stat: u32,
    pub(crate) stat: Named,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TypeSlot {
    pub(crate) r#type: Named,
}

#[derive(Debug, Default, Deserialize)]
struct Sprites {
    front_default: Option<String>,
}

/// The record of a Pokemon, read.
pub(crate) fn pokemon_of(host: &Host, name: &str) -> ToolResult<Pokemon> {
    get_pokemon(host, name.to_owned())?.parse()
}

#[derive(Serialize)]
pub(crate) struct Downloaded {
    name: String,
    file: String,
    bytes: u64,
}

/// Downloads the front sprite of one Pokemon, to be shown by build_team_card. Returns {name, file, bytes}; name is the one in
/// its record. Fails when the record has no sprite (sprites.front_default is null), as some forms have none.
#[tool]
pub(crate) fn download_sprite(
    host: &Host,
    /** Its name as list_pokemon has it, or its number. */
    name: String,
) -> ToolResult<Downloaded> {
    let pokemon = pokemon_of(host, &name)?;
    let no_sprite = |message| Err(ToolError::new(message).with_code("no_sprite"));
    let Some(address) = pokemon.sprites.front_default.filter(|address| !address.trim().is_empty()) else {
        return no_sprite(format!(
            "{} has no sprite: sprites.front_default is null; take another Pokemon",
            pokemon.name
        ));
    };
    let sprite = host.get_bytes(&address, &[])?;
    if !sprite.content_type().starts_with("image/png") {
        return no_sprite(format!("{address} answered `{}`, which is no PNG picture", sprite.content_type()));
    }
    let saved = host.save(&pokemon.name, "png", &sprite)?;
    Ok(Downloaded { name: pokemon.name, file: saved.file, bytes: saved.bytes })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plugin_api::testing::FakeHost;
    use serde_json::{Value, json};

    use crate::PLUGIN;

    const SPRITE: &str = "https://raw.githubusercontent.com/PokeAPI/sprites/master/sprites/pokemon/900001.png";

    fn with_sprites(name: &str, sprites: &Value) -> FakeHost {
        let record = json!({"id": 900_001, "name": "pebblepup", "base_experience": null, "stats": [], "types": [], "sprites": sprites});
        FakeHost::new().json(&format!("/pokemon/{name}"), record.to_string())
    }

    #[test]
    fn the_front_sprite_is_saved_under_the_name_in_the_record() {
        for name in ["pebblepup", "900001", "Pebblepup"] {
            let address = name.to_lowercase();
            let host = with_sprites(&address, &json!({"front_default": SPRITE})).bytes(SPRITE, "image/png", b"\x89PNG");
            let answer = host.call(&PLUGIN, "download_sprite", &json!({"name": name}));
            assert_eq!(answer, Ok(json!({"name": "pebblepup", "file": "out/pebblepup.png", "bytes": 4})));
            assert_eq!(host.requests(), [format!("/pokemon/{address}"), SPRITE.to_owned()]);
        }
    }

    #[test]
    fn a_form_without_a_sprite_says_so() {
        let no_sprite = "pebblepup has no sprite: sprites.front_default is null; take another Pokemon";
        let no_picture = format!("{SPRITE} answered `text/plain`, which is no PNG picture");
        let cases = [
            (json!({"front_default": null}), no_sprite),
            (json!({}), no_sprite),
            (json!({"front_default": ""}), no_sprite),
            (json!({"front_default": SPRITE}), no_picture.as_str()),
        ];
        for (sprites, expected) in cases {
            let host = with_sprites("pebblepup", &sprites).bytes(SPRITE, "text/plain", "404: Not Found");
            let error = host.call(&PLUGIN, "download_sprite", &json!({"name": "pebblepup"})).unwrap_err();
            assert_eq!((error.message.as_str(), error.code.as_deref()), (expected, Some("no_sprite")));
            assert!(host.files().is_empty());
        }
    }
}
