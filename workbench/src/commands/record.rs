//! `workbench record`

use std::path::Path;
use std::sync::Arc;

use crate::cli::RecordArguments;
use crate::cli::options::SourceOptions;
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::files::{LONGEST_TEXT, read_text};
use crate::printer;
use crate::report::table::counted;
use crate::sandbox::{Sandbox, ToolForm};
use crate::web::{CassetteError, CassetteWriter, Expect};

use super::context::Context;
use super::failures;
use super::record_run;
use super::sandboxes::embedded;
use super::tool_session::ToolSession;

/// Folder of a domain's results where the scripts put their files while they are recorded.
const FOLDER: &str = "record";

/// Asks the API itself, politely, and keeps what it answered: the addresses of a list, or all that
/// the domain's own scripts ask for.
pub(super) async fn run(context: &Context, arguments: &RecordArguments) -> Result<Exit, Failure> {
    if let Some(run) = &arguments.from {
        return record_run::run(context, arguments, run).await;
    }
    let domain = context.domain(&arguments.domain)?;
    let folder = arguments.to.clone().unwrap_or_else(|| domain.folder.join("cassette"));
    let source = SourceOptions {
        live: arguments.routes.is_empty(),
        routes: arguments.routes.clone(),
        fresh: true,
        ..SourceOptions::default()
    };
    let data = context.data(&domain, &source)?;
    let web = data.web.clone();
    let mut broken = 0;
    let addresses = match &arguments.urls {
        Some(list) => paths_in(list)?,
        None => {
            let scripts = scripts_of(&domain)?;
            for probe in &domain.manifest.api.probe {
                // What is refused is an answer, too; what is not answered is not among those that are recorded.
                _ = web.get(&probe.get, &[], Expect::Bytes).await;
            }
            let limits = arguments.limits.over(&domain.manifest.limits);
            let session = context.tool_session_in(&domain, data, limits, FOLDER).await?;
            broken = run_scripts(&session, &scripts, &embedded()?).await?;
            web.answered()
        }
    };
    if addresses.is_empty() {
        return Err(match web.counters().network_calls {
            0 => Failure::new(Exit::Short, "nothing was recorded: nothing was asked for")
                .hint("let `smoke.py` or a rehearsal call the tools, or name addresses with `--urls FILE`, one a line"),
            _ => Failure::new(Exit::Network, "nothing was recorded: no request was answered"),
        });
    }
    let mut writer = CassetteWriter::open(&folder).map_err(cassette)?;
    let (mut recorded, mut bytes, mut passing) = (0_u64, 0, 0);
    for address in &addresses {
        let answer = web.fetch(address).await.map_err(failures::network)?;
        if !web.has_answered(&answer.url) {
            let kind =
                if answer.status == 200 { format!(" with unfit {}", answer.content_type) } else { String::new() };
            printer::note(&format!("warning: {} is left out: HTTP {}{kind} may pass", answer.url, answer.status));
            passing += 1;
            continue;
        }
        recorded += 1;
        bytes += answer.body.len();
        writer.add(&answer).map_err(cassette)?;
        // Kept as it goes: what was fetched politely for minutes must survive an interruption.
        writer.save().map_err(cassette)?;
    }
    let entries = writer.save().map_err(cassette)?;
    writer.prune().map_err(cassette)?;
    printer::note(&format!(
        "{} recorded, {}; {} now holds {}",
        counted(recorded, "answer"),
        counted(bytes as u64, "byte"),
        folder.display(),
        counted(entries as u64, "entry")
    ));
    tell_of_sample(&writer);
    Ok(match (passing, broken) {
        (0, 0) => Exit::Success,
        (0, _) => Exit::Short,
        _ => Exit::Network,
    })
}

/// Says that the answers which `new` had made up are gone, where they are.
pub(super) fn tell_of_sample(writer: &CassetteWriter) {
    match writer.replaced_samples() {
        0 => {}
        gone => printer::note(&format!("the made-up sample of `new` is gone from it ({gone} answers)")),
    }
}

/// A script of the domain.
struct OwnScript {
    /// Its path in the domain's folder.
    name: String,
    source: String,
    form: ToolForm,
    /// Whether it is to fail, as those do of which a later one does the task.
    is_attempt: bool,
}

impl OwnScript {
    fn read(path: &Path, domain: &Domain) -> Result<Self, Failure> {
        let source = read_text(path, LONGEST_TEXT)
            .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
        Ok(Self { name: domain.own(path), source, form: ToolForm::Functions, is_attempt: false })
    }
}

/// The script of `smoke`, the policy of the modes that call tools one by one, the last script of code mode, and the cells of mode
/// hosted, which need the names of those before them.
fn scripts_of(domain: &Domain) -> Result<Vec<OwnScript>, Failure> {
    let rehearsal = domain.rehearsal.as_ref();
    let policy = rehearsal.and_then(|rehearsal| rehearsal.loop_script.as_ref());
    let code = rehearsal.and_then(|rehearsal| rehearsal.code_scripts.last());
    let alone = domain.smoke.iter().chain(policy).chain(code);
    let mut scripts: Vec<OwnScript> = alone.map(|path| OwnScript::read(path, domain)).collect::<Result<_, _>>()?;
    let mut cells = domain.cells().peekable();
    while let Some(path) = cells.next() {
        let is_attempt = cells.peek().is_some();
        scripts.push(OwnScript { form: ToolForm::Coroutines, is_attempt, ..OwnScript::read(path, domain)? });
    }
    if scripts.is_empty() {
        return Err(Failure::usage(format!("{} has neither smoke.py nor rehearsal scripts to record", domain.name()))
            .hint("name the addresses with `--urls FILE`, one a line"));
    }
    Ok(scripts)
}

/// Runs the scripts, and says how many of them did not end well.
async fn run_scripts(
    session: &ToolSession,
    scripts: &[OwnScript],
    sandbox: &Arc<dyn Sandbox>,
) -> Result<usize, Failure> {
    let cells = Arc::clone(sandbox).session();
    let mut broken = 0;
    for OwnScript { name, source, form, is_attempt } in scripts {
        let sandbox = if *form == ToolForm::Coroutines { &cells } else { sandbox };
        let outcome = session.script(name, source, *form, sandbox).await?;
        if !outcome.end.is_success() && !is_attempt {
            printer::error_text(&outcome.stderr.text);
            session.tell_hint(name, &outcome);
            printer::note(&format!("warning: {name} did not end well; what it asked for until then is recorded"));
            broken += 1;
        }
    }
    Ok(broken)
}

fn paths_in(list: &Path) -> Result<Vec<String>, Failure> {
    let text = read_text(list, LONGEST_TEXT)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", list.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

pub(super) fn cassette(error: CassetteError) -> Failure {
    Failure::usage(error)
}
