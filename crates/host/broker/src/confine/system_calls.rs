//! The system calls that the broker's threads need (seccomp(2)).

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter,
};

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// `FIONBIO`
const IOCTLS: [u64; 1] = [0x5421];
/// `BPF_MAP_UPDATE_ELEM`, `BPF_ITER_CREATE`
const BPF_COMMANDS: [u64; 2] = [2, 33];
/// `PR_SET_NAME`
const PRCTLS: [u64; 1] = [15];
/// `CLOSE_RANGE_UNSHARE`
const CLOSE_RANGES: [u64; 1] = [libc::CLOSE_RANGE_UNSHARE as u64];
/// The null signal, which only tells whether a thread lives.
const SIGNALS: [u64; 1] = [0];
/// Threads, never processes, and no namespaces.
const CLONE_MASK: u64 = (libc::CLONE_VM
    | libc::CLONE_THREAD
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_PTRACE) as u32 as u64;
const CLONE_THREAD: u64 = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;

/// Those that are allowed whatever their arguments.
const PLAIN: &[c_long] = &[
    // Clients.
    libc::SYS_accept4,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_getsockopt,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_close,
    libc::SYS_dup3,
    // Netlink, for a thread that is new.
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_setsockopt,
    // Requester.
    libc::SYS_ppoll,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    // Waking threads, the journal, iterators of BPF.
    libc::SYS_read,
    libc::SYS_write,
    // The namespace's setting.
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_fcntl,
    // The socket's file, as far as Landlock lets it.
    libc::SYS_unlinkat,
    // Threads and memory.
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    // Answered that there is none, see `no_clone3`.
    libc::SYS_clone3,
];

/// Refuses all other system calls with EPERM, from now on.
pub(super) fn give_up(with_bpf: bool) -> Result<(), Error> {
    // Its arguments are out of a filter's reach. Told that the kernel has none, the C library takes
    // clone(2).
    apply(
        BTreeMap::from([(libc::SYS_clone3, vec![])]),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
    )?;
    apply(
        allowed(with_bpf)?,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
    )
}

fn apply(rules: Rules, other: SeccompAction, these: SeccompAction) -> Result<(), Error> {
    let filter = SeccompFilter::new(rules, other, these, ARCH.try_into()?)?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

fn allowed(with_bpf: bool) -> Result<Rules, Error> {
    let mut rules: Rules = PLAIN.iter().map(|&call| (call, vec![])).collect();
    let is = |argument, value: u64| one(argument, SeccompCmpOp::Eq, value);
    let one_of = |argument, values: &[u64]| -> Result<Vec<_>, Error> {
        values.iter().map(|&value| is(argument, value)).collect()
    };
    let no_code = |argument| one(argument, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0);
    rules.insert(libc::SYS_socket, one_of(0, &[libc::AF_NETLINK as u64])?);
    rules.insert(libc::SYS_ioctl, one_of(1, &IOCTLS)?);
    rules.insert(libc::SYS_prctl, one_of(0, &PRCTLS)?);
    rules.insert(libc::SYS_close_range, one_of(2, &CLOSE_RANGES)?);
    rules.insert(libc::SYS_tgkill, one_of(2, &SIGNALS)?);
    rules.insert(libc::SYS_mmap, vec![no_code(2)?]);
    rules.insert(libc::SYS_mprotect, vec![no_code(2)?]);
    let thread = one(0, SeccompCmpOp::MaskedEq(CLONE_MASK), CLONE_THREAD)?;
    rules.insert(libc::SYS_clone, vec![thread]);
    if with_bpf {
        rules.insert(libc::SYS_bpf, one_of(0, &BPF_COMMANDS)?);
    }
    Ok(rules)
}

/// A rule about one argument of a system call.
fn one(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, Error> {
    let length = SeccompCmpArgLen::Dword;
    let condition = SeccompCondition::new(argument, length, operator, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}
