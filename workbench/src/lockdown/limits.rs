//! Resource limits, soft and hard alike, so that they cannot be raised again.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// What a process may use.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux holds processes to all of it"))]
pub(super) struct Limits {
    /// Bytes of address space beyond what it has now.
    pub(super) memory: u64,
    /// Seconds of processor time; none for a process that works for as long as it is asked.
    pub(super) cpu_seconds: Option<u64>,
    /// Highest number of open files.
    pub(super) open_files: u64,
    /// Longest file it may write, in bytes.
    pub(super) file_bytes: u64,
    /// Whether it starts no further thread or process. Linux counts both as one, and all of a user's.
    pub(super) alone: bool,
}

impl Limits {
    /// Puts this process under the limits. It leaves no core file.
    pub(super) fn apply(&self) -> io::Result<()> {
        if let Some(seconds) = self.cpu_seconds {
            set(Resource::Cpu, seconds)?;
        }
        set(Resource::Core, 0)?;
        set(Resource::Nofile, self.open_files)?;
        set(Resource::Fsize, self.file_bytes)?;
        #[cfg(target_os = "linux")]
        {
            if self.alone {
                set(Resource::Nproc, 0)?;
            }
            set(Resource::As, address_space()?.saturating_add(self.memory))?;
        }
        Ok(())
    }
}

/// A limit above the one the process already has stays as it is.
fn set(resource: Resource, most: u64) -> io::Result<()> {
    let most = rustix::process::getrlimit(resource).maximum.map_or(most, |already| already.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// The address space of this process, in bytes.
#[cfg(target_os = "linux")]
fn address_space() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))
        .and_then(|size| size.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map(|size| size * 1024).ok_or_else(|| io::Error::other("/proc/self/status names no VmSize"))
}
