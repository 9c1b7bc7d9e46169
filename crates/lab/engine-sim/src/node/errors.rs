//! The errors of a router, and how many of them a host gets.

use std::collections::HashMap;
use std::net::IpAddr;

use foldhash::fast::FixedState;
use mptcplab_wire::Packet;

use super::Node;
use super::routing::MOST_DESTINATIONS;
use crate::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// Errors of IPv4 that a host may have saved up; each takes two of them.
const IPV4_BURST: Nanos = 5;
/// The same of IPv6.
const IPV6_BURST: Nanos = 6;

/// The time that each host has saved up for errors.
///
/// Source: Linux 6.18. An error of IPv4 passes two limits of a second with one account
/// (`ip_error` in net/ipv4/route.c, `inet_peer_xrlim_allow` in net/ipv4/inetpeer.c): a host gets two
/// at once, then one where it has been quiet for two seconds. One of IPv6 passes the second limit
/// alone, which is the shorter the wider the prefix of the route to the host
/// (`icmpv6_xrlim_allow` in net/ipv6/icmp.c).
#[derive(Clone, Debug, Default)]
pub(super) struct ErrorLimit {
    accounts: HashMap<IpAddr, Account, FixedState>,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    saved_ns: Nanos,
    /// When it was last looked at.
    at: Nanos,
}

impl ErrorLimit {
    /// Whether an error may be sent now to a host on a network of so many bits.
    fn allows(&mut self, now: Nanos, host: IpAddr, prefix_bits: u8) -> bool {
        if self.accounts.len() >= MOST_DESTINATIONS && !self.accounts.contains_key(&host) {
            self.accounts.clear();
        }
        let full = Account {
            saved_ns: Nanos::MAX,
            at: now,
        };
        let account = self.accounts.entry(host).or_insert(full);
        if host.is_ipv4() {
            return account.pays(now, SECOND, IPV4_BURST) && account.pays(now, SECOND, IPV4_BURST);
        }
        let price_ns = SECOND >> (u8::saturating_sub(128, prefix_bits) >> 5);
        account.pays(now, price_ns, IPV6_BURST)
    }
}

impl Account {
    /// Takes the price of one error off, where there is as much; no more than a burst is kept.
    fn pays(&mut self, now: Nanos, price_ns: Nanos, burst: Nanos) -> bool {
        let saved_ns = self.saved_ns.saturating_add(now - self.at);
        self.saved_ns = saved_ns.min(burst * price_ns);
        self.at = now;
        let paid = self.saved_ns.checked_sub(price_ns);
        self.saved_ns = paid.unwrap_or(self.saved_ns);
        paid.is_some()
    }
}

impl Node {
    /// The error of a router about a packet for whose destination it has no route, where it tells.
    pub(crate) fn unreachable(&mut self, now: Nanos, lost: &Packet) -> Option<Packet> {
        let host = lost.source();
        let (prefix, interface) = self.main.nearest(host)?;
        let own = self.address_on(interface, host.is_ipv4())?;
        let is_sent = lost.may_have_error() && self.errors.allows(now, host, prefix.length);
        is_sent.then(|| Packet::unreachable(own, lost)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(host: &str, prefix_bits: u8, times_ms: &[Nanos]) -> Vec<bool> {
        let mut limit = ErrorLimit::default();
        let times = times_ms.iter().map(|ms| ms * 1_000_000);
        times
            .map(|now| limit.allows(now, host.parse().unwrap(), prefix_bits))
            .collect()
    }

    #[test]
    fn a_host_gets_two_errors_of_ipv4_at_once() {
        assert_eq!(
            allowed("10.0.0.1", 24, &[0, 1, 2, 3]),
            [true, true, false, false]
        );
        // The third takes the last second, and the next attempts what has been saved since.
        assert_eq!(
            allowed("10.0.0.1", 24, &[0, 1, 2, 1500, 4000]),
            [true, true, false, false, true]
        );
    }

    #[test]
    fn a_host_gets_six_errors_of_ipv6_at_once() {
        let first: Vec<_> = (0..8).collect();
        let expected = [true, true, true, true, true, true, false, false];
        assert_eq!(allowed("2001:db8::1", 64, &first), expected);
        let later = [0, 0, 0, 0, 0, 0, 249, 250];
        let expected = [true, true, true, true, true, true, false, true];
        assert_eq!(allowed("2001:db8::1", 64, &later), expected);
    }

    #[test]
    fn accounts_are_bounded_and_apart() {
        let mut limit = ErrorLimit::default();
        for host in 0..=MOST_DESTINATIONS as u32 {
            assert!(limit.allows(0, std::net::Ipv4Addr::from_bits(host).into(), 24));
        }
        assert_eq!(limit.accounts.len(), 1);
    }
}
