//! What takes a child process its rights: resource limits, a signal at the host's death, rules for files, a filter of
//! system calls. All of it holds for good and cannot be undone by what runs afterwards.

#[cfg(target_os = "linux")]
mod files;
mod limits;
pub mod plugin;
pub mod script;
#[cfg(target_os = "linux")]
mod system_calls;

/// A protection of one kind of worker, and whether this system offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Its name, such as `system-call filter`.
    pub name: &'static str,
    /// Whether workers are under it here.
    pub active: bool,
    /// What it keeps them from: nothing does where it is not active.
    pub keeps_from: &'static str,
}

/// What script workers are under, for `doctor` to show.
pub fn of_script_workers() -> Vec<Protection> {
    vec![
        Protection {
            name: "limits",
            active: true,
            keeps_from: "taking more processor time or open files than a script may, and writing files",
        },
        NO_CORE_FILE,
        MEMORY_LIMIT,
        DEATH_SIGNAL,
        Protection {
            name: "system-call filter",
            active: LINUX && has_seccomp(),
            keeps_from: "opening files and sockets, starting programs and sending signals, should a script break out of \
                         its interpreter",
        },
    ]
}

/// What plugin workers are under, for `doctor` to show.
pub fn of_plugin_workers() -> Vec<Protection> {
    #[cfg(target_os = "linux")]
    let (files, network_and_signals) = (files::holds_files(), files::holds_network_and_signals());
    #[cfg(not(target_os = "linux"))]
    let (files, network_and_signals) = (false, false);
    vec![
        Protection {
            name: "limits",
            active: true,
            keeps_from: "taking more open files and writing longer files than a plugin may",
        },
        NO_CORE_FILE,
        MEMORY_LIMIT,
        DEATH_SIGNAL,
        Protection {
            name: "file rules",
            active: files,
            keeps_from: "reading files other than libraries, and writing outside of the run's `out/`",
        },
        Protection {
            name: "system-call filter",
            active: LINUX && has_seccomp(),
            keeps_from: "opening sockets, starting programs and disturbing other processes",
        },
        Protection {
            name: "network and signal rules",
            active: network_and_signals,
            keeps_from: "TCP and signals to other processes, should the filter have a gap",
        },
    ]
}

const LINUX: bool = cfg!(target_os = "linux");

const NO_CORE_FILE: Protection =
    Protection { name: "no core file", active: true, keeps_from: "leaving their memory on the disk when they crash" };

const MEMORY_LIMIT: Protection =
    Protection { name: "memory limit", active: LINUX, keeps_from: "taking the machine's memory" };

const DEATH_SIGNAL: Protection = Protection {
    name: "death signal",
    active: LINUX,
    keeps_from: "outliving a workbench that is killed, if they are in an endless loop",
};

fn has_seccomp() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").is_ok_and(|actions| actions.contains("errno"))
}
