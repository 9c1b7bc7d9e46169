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

/// From a packet to the host's own answer: those of a host that wakes up to handle packets.
pub(crate) const HOST: Times = us([
    15, 16, 17, 17, 18, 19, 22, 23, 24, 27, 31, 33, 34, 35, 36, 38, 39, 41, 44, 57,
]);

/// The same where another packet has come within [`AWAKE_NS`].
pub(crate) const AWAKE: Times = us([
    3, 6, 8, 9, 10, 11, 12, 13, 14, 15, 18, 18, 19, 22, 24, 25, 26, 29, 33, 36,
]);

/// The time for which a host stays awake.
pub(crate) const AWAKE_NS: Nanos = 50_000;

/// From the end of the handshake to a program's first data, by TCP.
const TCP_CONNECTED: Times = us([
    15, 17, 18, 23, 24, 24, 24, 25, 25, 25, 26, 27, 30, 42, 47, 58, 63, 70, 79, 167,
]);

/// The same by MPTCP.
const MPTCP_CONNECTED: Times = us([
    13, 19, 21, 22, 23, 25, 27, 28, 29, 30, 30, 31, 32, 34, 48, 96, 102, 113, 129, 171,
]);

/// From the end of the handshake to the first data of a program that accepts connections and sends
/// first, by TCP.
const TCP_ACCEPTING: Times = us([
    23, 31, 33, 34, 36, 38, 40, 41, 42, 43, 44, 46, 48, 49, 51, 54, 58, 62, 68, 77,
]);

/// The same by MPTCP, where a worker announces before it.
const MPTCP_ACCEPTING: Times = us([
    61, 66, 72, 76, 83, 91, 97, 104, 111, 117, 121, 127, 133, 141, 151, 167, 240, 396, 559, 894,
]);

/// From a request to its answer, by TCP.
const TCP_READING: Times = us([
    7, 7, 8, 8, 9, 10, 10, 11, 12, 14, 15, 16, 17, 18, 19, 21, 23, 26, 29, 41,
]);

/// The same by MPTCP.
const MPTCP_READING: Times = us([
    8, 11, 13, 14, 15, 16, 18, 20, 21, 22, 24, 26, 31, 34, 37, 41, 44, 48, 53, 99,
]);

/// From the head of an answer to its payload, which programs write in the next call of the system.
pub(crate) const NEXT_CALL: Times = us([
    4, 4, 5, 6, 11, 12, 12, 14, 15, 16, 16, 17, 18, 19, 22, 25, 27, 30, 35, 44,
]);

/// From the payload of an answer until its program sleeps again, by MPTCP.
pub(crate) const ANSWERED: Times = us([
    7, 16, 18, 20, 22, 25, 28, 32, 39, 47, 51, 54, 62, 66, 74, 80, 83, 93, 114, 133,
]);

/// From the last payload of a download to the begin of the next: its client closes and notes it.
pub(crate) const NEXT_DOWNLOAD: Times = us([
    81, 95, 105, 114, 120, 128, 134, 140, 145, 151, 156, 164, 172, 178, 188, 198, 211, 226, 241,
    290,
]);

/// From the end of the handshake to ADD_ADDR, where the server's program has nothing to do yet.
pub(crate) const ANNOUNCING: Times = us([
    11, 15, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 34, 38, 41, 42, 45, 53,
]);

/// From ADD_ADDR to the SYN of a join.
pub(crate) const JOINING: Times = us([
    4, 6, 7, 9, 10, 12, 17, 22, 29, 33, 36, 38, 41, 44, 47, 50, 56, 61, 83, 122,
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

/// The times of a program that accepts a connection, and is the first to send.
pub(crate) fn of_accepting(protocol: Protocol) -> &'static Times {
    match protocol {
        Protocol::Tcp => &TCP_ACCEPTING,
        Protocol::Mptcp => &MPTCP_ACCEPTING,
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
