//! Counters of a namespace's interfaces: an `RTM_GETLINK` dump (`linux/if_link.h`).

use std::io;

use serde::Serialize;

use mptcplab_kernel::bytes::{u32_at, u64_at};
use mptcplab_kernel::dump::{Dumper, attributes};

const RTM_GETLINK: u16 = 18;
const IFINFOMSG_LENGTH: usize = 16;
const FLAGS_OFFSET: usize = 8;
const IFLA_IFNAME: u16 = 3;
const IFLA_STATS64: u16 = 23;

/// One interface and its counters since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counters {
    #[serde(rename = "interface")]
    pub(super) name: String,
    /// Set up, and its carrier there.
    pub(super) up: bool,
    pub(super) rx_packets: Option<u64>,
    pub(super) tx_packets: Option<u64>,
    pub(super) rx_bytes: Option<u64>,
    pub(super) tx_bytes: Option<u64>,
    pub(super) rx_dropped: Option<u64>,
    pub(super) tx_dropped: Option<u64>,
}

/// Every interface of the namespace but the loopback.
pub(super) fn interfaces(netlink: &mut Dumper, mut each: impl FnMut(Counters)) -> io::Result<()> {
    netlink.dump(RTM_GETLINK, &[0; IFINFOMSG_LENGTH], |message| {
        if let Some(counters) = parse(message) {
            each(counters);
        }
    })
}

fn parse(message: &[u8]) -> Option<Counters> {
    let flags = u32_at(message, FLAGS_OFFSET)?;
    if flags & libc::IFF_LOOPBACK as u32 != 0 {
        return None;
    }
    let running = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
    let mut counters = Counters {
        up: flags & running == running,
        ..Counters::default()
    };
    for (kind, value) in attributes(message.get(IFINFOMSG_LENGTH..)?) {
        match kind {
            IFLA_IFNAME => {
                let name = value.split(|&byte| byte == 0).next().unwrap_or_default();
                counters.name = String::from_utf8_lossy(name).into_owned();
            }
            IFLA_STATS64 => {
                counters.rx_packets = u64_at(value, 0);
                counters.tx_packets = u64_at(value, 8);
                counters.rx_bytes = u64_at(value, 16);
                counters.tx_bytes = u64_at(value, 24);
                counters.rx_dropped = u64_at(value, 48);
                counters.tx_dropped = u64_at(value, 56);
            }
            _ => {}
        }
    }
    Some(counters)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(flags: i32) -> Vec<u8> {
        let mut message = vec![0; IFINFOMSG_LENGTH];
        message[FLAGS_OFFSET..][..4].copy_from_slice(&(flags as u32).to_ne_bytes());
        message.extend([9, 0, 3, 0, b'w', b'i', b'f', b'i', 0, 0, 0, 0]);
        message.extend([68, 0, 23, 0]);
        message.extend((1..=8u64).flat_map(u64::to_ne_bytes));
        message
    }

    #[test]
    fn a_link_has_name_state_and_counters() {
        let expected = Counters {
            name: "wifi".to_owned(),
            up: true,
            rx_packets: Some(1),
            tx_packets: Some(2),
            rx_bytes: Some(3),
            tx_bytes: Some(4),
            rx_dropped: Some(7),
            tx_dropped: Some(8),
        };
        assert_eq!(
            parse(&link(libc::IFF_UP | libc::IFF_RUNNING)),
            Some(expected)
        );
    }

    #[test]
    fn a_link_without_carrier_is_not_up() {
        assert!(!parse(&link(libc::IFF_UP)).unwrap().up);
    }

    #[test]
    fn the_loopback_is_left_out() {
        assert_eq!(parse(&link(libc::IFF_UP | libc::IFF_LOOPBACK)), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            parse(&bytes);
        }
    }
}
