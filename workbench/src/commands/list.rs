//! `workbench list`

use serde::Serialize;

use crate::cli::ListArguments;
use crate::cli::options::Format;
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer::{self, line};
use crate::report::table::{table, trimmed};
use crate::results::find::list_runs;

use super::context::Context;
use super::print_json;

#[derive(Serialize)]
struct Row {
    /// What a user can type for it.
    #[serde(skip)]
    reference: String,
    name: String,
    title: String,
    plugin: String,
    offline: bool,
    rehearsal: bool,
    runs: usize,
}

/// One line a domain; one that cannot be read is named on standard error.
pub(super) fn run(context: &Context, arguments: &ListArguments) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    for name in context.workspace.all() {
        match Domain::find(&name, &context.workspace) {
            Ok(domain) => rows.push(row(context, &domain)),
            Err(error) => printer::note(&format!("warning: {error}")),
        }
    }
    if arguments.format == Format::Json {
        print_json(&rows)?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        printer::note(&format!("no domains in {}", context.workspace.place()));
        return Ok(Exit::Success);
    }
    let mut lines = table(&["domain", "title", "plugin", "runs offline", "rehearsal", "runs"], &[0, 1, 2, 3, 4]);
    for row in rows {
        let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        lines.add_row([
            line(&row.reference),
            line(&row.title),
            line(&row.plugin),
            word(row.offline),
            word(row.rehearsal),
            row.runs.to_string(),
        ]);
    }
    printer::data(&format!("{}\n", trimmed(&lines)));
    Ok(Exit::Success)
}

fn row(context: &Context, domain: &Domain) -> Row {
    let section = &domain.manifest.domain;
    Row {
        reference: domain.reference.clone(),
        name: section.name.clone(),
        title: section.title.clone(),
        plugin: section.plugin.clone().or_else(|| section.library.clone()).unwrap_or_default(),
        offline: domain.cassette.is_some() || domain.manifest.api.hosts.is_empty(),
        rehearsal: domain.rehearsal.is_some(),
        runs: list_runs(&context.results, Some(domain.name())).map(|listing| listing.runs.len()).unwrap_or_default(),
    }
}
