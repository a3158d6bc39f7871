//! `workbench verify`

use std::path::Path;

use serde_json::Value;

use crate::cli::VerifyArguments;
use crate::cli::options::{Format, Rules, SourceOptions};
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer::{self, line};
use crate::report::run_story::verdict_table;
use crate::results::find::find_run;
use crate::results::format::RunRecord;
use crate::results::store::{StoreError, read_evidence, read_run, write_evidence, write_record, write_verdict};
use crate::results::sweep::sweep_run;
use crate::verify::{Fetch, Judgement, judge};

use super::context::{Context, Data, require_cassette, source_of_run};
use super::failures;
use super::{exit_of, print_json};

/// Judges a run again from its folder: its copy of the manifest, its artifacts, and what the first verdict fetched.
/// Only when asked to does it fetch what is missing there. Exit 5 when nothing but that keeps the run from being verified.
pub(super) async fn run(context: &Context, arguments: &VerifyArguments) -> Result<Exit, Failure> {
    let folder = find_run(&context.results, &arguments.run).map_err(failures::store)?;
    sweep_run(&folder);
    let mut record = read_run(&folder).map_err(failures::store)?;
    let domain = judging(context, arguments.rules, Domain::load_copy(&folder).map_err(Failure::usage)?)?;
    let kept = read_evidence(&folder).map_err(failures::store)?;
    let evidence = kept.as_ref().unwrap_or(&Value::Null);
    let out = folder.join("out");
    let asks = arguments.again || arguments.source.is_given();
    let judgement = if asks {
        let data = data(context, domain.clone(), &source(&arguments.source, &record)?)?;
        judge(&domain, &out, Fetch::Completed(evidence, &data.web)).await
    } else {
        judge(&domain, &out, Fetch::Recorded(evidence)).await
    };
    let judgement = judgement.excused(&record.faults);
    record.verify = Some(judgement.verdict.clone());
    if !record.fingerprint.is_empty() {
        let judged = domain.fingerprint_of_judgement();
        record.fingerprint.extend(judged.map(|(part, digest)| (part.to_owned(), digest)));
    }
    // First told, then kept: the folder may be one that only others may write to.
    match arguments.format {
        Format::Json => print_json(&judgement.verdict)?,
        Format::Text => printer::data(&verdict_table(&judgement.verdict)),
    }
    if kept.is_none() {
        printer::note(&format!("note: {} held no evidence.json: it was not judged when it ended", line(&record.run)));
    }
    tell_missing(&judgement, &record);
    tell_faults(&record);
    keep(&folder, &record, &judgement, asks).map_err(failures::store)?;
    Ok(exit_of(&judgement.verdict))
}

fn keep(folder: &Path, record: &RunRecord, judgement: &Judgement, with_evidence: bool) -> Result<(), StoreError> {
    if with_evidence {
        write_evidence(folder, &judgement.evidence)?;
    }
    write_verdict(folder, &judgement.verdict)?;
    write_record(folder, record)
}

/// The domain whose rules judge. Rules that came with the run repeat its verdict, but whoever made the run could have
/// written them: where they are not the workspace's, that is said.
fn judging(context: &Context, rules: Rules, copy: Domain) -> Result<Domain, Failure> {
    let own = Domain::find(copy.name(), &context.workspace);
    match (rules, own) {
        (Rules::Workspace, own) => own.map_err(Failure::usage),
        (Rules::Run, Ok(own))
            if own.manifest.verify != copy.manifest.verify || own.manifest.evidence != copy.manifest.evidence =>
        {
            printer::note(&format!(
                "note: judged by the rules kept with the run, which are not those of {}; `--rules workspace` judges by these",
                own.folder.display()
            ));
            Ok(copy)
        }
        (Rules::Run, _) => Ok(copy),
    }
}

/// Where missing answers come from: what the options say; where they leave it open, where the run got its data.
fn source(given: &SourceOptions, record: &RunRecord) -> Result<SourceOptions, Failure> {
    if !given.injections.is_empty() {
        return Err(Failure::usage("`--inject` is for tools; the verifier asks the API as it is"));
    }
    source_of_run(given, &record.run, &record.source)
}

/// The web client for a domain of which only the run's copy may be here. That copy may come from someone else: where
/// the workspace has the domain, its own addresses, headers and cassette are used; a copy alone sends no headers, since
/// those can name variables of this environment.
fn data(context: &Context, mut domain: Domain, source: &SourceOptions) -> Result<Data, Failure> {
    match Domain::find(domain.name(), &context.workspace) {
        Ok(own) => domain = own,
        Err(_) => domain.manifest.api.headers.clear(),
    }
    require_cassette(&domain, source)?;
    context.data(&domain, source)
}

fn tell_missing(judgement: &Judgement, record: &RunRecord) {
    let Some(first) = judgement.faults.first() else { return };
    printer::note(&format!(
        "warning: missing answers of the API: {}; the first is {}\n\
         hint: `workbench verify {} --again` asks for them where the run got its data ({}), a route only when `--route` \
         gives it again; `--live` asks the API itself",
        judgement.faults.len(),
        line(first),
        line(&record.run),
        line(&record.source)
    ));
}

/// What the run's tools met stays met: only another run can tell what the model makes without it.
fn tell_faults(record: &RunRecord) {
    let Some(first) = record.faults.first() else { return };
    let count = record.faults.iter().fold(0, |sum: u64, fault| sum.saturating_add(fault.count));
    printer::note(&format!(
        "note: the tools of this run met faults that are not the model's: {count}; the first is {}\n\
         hint: rules that fail in such a run end in an error; make the run again",
        line(&first.text)
    ));
}
