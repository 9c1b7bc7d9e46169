//! Options of a single subflow by their names in C.

use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET, c_int};

/// Name, level and number of each that `bpf_setsockopt()` takes.
const OPTIONS: [(&str, c_int, c_int); 20] = [
    ("IP_TOS", IPPROTO_IP, libc::IP_TOS),
    ("IPV6_TCLASS", IPPROTO_IPV6, libc::IPV6_TCLASS),
    ("SO_KEEPALIVE", SOL_SOCKET, libc::SO_KEEPALIVE),
    ("SO_MARK", SOL_SOCKET, libc::SO_MARK),
    ("SO_MAX_PACING_RATE", SOL_SOCKET, libc::SO_MAX_PACING_RATE),
    ("SO_PRIORITY", SOL_SOCKET, libc::SO_PRIORITY),
    ("SO_RCVBUF", SOL_SOCKET, libc::SO_RCVBUF),
    ("SO_SNDBUF", SOL_SOCKET, libc::SO_SNDBUF),
    ("SO_TXREHASH", SOL_SOCKET, libc::SO_TXREHASH),
    ("TCP_CONGESTION", IPPROTO_TCP, libc::TCP_CONGESTION),
    ("TCP_KEEPCNT", IPPROTO_TCP, libc::TCP_KEEPCNT),
    ("TCP_KEEPIDLE", IPPROTO_TCP, libc::TCP_KEEPIDLE),
    ("TCP_KEEPINTVL", IPPROTO_TCP, libc::TCP_KEEPINTVL),
    ("TCP_MAXSEG", IPPROTO_TCP, libc::TCP_MAXSEG),
    ("TCP_NODELAY", IPPROTO_TCP, libc::TCP_NODELAY),
    ("TCP_NOTSENT_LOWAT", IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT),
    ("TCP_SYNCNT", IPPROTO_TCP, libc::TCP_SYNCNT),
    (
        "TCP_THIN_LINEAR_TIMEOUTS",
        IPPROTO_TCP,
        libc::TCP_THIN_LINEAR_TIMEOUTS,
    ),
    ("TCP_USER_TIMEOUT", IPPROTO_TCP, libc::TCP_USER_TIMEOUT),
    ("TCP_WINDOW_CLAMP", IPPROTO_TCP, libc::TCP_WINDOW_CLAMP),
];

/// Their names.
pub(super) fn names() -> [&'static str; 20] {
    OPTIONS.map(|(name, ..)| name)
}

/// Level and number of all of them.
pub(super) fn all() -> Vec<(i32, i32)> {
    OPTIONS.map(|(_, level, number)| (level, number)).into()
}

/// Level and number of one.
pub(super) fn find(name: &str) -> Option<(i32, i32)> {
    let found = OPTIONS.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, level, number)| (level, number))
}
