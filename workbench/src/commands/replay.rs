//! `workbench replay`

use crate::cli::ReplayArguments;
use crate::cli::options::Format;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::report::audit::{self, Audit};

use super::context::Context;
use super::print_json;
use super::recorded_run::{self, Replaying, tools_of};

/// Says a run's words again, makes its calls anew and tells what differs. Exit 1 when anything does, 5 when something
/// does and the replay met a fault that the run had not met.
pub(super) async fn run(context: &Context, arguments: &ReplayArguments) -> Result<Exit, Failure> {
    let recording = recorded_run::open(&context.results, &arguments.run)?;
    let domain = tools_of(context, &recording, arguments.domain.as_deref())?;
    let replaying = Replaying {
        recording: &recording,
        domain,
        rules: arguments.rules,
        source: arguments.source.clone(),
        limits: arguments.limits.clone(),
        sandbox: arguments.sandbox,
        prices: arguments.prices.as_deref(),
        keep: arguments.keep,
    };
    let Some(replayed) = replaying.play(context).await? else { return Ok(Exit::Interrupted) };
    let audit = &replayed.audit;
    match arguments.format {
        Format::Json => print_json(audit)?,
        Format::Text => printer::data(&audit::text(audit)),
    }
    if let Some(folder) = &audit.kept {
        printer::note(&format!("the replay is kept in {folder}"));
    }
    tell_reasons(audit, replayed.moved.as_ref());
    Ok(match (audit.same, audit.faults.is_empty()) {
        (true, _) => Exit::Success,
        (false, true) => Exit::Short,
        (false, false) => Exit::Network,
    })
}

/// Why a run of an honest author may differ.
fn tell_reasons(audit: &Audit, moved: Option<&[String; 2]>) {
    if audit.same {
        return;
    }
    if let Some([there, here]) = moved {
        printer::note(&printer::line(&format!(
            "note: the run's scripts ran in {there}, those of the replay in {here}: what differs may come from that"
        )));
    }
    if let Some(first) = audit.faults.first() {
        printer::note(&format!(
            "warning: the replay met faults that are not the run's: {}; the first is {}\n\
             hint: differences may come from them; replay it again, or with another source",
            audit.faults.len(),
            first.text
        ));
    } else if !audit.source.starts_with("cassette") {
        printer::note(
            "note: the data came over the network, and an API changes: what differs may be its answers of today",
        );
    }
}
