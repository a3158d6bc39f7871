//! Names the cause of a worker's death, from its exit status and its last words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

/// The cause of a death that was nobody's fault in the worker.
pub(super) const KILLED: &str = "killed from outside, perhaps for lack of memory";

/// Says in a few words why the process ended. `stderr` is the end of its standard error, the only
/// thing that tells an abort from a stack overflow or a lack of memory.
pub(super) fn cause(status: ExitStatus, stderr: &str) -> String {
    if let Some(code) = status.code() {
        return with_last_words(&format!("called exit({code})"), stderr);
    }
    match status.signal() {
        Some(number) => cause_of_signal(number, stderr),
        None => format!("ended with {status}"),
    }
}

/// The numbers differ from system to system; the names do not.
fn cause_of_signal(number: i32, stderr: &str) -> String {
    match Signal::from_named_raw(number) {
        Some(Signal::ABORT) => cause_of_abort(stderr),
        Some(Signal::ILL) => "illegal instruction".to_owned(),
        Some(Signal::BUS) => "bus error, perhaps in a file that was cut short".to_owned(),
        Some(Signal::FPE) => "arithmetic error".to_owned(),
        Some(Signal::KILL) => KILLED.to_owned(),
        Some(Signal::SEGV) => "segmentation fault".to_owned(),
        Some(Signal::XFSZ) => "wrote a longer file than it may".to_owned(),
        Some(Signal::SYS) => "forbidden system call".to_owned(),
        _ => format!("signal {number}"),
    }
}

fn cause_of_abort(stderr: &str) -> String {
    if stderr.contains("has overflowed its stack") {
        return "stack overflow".to_owned();
    }
    match stderr.lines().rev().find_map(failed_allocation) {
        Some(size) => format!("out of memory: an allocation of {size} bytes failed"),
        None => with_last_words("abort", stderr),
    }
}

/// The size in Rust's own words for a failed allocation.
fn failed_allocation(line: &str) -> Option<&str> {
    line.trim().strip_prefix("memory allocation of ")?.split_once(" bytes failed").map(|(size, _)| size)
}

fn with_last_words(cause: &str, stderr: &str) -> String {
    match stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("{cause}; its last words: {}", line.chars().take(200).collect::<String>()),
        None => cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use rustix::process::Signal;

    use super::cause;

    #[test]
    fn every_death_has_a_name() {
        let exit = |code: i32| code << 8;
        let abort = Signal::ABORT.as_raw();
        for (raw, stderr, expected) in [
            (exit(0), "", "called exit(0)"),
            (exit(3), "bye\n", "called exit(3); its last words: bye"),
            (abort, "", "abort"),
            (abort, "assertion failed\n\n", "abort; its last words: assertion failed"),
            (
                abort,
                "\nthread 'call-1' (7) has overflowed its stack\nfatal runtime error: stack overflow\n",
                "stack overflow",
            ),
            (
                abort,
                "memory allocation of 10737418240 bytes failed\n",
                "out of memory: an allocation of 10737418240 bytes failed",
            ),
            (Signal::KILL.as_raw(), "noise", "killed from outside, perhaps for lack of memory"),
            (Signal::SEGV.as_raw(), "noise", "segmentation fault"),
            (Signal::BUS.as_raw(), "", "bus error, perhaps in a file that was cut short"),
            (Signal::XFSZ.as_raw(), "", "wrote a longer file than it may"),
            (Signal::SYS.as_raw(), "", "forbidden system call"),
            (Signal::XCPU.as_raw(), "", &format!("signal {}", Signal::XCPU.as_raw())),
        ] {
            assert_eq!(cause(ExitStatus::from_raw(raw), stderr), expected);
        }
    }
}
