//! `workbench serve`

use std::sync::Arc;

use crate::cli::ServeArguments;
use crate::cli::model_options::ModelOptions;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::provider::ModelChoice;
use crate::model::rehearsal::{self, Rehearsal};
use crate::printer::{self, line};
use crate::serve::backend::{Backend, Cells, ProvidersModel, ScriptedTurns};
use crate::serve::{Listening, Setup, secret};

use super::context::Context;
use super::models::Asked;

/// Letters of the shortest key that may be chosen: anything on this machine may try.
const SHORTEST_TOKEN: usize = 8;

/// Serves until it is interrupted.
pub(super) async fn run(context: &Context, arguments: &ServeArguments) -> Result<Exit, Failure> {
    let (name, backend) = backend(context, arguments).await?;
    let speaker = match (&arguments.turns, &arguments.domain) {
        (Some(file), _) => format!("the turns of {}", file.display()),
        (None, Some(domain)) => format!("the scripts of {domain}, which bring no tools: those come with each request"),
        (None, None) => name.clone(),
    };
    let (tokens, made) = tokens(arguments)?;
    let purpose = Limits { script_memory_mb: arguments.memory_mb, ..Limits::default() };
    let sandbox = context.sandboxes.open(&arguments.sandbox, &purpose, "serve").await?;
    let mut models = vec![name];
    models.extend(arguments.names.iter().cloned());
    let log = Box::new(|told: &str| printer::note(&line(told)));
    let setup = Setup { backend, sandbox, models: models.clone(), tokens, limits: arguments.limits(), log };
    let listening = Listening::open(arguments.listen, setup).await.map_err(|error| {
        Failure::usage(format!("could not listen on {}: {error}", arguments.listen))
            .hint("`--listen 127.0.0.1:0` takes any port that is free")
    })?;
    let address = listening.address().map_err(|error| Failure::usage(format!("could not listen: {error}")))?;
    if !address.ip().is_loopback() {
        printer::note("warning: whoever reaches this machine and has the key can run code in its sandbox");
    }
    if let Some(token) = made {
        printer::note(&format!("key: {token}"));
    }
    printer::data(&format!("http://{address}\n"));
    let names = line(&models.join(" or "));
    printer::note(&format!("serving {}; the model's name is {names}; Ctrl-C ends it", line(&speaker)));
    let mut interrupt = context.interrupt.clone();
    let end = async move {
        // Where nobody can raise it any more, the command ends otherwise.
        if interrupt.wait_for(|raised| *raised).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    listening.serve(end).await;
    Ok(Exit::Interrupted)
}

/// Who speaks, by name.
async fn backend(context: &Context, arguments: &ServeArguments) -> Result<(String, Arc<dyn Backend>), Failure> {
    if let Some(file) = &arguments.turns {
        let turns = ScriptedTurns::read(file).map_err(Failure::usage)?;
        return Ok(("turns".to_owned(), Arc::new(turns)));
    }
    match (&arguments.model, &arguments.domain) {
        (ModelChoice::Rehearsal, Some(domain)) => {
            if arguments.base_url.is_some() {
                return Err(Failure::usage("`--base-url` is about a model that is asked, and none is")
                    .hint("name one with `--model`; without it scripts play the model"));
            }
            let cells = Rehearsal::cells(&context.domain(domain)?).map_err(|error| {
                Failure::usage(error)
                    .hint("write it: docs/first-domain.md shows one, below `Where the provider runs the script`")
            })?;
            Ok((rehearsal::NAME.to_owned(), Arc::new(Cells::new(cells))))
        }
        (ModelChoice::Rehearsal, None) => Err(Failure::usage("nobody is there to speak for the model")
            .hint("name a domain, whose scripts play it, `--turns FILE`, or a model with `--model`")),
        (ModelChoice::Replay(_), _) => {
            Err(Failure::usage("a recorded run cannot be served").hint("`workbench replay RUN` says it again"))
        }
        (ModelChoice::Of(..), Some(domain)) => {
            let message = format!("`{domain}` is a domain, and the tools of a served model come with each request");
            Err(Failure::usage(message).hint("leave the domain out"))
        }
        (ModelChoice::Of(..), None) => {
            let options = ModelOptions {
                model: arguments.model.clone(),
                base_url: arguments.base_url.clone(),
                ..ModelOptions::default()
            };
            let asked = Asked::of(&options, &context.results)?;
            asked.check().await?;
            let Asked::Provider(provider) = asked else { return Err(Failure::usage("this model cannot be served")) };
            Ok((provider.name().to_owned(), Arc::new(ProvidersModel(provider))))
        }
    }
}

/// The keys that are let in, and the one that was made where none was given: it is to be told.
fn tokens(arguments: &ServeArguments) -> Result<(Vec<String>, Option<String>), Failure> {
    if let Some(short) = arguments.tokens.iter().find(|token| token.len() < SHORTEST_TOKEN) {
        let message = format!("a key of {} letters is too short to keep anybody out", short.len());
        return Err(Failure::usage(message).hint(format!("at least {SHORTEST_TOKEN}; without `--token` one is made")));
    }
    if !arguments.tokens.is_empty() {
        return Ok((arguments.tokens.clone(), None));
    }
    let token = secret(16);
    Ok((vec![token.clone()], Some(token)))
}
