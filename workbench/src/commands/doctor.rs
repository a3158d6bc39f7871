//! `workbench doctor`

use std::path::Path;
use std::process::Stdio;

use serde::Serialize;

use crate::cli::DoctorArguments;
use crate::cli::model_options::ModelOptions;
use crate::cli::options::Format;
use crate::env;
use crate::error::Failure;
use crate::exit::Exit;
use crate::lockdown::{self, Protection};
use crate::model::access;
use crate::model::provider::{ModelChoice, ProviderKind};
use crate::printer;
use crate::sandbox::docker::engine::Engine;
use crate::sandbox::docker::image;
use crate::sandbox::{Bridge, BridgeError, SCRIPT_FILE, Script};

use super::context::Context;
use super::models::Asked;
use super::sandboxes::embedded;
use super::{failures, print_json};

/// One thing that was looked at.
#[derive(Debug, PartialEq, Serialize)]
struct Check {
    name: String,
    state: State,
    found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// It is not there, and only some need it.
    Unset,
    /// The workbench works without it, less well or less safely.
    Weaker,
    /// The workbench does not work without it.
    Missing,
}

/// Looks at what every command needs; exit 1 when something is missing that nothing works without.
pub(super) async fn run(context: &Context, arguments: &DoctorArguments) -> Result<Exit, Failure> {
    let mut checks = vec![
        Check::of("results folder", results(context), State::Missing),
        Check::of("cargo", cargo().await, State::Weaker),
        Check::of("embedded sandbox", python().await, State::Missing),
    ];
    checks.extend(containers().await);
    checks.extend(lockdown::of_script_workers().iter().map(|protection| of_protection("script workers", protection)));
    checks.extend(lockdown::of_plugin_workers().iter().map(|protection| of_protection("plugin workers", protection)));
    for name in context.workspace.domains() {
        let found = domain(context, &name).await;
        checks.push(Check::of(&format!("domain {name}"), found, State::Missing));
    }
    checks.extend(ProviderKind::ALL.iter().map(|kind| key(*kind)));
    if let Some(choice) = &arguments.model {
        checks.push(Check::of(
            &format!("model {choice}"),
            model(context, choice, arguments.base_url.clone()).await,
            State::Missing,
        ));
    }
    match arguments.format {
        Format::Json => print_json(&checks)?,
        Format::Text => checks.iter().for_each(|check| printer::data(&check.line())),
    }
    let sound = checks.iter().all(|check| check.state != State::Missing);
    Ok(if sound { Exit::Success } else { Exit::Short })
}

impl Check {
    /// `failed` is how bad it is when there is a problem.
    fn of(name: &str, outcome: Result<String, String>, failed: State) -> Self {
        let state = if outcome.is_ok() { State::Ok } else { failed };
        Self { name: name.to_owned(), state, found: outcome.unwrap_or_else(|problem| problem) }
    }

    fn line(&self) -> String {
        let mark = match self.state {
            State::Ok => "ok:     ",
            State::Unset => "unset:  ",
            State::Weaker => "weaker: ",
            State::Missing => "MISSING:",
        };
        format!("{mark} {}: {}\n", self.name, self.found)
    }
}

fn of_protection(workers: &str, protection: &Protection) -> Check {
    let Protection { name, active, keeps_from } = protection;
    let found = if *active {
        Ok(format!("keeps them from {keeps_from}"))
    } else {
        Err(format!("this system has none, so nothing keeps them from {keeps_from}"))
    };
    Check::of(&format!("{workers}, {name}"), found, State::Weaker)
}

/// Tries to write there, and leaves no folder that was not there before.
fn results(context: &Context) -> Result<String, String> {
    let missing: Vec<&Path> = context.results.ancestors().take_while(|folder| !folder.exists()).collect();
    let outcome = context.try_results(None);
    for folder in missing {
        _ = std::fs::remove_dir(folder);
    }
    outcome.map(|()| context.results.display().to_string())
}

/// Without cargo only libraries that were built before can be used.
async fn cargo() -> Result<String, String> {
    let program = std::env::var_os(env::CARGO).unwrap_or_else(|| "cargo".into());
    let mut command = tokio::process::Command::new(program);
    for key in env::KEYS {
        command.env_remove(key);
    }
    let output = command.arg("--version").stdin(Stdio::null()).output().await;
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => Err("not found; plugins that are not built yet cannot be built".to_owned()),
    }
}

