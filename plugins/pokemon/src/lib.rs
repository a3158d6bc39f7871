//! PokeAPI v2 as tools: list, read, download, show a team.
#![forbid(unsafe_code)]

mod records;
mod sprites;
mod team;
mod types;

use plugin_api::plugin;
use records::{get_pokemon, get_species, get_type, list_pokemon};
use sprites::download_sprite;
use team::build_team_card;

plugin!(list_pokemon, get_pokemon, get_type, get_species, download_sprite, build_team_card);
