//! The program: workers first, then the command line.

use std::ffi::OsStr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use workbench::cli::Cli;
use workbench::exit::Exit;
use workbench::{commands, plugin, printer};

/// How long work that cannot be cut off, such as the decoding of a picture, may hold up the program's end.
const LAST_WORK: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // The hidden subcommands of child processes come before everything else: a worker must be
    // single-threaded until it is locked, so no runtime may have started.
    match std::env::args_os().nth(1).as_deref().and_then(OsStr::to_str) {
        Some(plugin::SUBCOMMAND) => return plugin::worker::run(),
        #[cfg(feature = "embedded")]
        Some(workbench::sandbox::embedded::SUBCOMMAND) => return workbench::sandbox::embedded::worker::run(),
        _ => {}
    }
    let cli = Cli::parse();
    let runtime = match commands::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            printer::note(&format!("error: the program cannot start its threads: {error}"));
            return Exit::Bug.into();
        }
    };
    let exit = Exit::of(|| match runtime.block_on(commands::run(cli)) {
        Ok(exit) => exit,
        Err(failure) => {
            if printer::is_coloured() {
                printer::coloured(&format!("{failure:#}\n"));
            } else {
                printer::note(&failure.to_string());
            }
            failure.exit
        }
    });
    // Whatever still reads or writes is not waited for long: the command has ended.
    runtime.shutdown_timeout(LAST_WORK);
    match printer::lost() {
        None => exit.into(),
        Some(error) => {
            printer::note(&format!("error: standard output cannot be written: {error}"));
            Exit::Bug.into()
        }
    }
}
