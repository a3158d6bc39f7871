//! `workbench show`

use std::fmt::Write as _;

use serde_json::json;

use crate::cli::ShowArguments;
use crate::cli::options::Format;
use crate::domain::{Domain, ManifestError};
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer::{self, line};
use crate::report::run_story;
use crate::results::find::find_run;
use crate::results::store::{StoreError, read_ledger, read_run};

use super::context::Context;
use super::{failures, print_json};

/// A name of the workspace's domains is a domain; anything else is looked for among the runs, then as a folder.
pub(super) fn run(context: &Context, arguments: &ShowArguments) -> Result<Exit, Failure> {
    if context.workspace.domains().contains(&arguments.subject) {
        return show_domain(&context.domain(&arguments.subject)?, arguments.format);
    }
    let missing_run = match find_run(&context.results, &arguments.subject) {
        Ok(folder) => return show_run(&folder, arguments.format),
        Err(error) => error,
    };
    match (Domain::find(&arguments.subject, &context.workspace), missing_run) {
        (Ok(domain), _) => show_domain(&domain, arguments.format),
        (Err(error @ ManifestError::Unknown { .. }), missing_run @ StoreError::Unknown { .. }) => {
            Err(Failure::usage(error).hint(format!("as a run: {missing_run}")))
        }
        (Err(error), StoreError::Unknown { .. }) => Err(Failure::usage(error)),
        // There is something of that name among the runs, and no domain.
        (Err(_), problem) => Err(failures::store(problem)),
    }
}

fn show_run(folder: &std::path::Path, format: Format) -> Result<Exit, Failure> {
    let record = read_run(folder).map_err(Failure::usage)?;
    if format == Format::Json {
        print_json(&record)?;
        return Ok(Exit::Success);
    }
    let ledger = read_ledger(folder).map_err(Failure::usage)?;
    printer::data(&run_story::story(&record, &ledger));
    printer::data(&format!("\nfiles: {}\n", line(&folder.display().to_string())));
    Ok(Exit::Success)
}

fn show_domain(domain: &Domain, format: Format) -> Result<Exit, Failure> {
    let manifest = &domain.manifest;
    if format == Format::Json {
        let rules: Vec<_> = manifest
            .verify
            .iter()
            .map(|rule| json!({"name": rule.name, "check": rule.check, "got": rule.got, "points": rule.points}))
            .collect();
        print_json(&json!({
            "name": manifest.domain.name,
            "title": manifest.domain.title,
            // A path need not be text; JSON is.
            "folder": domain.folder.to_string_lossy(),
            "persona": manifest.task.as_ref().map(|task| &task.persona),
            "prompt": domain.prompt,
            "rules": rules,
            "offline": domain.cassette.is_some(),
        }))?;
        return Ok(Exit::Success);
    }
    printer::data(&printer::plain(&domain_text(domain)));
    Ok(Exit::Success)
}

fn domain_text(domain: &Domain) -> String {
    let manifest = &domain.manifest;
    let mut text = format!(
        "{} · {}\nin the folder {}\n",
        manifest.domain.name,
        line(&manifest.domain.title),
        domain.folder.display()
    );
    if let Some(base) = &manifest.api.base {
        let pace = manifest.api.pace;
        let _ = writeln!(
            text,
            "\nAPI {base}\nhosts {}; one request every {} ms, {} at once{}",
            manifest.api.hosts.join(", "),
            pace.gap_ms,
            pace.concurrency,
            if domain.cassette.is_some() { "; a cassette is there, so it runs offline" } else { "" }
        );
    }
    if let (Some(task), Some(prompt)) = (&manifest.task, &domain.prompt) {
        let _ = writeln!(text, "\nTask\n{}\n\n{}", task.persona, prompt.trim_end());
    }
    if !manifest.verify.is_empty() {
        text.push_str("\nRules\n");
        for rule in &manifest.verify {
            let _ = writeln!(
                text,
                "  {} ({} point{})\n    {}",
                line(&rule.name),
                rule.points,
                if rule.points == 1.0 { "" } else { "s" },
                rule.check
            );
        }
    }
    let limits = &manifest.limits;
    let _ = writeln!(
        text,
        "\nLimits\n  turns: serial {}, loop {}, code {}, hosted {}; tool calls {}\n  script: {} s, {} MB, {} characters of output; tool: {} s",
        limits.serial_turns,
        limits.loop_turns,
        limits.code_turns,
        limits.hosted_turns,
        limits.tool_calls,
        limits.script_seconds,
        limits.script_memory_mb,
        limits.output_chars,
        limits.tool_seconds
    );
    text
}
