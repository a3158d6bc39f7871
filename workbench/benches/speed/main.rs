//! The workbench's speed: `cargo bench -p workbench` prints one table, ready to be pasted into
//! `docs/performance.md`. Every ratio is measured in this run, against a stand-in that is measured in turn with it.
//!
//! No bench crate is used: those at hand time one thing at a time and compare with an earlier run, and what counts here
//! is the ratio of two things measured side by side.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a program for its authors")]

mod calls;
mod containers;
#[cfg(feature = "embedded")]
mod hosted;
mod native;
#[cfg(feature = "embedded")]
mod python;
mod rounds;
mod scripting;
#[cfg(feature = "embedded")]
mod scripts;
mod stage;
mod table;
mod turns;

use std::process::ExitCode;

use stage::Stage;
use table::Table;

/// Measures, and adds its rows.
type Measure = fn(&Stage, &mut Table);

/// What `cargo bench -p workbench -- NAME` measures alone.
const GROUPS: &[(&str, Measure)] = &[
    ("turns", turns::measure),
    ("calls", calls::measure),
    #[cfg(feature = "embedded")]
    ("scripts", scripts::measure),
    ("containers", containers::measure),
    #[cfg(feature = "embedded")]
    ("hosted", hosted::measure),
    #[cfg(feature = "embedded")]
    ("python", python::measure),
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(native::ECHO) => return native::echo(),
        Some(native::TOOL) => return native::tool(),
        // A run starts the program it is in as its plugin's worker.
        Some(workbench::plugin::SUBCOMMAND) => return workbench::plugin::worker::run(),
        _ => {}
    }
    // `cargo test --benches` starts this, too, and has no time for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        eprintln!("measures nothing without `--bench`: run `cargo bench -p workbench`");
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let stage = Stage::open();
    let mut table = Table::default();
    for (name, measure) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            measure(&stage, &mut table);
        }
    }
    println!("{}", table.markdown());
    ExitCode::SUCCESS
}
