//! Endpoints that the kernel's path manager has for a while, and others that it does not use.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self as unix, UnixDatagram};

use mptcplab_linux::path_manager::{Endpoint, EndpointFlags, PathManager};
use mptcplab_linux::rtnetlink::{Rtnetlink, Unreachable};

/// The name that one holder in a network namespace has.
const LOCK: &[u8] = b"mptcplab-measure-endpoints";

/// An endpoint that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The address from which subflows are opened.
    pub address: IpAddr,
    /// The interface that these are bound to, 0 for none.
    pub interface: u32,
}

/// The endpoints and limits that were missing, and rules that keep out endpoints that are not to be used;
/// taken away again when this ends.
pub struct HeldEndpoints {
    manager: PathManager,
    added: Vec<IpAddr>,
    limits: Option<Changed>,
    routes: Rtnetlink,
    rules: Vec<Unreachable>,
    /// Another holder is refused meanwhile.
    _lock: UnixDatagram,
}

/// The limit of subflows, which was raised, and that of announced addresses.
struct Changed {
    before: (u32, u32),
    ours: (u32, u32),
}

impl HeldEndpoints {
    /// Adds those that are not there, and raises the limit of subflows to their number; one alone is
    /// where MPTCP begins, and needs no endpoint. From other endpoints that there are, no subflow is
    /// opened to the `target` meanwhile. All of it is undone where a part fails.
    ///
    /// # Errors
    /// The kernel's: without CAP_NET_ADMIN over the namespace, and beyond 8 endpoints. Others hold
    /// some in this namespace, or an address is an endpoint that no subflow but a backup is opened
    /// from.
    pub fn hold(wanted: &[NewEndpoint], target: Option<SocketAddr>) -> io::Result<Self> {
        let mut held = Self {
            manager: PathManager::open()?,
            added: Vec::new(),
            limits: None,
            routes: Rtnetlink::open()?,
            rules: Vec::new(),
            _lock: lock()?,
        };
        let there = held.manager.endpoints()?;
        let flags = EndpointFlags {
            subflow: true,
            ..EndpointFlags::default()
        };
        let needed = if wanted.len() > 1 { wanted } else { &[] };
        for one in needed {
            let known = there.iter().find(|known| known.address == one.address);
            if let Some(known) = known {
                usable(known)?;
            } else {
                let manager = &mut held.manager;
                manager.add_endpoint_at(one.address, one.interface, flags)?;
                held.added.push(one.address);
            }
        }
        for rule in target
            .iter()
            .flat_map(|place| kept_out(&there, wanted, *place))
        {
            held.routes.add_unreachable_rule(&rule)?;
            held.rules.push(rule);
        }
        let (subflows, add_addr_accepted) = held.manager.limits()?;
        let needed = u32::try_from(needed.len()).unwrap_or(u32::MAX);
        if subflows < needed {
            let changed = Changed {
                before: (subflows, add_addr_accepted),
                ours: (needed, add_addr_accepted),
            };
            held.manager.set_limits(needed, add_addr_accepted)?;
            held.limits = Some(changed);
        }
        Ok(held)
    }

    /// Addresses of the endpoints that were added.
    pub fn added(&self) -> &[IpAddr] {
        &self.added
    }

    /// Addresses of endpoints from which no subflow is opened to the target.
    pub fn unused(&self) -> impl Iterator<Item = IpAddr> {
        self.rules.iter().map(|rule| rule.source)
    }
}

impl Drop for HeldEndpoints {
    fn drop(&mut self) {
        let there = self.manager.endpoints().unwrap_or_default();
        for endpoint in there {
            if self.added.contains(&endpoint.address) {
                // Another program may have taken it away meanwhile.
                let _ = self.manager.delete_endpoint(&endpoint);
            }
        }
        for rule in &self.rules {
            let _ = self.routes.delete_unreachable_rule(rule);
        }
        if let Some(Changed { before, ours }) = &self.limits
            // Else somebody has set them meanwhile.
            && self.manager.limits().is_ok_and(|now| now == *ours)
        {
            let _ = self.manager.set_limits(before.0, before.1);
        }
    }
}

/// The lock of this network namespace, as an abstract name (unix(7)).
fn lock() -> io::Result<UnixDatagram> {
    let name = unix::SocketAddr::from_abstract_name(LOCK)?;
    UnixDatagram::bind_addr(&name).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => io::Error::other("another probe on this host holds endpoints"),
        _ => error,
    })
}

/// Rules for endpoints from which subflows to a target would be opened, and which are not wanted.
fn kept_out(there: &[Endpoint], wanted: &[NewEndpoint], target: SocketAddr) -> Vec<Unreachable> {
    let is_wanted = |address| wanted.iter().any(|one| one.address == address);
    let others = there.iter().filter(|known| {
        let is_same_family = known.address.is_ipv4() == target.is_ipv4();
        known.flags.subflow && is_same_family && !is_wanted(known.address)
    });
    let rule = |known: &Endpoint| Unreachable {
        source: known.address,
        destination: target,
    };
    others.map(rule).collect()
}

/// Subflows for data are opened from an endpoint.
fn usable(known: &Endpoint) -> io::Result<()> {
    match known.flags.subflow && !known.flags.backup {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "{} is an endpoint already, for other use than subflows: `ip mptcp endpoint` shows it",
            known.address
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_holds_endpoints() {
        let first = lock().unwrap();
        let refused = lock().unwrap_err().to_string();
        assert!(refused.contains("another probe"), "{refused}");
        drop(first);
        lock().unwrap();
    }

    fn endpoint(subflow: bool, signal: bool, backup: bool) -> Endpoint {
        Endpoint {
            id: 1,
            address: IpAddr::from([192, 0, 2, 1]),
            port: 0,
            flags: EndpointFlags {
                subflow,
                signal,
                backup,
                fullmesh: false,
            },
        }
    }

    #[test]
    fn rules_keep_out_endpoints_that_would_be_used_and_are_not_wanted() {
        let place = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (four, six) = (place("198.51.100.1:4421"), place("[2001:db8::1]:4421"));
        let there = [endpoint(true, false, false), endpoint(false, true, false)];
        let address = there[0].address;
        let expected = Unreachable {
            source: address,
            destination: four,
        };
        assert_eq!(kept_out(&there, &[], four), [expected]);
        assert_eq!(kept_out(&there, &[], six), []);
        let wanted = NewEndpoint {
            address,
            interface: 0,
        };
        assert_eq!(kept_out(&there, &[wanted], four), []);
    }

    #[test]
    fn an_endpoint_for_other_use_does_not_count() {
        assert!(usable(&endpoint(true, true, false)).is_ok());
        assert!(usable(&endpoint(false, true, false)).is_err());
        assert!(usable(&endpoint(true, false, true)).is_err());
    }
}
