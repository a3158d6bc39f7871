//! One file a subcommand: arguments in, exit code or [`Failure`] out.

mod call;
mod check;
mod compare;
mod context;
mod doctor;
mod estimate;
mod failures;
mod fetch;
mod hosted;
mod hosted_rehearsal;
mod ideas;
mod interrupt;
mod list;
mod models;
mod new;
mod probe;
mod purse;
mod record;
mod record_run;
mod recorded_run;
mod replay;
mod report;
mod resume;
mod run;
mod runs;
mod sandbox;
mod sandboxes;
mod script;
mod serve;
mod show;
mod smoke;
mod tool_session;
mod tool_tokens;
mod tools;
mod verify;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{Cli, Command};
use crate::error::Failure;
use crate::exit::Exit;
use crate::results::format::{RuleStatus, Verdict};
use crate::runner::unless_interrupted;

use self::context::Context;
use self::interrupt::Interrupts;

/// What the program runs on: one thread, since the work is done by children, and a call that crosses from thread to
/// thread on its way to one takes twice as long. Files and pictures have threads of their own.
///
/// # Errors
/// When the system refuses what it needs.
pub fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Does what the command line says.
pub async fn run(cli: Cli) -> Result<Exit, Failure> {
    outlive_long_files();
    raise_open_files();
    let interrupts = Interrupts::listen();
    let context = Context::open(cli.results, interrupts.asked.clone())?;
    // These end themselves: their runs with their records, a server with its cells.
    let ends_itself = matches!(cli.command, Command::Run(_) | Command::Compare(_) | Command::Serve(_));
    let mut asked = interrupts.asked.clone();
    let work = async {
        let work = dispatch(&context, cli.command);
        let outcome = match ends_itself {
            true => work.await,
            false => unless_interrupted(&mut asked, work).await.unwrap_or(Ok(Exit::Interrupted)),
        };
        context.sandboxes.close().await;
        outcome
    };
    tokio::select! {
        biased;
        outcome = work => outcome.map_err(failures::of_open_files),
        // What is dropped here ends its children and takes its temporary folders along.
        () = interrupts.insisted() => Ok(Exit::Interrupted),
    }
}

/// Makes a file that grows past `ulimit -f` an error like a full disk: its signal, left alone, ends the program, and
/// one that is listened to does nothing else.
fn outlive_long_files() {
    // A system that lets nobody listen ends the program itself.
    _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
}

/// Takes all the open files that the system grants: a command with many runs under way has more of them than what a
/// shell hands out.
fn raise_open_files() {
    let granted = getrlimit(Resource::Nofile);
    // Where it refuses, there are as many as before.
    _ = setrlimit(Resource::Nofile, Rlimit { current: granted.maximum, ..granted });
}

async fn dispatch(context: &Context, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::List(arguments) => list::run(context, &arguments),
        Command::Ideas => ideas::run(),
        Command::New(arguments) => new::run(context, &arguments),
        Command::Show(arguments) => show::run(context, &arguments),
        Command::Tools(arguments) => tools::run(context, &arguments).await,
        Command::Call(arguments) => call::run(context, &arguments).await,
        Command::Script(arguments) => script::run(context, &arguments).await,
        Command::Fetch(arguments) => fetch::run(context, &arguments).await,
        Command::Smoke(arguments) => smoke::run(context, &arguments).await,
        Command::Check(arguments) => check::run(context, &arguments).await,
        Command::Run(arguments) => run::run(context, &arguments).await,
        Command::Compare(arguments) => compare::run(context, &arguments).await,
        Command::Verify(arguments) => verify::run(context, &arguments).await,
        Command::Replay(arguments) => replay::run(context, &arguments).await,
        Command::Report(arguments) => report::run(context, &arguments),
        Command::Record(arguments) => record::run(context, &arguments).await,
        Command::Sandbox(command) => sandbox::run(&command).await,
        Command::Probe(arguments) => probe::run(context, &arguments).await,
        Command::Serve(arguments) => serve::run(context, &arguments).await,
        Command::Doctor(arguments) => doctor::run(context, &arguments).await,
    }
}

/// What a verdict means for who waits for the command: 5 when rules ended in an error and none failed.
fn exit_of(verdict: &Verdict) -> Exit {
    let any = |status| verdict.rules.iter().any(|rule| rule.status == status);
    match verdict.ok {
        true => Exit::Success,
        false if any(RuleStatus::Error) && !any(RuleStatus::Fail) => Exit::Network,
        false => Exit::Short,
    }
}

/// Prints `value` as JSON for programs.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::new(Exit::Bug, error))?;
    crate::printer::data(&format!("{text}\n"));
    Ok(())
}
