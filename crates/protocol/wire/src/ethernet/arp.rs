//! ARP for Ethernet and IPv4 (RFC 826, RFC 5227).

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use super::{BROADCAST, Header, MacAddress, ether_type};

/// Ethernet and IPv4, addresses of 6 and 4 bytes.
const BEGIN: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Asks for the hardware address of the target.
    Request = 1,
    /// Gives that of the sender.
    Reply = 2,
}

/// An ARP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// The operation.
    pub operation: Operation,
    /// The hardware address of the sender.
    pub sender_mac: MacAddress,
    /// The sender's address.
    pub sender: Ipv4Addr,
    /// The hardware address of the target; zeros in a request.
    pub target_mac: MacAddress,
    /// The target's address.
    pub target: Ipv4Addr,
}

impl Arp {
    /// The packet in the payload of a frame; `None`: it is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&BEGIN)?;
        let (operation, rest) = rest.split_first_chunk::<2>()?;
        let (sender_mac, rest) = rest.split_first_chunk::<6>()?;
        let (sender, rest) = rest.split_first_chunk::<4>()?;
        let (target_mac, rest) = rest.split_first_chunk::<6>()?;
        let target = rest.first_chunk::<4>()?;
        Some(Self {
            operation: match operation {
                [0, 1] => Operation::Request,
                [0, 2] => Operation::Reply,
                _ => return None,
            },
            sender_mac: *sender_mac,
            sender: (*sender).into(),
            target_mac: *target_mac,
            target: (*target).into(),
        })
    }

    /// The answer of `mac`, which has the address that is asked for.
    pub fn answer(&self, mac: MacAddress) -> Self {
        Self {
            operation: Operation::Reply,
            sender_mac: mac,
            sender: self.target,
            target_mac: self.sender_mac,
            target: self.sender,
        }
    }

    /// A question of `sender`, unspecified for one that has no address (RFC 5227, section 1.1).
    pub fn request(sender_mac: MacAddress, sender: Ipv4Addr, target: Ipv4Addr) -> Self {
        Self {
            operation: Operation::Request,
            sender_mac,
            sender,
            target_mac: [0; 6],
            target,
        }
    }

    /// The frame: requests go to all.
    pub fn frame(&self) -> Vec<u8> {
        let to = match self.operation {
            Operation::Request => BROADCAST,
            Operation::Reply => self.target_mac,
        };
        let header = Header {
            destination: to,
            source: self.sender_mac,
            ether_type: ether_type::ARP,
        };
        let mut frame = header.frame();
        frame.extend(BEGIN);
        frame.extend((self.operation as u16).to_be_bytes());
        frame.extend(self.sender_mac);
        frame.extend(self.sender.octets());
        frame.extend(self.target_mac);
        frame.extend(self.target.octets());
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let request = Arp::request([2; 6], [10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let answer = request.answer([4; 6]);
        for (arp, destination) in [(request, BROADCAST), (answer, [2; 6])] {
            let frame = arp.frame();
            let (header, payload) = Header::read(&frame).expect("a frame");
            assert_eq!(header.destination, destination);
            assert_eq!(header.ether_type, ether_type::ARP);
            assert_eq!(Arp::read(payload), Some(arp));
            for bytes in 0..payload.len() {
                assert_eq!(Arp::read(&payload[..bytes]), None);
            }
        }
    }
}
