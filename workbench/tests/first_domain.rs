//! The pages of `docs/` that make a domain, played as they stand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;
#[path = "support/tutorial.rs"]
mod tutorial;

use std::env;
use std::io::{self, Write as _};
use std::process::Command;

use program::workspace;
use serde_json::json;
use server::{Reply, Request, Server, answer, json};
use tutorial::Tutorial;

/// A made-up catalogue in the form of TVmaze: `/shows/ID`, with its episodes when they are asked for.
fn catalogue(request: &Request) -> Reply {
    const GENRES: [&str; 4] = ["Drama", "Comedy", "History", "Crime"];
    const NETWORKS: [&str; 5] = ["Channel North", "Channel East", "Channel South", "Channel West", "The Harbour"];
    let show = request.target.strip_prefix("/shows/").and_then(|rest| rest.strip_suffix("?embed=episodes"));
    let Some(id) = show.and_then(|id| id.parse::<usize>().ok()).filter(|id| (1..=16).contains(id)) else {
        return answer(
            404,
            &["Content-Type: application/json"],
            br#"{"name":"Not Found","message":"","code":0,"status":404}"#,
        );
    };
    // The last ones have gone on for long.
    let long = if id > 12 { 6 } else { 0 };
    let episodes = |season: usize| (1..=4 + long + id % 5).map(move |number| (season, number));
    let episodes = (1..=1 + id % 3 + long / 3).flat_map(episodes).map(|(season, number)| {
        json!({
            "id": id * 1000 + season * 100 + number, "name": format!("Chapter {number}"), "season": season, "number": number,
            "type": "regular", "airdate": format!("20{:02}-03-{number:02}", season + id), "runtime": 45,
            "rating": {"average": 7.5}, "image": null, "summary": "<p>Somebody arrives, and somebody leaves.</p>",
        })
    });
    let record = json!({
        "id": id, "url": format!("https://www.tvmaze.com/shows/{id}/made-up"), "name": format!("Made-up Show {id}"),
        "type": "Scripted", "language": "English", "genres": [GENRES[id % 4], "Mystery"],
        "network": {"id": id % 5, "name": NETWORKS[id % 5], "country": {"name": "Nowhere", "code": "XX"}},
        "status": if id % 3 == 0 { "Running" } else { "Ended" }, "runtime": 45, "premiered": "2001-03-01",
        "summary": "<p>A show that nobody made.</p>", "_embedded": {"episodes": episodes.collect::<Vec<_>>()},
    });
    json(&record.to_string())
}

#[test]
fn the_first_domain_is_made_as_its_page_says() {
    let page = Tutorial::of("first-domain.md");
    let server = Server::start(catalogue);
    let route = format!("api.tvmaze.com={}", server.url());
    // The one command that goes to the network, once for each domain; all others must do without.
    let set_up = |commands: &str, shell: &mut Command| {
        if commands.contains("workbench record") {
            shell.env("WORKBENCH_ROUTES", &route);
        }
    };
    let played = page.play(set_up);
    assert!(played > 8, "the page has lost its commands: {played}");
    assert_eq!(server.requests().len(), 16 + 13, "probes and shows are asked for once by each domain");
}

#[test]
fn a_plugin_in_another_language_is_made_as_its_page_says() {
    if let Err(error) = Command::new("make").arg("--version").output() {
        assert!(env::var_os("CI").is_none(), "CI must run this: make: {error}");
        // Not by a macro, whose words the harness keeps to itself.
        _ = writeln!(io::stderr(), "SKIPPED: `make` cannot be run: {error}; install it");
        return;
    }
    let page = Tutorial::of("other-languages.md");
    assert_eq!(page.play(|_, shell| _ = shell.env("SOURCE", workspace())), 1);
}
