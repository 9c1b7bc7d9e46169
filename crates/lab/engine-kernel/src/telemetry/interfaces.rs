//! Counters of a namespace's interfaces: an `RTM_GETLINK` dump (`linux/if_link.h`).

use std::io;

use mptcplab_link::Nanos;
use mptcplab_record::InterfaceSample;

use mptcplab_linux::bytes::{u32_at, u64_at};
use mptcplab_linux::dump::{Dumper, attributes};

const RTM_GETLINK: u16 = 18;
const IFINFOMSG_LENGTH: usize = 16;
const FLAGS_OFFSET: usize = 8;
const IFLA_IFNAME: u16 = 3;
const IFLA_STATS64: u16 = 23;

/// Passes a row of every interface of the namespace but the loopback to `each`.
pub(super) fn interfaces(
    netlink: &mut Dumper,
    (t_ns, node): (Nanos, &str),
    mut each: impl FnMut(InterfaceSample<'_>),
) -> io::Result<()> {
    netlink.dump(RTM_GETLINK, &[0; IFINFOMSG_LENGTH], |message| {
        if let Some(sample) = parse(message) {
            each(InterfaceSample {
                t_ns,
                node,
                ..sample
            });
        }
    })
}

/// The sample of an interface, its time and node left out.
fn parse(message: &[u8]) -> Option<InterfaceSample<'_>> {
    let flags = u32_at(message, FLAGS_OFFSET)?;
    if flags & libc::IFF_LOOPBACK as u32 != 0 {
        return None;
    }
    let running = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
    let mut sample = InterfaceSample {
        up: flags & running == running,
        ..InterfaceSample::default()
    };
    for (kind, value) in attributes(message.get(IFINFOMSG_LENGTH..)?) {
        match kind {
            IFLA_IFNAME => {
                let name = value.split(|&byte| byte == 0).next().unwrap_or_default();
                sample.interface = str::from_utf8(name).unwrap_or_default();
            }
            IFLA_STATS64 => {
                sample.rx_packets = u64_at(value, 0);
                sample.tx_packets = u64_at(value, 8);
                sample.rx_bytes = u64_at(value, 16);
                sample.tx_bytes = u64_at(value, 24);
                sample.rx_dropped = u64_at(value, 48);
                sample.tx_dropped = u64_at(value, 56);
            }
            _ => {}
        }
    }
    Some(sample)
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
        let expected = InterfaceSample {
            interface: "wifi",
            up: true,
            rx_packets: Some(1),
            tx_packets: Some(2),
            rx_bytes: Some(3),
            tx_bytes: Some(4),
            rx_dropped: Some(7),
            tx_dropped: Some(8),
            ..InterfaceSample::default()
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
