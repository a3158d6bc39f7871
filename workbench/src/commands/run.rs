//! `workbench run`

use crate::cli::RunArguments;
use crate::cli::options::Format;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::report::{console, run_story};
use crate::results::format::Stop;
use crate::results::store::read_ledger;
use crate::runner::{Mode, unless_interrupted};

use super::context::Context;
use super::interrupt::unless_raised;
use super::models::Asked;
use super::runs::{Batch, Draft, Job};
use super::{exit_of, hosted, print_json};

/// Makes one run and tells it; exit 1 when it was not verified, 5 when the model failed or a fault that is not the model's
/// left it undecided.
pub(super) async fn run(context: &Context, arguments: &RunArguments) -> Result<Exit, Failure> {
    let model = Asked::of(&arguments.options.model, &context.results)?;
    let fallback = arguments.options.model.hosted_fallback;
    let planning = async {
        let domains = [arguments.domain.clone()];
        let modes = hosted::settle(context, vec![arguments.mode], &domains, &model, fallback).await?;
        let plan_of = async |modes: &[Mode]| {
            let draft = Draft::new(context, &arguments.domain, modes, &arguments.options, &model)?;
            model.check().await?;
            draft.make_room(context)?;
            draft.ready(context).await
        };
        let plan = plan_of(&modes).await?;
        let (modes, plan) = match hosted::settle_tools(std::slice::from_ref(&plan), &modes, fallback)? {
            None => (modes, plan),
            Some(modes) => (modes.clone(), plan_of(&modes).await?),
        };
        plan.reachable().await.map(|()| (modes, plan))
    };
    let Some(plan) = unless_interrupted(&mut context.interrupt.clone(), planning).await else {
        return Ok(Exit::Interrupted);
    };
    let (modes, plan) = plan?;
    let job = Job { mode: modes.first().copied().unwrap_or(arguments.mode), number: 1 };
    let batch = Batch { command: &context.name_of_command(), comparison: None, at_once: 1, purse: None };
    let listener = match arguments.format {
        Format::Json => console::listener(),
        Format::Text => console::listener_until_the_end(),
    };
    let made = plan.make(context, &batch, &[job], &listener).await;
    if let Some(failure) = made.failure {
        return Err(failure);
    }
    let Some(record) = made.records.first() else { return Ok(Exit::Interrupted) };
    plan.tell_broken_scripts(context, made.records.iter().collect());
    let folder = context.results.join(&record.domain).join(&record.run);
    match arguments.format {
        Format::Json => print_json(record)?,
        Format::Text => {
            let ledger = read_ledger(&folder).map_err(Failure::usage)?;
            printer::data(&run_story::story(record, &ledger));
            printer::data(&format!("\nfiles: {}\n", printer::line(&folder.display().to_string())));
        }
    }
    let exit = match record.stop {
        Stop::ModelError => Exit::Network,
        _ => record.verify.as_ref().map_or(Exit::Short, exit_of),
    };
    Ok(unless_raised(&context.interrupt, exit))
}
