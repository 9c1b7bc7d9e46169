//! Hosts by their addresses: an address belongs to the port that had it first.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use mptcplab_wire::ethernet::MacAddress;

use crate::place::PortRef;

/// Time for which a host that has defended an address is not asked again, ns.
const DEFENDED_NS: u64 = 10_000_000_000;

/// Addresses of ports that went down which are remembered.
const DISPLACED: usize = 4096;

/// A host's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) mac: MacAddress,
    pub(crate) at: PortRef,
    /// The time until which claims of others are refused without a question.
    defended_until_ns: u64,
}

/// The verdict on a frame's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// They belong to the port.
    Known,
    /// They belong to the port from now on.
    New,
    /// Another port, or another interface, has one of them: the host of this address is to be asked
    /// whether it is still there.
    Ask(IpAddr, Host),
    /// They belong to another one.
    Refused,
}

/// Addresses at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    /// Those that are link-local addresses of IPv6.
    link_local: usize,
}

/// All hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    by_ip: BTreeMap<IpAddr, Host>,
    /// The port of an interface, and its addresses there.
    by_mac: BTreeMap<MacAddress, (PortRef, BTreeSet<IpAddr>)>,
    /// Addresses at each port that has some.
    counts: BTreeMap<PortRef, Count>,
    /// Claims on the address of a host that was asked.
    claims: BTreeMap<IpAddr, (PortRef, MacAddress, IpAddr)>,
    /// Addresses whose port went down: they may come by another one.
    displaced: BTreeSet<IpAddr>,
}

impl Hosts {
    pub(crate) fn get(&self, ip: IpAddr) -> Option<&Host> {
        self.by_ip.get(&ip)
    }

    /// The port of an interface.
    pub(crate) fn port_of(&self, mac: MacAddress) -> Option<PortRef> {
        self.by_mac.get(&mac).map(|(at, _)| *at)
    }

    /// Whether a port has hosts.
    pub(crate) fn any_at(&self, at: PortRef) -> bool {
        self.counts.contains_key(&at)
    }

    /// Whether the hosts of a port show that it has no link. Link-local addresses do not: switches
    /// themselves have some, and send from them before they have a controller.
    pub(crate) fn rule_out_link(&self, at: PortRef) -> bool {
        let count = self.counts.get(&at);
        count.is_some_and(|count| count.all > count.link_local)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (IpAddr, &Host)> {
        self.by_ip.iter().map(|(ip, host)| (*ip, host))
    }

    /// Takes the addresses that a frame from a port has. A port has at most `limit` of them.
    pub(crate) fn claim(
        &mut self,
        now_ns: u64,
        at: PortRef,
        mac: MacAddress,
        ip: IpAddr,
        limit: usize,
    ) -> Claim {
        let held = self.by_ip.get(&ip).copied();
        if held.is_some_and(|host| host.at == at && host.mac == mac) {
            self.defend(now_ns, ip);
            return Claim::Known;
        }
        let of_mac = self.by_mac.get(&mac).filter(|(other, _)| *other != at);
        let contested = match (held, of_mac) {
            (Some(host), _) => Some((ip, host)),
            (None, Some((_, others))) => {
                let other = others.first();
                other.and_then(|ip| self.by_ip.get(ip).map(|host| (*ip, *host)))
            }
            (None, None) => None,
        };
        if let Some((other_ip, host)) = contested {
            if now_ns < host.defended_until_ns || self.claims.contains_key(&other_ip) {
                return Claim::Refused;
            }
            self.claims.insert(other_ip, (at, mac, ip));
            return Claim::Ask(other_ip, host);
        }
        if self.counts.get(&at).is_some_and(|count| count.all >= limit) {
            return Claim::Refused;
        }
        let count = self.counts.entry(at).or_default();
        count.all += 1;
        count.link_local += usize::from(is_link_local(ip));
        let host = Host {
            mac,
            at,
            defended_until_ns: 0,
        };
        self.by_ip.insert(ip, host);
        let (_, own) = self.by_mac.entry(mac).or_insert((at, BTreeSet::new()));
        own.insert(ip);
        Claim::New
    }

    /// Ends a claim on an address whose host has shown that it is there.
    fn defend(&mut self, now_ns: u64, ip: IpAddr) {
        if self.claims.remove(&ip).is_some()
            && let Some(host) = self.by_ip.get_mut(&ip)
        {
            host.defended_until_ns = now_ns + DEFENDED_NS;
        }
    }

    /// Ends a claim without a decision.
    pub(crate) fn withdraw(&mut self, ip: IpAddr) {
        self.claims.remove(&ip);
    }

    /// Gives an address that was not defended to its claimant, with the others of the interface if
    /// this has moved. Returns the claimant: port, interface, address.
    pub(crate) fn settle(&mut self, ip: IpAddr) -> Option<(PortRef, MacAddress, IpAddr)> {
        let claim = self.claims.remove(&ip)?;
        let host = self.by_ip.get(&ip)?;
        let (mac, at, has_moved) = (host.mac, host.at, host.mac == claim.1);
        self.remove(|one_ip, one| {
            let is_same = one.mac == mac && one.at == at;
            one_ip == ip || has_moved && is_same
        });
        Some(claim)
    }

    /// Forgets all hosts that a condition is true for.
    pub(crate) fn remove(&mut self, is_gone: impl Fn(IpAddr, &Host) -> bool) {
        let gone = self.by_ip.iter().filter(|(ip, host)| is_gone(**ip, host));
        let gone: Vec<(IpAddr, Host)> = gone.map(|(ip, host)| (*ip, *host)).collect();
        for (ip, host) in gone {
            self.by_ip.remove(&ip);
            self.claims.remove(&ip);
            if let Some(count) = self.counts.get_mut(&host.at) {
                count.all -= 1;
                count.link_local -= usize::from(is_link_local(ip));
                if count.all == 0 {
                    self.counts.remove(&host.at);
                }
            }
            if let Some((_, own)) = self.by_mac.get_mut(&host.mac) {
                own.remove(&ip);
                if own.is_empty() {
                    self.by_mac.remove(&host.mac);
                }
            }
        }
    }

    /// Forgets the hosts of a port that went down.
    pub(crate) fn remove_at(&mut self, at: PortRef) {
        if !self.any_at(at) {
            return;
        }
        let own = self.by_ip.iter().filter(|(_, host)| host.at == at);
        self.displaced.extend(own.map(|(ip, _)| *ip));
        while self.displaced.len() > DISPLACED {
            self.displaced.pop_first();
        }
        self.remove(|_, host| host.at == at);
    }

    /// Whether an address that is known again was at a port that went down.
    pub(crate) fn was_displaced(&mut self, ip: IpAddr) -> bool {
        self.displaced.remove(&ip)
    }
}

fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PortRef = PortRef {
        datapath: 1,
        port: 1,
    };
    const B: PortRef = PortRef {
        datapath: 2,
        port: 1,
    };

