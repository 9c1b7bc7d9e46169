//! From which of its addresses a host reaches others.

use core::net::IpAddr;

/// A network and an address from which the host reaches it. Of several for one network the first is
/// that of programs that ask for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// An address of the network.
    pub network: IpAddr,
    /// How many leading bits are the network's.
    pub prefix_bits: u8,
    /// The address of the host.
    pub source: IpAddr,
}

impl Route {
    /// Whether a destination lies in the network.
    fn leads_to(&self, destination: IpAddr) -> bool {
        let differing = match (self.network, destination) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                u128::from(u32::from(one) ^ u32::from(other)) << 96
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => u128::from(one) ^ u128::from(other),
            _ => return false,
        };
        differing.leading_zeros() >= u32::from(self.prefix_bits)
    }
}

/// The address from which a destination is reached: that of the longest prefix; of equal ones, of
/// the first.
pub(crate) fn source_for(routes: &[Route], destination: IpAddr) -> Option<IpAddr> {
    let leading = routes.iter().filter(|route| route.leads_to(destination));
    let longest = leading.reduce(|best, route| {
        if route.prefix_bits > best.prefix_bits {
            route
        } else {
            best
        }
    });
    longest.map(|route| route.source)
}

/// Whether a destination is reached from an address of the host: a connection from there fails at
/// once where it is not. Everything is where no routes are known.
pub(crate) fn reaches(routes: &[Route], source: IpAddr, destination: IpAddr) -> bool {
    let leads = |route: &Route| route.source == source && route.leads_to(destination);
    routes.is_empty() || routes.iter().any(leads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn route(network: &str, prefix_bits: u8, source: &str) -> Route {
        Route {
            network: ip(network),
            prefix_bits,
            source: ip(source),
        }
    }

    #[test]
    fn the_longest_prefix_counts_and_of_equal_ones_the_first() {
        let routes = [
            route("0.0.0.0", 0, "10.0.1.1"),
            route("0.0.0.0", 0, "10.0.2.1"),
            route("10.0.2.0", 24, "10.0.2.1"),
            route("10.0.2.128", 32, "10.0.3.1"),
            route("fd00::", 64, "fd00::1"),
        ];
        for (destination, source) in [
            ("192.0.2.1", Some("10.0.1.1")),
            ("10.0.2.77", Some("10.0.2.1")),
            ("10.0.2.128", Some("10.0.3.1")),
            ("10.0.3.128", Some("10.0.1.1")),
            ("fd00::99", Some("fd00::1")),
            ("fd00:0:0:1::99", None),
        ] {
            assert_eq!(source_for(&routes, ip(destination)), source.map(ip));
        }
    }

    #[test]
    fn a_destination_is_reached_from_the_addresses_whose_routes_lead_there() {
        let routes = [
            route("10.0.1.0", 24, "10.0.1.1"),
            route("10.0.2.0", 24, "10.0.2.1"),
            route("0.0.0.0", 0, "10.0.2.1"),
        ];
        let reached = |source, destination| reaches(&routes, ip(source), ip(destination));
        assert!(reached("10.0.1.1", "10.0.1.9"));
        assert!(!reached("10.0.1.1", "10.0.2.9"));
        assert!(reached("10.0.2.1", "10.0.1.9"));
        assert!(reaches(&[], ip("10.0.1.1"), ip("10.0.2.9")));
    }
}
