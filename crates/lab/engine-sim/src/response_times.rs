//! The times that hosts, programs and path managers take before they act.
//!
//! Each list has the middles of the twentieths of what was measured on the kernel engine of an
//! idle machine with two processors (`python -m benches program-times`), in order. Races between
//! paths come out by these times. What programs and workers take is counted from when the host has
//! handled the packet that calls them.

use mptcplab_plan::Protocol;

use crate::Nanos;

/// Twentieths of a measurement, in nanoseconds.
pub(crate) type Times = [Nanos; 20];

/// From a request to its acknowledgement: those of a host that wakes up to handle packets.
pub(crate) const HOST: Times = us([
    17, 23, 27, 28, 29, 30, 31, 31, 32, 33, 34, 35, 35, 37, 38, 38, 39, 40, 42, 45,
]);

/// From the end of the handshake to a program's first data, by TCP.
const TCP_CONNECTED: Times = us([
    19, 24, 28, 31, 32, 34, 36, 38, 40, 42, 43, 46, 49, 53, 56, 60, 66, 90, 99, 114,
]);

/// The same by MPTCP.
const MPTCP_CONNECTED: Times = us([
    20, 29, 35, 39, 41, 44, 45, 48, 51, 55, 57, 59, 61, 63, 66, 76, 88, 109, 138, 180,
]);

/// From a request to its answer, by TCP.
const TCP_READING: Times = us([
    8, 10, 13, 15, 16, 17, 17, 18, 18, 19, 20, 20, 21, 22, 24, 25, 28, 31, 34, 74,
]);

/// The same by MPTCP.
const MPTCP_READING: Times = us([
    1, 1, 2, 5, 5, 7, 7, 9, 10, 12, 14, 21, 23, 25, 28, 33, 39, 43, 49, 60,
]);

/// From the end of the handshake to ADD_ADDR, and from that to the SYN of a join.
pub(crate) const WORKER: Times = us([
    10, 17, 23, 27, 30, 34, 38, 42, 45, 47, 50, 54, 59, 65, 71, 74, 79, 88, 104, 214,
]);

/// The times of a program that wakes up, for the first time or again.
pub(crate) fn of_program(protocol: Protocol, has_run: bool) -> &'static Times {
    match (protocol, has_run) {
        (Protocol::Tcp, false) => &TCP_CONNECTED,
        (Protocol::Tcp, true) => &TCP_READING,
        (Protocol::Mptcp, false) => &MPTCP_CONNECTED,
        (Protocol::Mptcp, true) => &MPTCP_READING,
    }
}

/// One of the times, by random bits.
pub(crate) fn drawn(times: &Times, bits: u64) -> Nanos {
    times[(bits % times.len() as u64) as usize]
}

const fn us(times: [Nanos; 20]) -> Times {
    let mut ns = times;
    let mut index = 0;
    while index < ns.len() {
        ns[index] *= 1000;
        index += 1;
    }
    ns
}
