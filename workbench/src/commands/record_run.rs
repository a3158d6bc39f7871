//! `workbench record --from RUN`: a domain's rehearsal and cassette, made from a run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::RecordArguments;
use crate::cli::options::{Rules, RunLimitOptions, SourceOptions};
use crate::error::Failure;
use crate::exit::Exit;
use crate::files::{LONGEST_TEXT, write_whole};
use crate::model::rehearsal_text::{self, Scripts};
use crate::model::replay::Recording;
use crate::printer;
use crate::results::format::Stop;
use crate::results::store::read_scripts;
use crate::runner::Mode;
use crate::web::{CassetteWriter, Known, WebClient};

use super::context::Context;
use super::failures;
use super::record::{cassette, tell_of_sample};
use super::recorded_run::{self, Replayed, Replaying, mode_of, tools_of};

/// Replays the run, adds what was fetched for it to the cassette, and writes down its calls or scripts as a rehearsal.
/// Nothing that is there is overwritten.
pub(super) async fn run(context: &Context, arguments: &RecordArguments, asked: &str) -> Result<Exit, Failure> {
    let recording = recorded_run::open(&context.results, asked)?;
    let domain = tools_of(context, &recording, Some(&arguments.domain))?;
    let mode = mode_of(&recording)?;
    let folder = arguments.to.clone().unwrap_or_else(|| domain.folder.clone());
    let rehearsal = folder.join("rehearsal");
    must_be_free(&rehearsal.join(if mode == Mode::Code { "code" } else { "loop.py" }))?;
    let source = SourceOptions { routes: arguments.routes.clone(), ..SourceOptions::default() };
    let limits = RunLimitOptions { scripts: arguments.limits.clone(), ..RunLimitOptions::default() };
    let replaying = Replaying {
        recording: &recording,
        domain,
        rules: Rules::Run,
        source,
        limits,
        sandbox: None,
        prices: None,
        keep: false,
    };
    let Some(replayed) = replaying.play(context).await? else { return Ok(Exit::Interrupted) };
    reached_its_end(&recording, &replayed)?;
    if !replayed.audit.differences.is_empty() {
        printer::note(&format!(
            "warning: results of {} calls are not as in the run; `workbench replay {}` tells which",
            replayed.audit.differences.len(),
            recording.run()
        ));
    }
    let scripts = match mode {
        Mode::Serial | Mode::Loop => rehearsal_text::policy(&recording),
        Mode::Code => rehearsal_text::scripts(&recording, read_scripts(&replayed.folder).map_err(failures::store)?),
    };
    check(&recording, &scripts)?;
    keep(&replayed.web, &folder.join("cassette")).await?;
    write(&rehearsal, &scripts)?;
    tell(&recording, mode, &rehearsal, &scripts);
    Ok(Exit::Success)
}

/// Refuses a run whose replay was ended by a limit before the record is: a rehearsal of its calls would ask for answers that
/// the cassette does not have, and be ended likewise.
fn reached_its_end(recording: &Recording, replayed: &Replayed) -> Result<(), Failure> {
    let audit = &replayed.audit;
    if audit.replayed_turns == audit.turns && audit.unreached == 0 {
        return Ok(());
    }
    let message = format!(
        "nothing was recorded of {}: its replay was ended after turn {} of {} by a limit of the domain",
        recording.run(),
        audit.replayed_turns,
        audit.turns
    );
    Err(Failure::usage(message).hint("raise that limit in its domain.toml: a rehearsal runs under it, too"))
}

/// Adds to the cassette in `folder` what was answered for the replay and is not in it.
async fn keep(web: &WebClient, folder: &Path) -> Result<(), Failure> {
    let addresses = web.answered();
    if addresses.is_empty() {
        printer::note("note: the run fetched nothing that could be recorded");
        return Ok(());
    }
    let mut writer = CassetteWriter::open(folder).map_err(cassette)?;
    let (mut new, mut others) = (0, Vec::new());
    for address in addresses {
        let answer = web.fetch(&address).await.map_err(failures::network)?;
        match writer.add_new(&answer).map_err(cassette)? {
            Known::New => new += 1,
            Known::Same => {}
            Known::Other => others.push(address),
        }
    }
    if new > 0 {
        writer.save().map_err(cassette)?;
    }
    printer::note(&format!("{new} answers added to {}", folder.display()));
    if writer.replaced_samples() > 0 {
        writer.prune().map_err(cassette)?;
        tell_of_sample(&writer);
    }
    if let Some(first) = others.first() {
        printer::note(&format!(
            "warning: {} answers of the run are recorded otherwise there, and stay as they are; the first is {first}",
            others.len()
        ));
    }
    Ok(())
}

fn check(recording: &Recording, scripts: &Scripts) -> Result<(), Failure> {
    if scripts.calls == 0 {
        let run = recording.run();
        return Err(Failure::usage(format!("the model of {run} asked for nothing that can be rehearsed")));
    }
    let longest = scripts.files.iter().max_by_key(|(_, text)| text.len());
    match longest {
        Some((file, text)) if text.len() as u64 > LONGEST_TEXT => Err(Failure::usage(format!(
            "{file} would have {} bytes, and a script is read up to {LONGEST_TEXT}",
            text.len()
        ))),
        _ => Ok(()),
    }
}

/// What is there was made by somebody, and is not ours to replace.
fn must_be_free(path: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Failure::usage(format!("{} is there already, and is not overwritten", path.display()))
        .hint("remove it, or write elsewhere with `--to FOLDER`"))
}

fn write(rehearsal: &Path, scripts: &Scripts) -> Result<(), Failure> {
    for (file, text) in &scripts.files {
        let path = rehearsal.join(file);
        let parent: PathBuf = path.parent().unwrap_or(rehearsal).to_owned();
        fs::create_dir_all(parent)
            .and_then(|()| write_whole(&path, text.as_bytes()))
            .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))?;
    }
    Ok(())
}

fn tell(recording: &Recording, mode: Mode, rehearsal: &Path, scripts: &Scripts) {
    let what = if mode == Mode::Code { "scripts" } else { "calls" };
    printer::note(&format!("{} {what} of {} written to {}", scripts.calls, recording.run(), rehearsal.display()));
    if scripts.left_out > 0 {
        printer::note(&format!(
            "note: {} calls are left out: they were not made, or their arguments are not what their tool takes",
            scripts.left_out
        ));
    }
    if matches!(recording.record.stop, Stop::Interrupted | Stop::ModelError) {
        printer::note("note: the run did not come to its end, and so does the rehearsal");
    }
}
