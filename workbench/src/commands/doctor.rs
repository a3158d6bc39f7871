//! `workbench doctor`

use std::process::Stdio;

use serde::Serialize;

use crate::cli::DoctorArguments;
use crate::cli::options::{Format, SourceOptions};
use crate::env;
use crate::error::Failure;
use crate::exit::Exit;
use crate::lockdown;
use crate::printer;
use crate::sandbox::{Bridge, BridgeError, Script};

use super::context::{Context, sandbox, sandbox_failure};
use super::print_json;

/// One thing that was looked at.
#[derive(Serialize)]
struct Check {
    name: String,
    ok: bool,
    found: String,
}

/// Looks at what every command needs; exit 1 when something is missing.
pub(super) async fn run(context: &Context, arguments: &DoctorArguments) -> Result<Exit, Failure> {
    let mut checks = vec![
        check("results folder", results(context)),
        check("cargo", cargo().await),
        check("embedded sandbox", python().await),
    ];
    checks.extend(lockdown::status().into_iter().map(|protection| Check {
        name: protection.name.to_owned(),
        ok: protection.active,
        found: format!("keeps a worker from {}", protection.keeps_from),
    }));
    for name in context.workspace.domains() {
        let found = domain(context, &name).await;
        checks.push(check(&format!("domain {name}"), found));
    }
    let healthy = checks.iter().all(|check| check.ok);
    match arguments.format {
        Format::Json => print_json(&checks)?,
        Format::Text => {
            for check in &checks {
                let mark = if check.ok { "ok     " } else { "MISSING" };
                printer::data(&format!("{mark}  {}: {}\n", check.name, check.found));
            }
        }
    }
    Ok(if healthy { Exit::Success } else { Exit::Short })
}

fn check(name: &str, outcome: Result<String, String>) -> Check {
    let ok = outcome.is_ok();
    Check { name: name.to_owned(), ok, found: outcome.unwrap_or_else(|problem| problem) }
}

fn results(context: &Context) -> Result<String, String> {
    let found = context.try_results().map(|()| context.results.display().to_string());
    found.map_err(|failure| format!("{}; choose another with `--results`", failure.error))
}

/// Without cargo only libraries that were built before can be used.
async fn cargo() -> Result<String, String> {
    let program = std::env::var_os(env::CARGO).unwrap_or_else(|| "cargo".into());
    let output = tokio::process::Command::new(program).arg("--version").stdin(Stdio::null()).output().await;
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => Err("not found; plugins that are not built yet cannot be built".to_owned()),
    }
}

async fn python() -> Result<String, String> {
    let script = Script {
        source: "import sys; print(sys.version.split()[0])",
        tools: &[],
        domain: "doctor",
        announce_waiting: false,
        limits: crate::runner::script_limits(&crate::domain::manifest::Limits::default()),
    };
    let sandbox = sandbox().map_err(|failure| failure.to_string())?;
    let outcome = sandbox.run(&script, &NoTools).await.map_err(|error| sandbox_failure(error).to_string())?;
    if outcome.end.is_success() {
        Ok(format!("Python {}", outcome.stdout.text.trim()))
    } else {
        Err(outcome.stderr.text)
    }
}

async fn domain(context: &Context, name: &str) -> Result<String, String> {
    let domain = context.domain(name).map_err(|failure| failure.to_string())?;
    let session = context
        .tool_session(&domain, &SourceOptions::default(), domain.manifest.limits.clone())
        .await
        .map_err(|failure| failure.to_string())?;
    let data = if domain.cassette.is_some() { "runs offline from its cassette" } else { "needs its API" };
    Ok(format!("{} tools, {data}", session.toolbox.tools().len()))
}

/// The doctor's script calls nothing.
struct NoTools;

#[async_trait::async_trait]
impl Bridge for NoTools {
    async fn call(&self, tool: &str, _arguments: bytes::Bytes) -> Result<bytes::Bytes, BridgeError> {
        Err(BridgeError::Tool(format!("there is no tool {tool} here")))
    }
}