async fn python() -> Result<String, String> {
    let script = Script {
        source: "import sys; print(sys.version.split()[0])",
        file: SCRIPT_FILE,
        tools: &[],
        domain: "doctor",
        announce_waiting: false,
        limits: crate::runner::script_limits(&crate::domain::manifest::Limits::default()),
    };
    let sandbox = embedded().map_err(|failure| failure.to_string())?;
    let outcome = sandbox.run(&script, &NoTools).await.map_err(|error| failures::sandbox(error).to_string())?;
    if outcome.end.is_success() {
        Ok(format!("Python {}", outcome.stdout.text.trim()))
    } else {
        Err(outcome.stderr.text)
    }
}

/// The engine and, where there is one, the image of the sandbox `docker`. Who does not want it needs neither.
async fn containers() -> Vec<Check> {
    let engine = match Engine::connect().await {
        Ok(engine) => engine,
        Err(error) => {
            return vec![Check::of("container engine", Err(format!("{error}; {}", error.hint())), State::Unset)];
        }
    };
    let about = format!("{} {} at {}", engine.name(), engine.version(), engine.address());
    let image = match image::find(&engine).await {
        Ok(image) => Ok(image.tag),
        Err(error) => Err(format!("{error}; {}", error.hint())),
    };
    vec![Check::of("container engine", Ok(about), State::Unset), Check::of("container image", image, State::Unset)]
}

async fn domain(context: &Context, name: &str) -> Result<String, String> {
    let domain = context.domain(name).map_err(|failure| failure.to_string())?;
    let session = context.idle_session(&domain).await.map_err(|failure| failure.to_string())?;
    let data = if domain.cassette.is_some() { "runs offline from its cassette" } else { "needs its API" };
    Ok(format!("{} tools, {data}", session.toolbox.tools().len()))
}

/// Whether there is a key for a provider's models; the key itself is never shown. Nothing is sent.
fn key(kind: ProviderKind) -> Check {
    let (name, variable) = (format!("key of {}", kind.name()), kind.key());
    match access::variable(variable) {
        Ok(Some(key)) => match access::secret("", &key, variable) {
            Ok(_) => Check::of(&name, Ok(format!("`{variable}` is set")), State::Unset),
            Err(problem) => Check::of(&name, Err(problem), State::Weaker),
        },
        Ok(None) if kind.is_local() => {
            Check::of(&name, Err(format!("`{variable}` is not set; a server on this machine needs none")), State::Unset)
        }
        Ok(None) => Check::of(&name, Err(format!("`{variable}` is not set")), State::Unset),
        Err(problem) => Check::of(&name, Err(problem.to_string()), State::Weaker),
    }
}

/// Asks whether a model serves.
async fn model(context: &Context, choice: &ModelChoice, base_url: Option<String>) -> Result<String, String> {
    let in_words = |failure: Failure| match &failure.hint {
        Some(hint) => format!("{}; {hint}", failure.error),
        None => failure.error.to_string(),
    };
    let asked = Asked::of(&ModelOptions::looking_at(choice.clone(), base_url), &context.results).map_err(in_words)?;
    let findings = asked.look().await.map_err(in_words)?;
    Ok(findings.found.into_iter().chain(findings.warnings).collect::<Vec<_>>().join("; "))
}

/// The doctor's script calls nothing.
struct NoTools;

#[async_trait::async_trait]
impl Bridge for NoTools {
    async fn call(&self, tool: &str, _arguments: bytes::Bytes) -> Result<bytes::Bytes, BridgeError> {
        Err(BridgeError::Tool(format!("there is no tool {tool} here")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protection_that_is_missing_makes_workers_weaker_and_says_how() {
        let protection = |active| Protection { name: "death signal", active, keeps_from: "outliving it" };
        for (active, line) in [
            (true, "ok:      script workers, death signal: keeps them from outliving it\n"),
            (
                false,
                "weaker:  script workers, death signal: this system has none, so nothing keeps them from outliving it\n",
            ),
        ] {
            assert_eq!(of_protection("script workers", &protection(active)).line(), line);
        }
    }
}
