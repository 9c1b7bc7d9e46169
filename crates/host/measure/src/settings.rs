//! Settings of a host that decide what can be measured, and its count of wrong checksums.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

/// Bit of `net.ipv4.tcp_fastopen` with which connections are opened by TCP Fast Open.
pub const FAST_OPEN_CLIENT: u32 = 1;
/// The same with which listeners take data of a SYN.
pub const FAST_OPEN_SERVER: u32 = 2;

/// Settings of a network namespace. All are told without privilege; null: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `net.mptcp.checksum_enabled`.
    pub checksum_enabled: Option<bool>,
    /// `net.ipv4.tcp_fastopen`, the bits.
    pub tcp_fastopen: Option<u32>,
    /// Sockets of MPTCP have TCP Fast Open (Linux 6.2).
    pub mptcp_fast_open: bool,
}

impl Settings {
    /// Those of the calling thread's network namespace.
    pub fn here() -> Self {
        let checksum = read("/proc/sys/net/mptcp/checksum_enabled");
        let of_mptcp = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP));
        Self {
            checksum_enabled: checksum.map(|value| value != 0),
            tcp_fastopen: read("/proc/sys/net/ipv4/tcp_fastopen"),
            mptcp_fast_open: of_mptcp.is_ok_and(|socket| take_data_of_syns(&socket)),
        }
    }

    /// A host with these settings can open connections by TCP Fast Open to one with those.
    pub fn can_open_fast(&self, target: &Self) -> bool {
        let has = |bits: Option<u32>, bit| bits.is_some_and(|bits| bits & bit != 0);
        has(self.tcp_fastopen, FAST_OPEN_CLIENT) && has(target.tcp_fastopen, FAST_OPEN_SERVER)
    }
}

fn read(path: &str) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Lets a socket that listens take data of SYNs with a cookie, where the namespace's setting allows
/// it; false where the kernel cannot.
pub(crate) fn take_data_of_syns(socket: &impl AsFd) -> bool {
    /// Connections at once that have not shown their address to be theirs.
    const WAITING: libc::c_int = 16;
    set(socket, libc::TCP_FASTOPEN, WAITING)
}

/// Lets a socket send its first data in the SYN where the kernel has the target's cookie, and ask for
/// one else; false where the kernel or its setting does not allow it.
pub(crate) fn open_fast(socket: &impl AsFd) -> bool {
    set(socket, libc::TCP_FASTOPEN_CONNECT, 1)
}

fn set(socket: &impl AsFd, option: libc::c_int, value: libc::c_int) -> bool {
    // SAFETY: the kernel reads an int, of the length that is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    result == 0
}

/// Mappings of MPTCP whose checksum was wrong, since the beginning of the calling thread's network
/// namespace (`MPTcpExtDataCsumErr`).
pub(crate) fn wrong_checksums() -> Option<u64> {
    let counters = fs::read_to_string("/proc/thread-self/net/netstat").ok()?;
    counted(&counters, "DataCsumErr")
}

/// A counter of MPTCP: its group has a line of names and one of values.
fn counted(counters: &str, name: &str) -> Option<u64> {
    let of_mptcp = counters
        .lines()
        .filter(|line| line.starts_with("MPTcpExt:"));
    let mut lines = of_mptcp.map(str::split_whitespace);
    let (mut names, mut values) = (lines.next()?, lines.next()?);
    let place = names.position(|one| one == name)?;
    values.nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_ends_must_allow_fast_open() {
        let of = |bits| Settings {
            tcp_fastopen: bits,
            ..Settings::default()
        };
        assert!(of(Some(1)).can_open_fast(&of(Some(2))));
        assert!(of(Some(0x403)).can_open_fast(&of(Some(3))));
        assert!(!of(Some(2)).can_open_fast(&of(Some(2))));
        assert!(!of(Some(1)).can_open_fast(&of(Some(1))));
        assert!(!of(None).can_open_fast(&of(Some(3))));
    }

    #[test]
    fn a_counter_is_found_by_its_name() {
        let text = "TcpExt: A DataCsumErr\nTcpExt: 1 2\nMPTcpExt: B DataCsumErr\nMPTcpExt: 3 4\n";
        assert_eq!(counted(text, "DataCsumErr"), Some(4));
        assert_eq!(counted(text, "A"), None);
        assert_eq!(counted("MPTcpExt: DataCsumErr", "DataCsumErr"), None);
    }

    proptest! {
        #[test]
        fn any_text_has_a_counter_or_none(text: String) {
            let _ = counted(&text, "DataCsumErr");
            let _ = counted(&format!("MPTcpExt: {text}\nMPTcpExt: {text}"), "DataCsumErr");
        }
    }
}
