//! ARP for Ethernet and IPv4 (RFC 826, RFC 5227).

use std::net::Ipv4Addr;

use super::{Mac, ether_type, ethernet};

/// Ethernet and IPv4, addresses of 6 and 4 bytes.
const BEGIN: [u8; 6] = [0, 1, 8, 0, 6, 4];
const BROADCAST: Mac = [0xff; 6];

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Request = 1,
    Reply = 2,
}

/// An ARP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arp {
    pub(crate) operation: Operation,
    pub(crate) sender_mac: Mac,
    pub(crate) sender: Ipv4Addr,
    pub(crate) target_mac: Mac,
    pub(crate) target: Ipv4Addr,
}

impl Arp {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
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
    pub(crate) fn answer(&self, mac: Mac) -> Self {
        Self {
            operation: Operation::Reply,
            sender_mac: mac,
            sender: self.target,
            target_mac: self.sender_mac,
            target: self.sender,
        }
    }

    /// A question of `sender`, unspecified for one that has no address (RFC 5227, section 1.1).
    pub(crate) fn request(sender_mac: Mac, sender: Ipv4Addr, target: Ipv4Addr) -> Self {
        Self {
            operation: Operation::Request,
            sender_mac,
            sender,
            target_mac: [0; 6],
            target,
        }
    }

    /// The frame: requests go to all.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let to = match self.operation {
            Operation::Request => BROADCAST,
            Operation::Reply => self.target_mac,
        };
        let mut frame = ethernet(to, self.sender_mac, ether_type::ARP);
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
    use crate::frame::{Content, Frame};

    #[test]
    fn what_is_written_is_read() {
        let request = Arp::request([2; 6], [10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        for arp in [request, request.answer([4; 6])] {
            let frame = Frame::read(&arp.frame()).expect("a frame");
            assert!(matches!(frame.content, Content::Arp(read) if read == arp));
        }
    }
}
