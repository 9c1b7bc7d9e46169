//! The order in which the addresses of a name are tried (RFC 6724, section 6): its rules 1, 2, 5, 6
//! and 8, by the source address that the kernel would take. Addresses that these leave equal keep
//! the order of the answer. Left out are rules 3, 4 and 7, for which the state of addresses and
//! interfaces would be needed, and 9: servers rotate their answers to share load.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

const LINK: u8 = 0x2;
const SITE: u8 = 0x5;
const GLOBAL: u8 = 0xe;

/// RFC 6724, section 2.1: prefix, its length, precedence and label. The longest that fits counts.
const POLICIES: [(Ipv6Addr, u32, u8, u8); 9] = [
    (Ipv6Addr::LOCALHOST, 128, 50, 0),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, 35, 4),
    (Ipv6Addr::UNSPECIFIED, 96, 1, 3),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, 5, 5),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, 30, 2),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, 1, 12),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, 1, 11),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, 3, 13),
    (Ipv6Addr::UNSPECIFIED, 0, 40, 1),
];

/// The addresses, those first that are tried first.
pub(super) fn sorted(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    by_source(addresses, source)
}

fn by_source(mut addresses: Vec<IpAddr>, source: impl Fn(IpAddr) -> Option<IpAddr>) -> Vec<IpAddr> {
    addresses.sort_by_cached_key(|&address| {
        let (precedence, label) = policy(address);
        let source = source(address);
        (
            source.is_none(),
            source.is_none_or(|source| scope(source) != scope(address)),
            source.is_none_or(|source| policy(source).1 != label),
            Reverse(precedence),
            scope(address),
        )
    });
    addresses
}

/// The address from which the kernel would send; none where it has no way.
fn source(destination: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match destination {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // connect(2) of UDP sends nothing.
    socket.connect((destination, 1)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Precedence and label.
fn policy(address: IpAddr) -> (u8, u8) {
    let bits = match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
    .to_bits();
    let fits = |prefix: Ipv6Addr, length: u32| {
        let differ = bits ^ prefix.to_bits();
        differ.leading_zeros() >= length
    };
    POLICIES
        .iter()
        .find(|&&(prefix, length, ..)| fits(prefix, length))
        .map_or((0, 0), |&(_, _, precedence, label)| (precedence, label))
}

/// RFC 6724, sections 3.1 and 3.2: private addresses of IPv4 are global.
fn scope(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(v4) if v4.is_loopback() || v4.is_link_local() => LINK,
        IpAddr::V4(_) => GLOBAL,
        IpAddr::V6(v6) if v6.is_multicast() => v6.octets()[1] & 0xf,
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unicast_link_local() => LINK,
        IpAddr::V6(v6) if v6.segments()[0] & 0xffc0 == 0xfec0 => SITE,
        IpAddr::V6(_) => GLOBAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of `addresses`, where the kernel has these sources, each for its kind of address.
    fn order(addresses: &[&str], sources: &[&str]) -> Vec<String> {
        let parse = |texts: &[&str]| -> Vec<IpAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let sources = parse(sources);
        let source = |to: IpAddr| {
            let mut own = sources.iter().filter(|own| own.is_ipv4() == to.is_ipv4());
            own.find(|own| scope(**own) == scope(to))
                .or_else(|| sources.iter().find(|own| own.is_ipv4() == to.is_ipv4()))
                .copied()
        };
        let sorted = by_source(parse(addresses), source);
        sorted.iter().map(IpAddr::to_string).collect()
    }

    /// The examples of RFC 6724, section 10.2, but for those that rules 3 to 9 left out decide.
    #[test]
    fn addresses_are_ordered_as_in_the_examples_of_the_rfc() {
        let both = ["2001:db8:1::1", "198.51.100.121"];
        let reversed = ["198.51.100.121", "2001:db8:1::1"];
        assert_eq!(
            order(&reversed, &["2001:db8:1::2", "fe80::1", "169.254.13.78"]),
            both,
            "IPv6 has a source of its scope, IPv4 has not"
        );
        assert_eq!(
            order(&both, &["fe80::1", "198.51.100.117"]),
            reversed,
            "IPv4 has a source of its scope, IPv6 has not"
        );
        assert_eq!(
            order(
                &["10.1.2.3", "2001:db8:1::1"],
                &["2001:db8:1::2", "10.1.2.4"]
            ),
            ["2001:db8:1::1", "10.1.2.3"],
            "IPv6 has the higher precedence"
        );
        assert_eq!(
            order(&["2001:db8:1::1", "fe80::1"], &["2001:db8:1::2", "fe80::2"]),
            ["fe80::1", "2001:db8:1::1"],
            "the smaller scope comes first"
        );
        assert_eq!(
            order(
                &["2002:c633:6401::1", "2001:db8:1::1"],
                &["2002:c633:6401::2"]
            ),
            ["2002:c633:6401::1", "2001:db8:1::1"],
            "the labels of 6to4 match"
        );
    }

    #[test]
    fn an_address_without_a_source_comes_last() {
        let addresses = ["2001:db8:1::1", "198.51.100.121"];
        assert_eq!(
            order(&addresses, &["198.51.100.117"]),
            ["198.51.100.121", "2001:db8:1::1"]
        );
    }

    #[test]
    fn a_private_source_is_not_for_global_addresses_of_ipv6() {
        let addresses = ["2001:db8:1::1", "198.51.100.121"];
        let sources = ["fd00::1", "198.51.100.117"];
        assert_eq!(
            order(&addresses, &sources),
            ["198.51.100.121", "2001:db8:1::1"]
        );
    }

    #[test]
    fn equal_addresses_keep_the_order_of_the_answer() {
        let addresses = ["198.51.100.2", "198.51.100.1", "198.51.100.3"];
        assert_eq!(order(&addresses, &["198.51.100.117"]), addresses);
    }

    #[test]
    fn the_kernel_tells_sources() {
        let own = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(source(own), Some(own));
        // A link-local address is of no use without its interface.
        assert_eq!(source("fe80::1".parse().unwrap()), None);
    }
}
