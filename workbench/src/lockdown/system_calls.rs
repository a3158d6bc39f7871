//! The filter of system calls: a list of what is allowed; everything else answers `EPERM`.

use std::io;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};

/// Leaves all threads of this process the system calls of the list, and none else. It can get no new
/// privileges either.
pub(super) fn allow_only(calls: &[i64]) -> io::Result<()> {
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, machine).map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    apply_filter_all_threads(&program).map_err(io::Error::other)
}
