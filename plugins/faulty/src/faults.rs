//! One tool a fault.

use std::hint::black_box;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use plugin_api::prelude::*;

/// Answers 1: what is called to see that the others did no harm.
#[tool]
pub(crate) fn answer() -> ToolResult<u8> {
    Ok(1)
}

/// Panics.
#[tool]
pub(crate) fn panic(
    /** Any number. */
    index: usize,
) -> ToolResult<u8> {
    Ok([1, 2, 3][index])
}

/// Has a thread panic and hands its panic on.
#[tool]
pub(crate) fn panic_in_thread() -> ToolResult<u8> {
    let thread = thread::spawn(|| -> u8 { panic!("a thread gave up") });
    match thread.join() {
        Ok(number) => Ok(number),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Answers, and leaves a thread behind that panics.
#[tool]
pub(crate) fn panic_later() -> ToolResult<u8> {
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(20));
        panic!("too late to matter");
    });
    Ok(1)
}

/// Aborts.
#[tool]
pub(crate) fn abort() -> ToolResult<u8> {
    std::process::abort()
}

/// Ends the process as if all were well.
#[tool]
#[allow(clippy::exit, reason = "the fault")]
pub(crate) fn call_exit() -> ToolResult<u8> {
    std::process::exit(0)
}

/// Never ends.
#[tool]
pub(crate) fn loop_forever() -> ToolResult<u64> {
    let mut turns: u64 = 0;
    while black_box(true) {
        turns = turns.wrapping_add(1);
    }
    Ok(turns)
}

/// Recurses until the stack is used up.
#[tool]
pub(crate) fn overflow() -> ToolResult<u64> {
    Ok(depth(0))
}

/// As overflow, in a thread of its own.
#[tool]
pub(crate) fn overflow_in_thread() -> ToolResult<u64> {
    thread::spawn(|| depth(0)).join().map_err(|_| ToolError::new("the thread panicked"))
}

fn depth(level: u64) -> u64 {
    let frame = black_box([level; 512]);
    if black_box(true) { depth(level + 1) + frame[0] } else { level }
}

/// Asks for memory all at once.
#[tool]
pub(crate) fn allocate(
    /** How much. */
    gibibytes: usize,
) -> ToolResult<usize> {
    Ok(black_box(vec![1_u8; gibibytes << 30]).len())
}

/// Prints lines to standard output, and says at the end which was the last.
#[tool]
pub(crate) fn print_much(
    /** How much, roughly. */
    megabytes: usize,
) -> ToolResult<usize> {
    let (line, lines) = (format!("{}\n", "x".repeat(99_999)), megabytes * 10);
    let mut output = io::stdout().lock();
    let printed = (0..lines).try_for_each(|_| output.write_all(line.as_bytes()));
    let ended = printed.and_then(|()| writeln!(output, "line {lines} was the last")).and_then(|()| output.flush());
    ended.map_err(|error| ToolError::new(error.to_string()))?;
    Ok(lines)
}

/// Answers a long text.
#[tool]
pub(crate) fn say_much(
    /** How long. */
    megabytes: usize,
) -> ToolResult<String> {
    Ok("x".repeat(megabytes * 1_000_000))
}
