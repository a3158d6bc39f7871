//! Names the cause of a worker's death, from its exit status and its last words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Says in a few words why the process ended. `stderr` is the end of its standard error, the only
/// thing that tells an abort from a stack overflow or a lack of memory.
pub(super) fn cause(status: ExitStatus, stderr: &str) -> String {
    if let Some(code) = status.code() {
        return with_last_words(&format!("called exit({code})"), stderr);
    }
    match status.signal() {
        Some(6) => cause_of_abort(stderr),
        Some(signal) => signal_name(signal),
        None => format!("ended with {status}"),
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

fn signal_name(signal: i32) -> String {
    match signal {
        4 => "illegal instruction".to_owned(),
        7 => "bus error".to_owned(),
        8 => "arithmetic error".to_owned(),
        9 => "killed from outside, perhaps for lack of memory".to_owned(),
        11 => "segmentation fault".to_owned(),
        31 => "forbidden system call".to_owned(),
        other => format!("signal {other}"),
    }
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

    use super::cause;

    #[test]
    fn every_death_has_a_name() {
        let exit = |code: i32| code << 8;
        for (raw, stderr, expected) in [
            (exit(0), "", "called exit(0)"),
            (exit(3), "bye\n", "called exit(3); its last words: bye"),
            (6, "", "abort"),
            (6, "assertion failed\n\n", "abort; its last words: assertion failed"),
            (
                6,
                "\nthread 'call-1' (7) has overflowed its stack\nfatal runtime error: stack overflow\n",
                "stack overflow",
            ),
            (
                6,
                "memory allocation of 10737418240 bytes failed\n",
                "out of memory: an allocation of 10737418240 bytes failed",
            ),
            (9, "noise", "killed from outside, perhaps for lack of memory"),
            (11, "noise", "segmentation fault"),
            (24, "", "signal 24"),
        ] {
            assert_eq!(cause(ExitStatus::from_raw(raw), stderr), expected);
        }
    }
}
