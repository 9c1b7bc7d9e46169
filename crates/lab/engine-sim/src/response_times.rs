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

/// From data to its acknowledgement: those of a host that wakes up to handle packets.
pub(crate) const HOST: Times = us([
    28, 32, 34, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 45, 48, 52, 56, 62, 69, 81,
]);

/// From the end of the handshake to a program's first data, by TCP.
const TCP_CONNECTED: Times = us([
    42, 48, 57, 61, 64, 66, 68, 70, 72, 73, 76, 78, 82, 85, 90, 96, 105, 119, 156, 354,
]);

/// The same by MPTCP.
const MPTCP_CONNECTED: Times = us([
    8, 92, 104, 112, 120, 124, 131, 137, 143, 150, 155, 164, 171, 185, 196, 215, 247, 297, 424, 699,
]);

/// From a request to its answer, by TCP.
const TCP_READING: Times = us([
    16, 18, 20, 21, 22, 23, 24, 26, 28, 30, 32, 36, 39, 42, 45, 49, 54, 63, 74, 110,
]);

/// The same by MPTCP.
const MPTCP_READING: Times = us([
    1, 10, 16, 17, 24, 34, 42, 50, 63, 69, 76, 82, 92, 101, 116, 134, 157, 173, 212, 268,
]);

/// From the end of the handshake to ADD_ADDR, and from that to the SYN of a join.
pub(crate) const WORKER: Times = us([
    42, 51, 59, 66, 73, 78, 85, 92, 98, 106, 113, 119, 127, 135, 145, 157, 175, 203, 243, 320,
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
