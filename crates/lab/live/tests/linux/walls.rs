//! Requirements of the tests on the machine.

use std::{fs, io};

use mptcplab_engine_kernel::netns::NetNs;
use mptcplab_live::Tun;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getgid, getuid};
use socket2::{Domain, Protocol, Socket, Type};

/// Makes this process, which has a single thread, root in namespaces of its own.
///
/// # Errors
/// The requirements that the machine does not meet.
pub(crate) fn enter() -> Result<(), String> {
    let lacks = |what: &str, error: io::Error| format!("this machine has no {what}: {error}");
    namespaces().map_err(|error| lacks("namespaces for us", error))?;
    let mptcp = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP));
    mptcp.map_err(|error| lacks("MPTCP", error))?;
    let device = NetNs::create().and_then(|netns| netns.run(|| Tun::open("probe", 1500))?);
    device
        .map(drop)
        .map_err(|error| lacks("TUN device for us", error))
}

fn namespaces() -> io::Result<()> {
    let (uid, gid) = (getuid(), getgid());
    match unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET) {
        Ok(()) => {
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
            fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
        }
        // Root needs no user namespace, and some containers allow none.
        Err(_) if uid.is_root() => Ok(unshare(CloneFlags::CLONE_NEWNET)?),
        Err(error) => Err(error.into()),
    }
}
