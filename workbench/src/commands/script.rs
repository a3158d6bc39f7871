//! `workbench script`

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cli::ScriptArguments;
use crate::domain::Domain;
use crate::error::Failure;
use crate::exit::Exit;
use crate::files::LONGEST_TEXT;
use crate::printer;
use crate::sandbox::{SCRIPT_FILE, ScriptEnd, ToolForm};

use super::context::Context;

/// Runs one script, or a cell of the domain after those before it: its standard output and standard error come out apart, and for a program as they are.
pub(super) async fn run(context: &Context, arguments: &ScriptArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    let source = read(&arguments.file)?;
    let limits = arguments.limits.over(&domain.manifest.limits);
    let sandbox = context.sandboxes.open_now(&arguments.sandbox, &limits, "script").await?;
    let session = context.tool_session(&domain, &arguments.source, limits).await?;
    let own = own_script(&arguments.file, &domain);
    let name = own.map_or_else(|| SCRIPT_FILE.to_owned(), |path| domain.own(path));
    let own_cell = domain.cells().find(|cell| Some(*cell) == own);
    let outcome = match own_cell {
        None => session.script(&name, &source, ToolForm::Functions, &sandbox).await?,
        Some(own) => {
            let cells = sandbox.session();
            for before in domain.cells().take_while(|cell| *cell != own) {
                let before_name = domain.own(before);
                printer::note(&format!("note: {before_name} runs before it, whose names it finds"));
                session.script(&before_name, &read(before)?, ToolForm::Coroutines, &cells).await?;
            }
            session.script(&name, &source, ToolForm::Coroutines, &cells).await?
        }
    };
    session.tell_log();
    for stream in [&outcome.stdout, &outcome.stderr] {
        if stream.dropped > 0 {
            printer::note(&format!("({} earlier bytes are not shown)", stream.dropped));
        }
    }
    printer::data(&outcome.stdout.text);
    printer::error_text(&outcome.stderr.text);
    if arguments.ledger {
        for call in session.calls() {
            let line = serde_json::to_string(&call).map_err(|error| Failure::new(Exit::Bug, error))?;
            printer::data(&format!("{line}\n"));
        }
    }
    match outcome.headline() {
        None => Ok(Exit::Success),
        Some(line) => {
            printer::note(&line);
            session.tell_hint(&name, &outcome);
            if let Some(option) = more(&outcome.end) {
                printer::note(&format!("hint: `{option} N` grants more"));
            }
            Ok(Exit::Short)
        }
    }
}

/// The script of the domain that this file is. Tracebacks name such a one as the file that can be opened; any other came from a
/// model, or might have.
fn own_script<'a>(file: &Path, domain: &'a Domain) -> Option<&'a PathBuf> {
    let own =
        |path: &&PathBuf| fs::canonicalize(file).is_ok_and(|file| fs::canonicalize(path).is_ok_and(|own| own == file));
    domain.scripts().find(own)
}

/// The option that grants more of what a script used up.
fn more(end: &ScriptEnd) -> Option<&'static str> {
    match end {
        ScriptEnd::TimedOut => Some("--script-seconds"),
        ScriptEnd::OutOfMemory => Some("--script-memory-mb"),
        ScriptEnd::Exit(_) | ScriptEnd::Stopped(_) | ScriptEnd::Crashed(_) | ScriptEnd::Killed => None,
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    let (name, text) = match file == Path::new("-") {
        true => ("on standard input".to_owned(), bounded(std::io::stdin())),
        false => (file.display().to_string(), File::open(file).and_then(bounded)),
    };
    text.map_err(|error| Failure::usage(format!("the script {name} cannot be read: {error}")))
}

/// A script may come through a pipe, which files of a domain may not; `/dev/zero` has no end.
fn bounded(source: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    if source.take(LONGEST_TEXT + 1).read_to_string(&mut text)? as u64 > LONGEST_TEXT {
        return Err(std::io::Error::other(format!("it is longer than {} MB", LONGEST_TEXT >> 20)));
    }
    Ok(text)
}
