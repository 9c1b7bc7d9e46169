//! Prefixes of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// An address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Length of the prefix in bits.
    pub length: u8,
}

impl Prefix {
    /// The network of all addresses of the family of `address`.
    pub fn all(address: IpAddr) -> Self {
        let address = match address {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        Self { address, length: 0 }
    }

    /// The network that the address lies in. A length beyond the family's bits is that of one
    /// address.
    pub fn network(self) -> IpNet {
        let whole = IpNet::from(self.address);
        IpNet::new(self.address, self.length)
            .unwrap_or(whole)
            .trunc()
    }

    /// Whether an address lies in the network.
    pub fn contains(self, address: IpAddr) -> bool {
        self.network().contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str, length: u8) -> Prefix {
        let address = text.parse().unwrap();
        Prefix { address, length }
    }

    #[test]
    fn the_network_of_an_address_has_no_bits_beyond_its_prefix() {
        for (address, length, network) in [
            ("10.1.2.3", 24, "10.1.2.0/24"),
            ("10.1.2.3", 32, "10.1.2.3/32"),
            ("10.1.2.3", 0, "0.0.0.0/0"),
            ("10.1.2.3", 99, "10.1.2.3/32"),
            ("fd00:1::2:3", 64, "fd00:1::/64"),
            ("fd00:1::2:3", 0, "::/0"),
        ] {
            assert_eq!(prefix(address, length).network().to_string(), network);
        }
    }

    #[test]
    fn families_do_not_mix() {
        assert!(prefix("10.1.2.3", 16).contains("10.1.9.9".parse().unwrap()));
        assert!(!prefix("10.1.2.3", 0).contains("fd00::1".parse().unwrap()));
    }
}
