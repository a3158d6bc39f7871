//! The made-up sample of a made-up API, so that a new domain runs before anything was asked for.

use std::io;
use std::path::Path;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::web::{Address, CassetteWriter, Origin, RawAnswer};

const TRAILS: u32 = 24;

const REGIONS: [&str; 6] = ["coast", "forest", "hills", "lakes", "moor", "valley"];
const SURFACES: [&str; 4] = ["gravel", "sand", "grass", "rock"];
const BIRDS: [&str; 8] = ["Heron", "Plover", "Siskin", "Bunting", "Curlew", "Dunlin", "Pipit", "Wheatear"];
const PATHS: [&str; 3] = ["Trail", "Walk", "Way"];
const PLACES: [&str; 9] =
    ["the mill", "the ford", "the old wall", "the pines", "a spring", "the gate", "the weir", "the cairn", "a barn"];
const NOTES: [&str; 5] = [
    "Stays in the shade until noon, and is muddy for two days after rain.",
    "Steep at first; the handrail ends at the second bend.",
    "Cattle graze here from May to October. Keep dogs on a lead and close both gates.",
    "The markers are yellow up to the junction and white behind it.",
    "Level and wide enough for two; there is a bench at half of the way.",
];

/// What every record carries along, and no task needs.
const ABOUT: &str = "Marked and kept by the volunteers of the park, who walk every trail once a month and report what has changed. \
Maps are at the northern gate. In winter the park closes at dusk, and the bridges are taken in when the river rises. Fires and \
tents are allowed at the two camps alone. Tell the wardens when a marker is missing; its number is on the post before it.";

/// Writes a cassette with the records of all trails, and with the refusal of one that does not exist.
pub(super) fn write(folder: &Path, base: &str) -> io::Result<()> {
    let mut cassette = CassetteWriter::open(folder).map_err(io::Error::other)?;
    let missing = (404, TRAILS + 1, json!({"message": format!("there is no trail {}", TRAILS + 1)}));
    let answers = (1..=TRAILS).map(|number| (200, number, trail(number))).chain([missing]);
    for (status, number, body) in answers {
        let address = Address::parse(&format!("{base}/trails/{number}")).map_err(io::Error::other)?;
        let answer = RawAnswer {
            url: address.key().to_owned(),
            status,
            content_type: "application/json".to_owned(),
            body: Bytes::from(body.to_string()),
            origin: Origin::Cassette,
        };
        cassette.add_sample(&answer).map_err(io::Error::other)?;
    }
    cassette.save().map_err(io::Error::other)?;
    Ok(())
}

/// Some two kilobytes, of which a task needs little: as records of real APIs are.
fn trail(number: u32) -> Value {
    let index = number as usize;
    let stages: Vec<u32> = (1..=8 + number * 5 % 7).collect();
    // In hundreds of metres, so that sums are exact.
    let length = |stage: u32| 5 + (number * 7 + stage * 4) % 9;
    let records: Vec<Value> = stages
        .iter()
        .map(|&stage| {
            let at = index + stage as usize;
            json!({
                "stage": stage,
                "from": PLACES[at % PLACES.len()],
                "to": PLACES[(at + 1) % PLACES.len()],
                "length_km": f64::from(length(stage)) / 10.0,
                "climb_m": (number * 13 + stage * 29) % 90,
                "note": NOTES[(at * 2 + index) % NOTES.len()],
            })
        })
        .collect();
    json!({
        "number": number,
        "name": format!("{} {}", BIRDS[index % BIRDS.len()], PATHS[index % PATHS.len()]),
        "region": REGIONS[(index * 5 + index / 6) % REGIONS.len()],
        "length_km": f64::from(stages.iter().map(|&stage| length(stage)).sum::<u32>()) / 10.0,
        "open": number % 4 != 2,
        "surface": SURFACES[index % SURFACES.len()],
        "stages": records,
        "about": ABOUT,
    })
}
