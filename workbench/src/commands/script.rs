//! `workbench script`

use std::io::Read;
use std::path::Path;

use crate::cli::ScriptArguments;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;

use super::context::Context;

/// Runs one script: its standard output and standard error come out as they are, apart.
pub(super) async fn run(context: &Context, arguments: &ScriptArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    let source = read(&arguments.file)?;
    let limits = arguments.limits.over(&domain.manifest.limits);
    let session = context.tool_session(&domain, &arguments.source, limits).await?;
    let outcome = session.script(&source).await?;
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
            Ok(Exit::Short)
        }
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(Failure::usage)?;
        return String::from_utf8(bytes).map_err(|_| Failure::usage("the script on standard input is not UTF-8"));
    }
    std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("the script {} cannot be read: {error}", file.display())))
}
