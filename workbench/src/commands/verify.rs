//! `workbench verify`

use crate::cli::VerifyArguments;
use crate::cli::options::Format;
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::report::run_story::verdict_table;
use crate::results::find::find_run;
use crate::results::store::{read_evidence, read_run, write_record, write_verdict};
use crate::verify::{Fetch, judge};

use super::context::Context;
use super::print_json;

/// Judges a run again from its files: its artifacts, and what the first verdict fetched.
pub(super) async fn run(context: &Context, arguments: &VerifyArguments) -> Result<Exit, Failure> {
    let folder = find_run(&context.results, &arguments.run).map_err(Failure::usage)?;
    let mut record = read_run(&folder).map_err(Failure::usage)?;
    let domain = Domain::find(&record.domain, &context.workspace).map_err(Failure::usage)?;
    let evidence = read_evidence(&folder).map_err(Failure::usage)?.unwrap_or_default();
    let judgement = judge(&domain, &folder.join("out"), Fetch::Recorded(&evidence)).await;
    write_verdict(&folder, &judgement.verdict, &judgement.evidence).map_err(Failure::usage)?;
    record.verify = Some(judgement.verdict.clone());
    write_record(&folder, &record).map_err(Failure::usage)?;
    match arguments.format {
        Format::Json => print_json(&judgement.verdict)?,
        Format::Text => printer::data(&verdict_table(&judgement.verdict)),
    }
    Ok(if judgement.verdict.ok { Exit::Success } else { Exit::Short })
}
