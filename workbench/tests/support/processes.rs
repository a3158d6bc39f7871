//! Processes: those a test starts, and all others as the system tells of them.
#![allow(clippy::unwrap_used, dead_code, unused_imports, reason = "each test file uses a part of it")]

use std::process::Child;

#[cfg(target_os = "linux")]
pub(crate) use system::{Process, all, children, descendants, send};

/// A process of the test that does not outlive it.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _status = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::path::PathBuf;

    use rustix::process::{Pid, Signal, kill_process};

    /// A process, ended ones that nobody waited for included.
    #[derive(Clone, Debug)]
    pub(crate) struct Process {
        pub(crate) id: u32,
        parent: u32,
        /// When it was started, since numbers are used again.
        started: String,
        state: String,
        /// The program and its arguments, each with a NUL behind it; empty where it has ended.
        pub(crate) command: String,
    }

    impl Process {
        fn of(id: u32) -> Option<Self> {
            let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            // The name before it may hold anything.
            let words: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
            let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            Some(Self {
                id,
                parent: words[1].parse().ok()?,
                started: words[19].to_owned(),
                state: words[0].to_owned(),
                command: String::from_utf8_lossy(&command).into_owned(),
            })
        }

        /// The hidden subcommand of a worker.
        pub(crate) fn role(&self) -> &str {
            self.command.split('\0').nth(1).unwrap_or_default()
        }

        /// Its folder in `/proc`.
        pub(crate) fn folder(&self) -> PathBuf {
            format!("/proc/{}", self.id).into()
        }

        /// Whether it still runs; one that ended and was not waited for does not.
        pub(crate) fn is_alive(&self) -> bool {
            Self::of(self.id).is_some_and(|now| now.started == self.started && !"ZX".contains(&now.state))
        }

        pub(crate) fn send(&self, signal: Signal) {
            send(self.id, signal);
        }
    }

    /// Sends a signal to a process that the test has started; one that has ended does not mind.
    pub(crate) fn send(id: u32, signal: Signal) {
        let _gone = kill_process(Pid::from_raw(i32::try_from(id).unwrap()).unwrap(), signal);
    }

    /// All there are.
    pub(crate) fn all() -> impl Iterator<Item = Process> {
        let names = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
        names.filter_map(|name| Process::of(name.to_str()?.parse().ok()?))
    }

    /// The processes that this one has started.
    pub(crate) fn children(id: u32) -> Vec<Process> {
        all().filter(|process| process.parent == id).collect()
    }

    /// The processes that this one has started, and those they have.
    pub(crate) fn descendants(id: u32) -> Vec<Process> {
        children(id).into_iter().flat_map(|child| [vec![child.clone()], descendants(child.id)].concat()).collect()
    }
}
