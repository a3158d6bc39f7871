//! The exit codes of the program, which scripts may rely on.

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what it was asked. A comparison that ran is a success, whatever its verdicts.
    Success = 0,
    /// It judged something and found it short.
    Short = 1,
    /// The command line or a manifest is wrong, or the results folder cannot be written from the start.
    Usage = 2,
    /// A plugin could not be built, loaded or kept alive.
    Plugin = 3,
    /// A sandbox could not be started.
    Sandbox = 4,
    /// A model or the network failed.
    Network = 5,
    /// A bug of the workbench, or a system that failed it midway: results or output that can no longer be written.
    Bug = 70,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// How `work` ends the program; a panic in it is a bug, whose message is printed already.
    pub fn of(work: impl FnOnce() -> Self) -> Self {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(Self::Bug)
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(Exit::of(|| Exit::Short), Exit::Short);
        assert_eq!(Exit::of(|| panic!("a test panics")), Exit::Bug);
    }
}
