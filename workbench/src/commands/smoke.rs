//! `workbench smoke`

use bytes::Bytes;
use plugin_api::wire::ToolSpec;

use crate::cli::SmokeArguments;
use crate::error::Failure;
use crate::exit::Exit;
use crate::files::{LONGEST_TEXT, read_text};
use crate::printer;
use crate::runner::Caller;
use crate::runner::prompts::failure;
use crate::sandbox::ToolForm;

use super::context::Context;
use super::tool_session::ToolSession;

/// Folder of a domain's results that a smoke test starts anew.
const FOLDER: &str = "smoke";

/// Tries a domain without a model: its tools, its error texts, and its `smoke.py`.
pub(super) async fn run(context: &Context, arguments: &SmokeArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    let data = context.data(&domain, &arguments.source)?;
    clear(&context.results.join(domain.name()).join(FOLDER))?;
    let limits = arguments.limits.over(&domain.manifest.limits);
    let sandbox = context.sandboxes.open_now(&arguments.sandbox, &limits, "smoke").await?;
    let session = context.tool_session_in(&domain, data, limits, FOLDER).await?;

    section("tools");
    for tool in session.toolbox.tools() {
        printer::data(&format!("{}: {}\n", tool.name, first_sentence(&tool.description)));
    }
    if let Some(tool) = sample(session.toolbox.tools()) {
        section(&format!("schema of {}", tool.name));
        let schema =
            serde_json::to_string_pretty(&tool.input_schema).map_err(|error| Failure::new(Exit::Bug, error))?;
        printer::data(&format!("{schema}\n"));
        section("errors, as a model reads them");
        show_call(&session, &tool.name, r#"{"no_such_argument": 1}"#).await;
    }
    show_call(&session, "no_such_tool", "{}").await;

    let Some(path) = &domain.smoke else {
        printer::note(&format!("{} has no smoke.py, so its task was not tried", domain.name()));
        return Ok(Exit::Success);
    };
    section("the task as one plain script");
    let source = read_text(path, LONGEST_TEXT)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    let name = domain.own(path);
    let outcome = session.script(&name, &source, ToolForm::Functions, &sandbox).await?;
    session.tell_log();
    printer::data(&outcome.stdout.text);
    printer::error_text(&outcome.stderr.text);
    session.tell_hint(&name, &outcome);

    section("counters");
    let counters = session.counters();
    printer::data(&format!(
        "{} tool calls, {} network requests, {} cache hits\nfiles: {}\n",
        session.calls().len(),
        counters.network_calls,
        counters.cache_hits,
        session.out.display()
    ));
    Ok(if outcome.end.is_success() { Exit::Success } else { Exit::Short })
}

async fn show_call(session: &ToolSession, tool: &str, arguments: &'static str) {
    let text = match session.toolbox.call(Caller::default(), tool, Bytes::from_static(arguments.as_bytes())).await {
        Ok(answer) => String::from_utf8_lossy(&answer).into_owned(),
        Err(error) => failure(error.message()),
    };
    printer::data(&format!("{tool}({arguments})\n  {text}\n"));
}

/// A tool with arguments, since its schema says most.
fn sample(tools: &[ToolSpec]) -> Option<&ToolSpec> {
    let takes = |tool: &&ToolSpec| tool.input_schema["properties"].as_object().is_some_and(|map| !map.is_empty());
    tools.iter().find(takes).or_else(|| tools.first())
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").or_else(|| text.find(".\n")).map_or(text.len(), |at| at + 1);
    text[..end].trim_end()
}

fn section(title: &str) {
    printer::data(&format!("\n== {title}\n"));
}

fn clear(folder: &std::path::Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::usage(format!("{} cannot be cleared: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}
