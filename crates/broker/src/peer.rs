//! Who is at the other end of a Unix socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::sockopt;

use crate::policy::Who;

/// A client, as it was when it connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) who: Who,
    pub(crate) pid: i32,
}

impl Peer {
    pub(crate) fn of(session: impl AsFd) -> io::Result<Self> {
        let credentials = sockopt::socket_peercred(&session)?;
        let mut groups = groups(&session)?;
        groups.push(credentials.gid.as_raw());
        Ok(Self {
            who: Who {
                uid: credentials.uid.as_raw(),
                groups,
            },
            pid: credentials.pid.as_raw_nonzero().get(),
        })
    }
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
        assert_eq!(peer.who.uid, rustix::process::getuid().as_raw());
        assert_eq!(peer.pid, std::process::id() as i32);
        assert!(
            peer.who
                .groups
                .contains(&rustix::process::getgid().as_raw())
        );
    }
}