    fn ip(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[test]
    fn an_address_stays_where_it_was_first_until_its_host_is_silent() {
        let mut hosts = Hosts::default();
        assert_eq!(hosts.claim(0, A, [2; 6], ip(1), 4), Claim::New);
        assert!(
            matches!(hosts.claim(0, B, [4; 6], ip(1), 4), Claim::Ask(asked, _) if asked == ip(1))
        );
        // A second claim asks nothing more, and the answer ends both.
        assert_eq!(hosts.claim(0, B, [4; 6], ip(1), 4), Claim::Refused);
        assert_eq!(hosts.claim(0, A, [2; 6], ip(1), 4), Claim::Known);
        assert_eq!(hosts.settle(ip(1)), None);
        assert_eq!(hosts.claim(1, B, [4; 6], ip(1), 4), Claim::Refused);
        // Later it is silent.
        let later = 2 * DEFENDED_NS;
        assert!(matches!(
            hosts.claim(later, B, [4; 6], ip(1), 4),
            Claim::Ask(..)
        ));
        assert_eq!(hosts.settle(ip(1)), Some((B, [4; 6], ip(1))));
        assert_eq!(hosts.claim(later, B, [4; 6], ip(1), 4), Claim::New);
        assert_eq!(
            (hosts.port_of([2; 6]), hosts.port_of([4; 6])),
            (None, Some(B))
        );
    }

    #[test]
    fn an_interface_that_moves_takes_its_addresses_along() {
        let mut hosts = Hosts::default();
        hosts.claim(0, A, [2; 6], ip(1), 4);
        hosts.claim(0, A, [2; 6], ip(2), 4);
        assert!(
            matches!(hosts.claim(0, B, [2; 6], ip(3), 4), Claim::Ask(asked, _) if asked == ip(1))
        );
        hosts.settle(ip(1));
        assert!(!hosts.any_at(A));
        assert_eq!(hosts.get(ip(2)), None);
    }

    #[test]
    fn a_port_has_no_more_addresses_than_allowed() {
        let mut hosts = Hosts::default();
        let claims = (0..=255).map(|last| hosts.claim(0, A, [2; 6], ip(last), 10));
        assert_eq!(claims.filter(|claim| *claim == Claim::New).count(), 10);
        hosts.remove_at(A);
        assert_eq!(hosts.claim(0, B, [2; 6], ip(0), 10), Claim::New);
    }
}
