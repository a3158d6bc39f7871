//! The lock of a plugin worker: a library and what it links to read, the run's `out/` to write to, threads, a link.

use std::io;
use std::path::Path;

use super::limits::Limits;

/// Bytes of address space a plugin may take. Its threads take half of it by being there: the C library reserves 64 MiB
/// for the small allocations of each. The rest is some copies of the largest answer that is worth fetching.
const MEMORY: u64 = 1 << 30;

/// Descriptors a worker holds: its three streams, both directions of the link, and what its plugin writes at once.
const OPEN_FILES: u64 = 64;

/// Longest file a plugin may write by itself, in bytes: as long as the longest message to its host.
const FILE_BYTES: u64 = crate::frames::MAX_BODY;

/// Takes this process every right a plugin does not need. It must have one thread only and have loaded nothing: on
/// older kernels the rules for files bind the calling thread and those it starts, and constructors of a library run
/// while it is loaded. What the system does not offer is left out; `doctor` says what that is.
pub fn lock(library: &Path, out: &Path) -> io::Result<()> {
    Limits { memory: MEMORY, cpu_seconds: None, open_files: OPEN_FILES, file_bytes: FILE_BYTES, alone: false }
        .apply()?;
    #[cfg(target_os = "linux")]
    {
        // The end of the channel tells the same, but an endless call would not let the process end. The kernel watches
        // the thread that started us: the host's own, which lives as long as it.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // Asked before files can no longer be read.
        let must_filter = super::has_seccomp();
        super::files::allow_only(library, out)?;
        if let Err(error) = filter_system_calls()
            && must_filter
        {
            return Err(error);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _no_rules_for_files = (library, out);
    Ok(())
}

#[cfg(target_os = "linux")]
use linux::filter_system_calls;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use libc::*;

    use crate::lockdown::system_calls::{self, Argument, Conditional};

    pub(super) fn filter_system_calls() -> io::Result<()> {
        // Flags of `clone3` lie in memory, where no filter sees them. The C library then takes `clone`.
        system_calls::deny_knowing(SYS_clone3)?;
        system_calls::allow_only(ALLOWED, CONDITIONAL)
    }

    /// Reading and writing what is open, opening what Landlock lets through, memory, threads, time, an orderly death.
    const ALLOWED: &[i64] = &[
        SYS_read,
        SYS_readv,
        SYS_pread64,
        SYS_write,
        SYS_writev,
        SYS_pwrite64,
        SYS_lseek,
        SYS_openat,
        SYS_close,
        SYS_fstat,
        SYS_newfstatat,
        SYS_statx,
        SYS_getcwd,
        SYS_mkdirat,
        SYS_unlinkat,
        SYS_renameat2,
        SYS_ftruncate,
        SYS_fsync,
        SYS_fdatasync,
        SYS_ppoll,
        SYS_mmap,
        SYS_munmap,
        SYS_mremap,
        SYS_mprotect,
        SYS_brk,
        SYS_madvise,
        SYS_futex,
        SYS_set_robust_list,
        SYS_rseq,
        // Which `deny_knowing` answers: of two filters the stricter counts, and both would refuse.
        SYS_clone3,
        SYS_gettid,
        SYS_getpid,
        SYS_sched_yield,
        SYS_sched_getaffinity,
        SYS_clock_gettime,
        SYS_clock_nanosleep,
        SYS_nanosleep,
        SYS_gettimeofday,
        SYS_getrandom,
        SYS_sysinfo,
        SYS_uname,
        SYS_rt_sigaction,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_sigaltstack,
        SYS_restart_syscall,
        SYS_exit,
        SYS_exit_group,
        // Newer machines have only the successors of these.
        #[cfg(target_arch = "x86_64")]
        SYS_open,
        #[cfg(target_arch = "x86_64")]
        SYS_stat,
        #[cfg(target_arch = "x86_64")]
        SYS_lstat,
        #[cfg(target_arch = "x86_64")]
        SYS_mkdir,
        #[cfg(target_arch = "x86_64")]
        SYS_rmdir,
        #[cfg(target_arch = "x86_64")]
        SYS_unlink,
        #[cfg(target_arch = "x86_64")]
        SYS_rename,
        #[cfg(target_arch = "x86_64")]
        SYS_renameat,
        // The same on ARM, where libc has no name for it.
        #[cfg(target_arch = "aarch64")]
        38,
        #[cfg(target_arch = "x86_64")]
        SYS_poll,
    ];

    const CONDITIONAL: &[Conditional] = &[
        // Threads, and no processes.
        Conditional { call: SYS_clone, argument: 0, is: Argument::WithFlags(CLONE_THREAD as u64) },
        // The name of a thread.
        Conditional { call: SYS_prctl, argument: 0, is: Argument::Int(PR_SET_NAME as u64) },
        // Reading limits, as the C library does for the stack of a thread, and not setting them.
        Conditional { call: SYS_prlimit64, argument: 2, is: Argument::Null },
        // Copying a descriptor and asking for its flags. Others have the kernel signal any process.
        Conditional { call: SYS_fcntl, argument: 1, is: Argument::Int(F_DUPFD_CLOEXEC as u64) },
        Conditional { call: SYS_fcntl, argument: 1, is: Argument::Int(F_GETFD as u64) },
        Conditional { call: SYS_fcntl, argument: 1, is: Argument::Int(F_SETFD as u64) },
        Conditional { call: SYS_fcntl, argument: 1, is: Argument::Int(F_GETFL as u64) },
    ];
}
