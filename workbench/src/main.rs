//! The program: workers first, then the command line.

use std::process::ExitCode;

use clap::Parser;
use workbench::cli::Cli;
use workbench::exit::Exit;
use workbench::{commands, plugin, printer, sandbox};

fn main() -> ExitCode {
    // The hidden subcommands of child processes come before everything else: a worker must be
    // single-threaded until it is locked, so no runtime may have started.
    match std::env::args().nth(1).as_deref() {
        Some(plugin::SUBCOMMAND) => return plugin::worker::run(),
        #[cfg(feature = "embedded")]
        Some(sandbox::embedded::SUBCOMMAND) => return sandbox::embedded::worker::run(),
        _ => {}
    }
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            printer::note(&format!("error: the program cannot start its threads: {error}"));
            return Exit::Bug.into();
        }
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            printer::note(&failure.to_string());
            failure.exit.into()
        }
    }
}
