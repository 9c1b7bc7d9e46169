//! The walls around a run: a process tree, namespaces and files that die with one process.
//!
//! The lab is PID 1 of a PID namespace of its own, inside a user namespace of its own: when it
//! ends, in whatever way, the kernel kills everything that it started and drops every namespace
//! that it held. It ends when its parent does, which ends when standard input, a pipe from the
//! command line, closes ([`Guard`]).

mod abort;
mod guard;

use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::unistd::{ForkResult, fork, getgid, getuid};

pub use guard::Guard;

use crate::processor::Processor;
use crate::realtime::{self, ReservedThread};

/// A private, empty, writable folder of the lab, gone with it: for what programs would put into
/// `/tmp`, which stays the caller's because results may go there.
pub const SCRATCH: &str = "/dev/shm";

/// The walls, as the process inside them has them.
pub struct Walls {
    /// A thread for the links, with real-time priority where the system grants it, and a processor
    /// of its own where there is one.
    pub reserved: ReservedThread,
    /// The guard of what the run makes.
    pub guard: Guard,
    _processor: Option<Processor>,
}

/// Builds the walls. Returns in the process inside them; the process outside ends here, with the
/// status of the one inside. The caller must be single-threaded.
///
/// # Errors
/// Where the system allows no namespaces: the error says what to do about it.
pub fn enter() -> io::Result<Walls> {
    die_with_parent()?;
    raise_limits();
    realtime::acquire();
    let processor = Processor::claim()?;
    let (uid, gid) = (getuid(), getgid());
    let namespaces = CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    match unshare(CloneFlags::CLONE_NEWUSER | namespaces) {
        Ok(()) => {
            write("/proc/self/setgroups", "deny")?;
            write("/proc/self/uid_map", &format!("0 {uid} 1"))?;
            write("/proc/self/gid_map", &format!("0 {gid} 1"))?;
        }
        // Root needs no user namespace, and some containers allow none.
        Err(_) if uid.is_root() => unshare(namespaces).map_err(|error| refused(error.into()))?,
        Err(error) => return Err(refused(error.into())),
    }
    let (inside, outside) = Guard::pair()?;
    // SAFETY: the caller is single-threaded, as `unshare` of a user namespace has just proved or
    // as the contract says; the child may do anything.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            drop(inside);
            realtime::release();
            let status = outside.watch(child).unwrap_or(1);
            // SAFETY: ends the process at once; nothing here has anything to flush.
            unsafe { libc::_exit(status) }
        }
        ForkResult::Child => {
            drop(outside);
            die_with_parent()?;
            private_files()?;
            make_room_for_descriptors()?;
            let reserved = match &processor {
                Some(processor) => on_own_processor(processor)?,
                None => ReservedThread::spawn("links")?,
            };
            realtime::release();
            Ok(Walls {
                reserved,
                guard: inside,
                _processor: processor,
            })
        }
    }
}

/// A thread for the links on their processor, which the calling thread, and all that it makes,
/// leaves. Without real-time priority it may run elsewhere too: programs of others on its processor
/// would hold it up.
fn on_own_processor(processor: &Processor) -> io::Result<ReservedThread> {
    // Refused is no error: then all run everywhere.
    if realtime::is_granted() {
        processor.enter().ok();
    }
    let reserved = ReservedThread::spawn("links")?;
    processor.leave().ok();
    Ok(reserved)
}

/// Forgets signals of the terminal that came while this process was being started and had them
/// blocked: they were for the process that starts it. From now on they reach this one.
///
/// # Errors
/// None that a system call with valid arguments has.
pub fn forget_early_signals() -> io::Result<()> {
    let mut early = SigSet::empty();
    for number in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: no handler is installed: one is put back where it was.
        let before = unsafe { signal(number, SigHandler::SigIgn) }?;
        // SAFETY: as above.
        unsafe { signal(number, before) }?;
        early.add(number);
    }
    Ok(early.thread_unblock()?)
}

/// The kernel kills this process when its parent ends, also when it has ended already.
fn die_with_parent() -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if guard::is_orphan()? {
        return Err(io::Error::other(
            "the process that started the lab has ended",
        ));
    }
    Ok(())
}

/// Many files: a node, a link and a connection need several each. Not granted is no error.
fn raise_limits() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok();
    }
}

/// Descriptors that a run may have open without a wait.
const DESCRIPTORS: u64 = 16_384;

/// Makes the process's table of descriptors large, while it has one thread. Later the kernel lets
/// every thread that opens something wait for a grace period (RCU) whenever the table grows, at the
/// 65th descriptor and at each further power of two: ten milliseconds and more, within a transfer.
fn make_room_for_descriptors() -> io::Result<()> {
    let (most, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let highest = most.min(DESCRIPTORS) as RawFd - 1;
    // SAFETY: plain system call on an open descriptor; the result is owned here alone.
    let fd = unsafe { libc::fcntl(libc::STDIN_FILENO, libc::F_DUPFD_CLOEXEC, highest) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made. The table does not shrink again.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}

/// Mounts that only the lab sees: its own processes in `/proc`, and its scratch folder.
fn private_files() -> io::Result<()> {
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(
        Some("proc"),
        "/proc",
        Some("proc"),
        flags | MsFlags::MS_NOEXEC,
        none,
    )
    .map_err(|error| named("/proc", error.into()))?;
    mount(
        Some("tmpfs"),
        SCRATCH,
        Some("tmpfs"),
        flags,
        Some("mode=1777"),
    )
    .map_err(|error| named(SCRATCH, error.into()))?;
    Ok(())
}

fn write(path: &str, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(|error| named(path, error))
}

/// The error, which else does not tell of which file it is.
fn named(path: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

fn refused(error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!(
            "this system allows no namespaces here ({error}). As an ordinary user, allow user \
             namespaces (sysctl user.max_user_namespaces above 0; kernel.unprivileged_userns_clone=1 \
             or kernel.apparmor_restrict_unprivileged_userns=0 where they exist), or run as root; \
             in a container, run it with CAP_SYS_ADMIN. `mptcplab doctor` shows what is missing"
        ),
    )
}
