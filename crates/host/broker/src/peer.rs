//! The client at the other end of a Unix socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use crate::policy::Credentials;

/// A client's credentials and process, as of its connect(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) credentials: Credentials,
    /// 0 where it is outside of the broker's process namespace.
    pub(crate) pid: i32,
}

impl Peer {
    pub(crate) fn of(session: impl AsFd) -> io::Result<Self> {
        let process = credentials(&session)?;
        let mut groups = groups(&session)?;
        groups.push(process.gid);
        Ok(Self {
            credentials: Credentials {
                uid: process.uid,
                groups,
            },
            pid: process.pid,
        })
    }
}

/// Process, user and group (`SO_PEERCRED`). Not by rustix, which has no process 0.
fn credentials(session: impl AsFd) -> io::Result<libc::ucred> {
    let mut credentials = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most the given bytes, which are those of three numbers.
    let result = unsafe {
        let fd = session.as_fd().as_raw_fd();
        let into = (&raw mut credentials).cast();
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            into,
            &raw mut bytes,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(credentials)
}

/// Supplementary groups (`SO_PEERGROUPS`).
fn groups(session: impl AsFd) -> io::Result<Vec<u32>> {
    const SO_PEERGROUPS: i32 = 59;
    let mut groups = vec![0_u32; 64];
    loop {
        let mut bytes = size_of_val(&groups[..]) as libc::socklen_t;
        // SAFETY: the kernel writes at most the given bytes, which are those of the numbers.
        let result = unsafe {
            let fd = session.as_fd().as_raw_fd();
            let into = groups.as_mut_ptr().cast();
            libc::getsockopt(fd, libc::SOL_SOCKET, SO_PEERGROUPS, into, &raw mut bytes)
        };
        let count = bytes as usize / size_of::<u32>();
        if result == 0 {
            groups.truncate(count);
            return Ok(groups);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ERANGE) || count <= groups.len() {
            return Err(error);
        }
        groups.resize(count, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_end_is_this_process() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = Peer::of(&one).unwrap();
        assert_eq!(peer.credentials.uid, rustix::process::getuid().as_raw());
        assert_eq!(peer.pid, std::process::id() as i32);
        assert!(
            peer.credentials
                .groups
                .contains(&rustix::process::getgid().as_raw())
        );
    }
}
