//! `workbench report`

use std::collections::BTreeSet;

use crate::cli::ReportArguments;
use crate::cli::options::Format;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer::{self, line};
use crate::report::{five_lines, summary, table};
use crate::results::attempts::without_repeated;
use crate::results::find::list_runs;
use crate::results::format::RunRecord;
use crate::results::order::is_name_of_command;
use crate::results::store::StoreError;
use crate::runner::Mode;

use super::context::Context;
use super::print_json;

/// Sums up runs that are there.
pub(super) fn run(context: &Context, arguments: &ReportArguments) -> Result<Exit, Failure> {
    let names = if arguments.domains.is_empty() { "any domain".to_owned() } else { arguments.domains.join(", ") };
    let place = context.results.display();
    let mut runs = Vec::new();
    for domain in asked(&arguments.domains) {
        let listing = list_runs(&context.results, domain).map_err(Failure::usage)?;
        tell_skipped(&listing.skipped);
        runs.extend(listing.runs.into_iter().map(|stored| stored.record));
    }
    if let Some(tag) = arguments.tag.as_ref().filter(|_| !runs.is_empty()) {
        let tags: BTreeSet<String> = runs.iter().filter_map(|run| run.tag.as_deref().map(line)).collect();
        runs.retain(|run| run.tag.as_ref() == Some(tag));
        if runs.is_empty() {
            let tags = Vec::from_iter(tags).join(", ");
            let hint = if tags.is_empty() { "none of them has a tag".into() } else { format!("the tags are: {tags}") };
            return Err(Failure::usage(format!("no run of {names} in {place} has the tag `{tag}`")).hint(hint));
        }
    }
    runs = without_repeated(runs);
    if arguments.last {
        let last =
            runs.iter().map(|run| run.command.clone()).max_by_key(|name| (is_name_of_command(name), name.clone()));
        runs.retain(|run| Some(&run.command) == last.as_ref());
    }
    if runs.is_empty() {
        return Err(Failure::usage(format!("there are no runs of {names} in {place}"))
            .hint("`workbench compare DOMAIN` makes some"));
    }
    if arguments.five_lines {
        let report = summary::summarise(runs);
        printer::data(&five_lines::text(&report));
        return Ok(exit_of(&report.runs, &arguments.require));
    }
    print(runs, arguments.format, &arguments.require)
}

/// Each domain that was named, or all of them at once.
fn asked(domains: &[String]) -> Vec<Option<&str>> {
    if domains.is_empty() { vec![None] } else { domains.iter().map(|domain| Some(domain.as_str())).collect() }
}

/// Says which runs cannot be read, and why.
pub(super) fn tell_skipped(skipped: &[StoreError]) {
    for problem in skipped {
        let cause = std::error::Error::source(problem).map(|cause| format!(": {cause}")).unwrap_or_default();
        printer::note(&line(&format!("warning: a run was left out: {problem}{cause}")));
    }
}

/// Prints a report; exit 1 when a run of a required mode was not verified.
pub(super) fn print(runs: Vec<RunRecord>, format: Format, require: &[Mode]) -> Result<Exit, Failure> {
    let exit = exit_of(&runs, require);
    let report = summary::summarise(runs);
    match format {
        Format::Json => print_json(&report)?,
        Format::Text => printer::data(&table::report(&report)),
    }
    Ok(exit)
}

fn exit_of(runs: &[RunRecord], require: &[Mode]) -> Exit {
    let mut fell_short = false;
    for mode in require {
        let mut of_mode = runs.iter().filter(|run| run.mode == mode.name()).peekable();
        if of_mode.peek().is_none() {
            printer::note(&format!("note: no run of the required mode {mode} is there"));
            fell_short = true;
        }
        fell_short |= of_mode.any(|run| !summary::passed(run));
    }
    if fell_short { Exit::Short } else { Exit::Success }
}
