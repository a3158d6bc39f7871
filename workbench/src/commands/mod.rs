//! One file a subcommand: arguments in, exit code or [`Failure`] out.

mod bench;
mod call;
mod compare;
mod doctor;
mod fetch;
mod list;
mod record;
mod report;
mod run;
mod runs;
mod script;
mod show;
mod smoke;
mod tools;
mod verify;

use crate::cli::{Cli, Command};
use crate::error::Failure;
use crate::exit::Exit;

use self::bench::Bench;

/// Does what the command line says.
pub async fn run(cli: Cli) -> Result<Exit, Failure> {
    let bench = Bench::open(cli.results)?;
    match cli.command {
        Command::List(arguments) => list::run(&bench, &arguments),
        Command::Show(arguments) => show::run(&bench, &arguments),
        Command::Tools(arguments) => tools::run(&bench, &arguments).await,
        Command::Call(arguments) => call::run(&bench, &arguments).await,
        Command::Script(arguments) => script::run(&bench, &arguments).await,
        Command::Fetch(arguments) => fetch::run(&bench, &arguments).await,
        Command::Smoke(arguments) => smoke::run(&bench, &arguments).await,
        Command::Run(arguments) => run::run(&bench, &arguments).await,
        Command::Compare(arguments) => compare::run(&bench, &arguments).await,
        Command::Verify(arguments) => verify::run(&bench, &arguments).await,
        Command::Report(arguments) => report::run(&bench, &arguments),
        Command::Record(arguments) => record::run(&bench, &arguments).await,
        Command::Doctor(arguments) => doctor::run(&bench, &arguments).await,
    }
}

/// Prints `value` as JSON for programs.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::new(Exit::Bug, error))?;
    crate::printer::data(&format!("{text}\n"));
    Ok(())
}
