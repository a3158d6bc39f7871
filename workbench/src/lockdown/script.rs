//! The lock of a script worker: an interpreter, a link, memory and time.

use std::io;

use super::limits::Limits;

/// Descriptors a script worker holds: its three streams and both directions of the link, and a few
/// to spare for the system's libraries.
const OPEN_FILES: u64 = 8;

/// Takes this process, all its threads, every right a script does not need. `memory`: bytes beyond
/// what it has now.
pub fn lock(memory: u64, cpu_seconds: u64) -> io::Result<()> {
    Limits { memory, cpu_seconds: Some(cpu_seconds), open_files: OPEN_FILES, file_bytes: 0, alone: true }.apply()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        super::system_calls::allow_only(ALLOWED, &[])?;
    }
    Ok(())
}

/// Memory, time, the open link, and an orderly death.
#[cfg(target_os = "linux")]
const ALLOWED: &[i64] = {
    use libc::*;
    &[
        SYS_read,
        SYS_write,
        // Newer machines have only its successor.
        #[cfg(target_arch = "x86_64")]
        SYS_poll,
        SYS_ppoll,
        SYS_mmap,
        SYS_munmap,
        SYS_mremap,
        SYS_mprotect,
        SYS_brk,
        SYS_madvise,
        SYS_futex,
        SYS_clock_gettime,
        SYS_clock_nanosleep,
        SYS_nanosleep,
        SYS_getrandom,
        SYS_rt_sigaction,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_sigaltstack,
        SYS_sched_yield,
        SYS_getpid,
        SYS_gettid,
        SYS_exit,
        SYS_exit_group,
        SYS_restart_syscall,
    ]
};
