//! What attacking types do to a Pokemon: the damage relations of its types, multiplied.

use std::collections::BTreeMap;

use plugin_api::prelude::*;
use serde::Deserialize;

use crate::records::{Named, get_type};

#[derive(Deserialize)]
struct Type {
    damage_relations: DamageRelations,
}

/// What the type takes from which attacking types; from all others it takes the damage once.
#[derive(Deserialize)]
struct DamageRelations {
    double_damage_from: Vec<Named>,
    half_damage_from: Vec<Named>,
    no_damage_from: Vec<Named>,
}

/// The attacking types that do double damage or more to a Pokemon of these types, by name.
pub(crate) fn weaknesses(host: &Host, types: &[String]) -> ToolResult<Vec<String>> {
    // In quarters, so that half of a half is a whole number.
    let mut quarters: BTreeMap<String, u32> = BTreeMap::new();
    for name in types {
        let relations = get_type(host, name.clone())?.parse::<Type>()?.damage_relations;
        let lists = [(relations.double_damage_from, 8), (relations.half_damage_from, 2), (relations.no_damage_from, 0)];
        for (attacking, factor) in
            lists.into_iter().flat_map(|(list, factor)| list.into_iter().map(move |it| (it, factor)))
        {
            let so_far = quarters.entry(attacking.name).or_insert(4);
            *so_far = *so_far * factor / 4;
        }
    }
    Ok(quarters.into_iter().filter(|(_, quarters)| *quarters >= 8).map(|(name, _)| name).collect())
}
