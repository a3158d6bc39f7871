//! The filter of system calls: a list of what is allowed; everything else answers `EPERM`.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads,
};

/// A system call that is allowed if one of its arguments fits. Several entries for a call: if one of them fits.
#[derive(Clone, Copy)]
pub(super) struct Conditional {
    /// The call's number.
    pub(super) call: i64,
    /// Which argument, counted from 0.
    pub(super) argument: u8,
    /// What it must be.
    pub(super) is: Argument,
}

/// What an argument must be.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    /// This number of 32 bits; the kernel looks at no more of it.
    Int(u64),
    /// A null pointer.
    Null,
    /// Flags with all of these set.
    WithFlags(u64),
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Leaves all threads of this process the system calls of the two lists, and the one by which it may end itself, and
/// none else. It can get no new privileges either.
pub(super) fn allow_only(calls: &[i64], conditional: &[Conditional]) -> io::Result<()> {
    let mut rules: Rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    // `abort` and a failed `raise` send a signal to a thread of this process. Without the condition the same call would
    // kill the host.
    let this = u64::from(std::process::id());
    let own_death = Conditional { call: libc::SYS_tgkill, argument: 0, is: Argument::Int(this) };
    for conditional in conditional.iter().chain([&own_death]) {
        rules.entry(conditional.call).or_default().push(conditional.rule()?);
    }
    apply(rules, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)
}

/// Lets a system call answer that this kernel does not know it, for callers who then take an older one whose arguments
/// a filter can see. Comes before [`allow_only`], which allows no further filter and must let this call through.
pub(super) fn deny_knowing(call: i64) -> io::Result<()> {
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    apply(Rules::from([(call, Vec::new())]), SeccompAction::Allow, unknown)
}

impl Conditional {
    fn rule(self) -> io::Result<SeccompRule> {
        let (length, operator, value) = match self.is {
            Argument::Int(number) => (SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number),
            Argument::Null => (SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0),
            Argument::WithFlags(flags) => (SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flags), flags),
        };
        let condition = SeccompCondition::new(self.argument, length, operator, value).map_err(io::Error::other)?;
        SeccompRule::new(vec![condition]).map_err(io::Error::other)
    }
}

fn apply(rules: Rules, others: SeccompAction, listed: SeccompAction) -> io::Result<()> {
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, others, listed, machine).map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    apply_filter_all_threads(&program).map_err(io::Error::other)
}
