//! Link headers.

/// BSD loopback, written by a little-endian machine.
pub const NULL: u16 = 0;
/// Ethernet.
pub const ETHERNET: u16 = 1;
/// PPP.
pub const PPP: u16 = 9;
/// PPP in frames of HDLC.
pub const PPP_HDLC: u16 = 50;
/// PPP over Ethernet.
pub const PPP_ETHER: u16 = 51;
/// Cisco's HDLC.
pub const CISCO_HDLC: u16 = 104;
/// PPP with the direction.
pub const PPP_WITH_DIRECTION: u16 = 204;
/// Raw IP.
pub const RAW: u16 = 101;
/// OpenBSD loopback.
pub const LOOP: u16 = 108;
/// Linux cooked.
pub const LINUX_COOKED: u16 = 113;
/// Raw IPv4.
pub const IPV4: u16 = 228;
/// Raw IPv6.
pub const IPV6: u16 = 229;
/// Linux cooked, version 2.
pub const LINUX_COOKED_2: u16 = 276;

/// All of the above.
pub const ALL: [u16; 13] = [
    NULL,
    ETHERNET,
    PPP,
    PPP_HDLC,
    PPP_ETHER,
    CISCO_HDLC,
    PPP_WITH_DIRECTION,
    RAW,
    LOOP,
    LINUX_COOKED,
    IPV4,
    IPV6,
    LINUX_COOKED_2,
];

const MAC_ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

/// A frame of `link_type` around an IP packet.
pub fn frame(link_type: u16, packet: &[u8]) -> Vec<u8> {
    let is_v6 = packet[0] >> 4 == 6;
    let ethertype: [u8; 2] = if is_v6 { [0x86, 0xdd] } else { [8, 0] };
    let ppp: [u8; 4] = [0xff, 3, 0, if is_v6 { 0x57 } else { 0x21 }];
    let family = if is_v6 { 30 } else { 2 };
    let mut frame = match link_type {
        NULL => vec![family, 0, 0, 0],
        LOOP => vec![0, 0, 0, family],
        ETHERNET => [&MAC_ADDRESSES[..], &ethertype].concat(),
        LINUX_COOKED => [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], &ethertype].concat(),
        LINUX_COOKED_2 => [
            &ethertype[..],
            &[0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0],
        ]
        .concat(),
        PPP | PPP_HDLC => ppp.to_vec(),
        PPP_ETHER => {
            let [high, low] = (packet.len() as u16 + 2).to_be_bytes();
            [&[0x11, 0, 0, 7, high, low][..], &ppp[2..]].concat()
        }
        CISCO_HDLC => [&[0x0f, 0][..], &ethertype].concat(),
        PPP_WITH_DIRECTION => [&[1][..], &ppp].concat(),
        RAW | IPV4 | IPV6 => vec![],
        _ => panic!("link type {link_type} is not known here"),
    };
    frame.extend_from_slice(packet);
    frame
}

/// An Ethernet frame with tags, the outermost first: each its ethertype (0x8100, 0x88a8) and VLAN.
pub fn tagged(tags: &[(u16, u16)], packet: &[u8]) -> Vec<u8> {
    let untagged = frame(ETHERNET, packet);
    let mut frame = untagged[..12].to_vec();
    for (ethertype, vlan) in tags {
        frame.extend_from_slice(&ethertype.to_be_bytes());
        frame.extend_from_slice(&vlan.to_be_bytes());
    }
    frame.extend_from_slice(&untagged[12..]);
    frame
}
