//! The lock of a script worker: an interpreter, a link, memory and time.

use std::io;
use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, RawFd};

use super::limits::Limits;
#[cfg(target_os = "linux")]
use super::system_calls::{Argument, Conditional};

/// Descriptors a script worker holds: its three streams and both directions of the link, and a few
/// to spare for the system's libraries.
const OPEN_FILES: u64 = 8;

/// Takes this process, all its threads, every right a script does not need. `memory`: bytes beyond
/// what it has now. It reads from `incoming`, writes to `outgoing` and to its output streams, and to
/// nothing else: not even what somebody left open for it when the host was started.
pub fn lock(memory: u64, cpu_seconds: u64, incoming: BorrowedFd<'_>, outgoing: BorrowedFd<'_>) -> io::Result<()> {
    Limits { memory, cpu_seconds: Some(cpu_seconds), open_files: OPEN_FILES, file_bytes: 0, alone: true }.apply()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        let streams = [libc::STDOUT_FILENO, libc::STDERR_FILENO];
        let mut conditional = vec![on(libc::SYS_read, incoming.as_raw_fd()), on(libc::SYS_write, outgoing.as_raw_fd())];
        conditional.extend(streams.map(|stream| on(libc::SYS_write, stream)));
        // Memory alone, no file: a descriptor that cannot be read cannot be mapped, either.
        let anonymous = u64::from(libc::MAP_ANONYMOUS.unsigned_abs());
        conditional.push(Conditional { call: libc::SYS_mmap, argument: 3, is: Argument::WithFlags(anonymous) });
        super::system_calls::allow_only(ALLOWED, &conditional)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _unchecked = (incoming, outgoing);
    Ok(())
}

/// A call whose first argument is this descriptor.
#[cfg(target_os = "linux")]
fn on(call: i64, descriptor: RawFd) -> Conditional {
    Conditional { call, argument: 0, is: Argument::Int(u64::from(descriptor.unsigned_abs())) }
}

/// Memory, time, waiting for the link, and an orderly death.
#[cfg(target_os = "linux")]
const ALLOWED: &[i64] = {
    use libc::*;
    &[
        // Newer machines have only its successor.
        #[cfg(target_arch = "x86_64")]
        SYS_poll,
        SYS_ppoll,
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
