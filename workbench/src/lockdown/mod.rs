//! What takes a child process its rights: resource limits, a signal at the host's death, a filter of
//! system calls. All of it holds for good and cannot be undone by what runs afterwards.

#[cfg(unix)]
mod limits;
#[cfg(unix)]
pub mod script;
#[cfg(target_os = "linux")]
mod system_calls;

/// A protection of the workers, and whether this system offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Its name, such as `seccomp`.
    pub name: &'static str,
    /// Whether workers are under it here.
    pub active: bool,
    /// What it keeps a worker from; where it is not active, what a worker could do.
    pub keeps_from: &'static str,
}

/// Every protection, for `doctor` to show.
pub fn status() -> Vec<Protection> {
    let linux = cfg!(target_os = "linux");
    vec![
        Protection { name: "limits", active: cfg!(unix), keeps_from: "using more processor time than its limit" },
        Protection { name: "memory limit", active: linux, keeps_from: "taking the machine's memory" },
        Protection { name: "parent death signal", active: linux, keeps_from: "outliving the workbench" },
        Protection {
            name: "seccomp",
            active: linux && has_seccomp(),
            keeps_from: "opening files and sockets and starting programs, should it break out of its interpreter",
        },
    ]
}

fn has_seccomp() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").is_ok_and(|actions| actions.contains("errno"))
}
