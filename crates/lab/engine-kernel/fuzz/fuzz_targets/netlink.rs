//! Messages of the kernel, from any bytes: rtnetlink messages, TCP_INFO and MPTCP_INFO.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_linux::netlink::messages;
use mptcplab_linux::{MptcpInfo, TcpInfo};
use netlink_packet_route::RouteNetlinkMessage;

fuzz_target!(|bytes: &[u8]| {
    // A message takes four bytes at least, so that the list ends.
    let count = messages::<RouteNetlinkMessage>(bytes).count();
    assert!(count <= bytes.len().div_ceil(4));
    MptcpInfo::parse(bytes);
    TcpInfo::parse(bytes);
});
