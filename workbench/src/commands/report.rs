//! `workbench report`

use crate::cli::ReportArguments;
use crate::cli::options::Format;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::report::{summary, table};
use crate::results::attempts::without_repeated;
use crate::results::find::list_runs;
use crate::results::format::RunRecord;
use crate::results::store::StoreError;
use crate::runner::Mode;

use super::context::Context;
use super::print_json;

/// Sums up runs that are there.
pub(super) fn run(context: &Context, arguments: &ReportArguments) -> Result<Exit, Failure> {
    let mut runs = Vec::new();
    for domain in asked(&arguments.domains) {
        let listing = list_runs(&context.results, domain).map_err(Failure::usage)?;
        tell_skipped(&listing.skipped);
        runs.extend(listing.runs.into_iter().map(|stored| stored.record));
    }
    runs.retain(|run| arguments.tag.is_none() || run.tag == arguments.tag);
    runs = without_repeated(runs);
    if arguments.last {
        let last = runs.iter().map(|run| run.command.clone()).max();
        runs.retain(|run| Some(&run.command) == last.as_ref());
    }
    if runs.is_empty() {
        let names = if arguments.domains.is_empty() { "any domain".to_owned() } else { arguments.domains.join(", ") };
        return Err(Failure::usage(format!("there are no runs of {names} in {}", context.results.display()))
            .hint("`workbench compare DOMAIN` makes some"));
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
        printer::note(&printer::line(&format!("warning: a run was left out: {problem}{cause}")));
    }
}

/// Prints a report; exit 1 when a run of a required mode was not verified.
pub(super) fn print(runs: Vec<RunRecord>, format: Format, require: &[Mode]) -> Result<Exit, Failure> {
    let fell_short = require.iter().any(|mode| {
        let mut of_mode = runs.iter().filter(|run| run.mode == mode.name()).peekable();
        of_mode.peek().is_none() || of_mode.any(|run| !summary::passed(run))
    });
    let report = summary::summarise(runs);
    match format {
        Format::Json => print_json(&report)?,
        Format::Text => printer::data(&table::report(&report)),
    }
    Ok(if fell_short { Exit::Short } else { Exit::Success })
}
